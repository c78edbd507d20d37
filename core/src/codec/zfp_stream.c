/* SPDX-License-Identifier: MIT */
/*
 * libzfp decodes block by block, and a block ends where its bits say. No block is longer than
 * MOST_BITS, whatever they say: so the stream is copied in front of that many zero bits, and the
 * place is looked at behind each block.
 */
#include "codec/zfp_stream.h"

#include <stdlib.h>
#include <string.h>
#include <zfp.h>

#include "util/checked.h"

/* Of a block: zfp's own limit for the parameters of a header, which is above what 256 values of 64
   bits with their exponent need. */
#define MOST_BITS 32768u
/* Behind a stream. The block that leaves it reads MOST_BITS at most, and words of 8 bytes. */
#define SLACK ((size_t)MOST_BITS / 8 + 4096)
#define WORD 8
#define HEADER_BYTES 24 /* 148 bits, in whole words */
#define MOST_VALUES 256 /* of a block */

static uint64_t block_count(const zb__zfp_field *field) {
    uint64_t count = 1;
    for (uint32_t d = 0; d < field->ndim; d++) /* never more than there are elements */
        count *= field->shape[d] / 4 + (field->shape[d] % 4 != 0);
    return count;
}

uint64_t zb__zfp_fixed_size(const zb__zfp_field *field, unsigned bits) {
    uint64_t all = zb__bound_product(block_count(field), bits);
    return all == UINT64_MAX ? all : (all / 64 + (all % 64 != 0)) * WORD;
}

/* A block has a flag, an exponent, a precision, and of each bit plane a bit for each value at most,
   and one more to say where the plane ends. */
uint64_t zb__zfp_bound(const zb__zfp_field *field, const zb__zfp_params *params) {
    unsigned values = 1u << (2 * field->ndim), planes = 8 * zb__zfp_size(field->type);
    unsigned bits = 32 + values * (planes + 1);
    if (params && bits > params->maxbits)
        bits = params->maxbits;
    if (params && bits < params->minbits)
        bits = params->minbits;
    uint64_t size = zb__zfp_fixed_size(field, bits);
    return zb__bound_sum(size, HEADER_BYTES + 2 * WORD);
}

/* ---- Modes -------------------------------------------------------------------------------- */

/* The parameters of a stream, if they are within the bounds that decoding counts on. */
static bool take_params(const zfp_stream *zfp, zb__zfp_params *out) {
    zfp_stream_params(zfp, &out->minbits, &out->maxbits, &out->maxprec, &out->minexp);
    if (out->maxbits > MOST_BITS)
        out->maxbits = MOST_BITS;
    return out->minbits <= out->maxbits && out->maxbits > 0 && out->maxprec > 0 &&
           out->maxprec <= ZFP_MAX_PREC;
}

bool zb__zfp_is_reversible(const zb__zfp_params *params) {
    return params->minexp < ZFP_MIN_EXP && params->maxprec == ZFP_MAX_PREC &&
           params->maxbits >= ZFP_MAX_BITS;
}

void zb__zfp_reversible(zb__zfp_params *out) {
    zfp_stream zfp = {.stream = NULL};
    zfp_stream_set_reversible(&zfp);
    take_params(&zfp, out);
}

bool zb__zfp_rate(double rate, enum zb__zfp_type type, uint32_t ndim, zb__zfp_params *out) {
    zfp_stream zfp = {.stream = NULL};
    if (!(rate > 0 && rate * (double)(1u << (2 * ndim)) <= MOST_BITS))
        return false;
    zfp_stream_set_rate(&zfp, rate, (zfp_type)type, ndim, zfp_false);
    return take_params(&zfp, out);
}

bool zb__zfp_precision(unsigned precision, zb__zfp_params *out) {
    zfp_stream zfp = {.stream = NULL};
    zfp_stream_set_precision(&zfp, precision);
    return take_params(&zfp, out);
}

bool zb__zfp_accuracy(double tolerance, zb__zfp_params *out) {
    zfp_stream zfp = {.stream = NULL};
    if (!(tolerance >= 0))
        return false;
    zfp_stream_set_accuracy(&zfp, tolerance);
    return take_params(&zfp, out);
}

bool zb__zfp_expert(zb__zfp_params *params) {
    zfp_stream zfp = {.stream = NULL};
    return params->minbits <= MOST_BITS &&
           zfp_stream_set_params(&zfp, params->minbits, params->maxbits, params->maxprec,
                                 params->minexp) &&
           take_params(&zfp, params);
}

/* ---- Streams ------------------------------------------------------------------------------ */

/* libzfp's objects for one stream. */
typedef struct zfp_work {
    zfp_stream *zfp;
    bitstream *bits;
    zfp_field *field;
} zfp_work;

static void end_work(zfp_work *work) {
    if (work->field)
        zfp_field_free(work->field);
    if (work->zfp)
        zfp_stream_close(work->zfp);
    if (work->bits)
        stream_close(work->bits);
}

static enum zb_code begin_work(zfp_work *work, const zb__zfp_params *params, void *memory,
                               size_t size, zb_error *err) {
    *work = (zfp_work){.bits = stream_open(memory, size),
                       .zfp = zfp_stream_open(NULL),
                       .field = zfp_field_alloc()};
    if (!work->bits || !work->zfp || !work->field)
        return zb_fail(err, ZB_ENOMEM, "zfp: no memory for a stream");
    zfp_stream_set_bit_stream(work->zfp, work->bits);
    zfp_stream_rewind(work->zfp);
    zfp_stream_set_params(work->zfp, params->minbits, params->maxbits, params->maxprec,
                          params->minexp);
    return ZB_OK;
}

static size_t extent(const zb__zfp_field *field, uint32_t from_last) {
    return from_last < field->ndim ? (size_t)field->shape[field->ndim - 1 - from_last] : 0;
}

/* ---- Decoding ----------------------------------------------------------------------------- */

/* All of them take a place for a block of their type. */
typedef size_t block_decoder(zfp_stream *zfp, void *block);

#define DECODER(type, c_type, n)                                                                   \
    static size_t decode_##type##_##n(zfp_stream *zfp, void *block) {                              \
        c_type *values = block;                                                                    \
        return zfp_decode_block_##type##_##n(zfp, values);                                         \
    }
#define DECODERS(type, c_type)                                                                     \
    DECODER(type, c_type, 1)                                                                       \
    DECODER(type, c_type, 2) DECODER(type, c_type, 3) DECODER(type, c_type, 4)
#define ROW(type) {decode_##type##_1, decode_##type##_2, decode_##type##_3, decode_##type##_4}

DECODERS(int32, int32)
DECODERS(int64, int64)
DECODERS(float, float)
DECODERS(double, double)

static block_decoder *const decoders[4][ZB__ZFP_MAX_NDIM] = {ROW(int32), ROW(int64), ROW(float),
                                                             ROW(double)};

/* A header must say what the chunk is, and parameters within the bounds. */
static enum zb_code read_header(zfp_work *work, zb__zfp_field *field, zb_error *err) {
    const zfp_field *said = work->field;
    zb__zfp_params params;
    uint64_t count = 1;
    if (zfp_read_header(work->zfp, work->field, ZFP_HEADER_FULL) == 0 ||
        !take_params(work->zfp, &params))
        return zb_fail(err, ZB_EFORMAT, "zfp: there is no header, or a damaged one");
    for (uint32_t d = 0; d < field->ndim; d++) /* the elements of a chunk are counted already */
        count *= field->shape[d];
    if (said->type == (zfp_type)field->type && said->nx == count && said->ny == 0 &&
        said->nz == 0 && said->nw == 0) {
        field->ndim = 1;
        field->shape[0] = count;
    }
    if (said->type != (zfp_type)field->type || said->nx != extent(field, 0) ||
        said->ny != extent(field, 1) || said->nz != extent(field, 2) ||
        said->nw != extent(field, 3))
        return zb_fail(err, ZB_EFORMAT, "zfp: the header tells of another type or shape");
    return ZB_OK;
}

/* Moves to the next block in C order; false behind the last one. */
static bool next_block(const zb__zfp_field *field, uint64_t *origin) {
    for (uint32_t d = field->ndim; d-- > 0;) {
        origin[d] += 4;
        if (origin[d] < field->shape[d])
            return true;
        origin[d] = 0;
    }
    return false;
}

static enum zb_code decode_blocks(zfp_work *work, const zb__zfp_field *field, size_t size,
                                  zb__zfp_take *take, void *context, zb_error *err) {
    block_decoder *decode = decoders[field->type - 1][field->ndim - 1];
    uint64_t origin[ZB__ZFP_MAX_NDIM] = {0};
    union {
        int64 integers[MOST_VALUES];
        double reals[MOST_VALUES];
    } block;
    do {
        decode(work->zfp, &block);
        if (stream_rtell(work->bits) > 8 * (uint64_t)size)
            return zb_fail(err, ZB_EFORMAT, "zfp: damaged or truncated data");
        take(context, field, origin, &block);
    } while (next_block(field, origin));
    return ZB_OK;
}

/* The writer's words may be shorter or longer than ours. */
static enum zb_code check_end(const zfp_work *work, size_t size, zb_error *err) {
    uint64_t used = (stream_rtell(work->bits) + 63) / 64 * WORD;
    return size <= used ? ZB_OK
                        : zb_fail(err, ZB_EFORMAT, "zfp: %llu bytes follow the last block",
                                  (unsigned long long)(size - used));
}

enum zb_code zb__zfp_decode(const zb__zfp_field *field, const zb__zfp_params *params,
                            const uint8_t *in, size_t size, zb__zfp_take *take, void *context,
                            zb_error *err) {
    size_t bytes;
    zfp_work work = {.zfp = NULL};
    zb__zfp_field said = *field;
    uint8_t *memory = __builtin_add_overflow(size, SLACK, &bytes) ? NULL : malloc(bytes);
    if (!memory)
        return zb_fail(err, ZB_ENOMEM, "zfp: no memory for a copy of the stream");
    memcpy(memory, in, size);
    memset(memory + size, 0, SLACK);
    enum zb_code code = begin_work(&work, params, memory, bytes, err);
    if (!code && field->has_header)
        code = read_header(&work, &said, err);
    if (!code)
        code = decode_blocks(&work, &said, size, take, context, err);
    if (!code)
        code = check_end(&work, size, err);
    end_work(&work);
    free(memory);
    return code;
}

/* ---- Encoding ----------------------------------------------------------------------------- */

/* A stream is made of words, of 8 bytes by default and of 1 in Debian's build. A reader of long
   words reads behind the end of a stream of short ones, and so all are filled up. */
static size_t fill_up(uint8_t *out, size_t size) {
    size_t whole = (size + WORD - 1) / WORD * WORD;
    memset(out + size, 0, whole - size);
    return whole;
}

enum zb_code zb__zfp_encode(const zb__zfp_field *field, const zb__zfp_params *params,
                            void *elements, uint8_t *out, size_t capacity, size_t *written,
                            zb_error *err) {
    zfp_work work;
    enum zb_code code = begin_work(&work, params, out, capacity, err);
    if (!code) {
        zfp_field_set_type(work.field, (zfp_type)field->type);
        zfp_field_set_pointer(work.field, elements);
        zfp_field_set_size_4d(work.field, extent(field, 0), extent(field, 1), extent(field, 2),
                              extent(field, 3));
        if (zfp_stream_maximum_size(work.zfp, work.field) > capacity - WORD)
            code =
                zb_fail(err, ZB_EINVAL, "zfp: a chunk cannot be encoded into %zu bytes", capacity);
    }
    if (!code && field->has_header && zfp_write_header(work.zfp, work.field, ZFP_HEADER_FULL) == 0)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "zfp: the chunk's shape is too large for the header of zfpy; create the "
                       "array with smaller chunks, or the codec zfp");
    if (!code) {
        *written = fill_up(out, zfp_compress(work.zfp, work.field));
        if (*written == 0)
            code = zb_fail(err, ZB_EINVAL, "zfp: a chunk cannot be encoded");
    }
    end_work(&work);
    return code;
}
