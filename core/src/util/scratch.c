/* SPDX-License-Identifier: MIT */
/*
 * Idle scratches wait in one list, last used first, so that a thread usually gets the one whose
 * pages are still warm. At most one exists per task that ever ran at the same time.
 */
#include "util/scratch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/fork.h"
#include "util/pages.h"
#include "zarrbridge/error.h"

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static zb__scratch *idle;
static unsigned slot_count; /* numbers given out, from 1 on */
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

/* ---- Contexts ----------------------------------------------------------------------------- */

/* The slot's number, the same for all scratches. No slot has the number 0. */
static unsigned number_of(zb__scratch_slot *slot) {
    pthread_once(&fork_once, guard_fork);
    pthread_mutex_lock(&idle_lock);
    unsigned number = atomic_load(&slot->number);
    if (!number) {
        number = ++slot_count;
        atomic_store(&slot->number, number);
    }
    pthread_mutex_unlock(&idle_lock);
    return number;
}

enum zb_code zb__scratch_make(zb__scratch *scratch, zb__scratch_slot *slot, void **context,
                              zb_error *err) {
    unsigned number = number_of(slot), old = scratch->context_count;
    if (number >= old) {
        zb__scratch_context *grown =
            realloc(scratch->contexts, (number + 1) * sizeof *scratch->contexts);
        if (!grown)
            return zb_fail(err, ZB_ENOMEM, "no memory for a codec's context");
        memset(grown + old, 0, (number + 1 - old) * sizeof *grown);
        scratch->contexts = grown;
        scratch->context_count = number + 1;
    }
    zb__scratch_context *own = &scratch->contexts[number];
    if (!own->context) {
        enum zb_code code = slot->create(&own->context, err);
        if (code)
            return code;
        own->free = slot->free;
    }
    *context = own->context;
    return ZB_OK;
}

static void free_scratch(zb__scratch *scratch) {
    zb__buffer_free(&scratch->encoded);
    zb__buffer_free(&scratch->decoded);
    zb__buffer_free(&scratch->stage[0]);
    zb__buffer_free(&scratch->stage[1]);
    zb__buffer_free(&scratch->work[0]);
    zb__buffer_free(&scratch->work[1]);
    zb__buffer_free(&scratch->block);
    zb__buffer_free(&scratch->filtered);
    for (unsigned i = 0; i < scratch->context_count; i++) {
        if (scratch->contexts[i].context)
            scratch->contexts[i].free(scratch->contexts[i].context);
    }
    free(scratch->contexts);
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
