/* SPDX-License-Identifier: MIT */
#include "support/later.h"

#include <pthread.h>

#include "util/clock.h"

typedef struct pending {
    zb_fetch *fetch;
    zb_fetch_fn done;
    void *context;
    int64_t due; /* CLOCK_MONOTONIC, nanoseconds */
} pending;

typedef struct later {
    zb_store base;
    zb_store *inner; /* one reference */
    later_options options;
    pthread_t thread;
    pthread_mutex_t lock; /* guards all from here */
    pthread_cond_t changed;
    pending *waiting;
    size_t count, capacity;
    uint64_t bytes;  /* asked for and not answered */
    void *answering; /* the context of the answer that is being given, or NULL */
    bool ends;
    uint64_t fail_in, hook_in, hook_every;
    enum zb_code fail_code;
    void (*hook)(void *context);
    void *hook_context;
    check_random random;
    later_counts counts;
} later;

typedef struct later_object {
    zb_object base;
    zb_object *inner;
    char *key;
    zb_validator opened;
} later_object;

/* ---- Answers ---- */

static enum zb_code open_object(later *l, const char *key, zb_object **out, zb_object_info *info,
                                zb_error *err) {
    later_object *object = calloc(1, sizeof *object);
    enum zb_code code = zb_object_open(l->inner, key, &object->inner, info, err);
    if (code) {
        free(object);
        return code;
    }
    object->base.store = &l->base;
    object->key = strdup(key);
    object->opened = info->validator;
    info->validator.valid = info->validator.valid && !l->options.is_unversioned;
    *out = &object->base;
    return ZB_OK;
}

static enum zb_code read_whole(const later_object *object, zb_fetch *fetch, uint64_t size) {
    if (size > fetch->most)
        return zb_fail(&fetch->error, ZB_ELIMIT, "the object is too large");
    free(fetch->range.buffer);
    fetch->range = (zb_range){.length = (size_t)size, .buffer = malloc((size_t)size + 1)};
    enum zb_code code = zb_object_read(object->inner, &fetch->range, 1, &fetch->error);
    fetch->range.length = ZB_WHOLE;
    return code;
}

/* The version that was opened, or a conflict: as If-Match does. */
static enum zb_code answer(later *l, zb_fetch *fetch) {
    later_object *object = (later_object *)fetch->object;
    zb_object_info now = {.size = 0};
    enum zb_code code = ZB_OK;
    if (!object) {
        code = open_object(l, fetch->key, &fetch->object, &fetch->info, &fetch->error);
        object = (later_object *)fetch->object;
        now.size = fetch->info.size;
    } else if (zb_store_stat(l->inner, object->key, &now, NULL) != ZB_OK ||
               memcmp(now.validator.word, object->opened.word, sizeof now.validator.word) != 0) {
        code = zb_fail(&fetch->error, ZB_ECONFLICT, "the object is another one by now");
    }
    if (code)
        return code;
    return fetch->range.length == ZB_WHOLE
               ? read_whole(object, fetch, now.size)
               : zb_object_read(object->inner, &fetch->range, 1, &fetch->error);
}

/* Called with the lock. */
static void count_answer(later *l, const zb_fetch *fetch) {
    l->counts.bytes += fetch->range.got;
    if (fetch->range.got > l->counts.longest)
        l->counts.longest = fetch->range.got;
}

/* Gives one answer; called with the lock, which it lets go meanwhile. */
static void give(later *l, pending p) {
    bool fails = l->fail_in > 0 && --l->fail_in == 0;
    bool hooks = l->hook_in > 0 && --l->hook_in == 0;
    enum zb_code fail_code = l->fail_code;
    if (hooks)
        l->hook_in = l->hook_every;
    l->answering = p.context;
    pthread_mutex_unlock(&l->lock);
    if (hooks)
        l->hook(l->hook_context);
    p.fetch->code =
        fails ? zb_fail(&p.fetch->error, fail_code, "injected fault") : answer(l, p.fetch);
    uint64_t asked = p.fetch->range.length == ZB_WHOLE ? 0 : p.fetch->range.length;
    pthread_mutex_lock(&l->lock);
    l->bytes -= asked;
    count_answer(l, p.fetch);
    pthread_mutex_unlock(&l->lock);
    p.done(p.context, p.fetch);
    pthread_mutex_lock(&l->lock);
    l->answering = NULL;
    pthread_cond_broadcast(&l->changed);
}

/* The next request whose time has come, or its count. */
static size_t next_due(later *l) {
    int64_t now = zb__now();
    size_t due = 0;
    while (due < l->count && l->waiting[due].due <= now)
        due++;
    if (due == 0)
        return l->count;
    return l->options.shuffles ? (size_t)check_random_in(&l->random, 0, due - 1) : 0;
}

static void wait_a_little(later *l) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t ns = until.tv_nsec + (int64_t)l->options.microseconds * 1000 / 8 + 20000;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(&l->changed, &l->lock, &until);
}

static void *thread_main(void *context) {
    later *l = context;
    pthread_mutex_lock(&l->lock);
    while (!l->ends) {
        size_t i = next_due(l);
        if (l->count == 0) {
            pthread_cond_wait(&l->changed, &l->lock);
        } else if (i == l->count) {
            wait_a_little(l);
        } else {
            pending p = l->waiting[i];
            memmove(&l->waiting[i], &l->waiting[i + 1], (l->count - i - 1) * sizeof p);
            l->count--;
            give(l, p);
        }
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- The store ---- */

static enum zb_code later_submit(zb_store *store, zb_fetch *list, zb_fetch_fn done, void *context,
                                 zb_error *err) {
    (void)err;
    later *l = (later *)store;
    pthread_mutex_lock(&l->lock);
    for (zb_fetch *fetch = list, *next; fetch; fetch = next) {
        next = fetch->next;
        if (l->count == l->capacity) {
            l->capacity = l->capacity ? 2 * l->capacity : 16;
            l->waiting = realloc(l->waiting, l->capacity * sizeof *l->waiting);
        }
        l->waiting[l->count++] =
            (pending){.fetch = fetch,
                      .done = done,
                      .context = context,
                      .due = zb__now() + (int64_t)l->options.microseconds * 1000};
        l->counts.requests++;
        l->counts.opens += fetch->object == NULL;
        l->bytes += fetch->range.length == ZB_WHOLE ? 0 : fetch->range.length;
        if (l->count > l->counts.most_under_way)
            l->counts.most_under_way = l->count;
        if (l->bytes > l->counts.most_bytes)
            l->counts.most_bytes = l->bytes;
    }
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    return ZB_OK;
}

static void later_cancel(zb_store *store, void *context) {
    later *l = (later *)store;
    pthread_mutex_lock(&l->lock);
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (l->waiting[i].context != context)
            l->waiting[kept++] = l->waiting[i];
    }
    l->count = kept;
    while (l->answering == context)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

static void count_call(zb_store *store) {
    later *l = (later *)store;
    pthread_mutex_lock(&l->lock);
    l->counts.calls++;
    pthread_mutex_unlock(&l->lock);
}

static enum zb_code later_open(zb_store *store, const zb_open *open, zb_object **out,
                               zb_object_info *info, zb_error *err) {
    count_call(store);
    return open_object((later *)store, open->key, out, info, err);
}

static enum zb_code later_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err) {
    count_call(object->store);
    return zb_object_read(((later_object *)object)->inner, ranges, count, err);
}

static void later_close(zb_object *object) {
    zb_object_close(((later_object *)object)->inner);
    free(((later_object *)object)->key);
    free(object);
}

static enum zb_code later_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    if (probe->asks >= ZB_ASK_HOLDER)
        return ZB_EUNSUPPORTED;
    count_call(store);
    return zb_store_probe(((later *)store)->inner, probe, err);
}

static enum zb_code later_list(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                               zb_error *err) {
    if (list->is_recursive)
        return ZB_EUNSUPPORTED;
    count_call(store);
    return zb_store_list_as(((later *)store)->inner, list, fn, context, err);
}

static enum zb_code later_put(zb_store *store, const zb_put *put, zb_error *err) {
    return zb_store_put_as(((later *)store)->inner, put, err);
}

static void later_destroy(zb_store *store) {
    later *l = (later *)store;
    pthread_mutex_lock(&l->lock);
    l->ends = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->changed);
    free(l->waiting);
    zb_store_release(l->inner);
    free(l);
}

static const zb_store_ops later_ops = {
    .version = ZB_STORE_OPS_VERSION,
    .name = "later",
    .open = later_open,
    .read = later_read,
    .close = later_close,
    .probe = later_probe,
    .list = later_list,
    .submit = later_submit,
    .cancel = later_cancel,
    .destroy = later_destroy,
    .put = later_put,
};

zb_store *later_new(zb_store *inner, later_options options) {
    later *l = calloc(1, sizeof *l);
    zb_error err;
    const zb_store_hints hints = {.gap = options.gap ? options.gap : 4096,
                                  .max_request = options.max_request ? options.max_request
                                                                     : (uint64_t)16 << 20,
                                  .can_list = inner->hints.can_list,
                                  .in_flight = options.in_flight,
                                  .part = options.part,
                                  .window = options.window,
                                  .fresh = options.fresh};
    ASSERT_OK(zb_store_init(&l->base, &later_ops, hints, inner->label, &err), err);
    l->inner = zb_store_retain(inner);
    l->options = options;
    l->random = (check_random){.state = 11};
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    assert_int_equal(pthread_create(&l->thread, NULL, thread_main, l), 0);
    return &l->base;
}

later_counts later_take(zb_store *store) {
    later *l = (later *)store;
    pthread_mutex_lock(&l->lock);
    later_counts counts = l->counts;
    l->counts = (later_counts){0};
    pthread_mutex_unlock(&l->lock);
    return counts;
}

void later_fail(zb_store *store, uint64_t nth, enum zb_code code) {
    later *l = (later *)store;
    pthread_mutex_lock(&l->lock);
    l->fail_in = nth;
    l->fail_code = code;
    pthread_mutex_unlock(&l->lock);
}

void later_hook(zb_store *store, uint64_t nth, uint64_t every, void (*fn)(void *context),
                void *context) {
    later *l = (later *)store;
    pthread_mutex_lock(&l->lock);
    l->hook_in = nth;
    l->hook_every = every;
    l->hook = fn;
    l->hook_context = context;
    pthread_mutex_unlock(&l->lock);
}

zb_hierarchy *later_over(zb_hierarchy *inner, later_options options) {
    zb_hierarchy *out;
    zb_error err;
    ASSERT_OK(zb_hierarchy_over(later_new(zb_hierarchy_store(inner), options), &out, &err), err);
    return out;
}
