/* SPDX-License-Identifier: MIT */
/*
 * The zstd codec (RFC 8878).
 *
 * An encoded chunk is one frame in practice, but writers also produce several, with or without
 * content sizes, and skippable ones between them. We walk over the frames ourselves: so that old
 * formats that the library may still read, dictionaries and trailing garbage are refused, and each
 * frame is decoded in one shot into the rest of the destination. The destination is the only memory
 * that the data get, whatever a frame claims about its content or window: it serves as the window.
 *
 * Prefix decoding: when only bytes [0, hi) are wanted, the blocks (up to 128 KiB each) are fed one
 * by one to the streaming decoder, which writes them in place, until hi is reached. A frame with a
 * checksum is always decoded whole, since its bytes may not be handed out unverified. All frames
 * are looked over first, so that truncation and garbage are found as in a full decode.
 *
 * We write one frame that says its content's size.
 */
#define ZSTD_STATIC_LINKING_ONLY /* for the number of ZSTD_d_stableOutBuffer */
#include "codec/zstd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/codec.h"
#include "codec/configuration.h"
#include "util/bytes.h"
#include "zarrbridge/json.h"

#define FRAME_MAGIC 0xfd2fb528u
#define SKIPPABLE_MAGIC 0x184d2a50u /* and the 15 that follow */
#define SIZE_UNKNOWN UINT64_MAX

typedef struct zstd {
    int level;
    bool checksum; /* of each frame */
} zstd;

typedef struct zstd_frame {
    size_t size;        /* encoded, header and checksum included */
    size_t header_size; /* up to the first block */
    uint64_t content_size;
    uint64_t window_size; /* 0: that of the content */
    bool skippable;
    bool checksum;
} zstd_frame;

#define BLOCK_HEADER 3
#define BLOCK_MOST ((uint64_t)128 << 10) /* bytes that a block decodes to */
enum { BLOCK_RAW, BLOCK_RUN, BLOCK_COMPRESSED };

typedef struct block_header {
    bool is_last;
    unsigned type;
    uint32_t size; /* of its bytes; of a run, which has one, of what that is repeated to */
} block_header;

static enum zb_code create_decoder(void **out, zb_error *err) {
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!context)
        return zb_fail(err, ZB_ENOMEM, "no memory for a zstd context");
    /* With a stable output buffer no window is allocated, so its size needs no limit. */
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax,
                           ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
    if (ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_stableOutBuffer, 1))) {
        ZSTD_freeDCtx(context);
        return zb_fail(err, ZB_EUNSUPPORTED, "the zstd library has no stable output buffers");
    }
    *out = context;
    return ZB_OK;
}

static void free_decoder(void *context) {
    ZSTD_freeDCtx(context);
}

static enum zb_code use_decoder(zb__scratch *scratch, ZSTD_DCtx **out, zb_error *err) {
    static zb__scratch_slot slot = {.create = create_decoder, .free = free_decoder};
    void *context = NULL;
    enum zb_code code = zb__scratch_use(scratch, &slot, &context, err);
    *out = context;
    return code;
}

static enum zb_code fail_zstd(size_t result, zb_error *err) {
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_checksum_wrong:
        return zb_fail(err, ZB_ECHECKSUM, "zstd: the frame's checksum does not match its content");
    case ZSTD_error_memory_allocation:
        return zb_fail(err, ZB_ENOMEM, "zstd: no memory");
    case ZSTD_error_dstSize_tooSmall:
        return zb_fail(err, ZB_EFORMAT, "zstd: the data decode to more bytes than expected");
    default:
        return zb_fail(err, ZB_EFORMAT, "zstd: damaged data: %s", ZSTD_getErrorName(result));
    }
}

/* Reads the header of a Zstandard frame behind its magic number. */
static enum zb_code read_frame_header(const uint8_t *in, size_t size, zstd_frame *frame,
                                      zb_error *err) {
    static const uint8_t dictionary_sizes[4] = {0, 1, 2, 4};
    static const uint8_t content_sizes[4] = {0, 2, 4, 8};
    uint8_t descriptor = in[4];
    bool single_segment = descriptor & 0x20;
    size_t dictionary_at = single_segment ? 5 : 6; /* a window descriptor comes before */
    size_t dictionary_size = dictionary_sizes[descriptor & 3];
    size_t content_at = dictionary_at + dictionary_size;
    size_t content_bytes = content_sizes[descriptor >> 6];
    if (content_bytes == 0 && single_segment)
        content_bytes = 1;
    if (size < content_at + content_bytes)
        return zb_fail(err, ZB_EFORMAT, "zstd: the data end within a frame header");
    for (size_t i = dictionary_at; i < content_at; i++) {
        if (in[i])
            return zb_fail(err, ZB_EUNSUPPORTED, "zstd: the frame needs a dictionary");
    }
    uint64_t content = 0;
    for (size_t i = content_bytes; i-- > 0;)
        content = content << 8 | in[content_at + i];
    if (content_bytes == 2)
        content += 256;
    frame->content_size = content_bytes ? content : SIZE_UNKNOWN;
    frame->header_size = content_at + content_bytes;
    frame->checksum = descriptor & 4;
    if (!single_segment) /* a power of two, and some eighths of it */
        frame->window_size = (uint64_t)(8 + (in[5] & 7)) << (7 + (in[5] >> 3));
    return ZB_OK;
}

/* Describes the frame at in[0..size), which may be followed by others. */
static enum zb_code read_frame(const uint8_t *in, size_t size, zstd_frame *frame, zb_error *err) {
    *frame = (zstd_frame){0};
    if (size < 5)
        return zb_fail(err, ZB_EFORMAT, "zstd: %zu bytes where a frame should be", size);
    uint32_t magic = zb__load_le32(in);
    if (magic == FRAME_MAGIC) {
        enum zb_code code = read_frame_header(in, size, frame, err);
        if (code)
            return code;
    } else if ((magic & ~15u) == SKIPPABLE_MAGIC) {
        frame->skippable = true;
    } else {
        return zb_fail(err, ZB_EFORMAT, "zstd: magic number is 0x%08x, expected 0x%08x", magic,
                       FRAME_MAGIC);
    }
    size_t result = ZSTD_findFrameCompressedSize(in, size);
    if (ZSTD_isError(result))
        return fail_zstd(result, err);
    frame->size = result;
    return ZB_OK;
}

enum zb_code zb__zstd_decode(zb__scratch *scratch, const uint8_t *in, size_t size, uint8_t *out,
                             size_t capacity, size_t *written, zb_error *err) {
    ZSTD_DCtx *decoder;
    enum zb_code code = use_decoder(scratch, &decoder, err);
    size_t done = 0;
    /* The empty input is refused, too: at least one frame must be there. */
    for (size_t at = 0; !code && (at < size || at == 0);) {
        zstd_frame frame;
        code = read_frame(in + at, size - at, &frame, err);
        if (!code && !frame.skippable) {
            size_t result =
                ZSTD_decompressDCtx(decoder, out + done, capacity - done, in + at, frame.size);
            if (ZSTD_isError(result))
                code = fail_zstd(result, err);
            else
                done += result;
        }
        at += frame.size;
    }
    *written = done;
    return code;
}

static block_header read_block_header(const uint8_t *in) {
    const uint32_t header = in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16;
    return (block_header){.is_last = header & 1, .type = (header >> 1) & 3, .size = header >> 3};
}

/* Decodes blocks of one frame until `wanted` bytes are there or the frame ends; *written tells
   their number. out has room for the whole content, as the caller has checked. */
static enum zb_code decode_blocks(ZSTD_DCtx *decoder, const uint8_t *in, const zstd_frame *frame,
                                  uint8_t *out, size_t capacity, size_t wanted, size_t *written,
                                  zb_error *err) {
    ZSTD_inBuffer input = {.src = in, .size = frame->header_size};
    ZSTD_outBuffer output = {.dst = out, .size = capacity};
    enum zb_code code = ZB_OK;
    ZSTD_DCtx_reset(decoder, ZSTD_reset_session_only);
    bool last = false;
    while (!last && output.pos < wanted) {
        const block_header block = read_block_header(in + input.size);
        last = block.is_last;
        input.size += BLOCK_HEADER + (block.type == BLOCK_RUN ? 1 : block.size);
        size_t result = ZSTD_decompressStream(decoder, &output, &input);
        if (ZSTD_isError(result)) {
            code = fail_zstd(result, err);
            break;
        }
        if (input.pos != input.size) {
            code = zb_fail(err, ZB_EFORMAT, "zstd: damaged data: a block holds too much");
            break;
        }
    }
    ZSTD_DCtx_reset(decoder, ZSTD_reset_session_only);
    *written = output.pos;
    return code;
}

/* A checksum rules out prefix decoding. */
enum zb_code zb__zstd_survey(const uint8_t *in, size_t size, bool *checksum, uint64_t *content,
                             zb_error *err) {
    *checksum = false;
    *content = 0;
    for (size_t at = 0; at < size || at == 0;) {
        zstd_frame frame;
        enum zb_code code = read_frame(in + at, size - at, &frame, err);
        if (code)
            return code;
        *checksum |= frame.checksum;
        if (frame.content_size == SIZE_UNKNOWN ||
            __builtin_add_overflow(*content, frame.content_size, content))
            *content = SIZE_UNKNOWN;
        at += frame.size;
    }
    return ZB_OK;
}

bool zb__zstd_lacks_size(const uint8_t *in, size_t size) {
    zstd_frame frame;
    return size >= 5 && zb__load_le32(in) == FRAME_MAGIC &&
           read_frame_header(in, size, &frame, NULL) == ZB_OK && frame.content_size == SIZE_UNKNOWN;
}

/* The literals of a compressed block of so many bytes, which it decodes to at least
   (3.1.1.3.1.1). */
static uint64_t count_literals(const uint8_t *block, uint32_t size) {
    static const uint8_t header_sizes[2][4] = {{1, 2, 1, 3}, {3, 3, 4, 5}};
    static const uint8_t bits[2][4] = {{5, 12, 5, 20}, {10, 10, 14, 18}};
    if (size == 0)
        return 0;
    const unsigned kind = (block[0] >> 1) & 1, format = (block[0] >> 2) & 3;
    const unsigned length = header_sizes[kind][format], count = bits[kind][format];
    uint64_t header = 0;
    for (unsigned i = 0; i < length && i < size; i++)
        header |= (uint64_t)block[i] << (8 * i);
    return header >> (count == 5 ? 3 : 4) & ((UINT64_C(1) << count) - 1);
}

bool zb__zstd_may_hold(const uint8_t *in, size_t size, uint64_t content) {
    zstd_frame frame;
    uint64_t least = 0, most = 0;
    if (!zb__zstd_lacks_size(in, size) || read_frame(in, size, &frame, NULL) != ZB_OK ||
        frame.size != size || frame.checksum)
        return false;
    const uint64_t each = frame.window_size < BLOCK_MOST ? frame.window_size : BLOCK_MOST;
    bool is_last = false;
    for (size_t at = frame.header_size; !is_last;) { /* all blocks are there */
        const block_header block = read_block_header(in + at);
        const bool is_compressed = block.type == BLOCK_COMPRESSED;
        at += BLOCK_HEADER;
        least += is_compressed ? count_literals(in + at, block.size) : block.size;
        most += is_compressed ? each : block.size;
        at += block.type == BLOCK_RUN ? 1 : block.size;
        is_last = block.is_last;
    }
    return least <= content && content <= most;
}

/* Such a frame has a window descriptor, at 5, and no dictionary (RFC 8878, 3.1.1.1). */
bool zb__zstd_state_size(const uint8_t *in, size_t size, uint64_t content, uint8_t *out,
                         size_t *written) {
    zstd_frame frame;
    if (!zb__zstd_lacks_size(in, size) || read_frame(in, size, &frame, NULL) != ZB_OK ||
        frame.size != size)
        return false;
    memcpy(out, in, 6);
    out[4] = (uint8_t)(0xc0 | (in[4] & 4)); /* 8 bytes of size; whether a checksum follows */
    zb__store_le32(out + 6, (uint32_t)content);
    zb__store_le32(out + 10, (uint32_t)(content >> 32));
    memcpy(out + 14, in + frame.header_size, size - frame.header_size);
    *written = 14 + size - frame.header_size;
    return true;
}

static enum zb_code decode_prefix(zb__scratch *scratch, const uint8_t *in, size_t size,
                                  zb__sink *sink, zb_error *err) {
    ZSTD_DCtx *decoder;
    enum zb_code code = use_decoder(scratch, &decoder, err);
    size_t done = 0;
    for (size_t at = 0; !code && at < size && done < sink->hi;) {
        zstd_frame frame;
        code = read_frame(in + at, size - at, &frame, err);
        if (!code && !frame.skippable) {
            size_t written;
            code = decode_blocks(decoder, in + at, &frame, sink->data + done, sink->capacity - done,
                                 sink->hi - done, &written, err);
            done += written;
        }
        at += frame.size;
    }
    sink->size = done;
    sink->lo = 0;
    return code;
}

static enum zb_code zstd_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, zb__sink *sink, zb_error *err) {
    (void)state;
    bool whole = sink->hi == sink->capacity;
    if (!whole) {
        uint64_t content;
        enum zb_code code = zb__zstd_survey(in, size, &whole, &content, err);
        if (code)
            return code;
        if (content != SIZE_UNKNOWN && sink->exact && content != sink->capacity)
            return zb_fail(err, ZB_EFORMAT, "zstd: the data decode to %llu bytes, expected %zu",
                           (unsigned long long)content, sink->capacity);
    }
    enum zb_code code =
        whole ? zb__zstd_decode(scratch, in, size, sink->data, sink->capacity, &sink->size, err)
              : decode_prefix(scratch, in, size, sink, err);
    if (code)
        return code;
    size_t expected = whole ? sink->capacity : sink->hi;
    if (sink->exact && sink->size < expected)
        return zb_fail(err, ZB_EFORMAT, "zstd: the data decode to %zu bytes, expected %zu",
                       sink->size, sink->capacity);
    if (sink->hi < sink->size)
        sink->hi = sink->size; /* blocks are decoded whole */
    return ZB_OK;
}

/* ---- Encoding ----------------------------------------------------------------------------- */

static uint64_t zstd_encode_bound(uint64_t size) {
    size_t bound = size > SIZE_MAX ? 0 : ZSTD_compressBound((size_t)size);
    return bound == 0 || ZSTD_isError(bound) ? UINT64_MAX : bound;
}

static enum zb_code create_encoder(void **context, zb_error *err) {
    *context = ZSTD_createCCtx();
    return *context ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a zstd context");
}

static void free_encoder(void *context) {
    ZSTD_freeCCtx(context);
}

enum zb_code zb__zstd_encoder(zb__scratch *scratch, ZSTD_CCtx **out, zb_error *err) {
    static zb__scratch_slot slot = {.create = create_encoder, .free = free_encoder};
    void *context = NULL;
    enum zb_code code = zb__scratch_use(scratch, &slot, &context, err);
    *out = context;
    return code;
}

/* What a level stands for is libzstd's, by the size of the input, with one exception. At the
   default level it looks for matches of 4 bytes in inputs of 128 to 256 KiB, and of 5 bytes in all
   that are larger and most that are smaller. Tiles of pictures are of that size. In their noise the
   short matches gain up to 4 % of the bytes; they take up to four times as long to find, and half
   as long again to decode (docs/performance.md). */
static void set_level(ZSTD_CCtx *context, int level, size_t size) {
    const size_t above = (size_t)128 << 10, most = (size_t)256 << 10;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    if ((level == 0 || level == ZSTD_CLEVEL_DEFAULT) && size > above && size <= most)
        ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, 5);
}

static enum zb_code zstd_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, uint8_t *out, size_t capacity, size_t *written,
                                zb_error *err) {
    const zstd *codec = state;
    ZSTD_CCtx *context;
    enum zb_code code = zb__zstd_encoder(scratch, &context, err);
    if (code)
        return code;
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    set_level(context, codec->level, size);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, codec->checksum);
    size_t result = ZSTD_compress2(context, out, capacity, in, size);
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return zb_fail(err, ZB_ENOMEM, "zstd: no memory to encode at level %d", codec->level);
    if (ZSTD_isError(result))
        return zb_fail(err, ZB_EINVAL, "zstd: %zu bytes cannot be encoded into %zu: %s", size,
                       capacity, ZSTD_getErrorName(result));
    *written = result;
    return ZB_OK;
}

/* ---- Metadata ----------------------------------------------------------------------------- */

/* Level 0 stands for the library's own default, 3. */
static enum zb_code zstd_parse(const zb_json *configuration, const zb__binding *binding,
                               void **state, zb_error *err) {
    (void)binding;
    zstd *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    enum zb_code code =
        zb__configuration_integer(configuration, "level", -131072, 22, &codec->level, err);
    return code ? code : zb__configuration_bool(configuration, "checksum", &codec->checksum, err);
}

static const char *const members[] = {"level", "checksum", NULL};
static const char *const defaults[] = {"3", "false"};
static const char *const numcodecs_defaults[] = {"0", "false"};

#define OPERATIONS                                                                                 \
    {.stream = ZB__STREAM_ZSTD,                                                                    \
     .decode = zstd_decode,                                                                        \
     .encode_bound = zstd_encode_bound,                                                            \
     .encode = zstd_encode,                                                                        \
     .fixed_overhead = -1,                                                                         \
     .is_partial = true,                                                                           \
     .cost = 900}

const zb__codec_ops zb__codec_zstd = {
    .name = "zstd",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .parse = zstd_parse,
    .free = free,
    .bytes = OPERATIONS,
};

const zb__codec_ops zb__codec_numcodecs_zstd = {
    .name = "numcodecs.zstd",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = numcodecs_defaults,
    .parse = zstd_parse,
    .free = free,
    .bytes = OPERATIONS,
};
