/* SPDX-License-Identifier: MIT */
#include "write/key_senders.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "write/senders.h"

struct zb__key_senders {
    zb__key_fn fn;
    void *context;
    zb__senders *senders;
    pthread_mutex_t lock; /* guards all below */
    char **key;           /* by item; NULL when a thread has taken it */
    size_t count, capacity;
};

static char *take(zb__key_senders *s, size_t item) {
    pthread_mutex_lock(&s->lock);
    char *key = s->key[item];
    s->key[item] = NULL;
    pthread_mutex_unlock(&s->lock);
    return key;
}

static enum zb_code send(void *context, size_t item, zb__scratch *unused, zb_error *err) {
    zb__key_senders *s = context;
    (void)unused;
    char *key = take(s, item);
    enum zb_code code = s->fn(s->context, key, err);
    free(key);
    return code;
}

zb__key_senders *zb__key_senders_open(zb__key_fn fn, void *context, size_t count) {
    zb__key_senders *s = count > 0 ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    s->fn = fn;
    s->context = context;
    s->senders = zb__senders_open(send, s, count);
    if (!s->senders) {
        free(s);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

/* *item: its number. */
static bool add(zb__key_senders *s, const char *key, size_t *item) {
    char *copy = strdup(key);
    pthread_mutex_lock(&s->lock);
    const bool has_room = copy && zb__list_grow(&s->key, s->count, &s->capacity, sizeof *s->key);
    if (has_room) {
        *item = s->count;
        s->key[s->count++] = copy;
    }
    pthread_mutex_unlock(&s->lock);
    if (!has_room)
        free(copy);
    return has_room;
}

enum zb_code zb__key_senders_give(zb__key_senders *senders, const char *key, zb_error *err) {
    size_t item;
    return add(senders, key, &item) ? zb__senders_give(senders->senders, item, err)
                                    : zb_fail(err, ZB_ENOMEM, "out of memory for a key");
}

enum zb_code zb__key_senders_close(zb__key_senders *senders, zb_error *err) {
    if (!senders)
        return ZB_OK;
    const enum zb_code code = zb__senders_close(senders->senders, err);
    for (size_t i = 0; i < senders->count; i++)
        free(senders->key[i]); /* of those that nobody has taken after a failure */
    free(senders->key);
    pthread_mutex_destroy(&senders->lock);
    free(senders);
    return code;
}
