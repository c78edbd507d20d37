/* SPDX-License-Identifier: MIT */
/*
 * The array→array codecs of a pipeline that change elements or shapes, its filters. A chunk is
 * handed from one to the next as elements side by side, in C order and in the byte order of the
 * host; each filter knows the data type and number of dimensions that it was bound for. Transposes
 * in front of all filters are folded into the pipeline's permutation; those behind one are filters
 * themselves.
 *
 * In front of a shard, filters are handed down to the pipeline of the inner chunks, so that a part
 * of a shard can be read; only those that change each element for itself may stand there.
 */
#ifndef ZB_CODEC_FILTERS_H
#define ZB_CODEC_FILTERS_H

#include "codec/codec.h"

typedef struct zb__filter {
    zb__codec codec;
    bool is_borrowed; /* from the pipeline of the shard around, which outlives this one */
    zb__representation before, after;
} zb__filter;

typedef struct zb__filters {
    zb__filter *list; /* in encoding order */
    size_t count;
} zb__filters;

void zb__filters_free(zb__filters *filters);
bool zb__filters_same(const zb__filters *a, const zb__filters *b);

/* Appends a copy of `inherited`, or takes over the codec; false when memory runs out. */
bool zb__filters_inherit(zb__filters *filters, const zb__filters *inherited);
bool zb__filters_add(zb__filters *filters, zb__codec codec, zb__representation before,
                     zb__representation after);

/* The first filter whose elements depend on each other, or that changes the shape; or NULL. */
const zb__filter *zb__filters_positional(const zb__filters *filters);

/* The shape behind the filters of a chunk of that shape. Refuses shapes that do not go with them,
   and representations of more bytes than the limit chunk_bytes. */
enum zb_code zb__filters_shape(const zb__filters *filters, const uint64_t *shape, uint64_t *out,
                               zb_error *err);

/* Undoes the filters of a chunk that has that shape in front of them; `in` is not in the scratch's
   work[1]. */
enum zb_code zb__filters_decode(const zb__filters *filters, const uint64_t *shape,
                                zb__scratch *scratch, const uint8_t *in, uint8_t *out,
                                zb_error *err);

/* Applies them to the elements in the scratch's work[0]; *out is in the scratch's work. */
enum zb_code zb__filters_encode(const zb__filters *filters, const uint64_t *shape,
                                zb__scratch *scratch, const uint8_t **out, zb_error *err);

/* The element that a missing inner chunk of a shard behind the filters has: `fill`, which the array
   has, as it is behind the filters, brought back. */
enum zb_code zb__filters_missing(const zb__filters *filters, const void *fill, void *out,
                                 zb_error *err);

#endif
