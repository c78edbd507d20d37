/* SPDX-License-Identifier: MIT */
/*
 * Bit streams of libzfp, without its two dangers: its decoder reads on behind the end of a buffer,
 * and believes what a stream says of itself.
 */
#ifndef ZB_CODEC_ZFP_STREAM_H
#define ZB_CODEC_ZFP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"

#define ZB__ZFP_MAX_NDIM 4

/* libzfp's numbers of the types that it knows. */
enum zb__zfp_type { ZB__ZFP_INT32 = 1, ZB__ZFP_INT64, ZB__ZFP_FLOAT, ZB__ZFP_DOUBLE };

/* libzfp's expert parameters, into which every mode can be turned. */
typedef struct zb__zfp_params {
    unsigned minbits, maxbits, maxprec;
    int minexp;
} zb__zfp_params;

/* What a stream holds. */
typedef struct zb__zfp_field {
    enum zb__zfp_type type;
    uint32_t ndim;                    /* 1 to 4 */
    uint64_t shape[ZB__ZFP_MAX_NDIM]; /* C order: the last one is zfp's nx; none is 0 */
    bool has_header;                  /* which then says the parameters */
} zb__zfp_field;

static inline uint32_t zb__zfp_size(enum zb__zfp_type type) {
    return type == ZB__ZFP_INT64 || type == ZB__ZFP_DOUBLE ? 8 : 4;
}

/* ---- Modes. False where zfp has no such mode. */

void zb__zfp_reversible(zb__zfp_params *out);
bool zb__zfp_rate(double rate, enum zb__zfp_type type, uint32_t ndim, zb__zfp_params *out);
bool zb__zfp_precision(unsigned precision, zb__zfp_params *out);
bool zb__zfp_accuracy(double tolerance, zb__zfp_params *out);
bool zb__zfp_expert(zb__zfp_params *params); /* checks them */

/* Nothing is lost in this mode. */
bool zb__zfp_is_reversible(const zb__zfp_params *params);

/* ---- Streams */

/* The most bytes that a stream of that field can have; UINT64_MAX when they are too many. */
uint64_t zb__zfp_bound(const zb__zfp_field *field, const zb__zfp_params *params);

/* The bytes of a stream whose blocks all have the same number of bits. */
uint64_t zb__zfp_fixed_size(const zb__zfp_field *field, unsigned bits);

/* Gets a block of 4^ndim elements in C order. `origin` is the block's first element in the field;
   elements beyond the field's edge mean nothing. The field may have the shape of a header. */
typedef void zb__zfp_take(void *context, const zb__zfp_field *field, const uint64_t *origin,
                          const void *block);

/* Decodes a whole stream, whose end must be where its last block ends. The shape of its header is
   the field's, or a line of as many elements, which early versions of numcodecs wrote. */
enum zb_code zb__zfp_decode(const zb__zfp_field *field, const zb__zfp_params *params,
                            const uint8_t *in, size_t size, zb__zfp_take *take, void *context,
                            zb_error *err);

/* Encodes elements in C order, aligned as their type, into out[0..capacity), which is aligned to 8
   bytes and has at least the bound. */
enum zb_code zb__zfp_encode(const zb__zfp_field *field, const zb__zfp_params *params,
                            void *elements, uint8_t *out, size_t capacity, size_t *written,
                            zb_error *err);

#endif
