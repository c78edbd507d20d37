/* SPDX-License-Identifier: MIT */
/*
 * Making blosc containers (blosc.c describes them). Block by block, the elements are filtered into
 * the scratch and compressed from there straight into the container. As soon as the container would
 * be longer than the data, they are stored as they are; the bound relies on that.
 *
 * Readers go by the container, so we are free to choose the size of blocks and which of them are
 * split. For BloscLZ and snappy, LZ4 finds the matches: they are put into the words of their
 * streams.
 */
#include <libdeflate.h>
#include <lz4.h>
#include <lz4hc.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/blosc.h"
#include "codec/deflate.h"
#include "codec/zstd.h"
#include "util/bytes.h"
#include "util/checked.h"
#include "zarrbridge/error.h"

/* Smaller data are not worth a try; no block is smaller either. */
#define SIZE_MIN 128
#define SIZE_MAX_BLOSC (INT32_MAX - ZB__BLOSC_HEADER)

typedef struct encoder {
    const zb__blosc *codec;
    zb__scratch *scratch;
    size_t typesize, block_size;
    bool fast; /* a compressor that looks for matches near by alone */
    bool shuffled, bitshuffled, split;
    uint8_t *state;      /* for LZ4, in the scratch */
    uint8_t *filtered;   /* likewise, one block */
    uint8_t *matches;    /* likewise, an LZ4 block, where LZ4 only finds the matches */
    uint8_t *out, *stop; /* where the next byte goes, and the end of the room */
} encoder;

/* ---- Streams ------------------------------------------------------------------------------ */

static enum zb_code zstd_stream(const encoder *e, const uint8_t *in, size_t size, size_t capacity,
                                size_t *written, zb_error *err) {
    ZSTD_CCtx *context;
    enum zb_code code = zb__zstd_encoder(e->scratch, &context, err);
    if (code)
        return code;
    /* The levels that libblosc's 1 to 9 stand for. */
    int level = e->codec->level < 9 ? 2 * e->codec->level - 1 : ZSTD_maxCLevel();
    size_t result = ZSTD_compressCCtx(context, e->out + 4, capacity, in, size, level);
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return zb_fail(err, ZB_ENOMEM, "zstd: no memory to encode at level %d", level);
    *written = ZSTD_isError(result) ? 0 : result;
    return ZB_OK;
}

static enum zb_code zlib_stream(const encoder *e, const uint8_t *in, size_t size, size_t capacity,
                                size_t *written, zb_error *err) {
    struct libdeflate_compressor *compressor;
    enum zb_code code = zb__deflate_encoder(e->scratch, e->codec->level, &compressor, err);
    if (code)
        return code;
    *written = libdeflate_zlib_compress(compressor, in, size, e->out + 4, capacity);
    return ZB_OK;
}

/* lz4hc alone takes its level as it is; the fast search goes through fewer places the higher its
   acceleration is. */
static size_t lz4_block(const encoder *e, const uint8_t *in, size_t size, int acceleration,
                        uint8_t *out, size_t capacity) {
    const char *from = (const char *)in;
    char *to = (char *)out;
    int written = strcmp(e->codec->compressor, "lz4hc") == 0
                      ? LZ4_compress_HC_extStateHC(e->state, from, to, (int)size, (int)capacity,
                                                   e->codec->level)
                      : LZ4_compress_fast_extState(e->state, from, to, (int)size, (int)capacity,
                                                   acceleration);
    return written > 0 ? (size_t)written : 0;
}

static size_t match_stream(const encoder *e, const uint8_t *in, size_t size, size_t capacity) {
    const size_t found = lz4_block(e, in, size, 6 - e->codec->level, e->matches,
                                   (size_t)LZ4_compressBound((int)size));
    if (found == 0)
        return 0;
    return e->codec->format == ZB__BLOSC_BLOSCLZ
               ? zb__blosclz_encode(e->matches, found, e->out + 4, capacity)
               : zb__snappy_encode(e->matches, found, size, e->out + 4, capacity);
}

/* Puts one stream behind its length, compressed when that is shorter. *fits becomes false when
   there is no room for it. */
static enum zb_code put_stream(encoder *e, const uint8_t *in, size_t size, bool *fits,
                               zb_error *err) {
    size_t room = (size_t)(e->stop - e->out), written = 0;
    *fits = room > 4;
    if (!*fits)
        return ZB_OK;
    room -= 4;
    size_t capacity = room < size - 1 ? room : size - 1;
    enum zb_code code = ZB_OK;
    switch (e->codec->format) {
    case ZB__BLOSC_LZ4:
        written = lz4_block(e, in, size, 10 - e->codec->level, e->out + 4, capacity);
        break;
    case ZB__BLOSC_BLOSCLZ:
    case ZB__BLOSC_SNAPPY:
        written = match_stream(e, in, size, capacity);
        break;
    case ZB__BLOSC_ZLIB:
        code = zlib_stream(e, in, size, capacity, &written, err);
        break;
    case ZB__BLOSC_ZSTD:
        code = zstd_stream(e, in, size, capacity, &written, err);
    }
    if (code)
        return code;
    *fits = written > 0 || size <= room;
    if (written == 0 && *fits) {
        memcpy(e->out + 4, in, size);
        written = size;
    }
    if (*fits) {
        zb__store_le32(e->out, (uint32_t)written);
        e->out += 4 + written;
    }
    return ZB_OK;
}

static enum zb_code put_block(encoder *e, const uint8_t *in, size_t size, bool *fits,
                              zb_error *err) {
    const uint8_t *from = in;
    if (e->shuffled) {
        zb__shuffle(zb__simd_best(), e->typesize, in, size, e->filtered);
        from = e->filtered;
    } else if (e->bitshuffled && size >= e->typesize) {
        zb__bitshuffle(zb__simd_best(), e->typesize, in, size, e->filtered);
        from = e->filtered;
    }
    /* A last block that is smaller is never split. */
    size_t streams = e->split && size == e->block_size ? e->typesize : 1;
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < streams && *fits && code == ZB_OK; i++)
        code = put_stream(e, from + i * (size / streams), size / streams, fits, err);
    return code;
}

/* ---- Containers --------------------------------------------------------------------------- */

/* Large blocks compress better, small ones stay in the processor's caches and let readers decode
   less. */
static size_t choose_block_size(const encoder *e, size_t size) {
    size_t wanted = e->codec->block_size;
    if (wanted == 0) {
        wanted = (size_t)16384 << (e->codec->level < 2 ? 0 : e->codec->level < 6 ? 3 : 4);
        wanted <<= e->fast ? 0 : 1;
        if (e->split && e->typesize > 1) /* each part is a stream of its own */
            wanted = wanted * e->typesize < (1 << 20) ? wanted * e->typesize : 1 << 20;
    }
    wanted = wanted < SIZE_MIN ? SIZE_MIN : wanted;
    wanted = wanted < size ? wanted : size ? size : 1;
    return wanted > e->typesize ? wanted - wanted % e->typesize : wanted;
}

static void put_header(uint8_t *out, const encoder *e, uint8_t flags, size_t size, size_t encoded) {
    out[0] = 2; /* of the container's format */
    out[1] = 1; /* of the compressor's */
    out[2] = flags;
    out[3] = (uint8_t)e->typesize;
    zb__store_le32(out + 4, (uint32_t)size);
    zb__store_le32(out + 8, (uint32_t)e->block_size);
    zb__store_le32(out + 12, (uint32_t)encoded);
}

static size_t aligned(size_t size) {
    return (size + 63) & ~(size_t)63;
}

static enum zb_code prepare(encoder *e, size_t size, zb_error *err) {
    const enum zb__blosc_format format = e->codec->format;
    const bool matches = format == ZB__BLOSC_BLOSCLZ || format == ZB__BLOSC_SNAPPY;
    /* Elements of more than 255 bytes are taken as single bytes, as by all writers. */
    e->typesize = e->codec->typesize <= 255 ? e->codec->typesize : 1;
    e->shuffled = e->codec->shuffle == 1 && e->typesize > 1;
    e->bitshuffled = e->codec->shuffle == 2;
    /* For fast compressors, bytes of equal place are better apart; other compressors find that
       themselves. */
    e->fast = matches || strcmp(e->codec->compressor, "lz4") == 0;
    e->split = e->fast && e->typesize <= ZB__BLOSC_SPLIT_TYPESIZE;
    e->block_size = choose_block_size(e, size);
    if (e->block_size % e->typesize || e->block_size / e->typesize < ZB__BLOSC_SPLIT_SIZE)
        e->split = false;
    size_t state =
        (size_t)(LZ4_sizeofState() > LZ4_sizeofStateHC() ? LZ4_sizeofState() : LZ4_sizeofStateHC());
    state = matches || format == ZB__BLOSC_LZ4 ? aligned(state) : 0;
    const size_t filtered = aligned(e->block_size);
    const size_t bound = matches ? (size_t)LZ4_compressBound((int)e->block_size) : 0;
    enum zb_code code = zb__buffer_reserve(&e->scratch->filtered, state + filtered + bound, err);
    if (code)
        return code;
    e->state = e->scratch->filtered.data;
    e->filtered = e->state + state;
    e->matches = e->filtered + filtered;
    return ZB_OK;
}

/* Fills the container; *fits is false when it is not shorter than the data. */
static enum zb_code put_blocks(encoder *e, const uint8_t *in, size_t size, uint8_t *out, bool *fits,
                               zb_error *err) {
    size_t blocks = (size - 1) / e->block_size + 1;
    e->stop = out + ZB__BLOSC_HEADER + size;
    e->out = out + ZB__BLOSC_HEADER + 4 * blocks;
    enum zb_code code = ZB_OK;
    *fits = 4 * blocks < size;
    for (size_t i = 0; i < blocks && *fits && code == ZB_OK; i++) {
        size_t first = i * e->block_size;
        size_t left = size - first;
        zb__store_le32(out + ZB__BLOSC_HEADER + 4 * i, (uint32_t)(e->out - out));
        code = put_block(e, in + first, left < e->block_size ? left : e->block_size, fits, err);
    }
    return code;
}

static enum zb_code encode(encoder *e, const uint8_t *in, size_t size, uint8_t *out,
                           size_t *written, zb_error *err) {
    bool fits = false;
    enum zb_code code = prepare(e, size, err);
    uint8_t flags = (uint8_t)(e->codec->format << ZB__BLOSC_FORMAT_SHIFT);
    flags |= e->shuffled ? ZB__BLOSC_SHUFFLE : e->bitshuffled ? ZB__BLOSC_BITSHUFFLE : 0;
    flags |= e->split ? 0 : ZB__BLOSC_NOT_SPLIT;
    if (!code && size >= SIZE_MIN && e->codec->level > 0)
        code = put_blocks(e, in, size, out, &fits, err);
    if (code)
        return code;
    if (fits) {
        *written = (size_t)(e->out - out);
    } else {
        memcpy(out + ZB__BLOSC_HEADER, in, size);
        *written = size + ZB__BLOSC_HEADER;
        flags |= ZB__BLOSC_STORED;
    }
    put_header(out, e, flags, size, *written);
    return ZB_OK;
}

uint64_t zb__blosc_encode_bound(uint64_t size) {
    return zb__bound_sum(size, ZB__BLOSC_HEADER);
}

enum zb_code zb__blosc_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                              size_t size, uint8_t *out, size_t capacity, size_t *written,
                              zb_error *err) {
    const zb__blosc *codec = state;
    if (size > SIZE_MAX_BLOSC)
        return zb_fail(err, ZB_ELIMIT, "blosc: %zu bytes are more than the %d of a container", size,
                       SIZE_MAX_BLOSC);
    if (capacity < size + ZB__BLOSC_HEADER)
        return zb_fail(err, ZB_EINVAL, "blosc: %zu bytes cannot be encoded into %zu", size,
                       capacity);
    encoder e = {.codec = codec, .scratch = scratch};
    return encode(&e, in, size, out, written, err);
}
