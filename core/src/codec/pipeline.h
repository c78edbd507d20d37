/* SPDX-License-Identifier: MIT */
/*
 * A codec pipeline bound to a data type and a number of dimensions: transposes folded into a
 * permutation, then maybe filters, then one array→bytes codec, then bytes→bytes codecs. It knows no
 * shape: a layout (chunk_layout.h) tells the sizes that a pipeline gives chunks of one shape.
 *
 * Coordinates: "dimension d" is as the chunk is handed to the pipeline; "stored dimension i" is
 * after the transposes, where stored dimension i holds dimension axis[i].
 */
#ifndef ZB_CODEC_PIPELINE_H
#define ZB_CODEC_PIPELINE_H

#include "codec/codec.h"
#include "codec/filters.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

typedef struct zb__pipeline {
    uint32_t ndim;
    zb_dtype dtype;             /* of decoded elements: as stored, swapped when the byte order is
                                   not the host's; in front of filters, the host's */
    uint32_t axis[ZB_MAX_NDIM]; /* the composed transposes */
    zb__filters filters;        /* applied here, or, in front of a shard, by its inner chunks */
    struct zb__pipeline *plain; /* with filters applied here: what the array→bytes codec sees, a
                                   pipeline of it alone, which it borrows; else NULL */
    void *missing;              /* one element of dtype: what an inner chunk of this pipeline that
                                   is missing in its shard has. NULL: the array's fill value */
    zb__codec serializer;       /* the array→bytes codec */
    size_t serializer_at;       /* its place in the JSON list */
    zb__codec *codecs;          /* bytes→bytes, in encoding order */
    size_t codec_count;
    unsigned cost;    /* of decoding, nanoseconds per KiB of decoded bytes */
    bool is_raw;      /* the stored bytes are the elements: any range of them can be read alone */
    bool is_variable; /* elements point at bytes elsewhere */
    bool is_index;    /* of a shard's index, whose size another limit bounds */
    struct zb__chunk_layout_cache *layouts; /* those that were asked for last; the one part that
                                               changes */
} zb__pipeline;

/* Binds the JSON list `codecs`, which the pipeline does not need afterwards. Every rule of the
   pipeline that does not depend on a chunk's shape is checked here. */
enum zb_code zb__pipeline_bind(const zb_json *codecs, const zb__binding *binding,
                               zb__pipeline **out, zb_error *err);
/* The same for the index of a shard. */
enum zb_code zb__pipeline_bind_index(const zb_json *codecs, const zb__binding *binding,
                                     zb__pipeline **out, zb_error *err);
void zb__pipeline_free(zb__pipeline *pipeline); /* NULL is allowed; goes after all its layouts */

/* True if both pipelines decode every chunk alike. Settings that only encoding needs may differ. */
bool zb__pipeline_same(const zb__pipeline *a, const zb__pipeline *b);

/* Undoes the bytes→bytes codecs: in[0..size) becomes the serialised chunk in *sink (see
   zb__sink: exact where it is the elements, else a bound). With no codecs the bytes are copied. */
enum zb_code zb__pipeline_decode(const zb__pipeline *pipeline, zb__scratch *scratch,
                                 const uint8_t *in, size_t size, zb__sink *sink, zb_error *err);

/* True if part of a chunk decodes in less time than the whole. */
bool zb__pipeline_is_partial(const zb__pipeline *pipeline);

/* True if each bytes→bytes codec adds a constant number of bytes. */
bool zb__pipeline_is_fixed(const zb__pipeline *pipeline);

/* True if one of the bytes→bytes codecs is a checksum of all that it is given. */
bool zb__pipeline_is_checked(const zb__pipeline *pipeline);

/* The bytes→bytes codecs alone: in[0..size) becomes out[0..*written). Uses the stages. */
enum zb_code zb__pipeline_encode(const zb__pipeline *pipeline, zb__scratch *scratch,
                                 const uint8_t *in, size_t size, uint8_t *out, size_t capacity,
                                 size_t *written, zb_error *err);

#endif
