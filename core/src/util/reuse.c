/* SPDX-License-Identifier: MIT */
#include "util/reuse.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/fork.h"
#include "util/pages.h"
#include "zarrbridge/limits.h"

/* malloc() keeps smaller ones itself. Bytes. */
#define SMALLEST ((size_t)128 << 10)
#define MOST_KEPT 64

typedef struct kept {
    void *buffer;
    size_t size;
} kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Guarded by the lock: the oldest first. */
static kept all[MOST_KEPT];
static size_t count;
static uint64_t bytes;

static void init(void) {
    static zb__fork_guard guard = {.lock = &lock};
    zb__fork_guard_add(&guard);
}

static uint64_t most_bytes(void) {
    return zb_limits_get()->remote_window_bytes / 16;
}

static void *take_out(size_t i) {
    void *buffer = all[i].buffer;
    bytes -= all[i].size;
    memmove(&all[i], &all[i + 1], (--count - i) * sizeof *all);
    return buffer;
}

/* Of those kept the smallest that is large enough, and not much larger: a short reply is not to
   hold much memory. */
static void *find(size_t size) {
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        if (all[i].size >= size && all[i].size / 2 <= size &&
            (best == count || all[i].size < all[best].size))
            best = i;
    }
    return best < count ? take_out(best) : NULL;
}

void *zb__reuse_take(size_t size) {
    void *buffer = NULL;
    if (size >= SMALLEST) {
        pthread_once(&once, init);
        pthread_mutex_lock(&lock);
        buffer = find(size);
        pthread_mutex_unlock(&lock);
    }
    return buffer ? buffer : zb__pages_alloc(size, NULL);
}

void zb__reuse_give(void *buffer) {
    const size_t size = buffer ? malloc_usable_size(buffer) : 0;
    const uint64_t most = most_bytes();
    if (size < SMALLEST || size > most) {
        free(buffer);
        return;
    }
    void *freed[MOST_KEPT];
    size_t n = 0;
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
    while (count == MOST_KEPT || bytes > most - size)
        freed[n++] = take_out(0);
    all[count++] = (kept){.buffer = buffer, .size = size};
    bytes += size;
    pthread_mutex_unlock(&lock);
    while (n > 0)
        free(freed[--n]);
}

uint64_t zb__reuse_kept(void) {
    pthread_mutex_lock(&lock);
    const uint64_t kept_bytes = bytes;
    pthread_mutex_unlock(&lock);
    return kept_bytes;
}

void zb__reuse_clear(void) {
    pthread_mutex_lock(&lock);
    while (count > 0)
        free(take_out(count - 1));
    pthread_mutex_unlock(&lock);
}
