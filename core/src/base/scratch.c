/* SPDX-License-Identifier: MIT */
/*
 * Idle scratches wait in one list, last used first, so that a thread usually gets the one whose
 * pages are still warm. At most one exists per task that ever ran at the same time.
 */
#include "base/scratch.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/fork.h"
#include "base/pages.h"
#include "zarrbridge/error.h"

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static zb__scratch *idle;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void guard_fork(void) {
    static zb__fork_guard guard = {.lock = &idle_lock};
    zb__fork_guard_add(&guard);
}

enum zb_code zb__buffer_reserve(zb__buffer *buffer, size_t size, zb_error *err) {
    if (size <= buffer->capacity)
        return ZB_OK;
    size_t capacity;
    void *data = zb__pages_alloc(size, &capacity);
    if (!data)
        return zb_fail(err, ZB_ENOMEM, "no memory for a buffer of %zu bytes", size);
    free(buffer->data);
    *buffer = (zb__buffer){.data = data, .capacity = capacity};
    return ZB_OK;
}

void zb__buffer_free(zb__buffer *buffer) {
    free(buffer->data);
    *buffer = (zb__buffer){0};
}

zb__scratch *zb__scratch_take(void) {
    pthread_once(&fork_once, guard_fork);
    pthread_mutex_lock(&idle_lock);
    zb__scratch *scratch = idle;
    if (scratch)
        idle = scratch->next;
    pthread_mutex_unlock(&idle_lock);
    return scratch ? scratch : calloc(1, sizeof *scratch);
}

void zb__scratch_put(zb__scratch *scratch) {
    pthread_mutex_lock(&idle_lock);
    scratch->next = idle;
    idle = scratch;
    pthread_mutex_unlock(&idle_lock);
}

static void free_scratch(zb__scratch *scratch) {
    zb__buffer_free(&scratch->encoded);
    zb__buffer_free(&scratch->decoded);
    zb__buffer_free(&scratch->stage[0]);
    zb__buffer_free(&scratch->stage[1]);
    zb__buffer_free(&scratch->block);
    zb__buffer_free(&scratch->filtered);
    ZSTD_freeDCtx(scratch->zstd);
    ZSTD_freeCCtx(scratch->zstd_encoder);
    libdeflate_free_decompressor(scratch->deflate);
    for (int level = 0; level < ZB__DEFLATE_LEVELS; level++)
        libdeflate_free_compressor(scratch->deflate_encoders[level]);
    free(scratch);
}

void zb__scratch_clear(void) {
    pthread_mutex_lock(&idle_lock);
    zb__scratch *list = idle;
    idle = NULL;
    pthread_mutex_unlock(&idle_lock);
    while (list) {
        zb__scratch *next = list->next;
        free_scratch(list);
        list = next;
    }
}
