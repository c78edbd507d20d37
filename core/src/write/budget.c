/* SPDX-License-Identifier: MIT */
#include "write/budget.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "util/fork.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/write.h"

/* The most idle memory, as a part of the budget: more would make writers store early. */
#define IDLE_PART 4
/* The part of the budget by which work may exceed it. */
#define WORK_PART 2

uint64_t zb__waiting_bytes(int64_t change) {
    static atomic_uint_fast64_t waiting;
    if (change == 0)
        return atomic_load_explicit(&waiting, memory_order_relaxed);
    return atomic_fetch_add(&waiting, (uint64_t)change) + (uint64_t)change;
}

uint64_t zb_writers_waiting_bytes(void) {
    return zb__waiting_bytes(0);
}

/* ---- Idle memory ---- */

static atomic_uint_fast64_t idle;

bool zb__idle_begin(uint64_t bytes) {
    uint64_t most = zb_limits_get()->write_cache_bytes / IDLE_PART;
    if (atomic_fetch_add(&idle, bytes) + bytes <= most)
        return true;
    atomic_fetch_sub(&idle, bytes);
    return false;
}

void zb__idle_end(uint64_t bytes) {
    atomic_fetch_sub(&idle, bytes);
}

/* ---- Work ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two below */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static uint64_t reserved, running; /* bytes, and number of their reservations */

/* The threads that reserved work are not in the child. */
static void forget_work(void *unused) {
    (void)unused;
    reserved = running = 0;
    pthread_cond_init(&ended, NULL);
}

static void guard_fork(void) {
    static zb__fork_guard guard = {.lock = &lock, .in_child = forget_work};
    zb__fork_guard_add(&guard);
}

/* Called with the lock. Sums saturate: a reservation may be larger than any memory. */
static bool is_free(uint64_t bytes) {
    uint64_t budget = zb_limits_get()->write_cache_bytes, all = zb__waiting_bytes(0), most;
    if (running == 0)
        return true;
    if (__builtin_add_overflow(budget, budget / WORK_PART, &most))
        return true;
    return !__builtin_add_overflow(all, reserved, &all) &&
           !__builtin_add_overflow(all, bytes, &all) && all <= most;
}

static bool reserve(uint64_t bytes, bool may_wait) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, guard_fork);
    pthread_mutex_lock(&lock);
    bool granted = is_free(bytes); /* asked once: what waits changes without the lock */
    while (may_wait && !granted) {
        pthread_cond_wait(&ended, &lock);
        granted = is_free(bytes);
    }
    if (granted) {
        reserved += bytes;
        running++;
    }
    pthread_mutex_unlock(&lock);
    return granted;
}

void zb__work_begin(uint64_t bytes) {
    reserve(bytes, true);
}

bool zb__work_try(uint64_t bytes) {
    return reserve(bytes, false);
}

void zb__work_end(uint64_t bytes, bool whole) {
    pthread_mutex_lock(&lock);
    reserved -= bytes;
    running -= whole;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}

uint64_t zb__work_bytes(void) {
    pthread_mutex_lock(&lock);
    uint64_t bytes = reserved;
    pthread_mutex_unlock(&lock);
    return bytes;
}
