/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "zarrbridge/node.h"

enum { BAR = 30, TICK_NS = 200000000 };

struct progress {
    const char *name;
    zb_hierarchy *hierarchy;
    const char *path;
    struct timespec start;
    atomic_uint_fast64_t done, all; /* chunks; all: 0 until they have been counted */
    atomic_int permille;            /* that the work has told; -1: none */
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below, and the line */
    pthread_cond_t changed;
    bool is_ended;
};

static void draw_bar(const progress *p, uint64_t permille) {
    char bar[BAR + 1];
    const size_t full = (size_t)(permille * BAR / 1000);
    memset(bar, '-', BAR);
    memset(bar, '#', full);
    bar[BAR] = '\0';
    fprintf(stderr, "\r%s [%s] %3" PRIu64 " %%", p->name, bar, permille / 10);
}

/* With the lock. Files that are no chunks, and chunks that others write meanwhile, are done without
   having been counted. */
static void draw(const progress *p) {
    const uint64_t all = atomic_load(&p->all), taken = atomic_load(&p->done);
    const uint64_t done = all > 0 && taken > all ? all : taken;
    const int permille = atomic_load(&p->permille);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (permille >= 0)
        draw_bar(p, (uint64_t)permille);
    else if (all > 0)
        draw_bar(p, (uint64_t)((double)done / (double)all * 1000));
    else
        fprintf(stderr, "\r%s", p->name);
    if (all > 0)
        fprintf(stderr, "  %" PRIu64 " of %" PRIu64 " chunks", done, all);
    else if (done > 0)
        fprintf(stderr, "  %" PRIu64 " chunks", done);
    fprintf(stderr, "  %lld s\x1b[K", (long long)(now.tv_sec - p->start.tv_sec));
    fflush(stderr);
}

static void erase(void) {
    fputs("\r\x1b[K", stderr);
    fflush(stderr);
}

static void take_chunk(void *context) {
    progress *p = context;
    atomic_fetch_add_explicit(&p->done, 1, memory_order_relaxed);
}

typedef struct counting {
    progress *p;
    uint64_t chunks;
} counting;

/* An array that cannot be counted is an error of the work, which tells it. */
static int count_array(void *context, const zb_entry *entry) {
    counting *c = context;
    zb_node *node;
    zb_stored stored;
    if (entry->array && zb_node_open(c->p->hierarchy, entry->path, &node, NULL) == ZB_OK) {
        if (zb_array_stored(node, &stored, NULL) == ZB_OK)
            c->chunks += stored.chunks;
        zb_node_release(node);
    }
    pthread_mutex_lock(&c->p->lock);
    const bool is_ended = c->p->is_ended;
    pthread_mutex_unlock(&c->p->lock);
    return is_ended;
}

static void *run(void *context) {
    progress *p = context;
    counting c = {.p = p};
    struct timespec next;
    if (p->hierarchy && zb_hierarchy_is_local(p->hierarchy) &&
        zb_node_each(p->hierarchy, p->path, count_array, &c, NULL) == ZB_OK)
        atomic_store(&p->all, c.chunks);
    pthread_mutex_lock(&p->lock);
    while (!p->is_ended) {
        draw(p);
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += TICK_NS;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&p->changed, &p->lock, &next);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void progress_free(progress *p) {
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

progress *progress_begin(const cli_call *call, zb_hierarchy *hierarchy, const char *path) {
    const char *terminal = getenv("TERM");
    if (call->quiet || !isatty(STDERR_FILENO) || !terminal || strcmp(terminal, "dumb") == 0)
        return NULL;
    progress *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->name = call->command->name;
    p->hierarchy = hierarchy;
    p->path = path;
    atomic_store(&p->permille, -1);
    clock_gettime(CLOCK_MONOTONIC, &p->start);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_t clock; /* pthread_cond_clockwait needs glibc 2.30 */
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &clock);
    pthread_condattr_destroy(&clock);
    draw(p);
    if (hierarchy)
        zb_hierarchy_tell_chunks(hierarchy, take_chunk, p);
    if (pthread_create(&p->thread, NULL, run, p) == 0)
        return p;
    if (hierarchy)
        zb_hierarchy_tell_chunks(hierarchy, NULL, NULL);
    erase();
    progress_free(p);
    return NULL;
}

void progress_set(progress *p, double done) {
    if (p && done >= 0 && done <= 1)
        atomic_store(&p->permille, (int)(done * 1000));
}

void progress_pause(progress *p) {
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    erase();
}

void progress_resume(progress *p) {
    if (!p)
        return;
    fflush(stdout);
    pthread_mutex_unlock(&p->lock);
}

void progress_end(progress *p) {
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_ended = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    if (p->hierarchy)
        zb_hierarchy_tell_chunks(p->hierarchy, NULL, NULL);
    erase();
    progress_free(p);
}
