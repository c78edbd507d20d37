/* SPDX-License-Identifier: MIT */
/*
 * Running a leaf: its stored bytes are decoded, as far as they are wanted, and its pieces scattered
 * to their destinations. In order of preference: straight into the destination, into the thread's
 * scratch, or, when only a part is wanted and more may follow, into the cache of decoded chunks.
 */
#include "read/leaf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/keys.h"
#include "codec/chunk_layout.h"
#include "codec/elements.h"
#include "node/node.h"
#include "read/cache.h"
#include "read/piece.h"
#include "types/move.h"
#include "types/scatter.h"
#include "types/values.h"
#include "util/lru.h"
#include "util/scratch.h"
#include "zarrbridge/array.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/sys/store.h"

/* ---- Elements ----------------------------------------------------------------------------- */

/* Byte strides of the chunk's stored dimensions. */
static void stored_strides(const zb__chunk_layout *layout, int64_t *strides) {
    int64_t stride = layout->pipeline->dtype.size;
    for (uint32_t d = layout->pipeline->ndim; d-- > 0;) {
        strides[d] = stride;
        stride *= (int64_t)layout->stored_shape[d];
    }
}

/* How a piece is copied from a decoded chunk, in whose bytes it begins at `first`. The strides are
   kept in an array of the caller. */
static inline zb__box_copy copy_of(const zb__chunk_layout *layout, zb__piece *piece,
                                   int64_t *strides, uint64_t *first) {
    uint32_t ndim = layout->pipeline->ndim;
    stored_strides(layout, strides);
    int64_t at = 0;
    for (uint32_t d = 0; d < ndim; d++) {
        at += (int64_t)zb__piece_start(piece)[d] * strides[d];
        if (zb__piece_count(piece, ndim)[d] > 1)
            strides[d] *= (int64_t)zb__piece_step(piece, ndim)[d];
    }
    *first = (uint64_t)at;
    return (zb__box_copy){.ndim = ndim,
                          .count = zb__piece_count(piece, ndim),
                          .src_strides = strides,
                          .dst_strides = zb__piece_stride(piece, ndim),
                          .src_dtype = layout->pipeline->dtype,
                          .dst_dtype = piece->target->dtype,
                          .stream = piece->target->stream};
}

/* Scatters one piece. data[0] is byte `lo` of the decoded chunk. */
static void scatter_piece(const zb__chunk_layout *layout, zb__piece *piece, const uint8_t *data,
                          uint64_t lo) {
    int64_t strides[ZB_MAX_NDIM];
    uint64_t first;
    zb__box_copy copy = copy_of(layout, piece, strides, &first);
    zb__scatter(&copy, data + (first - lo), piece->dst);
}

/* True if the pieces are the same but for their last index and their destination. */
static bool differ_in_band(zb__piece *a, zb__piece *b, uint32_t ndim) {
    const size_t words = 3 * (size_t)ndim; /* count, step, stride */
    return zb_dtype_equal(a->target->dtype, b->target->dtype) &&
           memcmp(zb__piece_start(a), zb__piece_start(b), (ndim - 1) * sizeof(uint64_t)) == 0 &&
           memcmp(zb__piece_count(a, ndim), zb__piece_count(b, ndim), words * sizeof(uint64_t)) ==
               0;
}

/* The number of pieces if each has another element of the last dimension, which has no more: the
   bands of a picture that lies by pixel. Sets dst[] to their destinations, and *first to the piece
   of element 0. Otherwise 0. */
static size_t find_bands(const zb__leaf *leaf, zb__piece **first, char **dst) {
    const uint32_t ndim = leaf->layout->pipeline->ndim;
    const uint64_t bands = ndim > 0 ? leaf->layout->stored_shape[ndim - 1] : 0;
    size_t n = 0;
    if (bands < 2 || bands > ZB__BANDS_MAX || zb__piece_count(leaf->pieces, ndim)[ndim - 1] != 1)
        return 0;
    memset(dst, 0, ZB__BANDS_MAX * sizeof *dst);
    for (zb__piece *piece = leaf->pieces; piece; piece = piece->next, n++) {
        const uint64_t band = zb__piece_start(piece)[ndim - 1];
        if (n == bands || dst[band] || !differ_in_band(leaf->pieces, piece, ndim))
            return 0;
        dst[band] = piece->dst;
        *first = band == 0 ? piece : *first;
    }
    return n == bands ? n : 0;
}

static bool scatter_bands(const zb__leaf *leaf, const uint8_t *data, uint64_t lo) {
    zb__piece *first = NULL;
    char *dst[ZB__BANDS_MAX];
    const size_t bands = find_bands(leaf, &first, dst);
    if (bands == 0)
        return false;
    int64_t strides[ZB_MAX_NDIM];
    uint64_t from;
    zb__box_copy copy = copy_of(leaf->layout, first, strides, &from);
    zb__scatter_bands(&copy, bands, data + (from - lo), dst);
    return true;
}

/* data[0] is byte `lo` of the decoded chunk. */
static void leaf_scatter(const zb__leaf *leaf, const uint8_t *data, uint64_t lo) {
    if (leaf->pieces->next && scatter_bands(leaf, data, lo))
        return;
    for (zb__piece *piece = leaf->pieces; piece; piece = piece->next)
        scatter_piece(leaf->layout, piece, data, lo);
}

static inline zb__box_copy fill_of(const zb__leaf *leaf, zb__piece *piece) {
    uint32_t ndim = leaf->layout->pipeline->ndim;
    return (zb__box_copy){.ndim = ndim,
                          .count = zb__piece_count(piece, ndim),
                          .dst_strides = zb__piece_stride(piece, ndim),
                          .src_dtype = leaf->chunk->node->array->info.dtype,
                          .dst_dtype = piece->target->dtype,
                          .stream = piece->target->stream};
}

/* The element of a missing chunk. */
static const void *missing_element(const zb__leaf *leaf) {
    const void *missing = leaf->layout->pipeline->missing;
    return missing ? missing : leaf->chunk->node->array->info.fill_value;
}

static void leaf_fill(const zb__leaf *leaf) {
    for (zb__piece *piece = leaf->pieces; piece; piece = piece->next) {
        zb__box_copy copy = fill_of(leaf, piece);
        zb__scatter_fill(&copy, missing_element(leaf), piece->dst);
    }
}

/* The same two for elements of variable length, of which the reader gets copies. */
static enum zb_code leaf_copy(const zb__leaf *leaf, const uint8_t *elements, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (zb__piece *piece = leaf->pieces; piece && !code; piece = piece->next) {
        int64_t strides[ZB_MAX_NDIM];
        uint64_t first;
        zb__box_copy copy = copy_of(leaf->layout, piece, strides, &first);
        code = zb__values_copy(piece->target->values, &copy, elements + first, piece->dst, err);
    }
    return code;
}

static enum zb_code leaf_copy_fill(const zb__leaf *leaf, zb_error *err) {
    const void *fill = leaf->chunk->node->array->info.fill_value;
    enum zb_code code = ZB_OK;
    for (zb__piece *piece = leaf->pieces; piece && !code; piece = piece->next) {
        zb__box_copy copy = fill_of(leaf, piece);
        code = zb__values_fill(piece->target->values, &copy, fill, piece->dst, err);
    }
    return code;
}

/* ---- Messages ----------------------------------------------------------------------------- */

/* `where` continues the name of the stored chunk's object: "" or ", inner chunk (1,2)". */
static enum zb_code add_context(const zb__stored_chunk *chunk, const char *where, enum zb_code code,
                                zb_error *err) {
    char text[ZB__CHUNK_KEY_MAX];
    zb__chunk_key(&chunk->node->array->keys, chunk->node->array->info.ndim, chunk->index, text);
    return zb_error_prefix(err, code, "store %s, array /%s, %s %s%s",
                           zb__node_store(chunk->node)->label, chunk->node->path,
                           chunk->node->array->layout->shard ? "shard" : "chunk", text, where);
}

enum zb_code zb__stored_chunk_add_context(const zb__stored_chunk *chunk, enum zb_code code,
                                          zb_error *err) {
    return add_context(chunk, "", code, err);
}

uint64_t zb__stored_chunk_wanted(const zb__stored_chunk *chunk) {
    return zb__pieces_elements(chunk->pieces, chunk->node->array->info.ndim);
}

/* The shard whose inner chunk the leaf is, or NULL. */
static const zb__shard *shard_of(const zb__leaf *leaf) {
    return (leaf->around ? leaf->around->layout : leaf->chunk->layout)->shard;
}

/* Writes ", inner chunk (1,2)" for the leaf, after those around it, and returns the length. A full
   text of ZB_MESSAGE_SIZE stays as it is, as the message would. */
static size_t write_place(const zb__leaf *leaf, char *text) {
    const zb__shard *shard = leaf->inner == UINT64_MAX ? NULL : shard_of(leaf);
    size_t used = leaf->around ? write_place(leaf->around, text) : 0;
    uint64_t index[ZB_MAX_NDIM], rest = leaf->inner;
    if (!shard)
        return used;
    uint32_t ndim = shard->inner->pipeline->ndim;
    for (uint32_t d = ndim; d-- > 0; rest /= shard->grid[d])
        index[d] = rest % shard->grid[d];
    for (uint32_t d = 0; d < ndim && used < ZB_MESSAGE_SIZE; d++)
        used += (size_t)snprintf(text + used, ZB_MESSAGE_SIZE - used, "%s%" PRIu64 "%s",
                                 d ? "," : ", inner chunk (", index[d], d + 1 == ndim ? ")" : "");
    return used < ZB_MESSAGE_SIZE ? used : ZB_MESSAGE_SIZE;
}

enum zb_code zb__leaf_add_context(const zb__leaf *leaf, enum zb_code code, zb_error *err) {
    char text[ZB_MESSAGE_SIZE] = "";
    write_place(leaf, text);
    return add_context(leaf->chunk, text, code, err);
}

/* ---- What is wanted of the decoded bytes -------------------------------------------------- */

static void wanted_extent(const zb__leaf *leaf, uint64_t *lo, uint64_t *hi) {
    *lo = UINT64_MAX;
    *hi = 0;
    for (zb__piece *piece = leaf->pieces; piece; piece = piece->next) {
        uint64_t from, to;
        zb__piece_extent(piece, leaf->layout->pipeline->ndim, leaf->layout->stored_shape,
                         leaf->layout->pipeline->dtype.size, &from, &to);
        *lo = from < *lo ? from : *lo;
        *hi = to > *hi ? to : *hi;
    }
}

void zb__leaf_set_extent(zb__leaf *leaf) {
    wanted_extent(leaf, &leaf->lo, &leaf->hi);
}

/* True if the destination takes exactly the decoded bytes [lo, hi), in the same order. */
static bool is_direct(const zb__leaf *leaf, uint64_t lo, uint64_t hi) {
    zb__piece *piece = leaf->pieces;
    const zb__pipeline *pipeline = leaf->layout->pipeline;
    const zb_dtype *to = &piece->target->dtype;
    /* Bools are decoded into their place, and made 0 or 1 there (keep_bools). */
    const bool are_bools = to->kind == ZB_KIND_BOOL && pipeline->dtype.kind == ZB_KIND_BOOL;
    if (piece->next || (!are_bools && !zb__dtype_copies(pipeline->dtype, *to)))
        return false;
    int64_t stride = to->size;
    for (uint32_t d = pipeline->ndim; d-- > 0;) {
        uint64_t count = zb__piece_count(piece, pipeline->ndim)[d];
        if (count > 1 && zb__piece_stride(piece, pipeline->ndim)[d] != stride)
            return false;
        stride *= (int64_t)count;
    }
    return (uint64_t)stride == hi - lo;
}

/* A byte of a bool that is not 0 is 1 to callers. For bytes that came straight to their place. */
static void keep_bools(const zb__leaf *leaf, uint8_t *out, uint64_t count) {
    if (leaf->layout->pipeline->dtype.kind != ZB_KIND_BOOL)
        return;
    for (uint64_t i = 0; i < count; i++)
        out[i] = out[i] != 0;
}

/* ---- The decoded-chunk cache -------------------------------------------------------------- */

/* The stored size is part of the key: two entries of a damaged index may share an offset but not a
   size, and the decoded bytes of one must not pass for those of the other. */
static zb__lru_key cache_key(const zb__leaf *leaf) {
    const zb__chunk_layout *layout = leaf->layout;
    return (zb__lru_key){
        .word = {leaf->chunk->node->array->cache_id, leaf->chunk->number, leaf->offset, leaf->size},
        .kind = layout->pipeline->is_variable ? ZB__CACHED_VALUES : ZB__CACHED_ELEMENTS,
        .size = layout->decoded_size};
}

/* How many elements of the leaf's chunk lie in the array, where the chunk is at its edge. At most:
   of chunks in shards of shards all are counted. */
static uint64_t count_inside(const zb__leaf *leaf) {
    const zb__array *array = leaf->chunk->node->array;
    const zb__shard *shard = leaf->inner == UINT64_MAX ? NULL : leaf->chunk->layout->shard;
    uint64_t count = 1, rest = leaf->inner;
    if (leaf->around)
        return UINT64_MAX;
    for (uint32_t i = array->info.ndim; i-- > 0;) {
        const uint32_t d = leaf->chunk->layout->pipeline->axis[i];
        zb__span span = zb__grid_at(&array->grid, d, leaf->chunk->index[d]);
        if (shard) {
            span.start += rest % shard->grid[i] * shard->inner_shape[i];
            span.extent = shard->inner_shape[i];
            rest /= shard->grid[i];
        }
        count *= zb__span_inside(span, array->info.shape[d]);
    }
    return count;
}

/* True if the chunk is worth keeping: decoding it cost something, only a part was wanted, and it
   leaves room for others. */
static bool is_cacheable(const zb__leaf *leaf) {
    const zb__chunk_layout *layout = leaf->layout;
    if (leaf->transient || layout->shard || layout->pipeline->is_raw ||
        leaf->chunk->number == UINT64_MAX || layout->decoded_size > zb__chunk_cache()->budget / 4)
        return false;
    const uint64_t wanted = zb__pieces_elements(leaf->pieces, layout->pipeline->ndim);
    return wanted < layout->decoded_size / layout->pipeline->dtype.size &&
           wanted < count_inside(leaf);
}

void zb__leaf_look_up(zb__leaf *leaf) {
    if (!is_cacheable(leaf))
        return;
    zb__lru_key chunk = cache_key(leaf);
    const uint64_t *version = zb__cache_version(&leaf->chunk->info.validator);
    zb__lru_item *item = zb__lru_get(zb__chunk_cache(), &chunk, version);
    uint64_t lo, hi;
    if (!item)
        return;
    wanted_extent(leaf, &lo, &hi);
    if (item->lo <= lo && hi <= item->hi)
        leaf->cached = item;
    else
        zb__lru_release(item);
}

bool zb__leaf_may_be_cached(const zb__leaf *leaf) {
    const zb__lru_key chunk = cache_key(leaf);
    return is_cacheable(leaf) && zb__lru_has_like(zb__chunk_cache(), &chunk);
}

/* ---- Decoding ----------------------------------------------------------------------------- */

/* Decodes at least the bytes [*lo, *hi) to their places from `out` on; widens the two to the bytes
   that it made. */
static enum zb_code decode(const zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                           uint8_t *out, uint64_t *lo, uint64_t *hi, zb_error *err) {
    zb__sink sink = {.data = out,
                     .capacity = (size_t)leaf->layout->decoded_size,
                     .exact = true,
                     .lo = (size_t)*lo,
                     .hi = (size_t)*hi};
    enum zb_code code = zb__pipeline_decode(leaf->layout->pipeline, scratch, stored,
                                            (size_t)leaf->size, &sink, err);
    *lo = sink.lo;
    *hi = sink.hi;
    return code;
}

/* Takes room in the cache for the leaf's chunk, and sets [*lo, *hi) to the bytes to decode. A chunk
   of which an insufficient part was cached is decoded whole, so that a loop over its rows decodes
   it twice at the most. NULL: decode into scratch. */
static zb__lru_item *cache_room(const zb__leaf *leaf, uint64_t *lo, uint64_t *hi) {
    if (!is_cacheable(leaf))
        return NULL;
    zb__lru *cache = zb__chunk_cache();
    const uint64_t *version = zb__cache_version(&leaf->chunk->info.validator);
    zb__lru_key chunk = cache_key(leaf);
    zb__lru_item *partly = zb__lru_get(cache, &chunk, version);
    if (partly || !zb__pipeline_is_partial(leaf->layout->pipeline)) {
        *lo = 0;
        *hi = leaf->layout->decoded_size;
    }
    zb__lru_release(partly);
    return zb__lru_new(cache, &chunk, version, (size_t)leaf->layout->decoded_size);
}

static enum zb_code run_encoded(const zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                                zb_error *err) {
    uint64_t size = leaf->layout->decoded_size, lo, hi;
    wanted_extent(leaf, &lo, &hi);
    if (hi - lo == size && is_direct(leaf, lo, hi)) {
        enum zb_code direct =
            decode(leaf, stored, scratch, (uint8_t *)leaf->pieces->dst, &lo, &hi, err);
        if (direct == ZB_OK)
            keep_bools(leaf, (uint8_t *)leaf->pieces->dst, size);
        return direct;
    }
    zb__lru_item *item = cache_room(leaf, &lo, &hi);
    enum zb_code code = item ? ZB_OK : zb__buffer_reserve(&scratch->decoded, (size_t)size, err);
    uint8_t *decoded = item ? item->data : scratch->decoded.data;
    if (code == ZB_OK)
        code = decode(leaf, stored, scratch, decoded, &lo, &hi, err);
    if (code == ZB_OK)
        leaf_scatter(leaf, decoded, 0);
    if (code == ZB_OK && item) {
        item->lo = (size_t)lo;
        item->hi = (size_t)hi;
        zb__lru_put(zb__chunk_cache(), item);
    }
    zb__lru_release(item);
    return code;
}

/* Decodes a chunk whose elements a codec makes: always whole. Elements of variable length are
   cached with the heap that they point into, whose size is known only now; of numbers the heap is
   not kept. */
static enum zb_code run_made(const zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                             zb_error *err) {
    const bool is_variable = leaf->layout->pipeline->is_variable;
    zb__elements elements;
    zb__lru_item *item = NULL;
    zb__lru *cache = zb__chunk_cache();
    zb__lru_key chunk = cache_key(leaf);
    enum zb_code code =
        zb__elements_serialised(leaf->layout, scratch, stored, (size_t)leaf->size, &elements, err);
    const size_t kept = code ? 0 : elements.size + (is_variable ? elements.heap_size : 0);
    if (code == ZB_OK && is_cacheable(leaf) && kept <= cache->budget / 4)
        item = zb__lru_new(cache, &chunk, zb__cache_version(&leaf->chunk->info.validator), kept);
    if (item && is_variable)
        zb__elements_move(&elements, item->data);
    else if (item)
        elements.data = item->data;
    if (code == ZB_OK)
        code = zb__elements_open(leaf->layout, scratch, &elements, err);
    if (code == ZB_OK && item) {
        item->lo = 0;
        item->hi = elements.size;
        zb__lru_put(cache, item);
    }
    if (code == ZB_OK && is_variable)
        code = leaf_copy(leaf, elements.data, err);
    else if (code == ZB_OK)
        leaf_scatter(leaf, elements.data, 0);
    zb__lru_release(item);
    return code;
}

/* A leaf of elements of variable length, or a shard of such that is missing. */
static enum zb_code run_variable(const zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                                 zb_error *err) {
    return leaf->missing  ? leaf_copy_fill(leaf, err)
           : leaf->cached ? leaf_copy(leaf, leaf->cached->data, err)
                          : run_made(leaf, stored, scratch, err);
}

/* Reads the wanted bytes of an uncompressed chunk from the stored chunk's object. */
static enum zb_code run_raw_from_object(const zb__leaf *leaf, zb__scratch *scratch, zb_error *err) {
    const uint64_t lo = leaf->lo, hi = leaf->hi;
    bool direct = is_direct(leaf, lo, hi);
    uint8_t *buffer = (uint8_t *)leaf->pieces->dst;
    if (!direct) {
        enum zb_code code = zb__buffer_reserve(&scratch->encoded, (size_t)(hi - lo), err);
        if (code != ZB_OK)
            return code;
        buffer = scratch->encoded.data;
    }
    zb_range range = {.offset = leaf->offset + lo, .length = (size_t)(hi - lo), .buffer = buffer};
    enum zb_code code = zb_object_read(leaf->chunk->object, &range, 1, err);
    if (code == ZB_OK && range.got != range.length)
        code = zb_fail(err, ZB_EIO, "the object became shorter while it was read");
    if (code == ZB_OK && direct)
        keep_bools(leaf, buffer, hi - lo);
    else if (code == ZB_OK)
        leaf_scatter(leaf, buffer, lo);
    return code;
}

/* ---- Shards inside bytes→bytes codecs: decoded as a whole, then opened up in memory ------- */

typedef struct in_memory {
    const uint8_t *shard;
    zb__scratch *scratch;
} in_memory;

static enum zb_code run_in_memory(void *context, const zb__leaf *leaf, zb_error *err) {
    const in_memory *m = context;
    return zb__leaf_run(leaf, leaf->missing ? NULL : m->shard + zb__leaf_begin(leaf), m->scratch,
                        err);
}

static enum zb_code run_encoded_shard(const zb__leaf *leaf, const uint8_t *stored,
                                      zb__scratch *scratch, zb_error *err) {
    uint64_t bound = leaf->layout->decoded_bound;
    zb__buffer whole = {0};
    enum zb_code code = zb__buffer_reserve(&whole, (size_t)bound, err);
    zb__sink sink = {.data = whole.data, .capacity = (size_t)bound, .hi = (size_t)bound};
    if (code == ZB_OK)
        code = zb__pipeline_decode(leaf->layout->pipeline, scratch, stored, (size_t)leaf->size,
                                   &sink, err);
    if (code != ZB_OK) {
        zb__leaf_add_context(leaf, code, err);
    } else {
        zb__arena arena = {0};
        zb__source source = {.memory = whole.data, .size = sink.size};
        in_memory context = {.shard = whole.data, .scratch = scratch};
        code = zb__shard_expand(leaf, &source, &arena, scratch, run_in_memory, &context, err);
        zb__arena_free(&arena);
    }
    zb__buffer_free(&whole);
    return code;
}

enum zb_code zb__leaf_run(const zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                          zb_error *err) {
    enum zb_code code = ZB_OK;
    if (leaf->layout->pipeline->is_variable && (leaf->missing || !leaf->layout->shard))
        code = run_variable(leaf, stored, scratch, err);
    else if (leaf->missing)
        leaf_fill(leaf);
    else if (leaf->cached)
        leaf_scatter(leaf, leaf->cached->data, 0);
    else if (leaf->layout->shard) /* the messages of its parts have their own names */
        return run_encoded_shard(leaf, stored, scratch, err);
    else if (zb__chunk_layout_has_heap(leaf->layout))
        code = run_made(leaf, stored, scratch, err);
    else if (!leaf->layout->pipeline->is_raw)
        code = run_encoded(leaf, stored, scratch, err);
    else if (stored)
        leaf_scatter(leaf, stored, leaf->lo);
    else
        code = run_raw_from_object(leaf, scratch, err);
    return code == ZB_OK ? ZB_OK : zb__leaf_add_context(leaf, code, err);
}
