/* SPDX-License-Identifier: MIT */
/*
 * Forms, made by shape. In the regular case an array asks once and keeps its form. Where chunks
 * have several shapes, the chain remembers a few of their forms; one that is forgotten lives on
 * until its last holder gives it back.
 */
#include "codec/form.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/fork.h"
#include "zarrbridge/limits.h"

#define KEPT 32

typedef struct zb__form_cache {
    zb__form *forms[KEPT]; /* last used first; each holds a reference */
    size_t count;
} zb__form_cache;

/* One mutex for all caches: they are searched for chunks of irregular shape alone. No other mutex
   is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void guard_fork(void) {
    static zb__fork_guard guard = {.lock = &lock};
    zb__fork_guard_add(&guard);
}

zb__form_cache *zb__form_cache_new(void) {
    return calloc(1, sizeof(zb__form_cache));
}

void zb__form_cache_free(zb__form_cache *cache) {
    for (size_t i = 0; cache && i < cache->count; i++)
        zb__form_release(cache->forms[i]);
    free(cache);
}

void zb__form_release(const zb__form *held) {
    zb__form *form = (zb__form *)held;
    if (!form || atomic_fetch_sub(&form->references, 1) > 1)
        return;
    if (form->shard) {
        zb__form_release(form->shard->index);
        zb__form_release(form->shard->inner);
        for (size_t i = 0; form->shard->ends && i < (size_t)1 << form->shard->cut_count; i++)
            zb__form_release(form->shard->ends[i]);
        free(form->shard->ends);
        free(form->shard);
    }
    free(form->plain);
    free(form);
}

/* ---- Making forms ------------------------------------------------------------------------- */

/* The bytes of the elements as they are handed to the chain. */
static enum zb_code measure(zb__form *form, zb_error *err) {
    const zb__chain *chain = form->chain;
    if (!zb__product_u64(form->stored_shape, chain->ndim, chain->dtype.size, &form->decoded_size))
        return zb_fail(
            err, ZB_ELIMIT,
            "chunk_shape: a chunk has 2^64 bytes or more, more than the limit chunk_bytes "
            "(%" PRIu64 ")",
            zb_limits_get()->chunk_bytes);
    return ZB_OK;
}

/* The form behind the filters. */
static enum zb_code filter(zb__form *form, zb_error *err) {
    const zb__chain *chain = form->chain;
    if (!chain->plain)
        return ZB_OK;
    zb__form *plain = form->plain = calloc(1, sizeof *plain);
    if (!plain)
        return zb_fail(err, ZB_ENOMEM, "no memory for the form of a chunk");
    plain->chain = chain->plain;
    enum zb_code code =
        zb__filters_shape(&chain->filters, form->stored_shape, plain->stored_shape, err);
    return code ? zb_error_prefix(err, code, "codecs") : measure(plain, err);
}

static enum zb_code prepare(zb__form *form, zb_error *err) {
    const zb__codec *serial = &form->chain->serial;
    if (!serial->ops->serial.prepare)
        return ZB_OK;
    enum zb_code code =
        serial->ops->serial.prepare(serial->state, form->plain ? form->plain : form, err);
    return code ? zb_error_prefix(err, code, "codecs[%zu]: %s", form->chain->serial_at,
                                  serial->ops->name)
                : ZB_OK;
}

/* A leaf is decoded as a whole. */
static enum zb_code check_leaf(const zb__form *form, zb_error *err) {
    uint64_t limit = zb_limits_get()->chunk_bytes;
    if (!form->shard && !form->chain->is_index &&
        (form->decoded_size > limit || form->decoded_size > SIZE_MAX))
        return zb_fail(err, ZB_ELIMIT,
                       "chunk_shape: a chunk has %" PRIu64
                       " bytes, more than the limit chunk_bytes (%" PRIu64 ")",
                       form->decoded_size, limit);
    return ZB_OK;
}

static void set_bounds(zb__form *form) {
    const zb__chain *chain = form->chain;
    uint64_t bound = form->decoded_bound =
        chain->serial.ops->serial.decode_bound(zb__form_serial(form));
    if (!zb__chain_is_fixed(chain))
        bound = zb__bound_sum(zb__bound_product(bound, 2), ZB__CODEC_SLACK);
    for (size_t i = 0; i < chain->codec_count && zb__chain_is_fixed(chain); i++)
        bound = zb__bound_sum(bound, (uint64_t)chain->codecs[i].ops->bytes.fixed_overhead);
    form->encoded_bound = bound;
}

static enum zb_code make(const zb__chain *chain, const uint64_t *shape, zb__form **out,
                         zb_error *err) {
    zb__form *form = calloc(1, sizeof *form);
    if (!form)
        return zb_fail(err, ZB_ENOMEM, "no memory for the form of a chunk");
    form->chain = chain;
    atomic_init(&form->references, 1);
    for (uint32_t i = 0; i < chain->ndim; i++)
        form->stored_shape[i] = shape[chain->axis[i]];
    enum zb_code code = measure(form, err);
    if (!code && chain->plain) /* filters compute sizes that are known to fit */
        code = check_leaf(form, err);
    if (!code)
        code = filter(form, err);
    if (!code)
        code = prepare(form, err);
    if (!code)
        code = check_leaf(form, err);
    if (code) {
        zb__form_release(form);
        return code;
    }
    set_bounds(form);
    *out = form;
    return ZB_OK;
}

/* ---- The cache ---------------------------------------------------------------------------- */

static bool has_shape(const zb__form *form, const uint64_t *shape) {
    const zb__chain *chain = form->chain;
    bool same = true;
    for (uint32_t i = 0; i < chain->ndim && same; i++)
        same = form->stored_shape[i] == shape[chain->axis[i]];
    return same;
}

/* Under the lock: the form of that shape, with a reference more, moved to the front; or NULL. */
static zb__form *find(zb__form_cache *cache, const uint64_t *shape) {
    size_t i = 0;
    while (i < cache->count && !has_shape(cache->forms[i], shape))
        i++;
    if (i == cache->count)
        return NULL;
    zb__form *form = cache->forms[i];
    memmove(cache->forms + 1, cache->forms, i * sizeof(zb__form *));
    cache->forms[0] = form;
    atomic_fetch_add(&form->references, 1);
    return form;
}

/* Puts a new form in front, unless another thread has put an equal one. Returns the one to use;
 *unused gets the form to release after the lock. */
static zb__form *keep(zb__form_cache *cache, const uint64_t *shape, zb__form *made,
                      zb__form **unused) {
    zb__form *there = find(cache, shape);
    *unused = there ? made : cache->count == KEPT ? cache->forms[KEPT - 1] : NULL;
    if (there)
        return there;
    cache->count += cache->count < KEPT ? 1 : 0;
    memmove(cache->forms + 1, cache->forms, (cache->count - 1) * sizeof(zb__form *));
    cache->forms[0] = made;
    atomic_fetch_add(&made->references, 1);
    return made;
}

enum zb_code zb__chain_form(const zb__chain *chain, const uint64_t *shape, const zb__form **out,
                            zb_error *err) {
    pthread_once(&fork_once, guard_fork);
    pthread_mutex_lock(&lock);
    zb__form *form = find(chain->forms, shape), *unused;
    pthread_mutex_unlock(&lock);
    if (!form) { /* without the lock, since it asks for the forms of inner chunks */
        enum zb_code code = make(chain, shape, &form, err);
        if (code)
            return code;
        pthread_mutex_lock(&lock);
        form = keep(chain->forms, shape, form, &unused);
        pthread_mutex_unlock(&lock);
        zb__form_release(unused);
    }
    *out = form;
    return ZB_OK;
}

/* A writer of the sharding draft would have to guess which form of the index its readers expect. */
const char *zb__form_read_only(const zb__form *form) {
    for (; form; form = form->shard ? form->shard->inner : NULL) {
        const zb__codec *serial = &form->chain->serial;
        const char *(*read_only)(const void *) = serial->ops->serial.read_only;
        const char *reason = read_only ? read_only(serial->state) : NULL;
        if (form->shard && form->shard->is_draft)
            return "the shards are of the draft of March 2023 (there are no index_codecs), which "
                   "is only read; copy the array into a new one";
        if (reason)
            return reason;
    }
    return NULL;
}

enum zb_code zb__form_check_stored(const zb__form *form, uint64_t size, zb_error *err) {
    uint64_t bound = form->encoded_bound;
    bool is_elements = form->chain->serial.ops->serial.is_elements;
    if (is_elements && zb__chain_is_fixed(form->chain) && size != bound)
        return zb_fail(err, ZB_EFORMAT, "it has %" PRIu64 " bytes, expected %" PRIu64, size, bound);
    if (size > bound)
        return zb_fail(err, ZB_ELIMIT,
                       "it has %" PRIu64 " stored bytes, more than the %" PRIu64
                       " that its decoded size allows%s",
                       size, bound, form->shard ? " (at most the limit shard_bytes)" : "");
    return ZB_OK;
}
