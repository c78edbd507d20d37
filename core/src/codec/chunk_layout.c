/* SPDX-License-Identifier: MIT */
/*
 * Forms, made by shape. In the regular case an array asks once and keeps its layout. Where chunks
 * have several shapes, the pipeline remembers a few of their layouts; one that is forgotten lives
 * on until its last holder gives it back.
 */
#include "codec/chunk_layout.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/fork.h"
#include "zarrbridge/limits.h"

#define KEPT 32

typedef struct zb__chunk_layout_cache {
    zb__chunk_layout *layouts[KEPT]; /* last used first; each holds a reference */
    size_t count;
} zb__chunk_layout_cache;

/* One mutex for all caches: they are searched for chunks of irregular shape alone. No other mutex
   is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void guard_fork(void) {
    static zb__fork_guard guard = {.lock = &lock};
    zb__fork_guard_add(&guard);
}

zb__chunk_layout_cache *zb__chunk_layout_cache_new(void) {
    return calloc(1, sizeof(zb__chunk_layout_cache));
}

void zb__chunk_layout_cache_free(zb__chunk_layout_cache *cache) {
    for (size_t i = 0; cache && i < cache->count; i++)
        zb__chunk_layout_release(cache->layouts[i]);
    free(cache);
}

void zb__chunk_layout_release(const zb__chunk_layout *held) {
    zb__chunk_layout *layout = (zb__chunk_layout *)held;
    if (!layout || atomic_fetch_sub(&layout->references, 1) > 1)
        return;
    if (layout->shard) {
        zb__chunk_layout_release(layout->shard->index);
        zb__chunk_layout_release(layout->shard->inner);
        for (size_t i = 0; layout->shard->ends && i < (size_t)1 << layout->shard->cut_count; i++)
            zb__chunk_layout_release(layout->shard->ends[i]);
        free(layout->shard->ends);
        free(layout->shard);
    }
    free(layout->plain);
    free(layout);
}

/* ---- Making layouts ------------------------------------------------------------------------- */

/* The bytes of the elements as they are handed to the pipeline. */
static enum zb_code measure(zb__chunk_layout *layout, zb_error *err) {
    const zb__pipeline *pipeline = layout->pipeline;
    if (!zb__product_u64(layout->stored_shape, pipeline->ndim, pipeline->dtype.size,
                         &layout->decoded_size))
        return zb_fail(
            err, ZB_ELIMIT,
            "chunk_shape: a chunk has 2^64 bytes or more, more than the limit chunk_bytes "
            "(%" PRIu64 ")",
            zb_limits_get()->chunk_bytes);
    return ZB_OK;
}

/* The layout behind the filters. */
static enum zb_code filter(zb__chunk_layout *layout, zb_error *err) {
    const zb__pipeline *pipeline = layout->pipeline;
    if (!pipeline->plain)
        return ZB_OK;
    zb__chunk_layout *plain = layout->plain = calloc(1, sizeof *plain);
    if (!plain)
        return zb_fail(err, ZB_ENOMEM, "no memory for the layout of a chunk");
    plain->pipeline = pipeline->plain;
    enum zb_code code =
        zb__filters_shape(&pipeline->filters, layout->stored_shape, plain->stored_shape, err);
    return code ? zb_error_prefix(err, code, "codecs") : measure(plain, err);
}

static enum zb_code prepare(zb__chunk_layout *layout, zb_error *err) {
    const zb__codec *serializer = &layout->pipeline->serializer;
    if (!serializer->ops->serializer.prepare)
        return ZB_OK;
    enum zb_code code = serializer->ops->serializer.prepare(
        serializer->state, layout->plain ? layout->plain : layout, err);
    return code ? zb_error_prefix(err, code, "codecs[%zu]: %s", layout->pipeline->serializer_at,
                                  serializer->ops->name)
                : ZB_OK;
}

/* A leaf is decoded as a whole. */
static enum zb_code check_leaf(const zb__chunk_layout *layout, zb_error *err) {
    uint64_t limit = zb_limits_get()->chunk_bytes;
    if (!layout->shard && !layout->pipeline->is_index &&
        (layout->decoded_size > limit || layout->decoded_size > SIZE_MAX))
        return zb_fail(err, ZB_ELIMIT,
                       "chunk_shape: a chunk has %" PRIu64
                       " bytes, more than the limit chunk_bytes (%" PRIu64 ")",
                       layout->decoded_size, limit);
    return ZB_OK;
}

static void set_bounds(zb__chunk_layout *layout) {
    const zb__pipeline *pipeline = layout->pipeline;
    uint64_t bound = layout->decoded_bound =
        pipeline->serializer.ops->serializer.decode_bound(zb__chunk_layout_serializer(layout));
    if (!zb__pipeline_is_fixed(pipeline))
        bound = zb__bound_sum(zb__bound_product(bound, 2), ZB__CODEC_SLACK);
    for (size_t i = 0; i < pipeline->codec_count && zb__pipeline_is_fixed(pipeline); i++)
        bound = zb__bound_sum(bound, (uint64_t)pipeline->codecs[i].ops->bytes.fixed_overhead);
    layout->encoded_bound = bound;
}

static enum zb_code make(const zb__pipeline *pipeline, const uint64_t *shape,
                         zb__chunk_layout **out, zb_error *err) {
    zb__chunk_layout *layout = calloc(1, sizeof *layout);
    if (!layout)
        return zb_fail(err, ZB_ENOMEM, "no memory for the layout of a chunk");
    layout->pipeline = pipeline;
    atomic_init(&layout->references, 1);
    for (uint32_t i = 0; i < pipeline->ndim; i++)
        layout->stored_shape[i] = shape[pipeline->axis[i]];
    enum zb_code code = measure(layout, err);
    if (!code && pipeline->plain) /* filters compute sizes that are known to fit */
        code = check_leaf(layout, err);
    if (!code)
        code = filter(layout, err);
    if (!code)
        code = prepare(layout, err);
    if (!code)
        code = check_leaf(layout, err);
    if (code) {
        zb__chunk_layout_release(layout);
        return code;
    }
    set_bounds(layout);
    *out = layout;
    return ZB_OK;
}

/* ---- The cache ---------------------------------------------------------------------------- */

static bool has_shape(const zb__chunk_layout *layout, const uint64_t *shape) {
    const zb__pipeline *pipeline = layout->pipeline;
    bool same = true;
    for (uint32_t i = 0; i < pipeline->ndim && same; i++)
        same = layout->stored_shape[i] == shape[pipeline->axis[i]];
    return same;
}

/* Under the lock: the layout of that shape, with a reference more, moved to the front; or NULL. */
static zb__chunk_layout *find(zb__chunk_layout_cache *cache, const uint64_t *shape) {
    size_t i = 0;
    while (i < cache->count && !has_shape(cache->layouts[i], shape))
        i++;
    if (i == cache->count)
        return NULL;
    zb__chunk_layout *layout = cache->layouts[i];
    memmove(cache->layouts + 1, cache->layouts, i * sizeof(zb__chunk_layout *));
    cache->layouts[0] = layout;
    atomic_fetch_add(&layout->references, 1);
    return layout;
}

/* Puts a new layout in front, unless another thread has put an equal one. Returns the one to use;
 *unused gets the layout to release after the lock. */
static zb__chunk_layout *keep(zb__chunk_layout_cache *cache, const uint64_t *shape,
                              zb__chunk_layout *made, zb__chunk_layout **unused) {
    zb__chunk_layout *there = find(cache, shape);
    *unused = there ? made : cache->count == KEPT ? cache->layouts[KEPT - 1] : NULL;
    if (there)
        return there;
    cache->count += cache->count < KEPT ? 1 : 0;
    memmove(cache->layouts + 1, cache->layouts, (cache->count - 1) * sizeof(zb__chunk_layout *));
    cache->layouts[0] = made;
    atomic_fetch_add(&made->references, 1);
    return made;
}

enum zb_code zb__pipeline_layout(const zb__pipeline *pipeline, const uint64_t *shape,
                                 const zb__chunk_layout **out, zb_error *err) {
    pthread_once(&fork_once, guard_fork);
    pthread_mutex_lock(&lock);
    zb__chunk_layout *layout = find(pipeline->layouts, shape), *unused;
    pthread_mutex_unlock(&lock);
    if (!layout) { /* without the lock, since it asks for the layouts of inner chunks */
        enum zb_code code = make(pipeline, shape, &layout, err);
        if (code)
            return code;
        pthread_mutex_lock(&lock);
        layout = keep(pipeline->layouts, shape, layout, &unused);
        pthread_mutex_unlock(&lock);
        zb__chunk_layout_release(unused);
    }
    *out = layout;
    return ZB_OK;
}

/* A writer of the sharding draft would have to guess which layout of the index its readers expect.
   */
const char *zb__chunk_layout_read_only(const zb__chunk_layout *layout) {
    for (; layout; layout = layout->shard ? layout->shard->inner : NULL) {
        const zb__codec *serializer = &layout->pipeline->serializer;
        const char *(*read_only)(const void *) = serializer->ops->serializer.read_only;
        const char *reason = read_only ? read_only(serializer->state) : NULL;
        if (layout->shard && layout->shard->is_draft)
            return "the shards are of the draft of March 2023 (there are no index_codecs), which "
                   "is only read; copy the array into a new one";
        if (reason)
            return reason;
    }
    return NULL;
}

enum zb_code zb__chunk_layout_check_stored(const zb__chunk_layout *layout, uint64_t size,
                                           zb_error *err) {
    uint64_t bound = layout->encoded_bound;
    bool is_elements = layout->pipeline->serializer.ops->serializer.is_elements;
    if (is_elements && zb__pipeline_is_fixed(layout->pipeline) && size != bound)
        return zb_fail(err, ZB_EFORMAT, "it has %" PRIu64 " bytes, expected %" PRIu64, size, bound);
    if (size > bound)
        return zb_fail(err, ZB_ELIMIT,
                       "it has %" PRIu64 " stored bytes, more than the %" PRIu64
                       " that its decoded size allows%s",
                       size, bound, layout->shard ? " (at most the limit shard_bytes)" : "");
    return ZB_OK;
}
