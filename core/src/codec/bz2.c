/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.bz2: one or more bzip2 streams.
 *
 * A decoder takes at most 3.7 MB, by the block size of 100 kB to 900 kB that the stream's header
 * states; the destination alone gets the data.
 */
#include <bzlib.h>
#include <limits.h>
#include <stdlib.h>

#include "codec/codec.h"
#include "codec/configuration.h"
#include "util/checked.h"

/* ---- Decoding ----------------------------------------------------------------------------- */

/* Both directions of a stream: what is left of the input and of the room. The library counts in
   unsigned int, so that it gets both in parts. */
typedef struct work {
    bz_stream stream;
    const uint8_t *in;
    size_t in_left;
    uint8_t *out;
    size_t out_left;
} work;

static void give_parts(work *w) {
    w->stream.next_in = (char *)w->in;
    w->stream.avail_in = w->in_left < UINT_MAX ? (unsigned)w->in_left : UINT_MAX;
    w->stream.next_out = (char *)w->out;
    w->stream.avail_out = w->out_left < UINT_MAX ? (unsigned)w->out_left : UINT_MAX;
}

/* Counts what the library took and made; false when it did neither. */
static bool take_parts(work *w) {
    size_t used = (size_t)((const uint8_t *)w->stream.next_in - w->in);
    size_t made = (size_t)((uint8_t *)w->stream.next_out - w->out);
    w->in += used;
    w->in_left -= used;
    w->out += made;
    w->out_left -= made;
    return used > 0 || made > 0;
}

/* Decodes the stream that the input begins with. */
static enum zb_code decode_stream(work *w, zb_error *err) {
    int result = BZ2_bzDecompressInit(&w->stream, 0, 0);
    if (result != BZ_OK)
        return zb_fail(err, ZB_ENOMEM, "bz2: no memory for a decoder");
    bool moved = true;
    while (result == BZ_OK && moved) {
        give_parts(w);
        result = BZ2_bzDecompress(&w->stream);
        moved = take_parts(w);
    }
    BZ2_bzDecompressEnd(&w->stream);
    if (result == BZ_STREAM_END)
        return ZB_OK;
    if (result == BZ_MEM_ERROR)
        return zb_fail(err, ZB_ENOMEM, "bz2: no memory for a decoder");
    if (result == BZ_OK && w->in_left > 0)
        return zb_fail(err, ZB_EFORMAT, "bz2: the data decode to more bytes than expected");
    return zb_fail(err, ZB_EFORMAT, "bz2: damaged or truncated data");
}

/* Streams must make progress: each has at least 14 bytes, so that their number is bounded. */
static enum zb_code bz2_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                               size_t size, zb__sink *sink, zb_error *err) {
    (void)state;
    (void)scratch;
    uint8_t nothing; /* the library wants a place even where no bytes are expected */
    work w = {.in = in,
              .in_left = size,
              .out = sink->capacity ? sink->data : &nothing,
              .out_left = sink->capacity};
    enum zb_code code = ZB_OK;
    do {
        w.stream = (bz_stream){0};
        code = decode_stream(&w, err);
    } while (!code && w.in_left > 0);
    if (code)
        return code;
    sink->size = sink->capacity - w.out_left;
    if (sink->exact && w.out_left > 0)
        return zb_fail(err, ZB_EFORMAT, "bz2: the data decode to %zu bytes, expected %zu",
                       sink->size, sink->capacity);
    return ZB_OK;
}

/* ---- Encoding ----------------------------------------------------------------------------- */

static enum zb_code bz2_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                               size_t size, uint8_t *out, size_t capacity, size_t *written,
                               zb_error *err) {
    (void)scratch;
    work w = {.in = in, .in_left = size, .out = out, .out_left = capacity};
    if (BZ2_bzCompressInit(&w.stream, *(const int *)state, 0, 0) != BZ_OK)
        return zb_fail(err, ZB_ENOMEM, "bz2: no memory for an encoder");
    int result = BZ_RUN_OK;
    while (result == BZ_RUN_OK || result == BZ_FINISH_OK) {
        give_parts(&w);
        bool last = w.stream.avail_in == w.in_left;
        result = BZ2_bzCompress(&w.stream, last ? BZ_FINISH : BZ_RUN);
        if (!take_parts(&w) && result != BZ_STREAM_END)
            break;
    }
    BZ2_bzCompressEnd(&w.stream);
    *written = capacity - w.out_left;
    return result == BZ_STREAM_END
               ? ZB_OK
               : zb_fail(err, ZB_EINVAL, "bz2: %zu bytes cannot be encoded into %zu", size,
                         capacity);
}

/* The manual: at most 1 % and 600 bytes more. */
static uint64_t bz2_encode_bound(uint64_t size) {
    return zb__bound_sum(size, size / 100 + 600);
}

/* ---- Metadata ----------------------------------------------------------------------------- */

static enum zb_code bz2_parse(const zb_json *configuration, const zb__binding *binding,
                              void **state, zb_error *err) {
    (void)binding;
    /* The level is the size of blocks, in 100 kB. */
    return zb__configuration_state(configuration, "level", 1, 9, 1, state, err);
}

static const char *const members[] = {"level", NULL};
static const char *const defaults[] = {"1"};

const zb__codec_ops zb__codec_numcodecs_bz2 = {
    .name = "numcodecs.bz2",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .parse = bz2_parse,
    .free = free,
    .bytes = {.decode = bz2_decode,
              .encode_bound = bz2_encode_bound,
              .encode = bz2_encode,
              .fixed_overhead = -1,
              .cost = 30000},
};
