/* SPDX-License-Identifier: MIT */
/*
 * Stores around a store, for tests: count the calls, fail one call, or wait before each as a
 * distant server would make one wait. They differ only in their work before a call is passed on.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "support/wrappers.h"
#include "zarrbridge/sys/store.h"

enum call {
    CALL_OPEN,
    CALL_READ,
    CALL_STAT,
    CALL_LIST,
    CALL_PUT,
    CALL_ERASE,
    CALL_FLUSH,
    CALL_LOCK,
    CALL_CHANGE,
    CALL_RENAME,
    CALL_COPY,
    CALL_SWEEP,
    CALL_COUNT
};

typedef struct wrapper {
    zb_store base;
    zb_store_ops ops;                                      /* what inner can do as well */
    zb_store *inner;                                       /* one reference */
    atomic_uint_fast64_t calls[CALL_COUNT], ranges, bytes; /* count */
    atomic_uint_fast64_t put_bytes, change_bytes;
    atomic_uint_fast64_t countdown; /* fault: calls until the failing one, 0 = off */
    atomic_bool for_good;           /* fault: all that follow fail, too */
    unsigned microseconds;          /* delay */
} wrapper;

typedef struct wrapped_object {
    zb_object base;
    zb_object *inner;
} wrapped_object;

/* The work of a wrapper before each call; an error stops the call. */
/* Counts down to the call that fails. One that fails for good stays the last one, whatever other
   threads count meanwhile. */
static bool is_struck(wrapper *w) {
    uint64_t left = atomic_load(&w->countdown);
    const uint64_t last = atomic_load(&w->for_good) ? 1 : 0;
    while (left > last && !atomic_compare_exchange_weak(&w->countdown, &left, left - 1))
        ;
    return left == 1;
}

static enum zb_code before(wrapper *w, enum call call, zb_error *err) {
    atomic_fetch_add(&w->calls[call], 1);
    if (w->microseconds) {
        struct timespec pause = {.tv_sec = w->microseconds / 1000000,
                                 .tv_nsec = (long)(w->microseconds % 1000000) * 1000};
        nanosleep(&pause, NULL);
    }
    return is_struck(w) ? zb_fail_errno(err, EIO, "injected fault") : ZB_OK;
}

static enum zb_code wrapper_open(zb_store *store, const zb_open *open, zb_object **out,
                                 zb_object_info *info, zb_error *err) {
    wrapper *w = (wrapper *)store;
    enum zb_code code = before(w, CALL_OPEN, err);
    if (code != ZB_OK)
        return code;
    wrapped_object *object = malloc(sizeof *object);
    if (!object)
        return zb_fail(err, ZB_ENOMEM, "no memory for an object handle");
    object->base.store = store;
    code = zb_object_open_as(w->inner, open, &object->inner, info, err);
    if (code != ZB_OK) {
        free(object);
        return code;
    }
    *out = &object->base;
    return ZB_OK;
}

static enum zb_code wrapper_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err) {
    wrapper *w = (wrapper *)object->store;
    enum zb_code code = before(w, CALL_READ, err);
    if (code == ZB_OK)
        code = zb_object_read(((wrapped_object *)object)->inner, ranges, count, err);
    if (code != ZB_OK)
        return code;
    atomic_fetch_add(&w->ranges, count);
    for (size_t i = 0; i < count; i++)
        atomic_fetch_add(&w->bytes, ranges[i].got);
    return ZB_OK;
}

static void wrapper_close(zb_object *object) {
    zb_object_close(((wrapped_object *)object)->inner);
    free(object);
}

/* Questions for objects count. */
static enum zb_code wrapper_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    wrapper *w = (wrapper *)store;
    enum zb_code code = probe->asks < ZB_ASK_HOLDER ? before(w, CALL_STAT, err) : ZB_OK;
    return code ? code : zb_store_probe(w->inner, probe, err);
}

static int stop(void *context, const zb_list_entry *entry) {
    (void)context;
    (void)entry;
    return 1;
}

/* A list that the store does not make is no call. */
static enum zb_code wrapper_list(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                                 zb_error *err) {
    wrapper *w = (wrapper *)store;
    if (list->is_recursive && zb_store_list_as(w->inner, list, stop, NULL, NULL) == ZB_EUNSUPPORTED)
        return ZB_EUNSUPPORTED;
    enum zb_code code = before(w, CALL_LIST, err);
    return code ? code : zb_store_list_as(w->inner, list, fn, context, err);
}

static enum zb_code wrapper_put(zb_store *store, const zb_put *put, zb_error *err) {
    wrapper *w = (wrapper *)store;
    enum zb_code code = before(w, CALL_PUT, err);
    if (code == ZB_OK)
        code = zb_store_put_as(w->inner, put, err);
    for (size_t i = 0; i < put->count && code == ZB_OK; i++)
        atomic_fetch_add(&w->put_bytes, put->parts[i].size);
    return code;
}

static enum zb_code wrapper_erase(zb_store *store, const zb_erase *erase, zb_error *err) {
    wrapper *w = (wrapper *)store;
    enum zb_code code = before(w, CALL_ERASE, err);
    return code ? code : zb_store_erase_as(w->inner, erase, err);
}

static enum zb_code wrapper_erase_chosen(zb_store *store, const zb_erase_chosen *erase,
                                         zb_error *err) {
    wrapper *w = (wrapper *)store;
    enum zb_code code = before(w, CALL_ERASE, err);
    return code ? code : zb_store_erase_chosen(w->inner, erase, err);
}

static enum zb_code wrapper_flush(zb_store *store, zb_batch *batch, bool discards, zb_error *err) {
    wrapper *w = (wrapper *)store;
    const zb_store_ops *ops = w->inner->ops;
    if (discards)
        return ops->flush ? ops->flush(w->inner, batch, true, err) : ZB_OK;
    enum zb_code code = before(w, CALL_FLUSH, err);
    return code ? code : zb_store_flush_batch(w->inner, batch, err);
}

/* The lock is the inner store's own: unlocking it does not come back here. */
static enum zb_code wrapper_lock(zb_store *store, const zb_locking *locking, zb_lock **out,
                                 zb_error *err) {
    wrapper *w = (wrapper *)store;
    enum zb_code code = before(w, CALL_LOCK, err);
    return code ? code : zb_store_lock_as(w->inner, locking, out, err);
}

static enum zb_code wrapper_change(zb_object *live, const zb_change *change, zb_error *err) {
    wrapper *w = (wrapper *)live->store;
    enum zb_code code = before(w, CALL_CHANGE, err);
    if (code == ZB_OK)
        code = zb_object_change(((wrapped_object *)live)->inner, change, err);
    for (size_t i = 0; i < change->count && code == ZB_OK; i++)
        atomic_fetch_add(&w->change_bytes, change->parts[i].size);
    return code;
}

static enum zb_code wrapper_rename(zb_store *store, const char *from, const char *to,
                                   zb_error *err) {
    wrapper *w = (wrapper *)store;
    enum zb_code code = before(w, CALL_RENAME, err);
    return code ? code : zb_store_rename(w->inner, from, to, err);
}

/* The source may be a wrapper, too. */
static enum zb_code wrapper_copy(zb_store *store, const char *key, zb_store *from,
                                 const char *from_key, zb_error *err) {
    wrapper *w = (wrapper *)store;
    const bool is_wrapped = from->ops->copy == wrapper_copy;
    enum zb_code code = before(w, CALL_COPY, err);
    return code ? code
                : zb_store_copy(w->inner, key, is_wrapped ? ((wrapper *)from)->inner : from,
                                from_key, err);
}

static enum zb_code wrapper_sweep(zb_store *store, const char *prefix, enum zb_sweep what,
                                  zb_list_fn fn, void *context, zb_error *err) {
    wrapper *w = (wrapper *)store;
    enum zb_code code = before(w, CALL_SWEEP, err);
    return code ? code : zb_store_sweep(w->inner, prefix, what, fn, context, err);
}

static void wrapper_destroy(zb_store *store) {
    zb_store_release(((wrapper *)store)->inner);
    free(store);
}

static const zb_store_ops wrapper_ops = {
    .version = ZB_STORE_OPS_VERSION,
    .name = "wrapper",
    .open = wrapper_open,
    .read = wrapper_read,
    .close = wrapper_close,
    .probe = wrapper_probe,
    .list = wrapper_list,
    .destroy = wrapper_destroy,
    .put = wrapper_put,
    .erase = wrapper_erase,
    .flush = wrapper_flush,
    .lock = wrapper_lock,
    .change = wrapper_change,
    .rename = wrapper_rename,
    .copy = wrapper_copy,
    .sweep = wrapper_sweep,
};

/* A distant store: threads wait for it, and its reader goes on. */
static enum zb_code delayed_submit(zb_store *store, zb_fetch *list, zb_fetch_fn done, void *context,
                                   zb_error *err) {
    return zb_store_submit_by_threads(store, list, done, context, NULL, err);
}

static enum zb_code new_wrapper(zb_store *inner, wrapper **out, zb_error *err) {
    wrapper *w = calloc(1, sizeof *w);
    if (!w)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store");
    enum zb_code code = zb_store_init(&w->base, &wrapper_ops, inner->hints, inner->label, err);
    if (code != ZB_OK) {
        free(w);
        return code;
    }
    w->base.ops = &w->ops;
    w->ops = wrapper_ops;
    w->ops.erase_chosen = inner->ops->erase_chosen ? wrapper_erase_chosen : NULL;
    w->ops.rename = inner->ops->rename ? wrapper_rename : NULL;
    w->ops.change = inner->ops->change ? wrapper_change : NULL;
    w->inner = zb_store_retain(inner);
    *out = w;
    return ZB_OK;
}

enum zb_code zb_store_new_count(zb_store *inner, zb_store **out, zb_error *err) {
    wrapper *w = NULL;
    enum zb_code code = new_wrapper(inner, &w, err);
    if (code == ZB_OK)
        *out = &w->base;
    return code;
}

zb_store_counts zb_store_count_take(zb_store *count) {
    wrapper *w = (wrapper *)count;
    return (zb_store_counts){.opens = atomic_exchange(&w->calls[CALL_OPEN], 0),
                             .reads = atomic_exchange(&w->calls[CALL_READ], 0),
                             .ranges = atomic_exchange(&w->ranges, 0),
                             .bytes = atomic_exchange(&w->bytes, 0),
                             .stats = atomic_exchange(&w->calls[CALL_STAT], 0),
                             .lists = atomic_exchange(&w->calls[CALL_LIST], 0),
                             .puts = atomic_exchange(&w->calls[CALL_PUT], 0),
                             .put_bytes = atomic_exchange(&w->put_bytes, 0),
                             .erases = atomic_exchange(&w->calls[CALL_ERASE], 0),
                             .flushes = atomic_exchange(&w->calls[CALL_FLUSH], 0),
                             .locks = atomic_exchange(&w->calls[CALL_LOCK], 0),
                             .changes = atomic_exchange(&w->calls[CALL_CHANGE], 0),
                             .change_bytes = atomic_exchange(&w->change_bytes, 0),
                             .renames = atomic_exchange(&w->calls[CALL_RENAME], 0),
                             .copies = atomic_exchange(&w->calls[CALL_COPY], 0)};
}

enum zb_code zb_store_new_fault(zb_store *inner, zb_store **out, zb_error *err) {
    return zb_store_new_count(inner, out, err); /* one wrapper does all; see before() */
}

void zb_store_fault_set(zb_store *fault, uint64_t nth) {
    atomic_store(&((wrapper *)fault)->for_good, false);
    atomic_store(&((wrapper *)fault)->countdown, nth);
}

bool zb_store_fault_is_struck(zb_store *fault) {
    return atomic_load(&((wrapper *)fault)->countdown) == 0;
}

void zb_store_fault_from(zb_store *fault, uint64_t nth) {
    atomic_store(&((wrapper *)fault)->for_good, true);
    atomic_store(&((wrapper *)fault)->countdown, nth);
}

enum zb_code zb_store_new_delay(zb_store *inner, unsigned microseconds, zb_store **out,
                                zb_error *err) {
    wrapper *w = NULL;
    enum zb_code code = new_wrapper(inner, &w, err);
    if (code == ZB_OK) {
        w->microseconds = microseconds;
        w->base.hints.is_local = w->base.hints.is_watched = false;
        w->ops.rename = NULL;
        w->ops.change = NULL;
        w->ops.submit = delayed_submit;
        w->ops.cancel = zb_store_cancel_by_threads;
        *out = &w->base;
    }
    return code;
}
