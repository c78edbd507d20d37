/* SPDX-License-Identifier: MIT */
/*
 * A run is a job on its caller's stack, linked into a list while it has tasks left. Idle workers
 * take the first job of the list and claim its tasks one by one with an atomic counter; the caller
 * does the same and then waits until no worker is inside its job. Nothing is allocated per run.
 *
 * Workers are detached and live as long as the process. A fork leaves the child with none; the
 * list is empty there, because the forking thread cannot be inside a run.
 */
#include "util/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/clock.h"
#include "util/fork.h"
#include "util/machine.h"
#include "util/thread.h"
#include "zarrbridge/limits.h"

#define MAX_THREADS 256

typedef struct zb__pool_job {
    zb__task_fn fn;
    void *context;
    size_t count;
    atomic_size_t next;    /* first task that no thread has claimed */
    atomic_size_t helpers; /* workers inside; changed under pool_lock */
    size_t helpers_left;   /* workers that may still come; under pool_lock */
    enum zb_code code;     /* of the first failure; under pool_lock */
    zb_error error;
    bool is_open;        /* each helper that comes in calls fn once */
    pthread_cond_t idle; /* helpers became 0 */
    struct zb__pool_job *link;
} job;

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_came = PTHREAD_COND_INITIALIZER;
static job *jobs;
static size_t workers, sleepers;
static atomic_uint posted; /* counts jobs, so that spinning workers see a new one */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static size_t width_of_pool;

/* ---- The number of threads ---- */

/* The workers are not in the child. */
static void forget_workers(void *unused) {
    (void)unused;
    jobs = NULL;
    workers = sleepers = 0;
    pthread_cond_init(&work_came, NULL);
}

static void init(void) {
    static zb__fork_guard guard = {.lock = &pool_lock, .in_child = forget_workers};
    uint64_t asked = zb_limits_get()->threads;
    uint64_t wanted = asked == 0 ? zb__machine_processors() : asked;
    width_of_pool = wanted > MAX_THREADS ? MAX_THREADS : (size_t)wanted;
    zb__fork_guard_add(&guard);
}

size_t zb__pool_width(void) {
    pthread_once(&once, init);
    return width_of_pool;
}

/* ---- Running ---- */

static void fail_job(job *j, enum zb_code code, const zb_error *error) {
    atomic_store(&j->next, j->count); /* no thread claims another task */
    pthread_mutex_lock(&pool_lock);
    if (j->code == ZB_OK) {
        j->code = code;
        j->error = *error;
    }
    pthread_mutex_unlock(&pool_lock);
}

/* Claims and runs tasks until none is left. Called without the lock. */
static void work_on(job *j) {
    zb__scratch *scratch = zb__scratch_take();
    zb_error error = {0};
    if (!scratch) {
        fail_job(j, zb_fail(&error, ZB_ENOMEM, "no memory for a worker's scratch"), &error);
        return;
    }
    for (;;) {
        size_t i = j->is_open ? 0 : atomic_fetch_add(&j->next, 1);
        if (i >= j->count)
            break;
        enum zb_code code = j->fn(j->context, i, scratch, &error);
        if (code != ZB_OK)
            fail_job(j, code, &error);
        if (j->is_open)
            break;
    }
    zb__scratch_put(scratch);
}

static void unlink_job(job *j) {
    for (job **at = &jobs; *at; at = &(*at)->link) {
        if (*at == j) {
            *at = j->link;
            return;
        }
    }
}

/* Waking a sleeping thread and hearing back costs about 60 µs, as much as decoding a chunk. Reads
   often come in a row, so an idle thread spins for this many nanoseconds before it sleeps. */
#define SPIN_NS 50000

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    for (int i = 0; i < 16; i++)
        __builtin_ia32_pause();
#else
    sched_yield();
#endif
}

/* Spins until a job later than the one counted by `seen` is posted, or the time is up. */
static void look_out_for_work(unsigned seen) {
    int64_t end = zb__now() + SPIN_NS;
    while (atomic_load(&posted) == seen && zb__now() < end)
        pause_briefly();
}

/* Spins until no worker is inside the job, or the time is up. */
static void look_out_for_end(job *j) {
    int64_t end = zb__now() + SPIN_NS;
    while (atomic_load(&j->helpers) > 0 && zb__now() < end)
        pause_briefly();
}

static void *worker_main(void *unused) {
    (void)unused;
    pthread_mutex_lock(&pool_lock);
    for (;;) {
        job *j = jobs;
        if (!j) {
            sleepers++;
            pthread_cond_wait(&work_came, &pool_lock);
            sleepers--;
            continue;
        }
        unsigned seen = atomic_load(&posted);
        j->helpers++;
        if (--j->helpers_left == 0)
            unlink_job(j);
        pthread_mutex_unlock(&pool_lock);
        work_on(j);
        pthread_mutex_lock(&pool_lock);
        if (!j->is_open)
            unlink_job(j); /* it has no task left */
        if (atomic_fetch_sub(&j->helpers, 1) == 1)
            pthread_cond_signal(&j->idle);
        if (!jobs) {
            pthread_mutex_unlock(&pool_lock);
            look_out_for_work(seen);
            pthread_mutex_lock(&pool_lock);
        }
    }
    return NULL;
}

/* Starts workers until there are `wanted`; fewer are not a failure. Called with the lock. */
static void start_workers(size_t wanted) {
    while (workers < wanted && zb__thread_start(NULL, worker_main, NULL) == 0)
        workers++;
}

/* Puts a job that is not there yet last in the list and wakes as many as may come. */
static void post_job(job *j, size_t helpers) {
    const size_t most = zb__pool_width() - 1; /* takes other locks at its first call */
    pthread_mutex_lock(&pool_lock);
    start_workers(most);
    job **end = &jobs;
    while (*end && *end != j)
        end = &(*end)->link;
    if (!*end) {
        j->link = NULL;
        *end = j;
    }
    j->helpers_left += helpers;
    atomic_fetch_add(&posted, 1);
    size_t wake = helpers < sleepers ? helpers : sleepers;
    pthread_mutex_unlock(&pool_lock);
    for (size_t i = 0; i < wake; i++)
        pthread_cond_signal(&work_came);
}

/* Takes the job out of the list and waits until no worker is inside. */
static void await_helpers(job *j) {
    pthread_mutex_lock(&pool_lock);
    unlink_job(j); /* from here on no worker comes in */
    pthread_mutex_unlock(&pool_lock);
    look_out_for_end(j);
    pthread_mutex_lock(&pool_lock); /* the last worker has left j, too, when it is ours */
    while (atomic_load(&j->helpers) > 0)
        pthread_cond_wait(&j->idle, &pool_lock);
    pthread_mutex_unlock(&pool_lock);
    pthread_cond_destroy(&j->idle);
}

/* Without helpers there is nothing to share. */
static enum zb_code run_alone(zb__task_fn fn, void *context, size_t count, zb_error *err) {
    zb__scratch *scratch = zb__scratch_take();
    enum zb_code code =
        scratch ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a worker's scratch");
    for (size_t i = 0; i < count && code == ZB_OK; i++)
        code = fn(context, i, scratch, err);
    if (scratch)
        zb__scratch_put(scratch);
    return code;
}

enum zb_code zb__pool_run(zb__task_fn fn, void *context, size_t count, size_t width,
                          zb_error *err) {
    if (count == 0)
        return ZB_OK;
    size_t limit = zb__pool_width();
    if (width == 0 || width > limit)
        width = limit;
    size_t helpers = (count < width ? count : width) - 1;
    if (helpers == 0)
        return run_alone(fn, context, count, err);
    job j = {.fn = fn, .context = context, .count = count};
    pthread_cond_init(&j.idle, NULL);
    post_job(&j, helpers);
    work_on(&j);
    await_helpers(&j);
    if (j.code != ZB_OK && err)
        *err = j.error;
    return j.code;
}

/* ---- Work that comes bit by bit ---- */

zb__pool_job *zb__pool_open(zb__task_fn fn, void *context) {
    job *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->fn = fn;
    j->context = context;
    j->count = 1;
    j->is_open = true;
    pthread_cond_init(&j->idle, NULL);
    return j;
}

void zb__pool_call(zb__pool_job *open, size_t helpers) {
    if (helpers > 0)
        post_job(open, helpers);
}

void zb__pool_close(zb__pool_job *open) {
    if (open)
        await_helpers(open);
    free(open);
}
