/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.lzma: one or more .xz streams (format 1), one .lzma stream (format 2), or a
 * raw one (format 3), whose filters are in the document. A build without liblzma refuses it by
 * name.
 *
 * A stream states the size of its decoder's dictionary. No encoder needs more than the content, but
 * all of them state what their preset says, at most 64 MiB; the decoder gets memory for that, or
 * for twice the destination where that is more. The filters of a raw stream have the same bound,
 * and their encoder that of the highest preset.
 */
#include <stdlib.h>

#include "base/checked.h"
#include "base/json_brief.h"
#include "codec/codec.h"
#include "codec/configuration.h"

#ifdef ZB_HAVE_LZMA
#include "codec/lzma_filters.h"
#endif

enum format { FORMAT_AUTO, FORMAT_XZ, FORMAT_ALONE, FORMAT_RAW };

typedef struct lzma {
    int format;
    int check;  /* of .xz: the library's number, -1 for its default */
    int preset; /* 0 to 9 */
    bool extreme;
#ifdef ZB_HAVE_LZMA
    zb__lzma_filters filters; /* of a raw stream */
#endif
} lzma;

#ifdef ZB_HAVE_LZMA

/* ---- Decoding ----------------------------------------------------------------------------- */

static enum zb_code fail_lzma(lzma_ret result, zb_error *err) {
    switch (result) {
    case LZMA_MEM_ERROR:
        return zb_fail(err, ZB_ENOMEM, "lzma: no memory for a decoder");
    case LZMA_MEMLIMIT_ERROR:
        return zb_fail(err, ZB_ELIMIT,
                       "lzma: the stream wants a dictionary beyond 64 MiB and twice its content");
    case LZMA_OPTIONS_ERROR:
        return zb_fail(err, ZB_EUNSUPPORTED, "lzma: the stream has options that are not known");
    default:
        return zb_fail(err, ZB_EFORMAT, "lzma: damaged or truncated data");
    }
}

static lzma_ret begin_raw_decoder(lzma_stream *stream, const lzma *codec, uint64_t memory) {
    const lzma_filter *filters = codec->filters.list;
    return lzma_raw_decoder_memusage(filters) > memory ? LZMA_MEMLIMIT_ERROR
                                                       : lzma_raw_decoder(stream, filters);
}

static lzma_ret begin_decoder(lzma_stream *stream, const lzma *codec, size_t capacity) {
    int format = codec->format;
    uint64_t most = zb__bound_product(capacity, 2), usual = lzma_easy_decoder_memusage(9);
    uint64_t memory = zb__bound_sum(most > usual ? most : usual, 1 << 20);
    uint32_t flags = LZMA_CONCATENATED;
    if (format == FORMAT_XZ)
        return lzma_stream_decoder(stream, memory, flags);
    if (format == FORMAT_ALONE)
        return lzma_alone_decoder(stream, memory);
    if (format == FORMAT_RAW)
        return begin_raw_decoder(stream, codec, memory);
    return lzma_auto_decoder(stream, memory, flags);
}

static enum zb_code lzma_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, zb__sink *sink, zb_error *err) {
    const lzma *codec = state;
    (void)scratch;
    uint8_t nothing; /* the library wants a place even where no bytes are expected */
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret result = begin_decoder(&stream, codec, sink->capacity);
    stream.next_in = in;
    stream.avail_in = size;
    stream.next_out = sink->capacity ? sink->data : &nothing;
    stream.avail_out = sink->capacity;
    while (result == LZMA_OK)
        result = lzma_code(&stream, LZMA_FINISH);
    size_t left = stream.avail_in, room = stream.avail_out;
    lzma_end(&stream);
    if (result == LZMA_BUF_ERROR && room == 0 && left > 0)
        return zb_fail(err, ZB_EFORMAT, "lzma: the data decode to more bytes than expected");
    if (result != LZMA_STREAM_END)
        return fail_lzma(result, err);
    if (left > 0)
        return zb_fail(err, ZB_EFORMAT, "lzma: %zu bytes follow the stream", left);
    sink->size = sink->capacity - room;
    if (sink->exact && room > 0)
        return zb_fail(err, ZB_EFORMAT, "lzma: the data decode to %zu bytes, expected %zu",
                       sink->size, sink->capacity);
    return ZB_OK;
}

/* ---- Encoding ----------------------------------------------------------------------------- */

static lzma_ret begin_encoder(lzma_stream *stream, const lzma *codec) {
    uint32_t preset = (uint32_t)codec->preset | (codec->extreme ? LZMA_PRESET_EXTREME : 0);
    const lzma_filter *filters = codec->filters.list;
    if (codec->format == FORMAT_RAW)
        return lzma_raw_encoder_memusage(filters) > lzma_easy_encoder_memusage(9)
                   ? LZMA_MEMLIMIT_ERROR
                   : lzma_raw_encoder(stream, filters);
    if (codec->format != FORMAT_ALONE)
        return lzma_easy_encoder(stream, preset,
                                 codec->check < 0 ? LZMA_CHECK_CRC64 : (lzma_check)codec->check);
    lzma_options_lzma options;
    return lzma_lzma_preset(&options, preset) ? LZMA_OPTIONS_ERROR
                                              : lzma_alone_encoder(stream, &options);
}

static enum zb_code lzma_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, uint8_t *out, size_t capacity, size_t *written,
                                zb_error *err) {
    (void)scratch;
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret result = begin_encoder(&stream, state);
    stream.next_in = in;
    stream.avail_in = size;
    stream.next_out = out;
    stream.avail_out = capacity;
    while (result == LZMA_OK)
        result = lzma_code(&stream, LZMA_FINISH);
    *written = capacity - stream.avail_out;
    lzma_end(&stream);
    if (result == LZMA_MEM_ERROR)
        return zb_fail(err, ZB_ENOMEM, "lzma: no memory for an encoder");
    if (result == LZMA_MEMLIMIT_ERROR)
        return zb_fail(err, ZB_ELIMIT,
                       "lzma: the filters want more memory than the preset 9; give them a smaller "
                       "dict_size");
    return result == LZMA_STREAM_END
               ? ZB_OK
               : zb_fail(err, ZB_EINVAL, "lzma: %zu bytes cannot be encoded into %zu", size,
                         capacity);
}

static enum zb_code check_build(const lzma *codec, zb_error *err) {
    if (codec->check < 0 || lzma_check_is_supported((lzma_check)codec->check))
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED, "check is %d, which liblzma does not have", codec->check);
}

/* numcodecs reads filters with raw streams alone. */
static enum zb_code parse_filters(lzma *codec, const zb_json *configuration, zb_error *err) {
    const zb_json *filters = zb__configuration_given(configuration, "filters");
    if (codec->format != FORMAT_RAW && filters)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "filters go with raw streams (format 3) alone; expected null");
    if (codec->format == FORMAT_RAW && !filters)
        return zb_fail(err, ZB_EFORMAT, "a raw stream (format 3) needs filters");
    return filters ? zb__lzma_filters_parse(filters, &codec->filters, err) : ZB_OK;
}

static bool same_filters(const lzma *a, const lzma *b) {
    return a->format != FORMAT_RAW || zb__lzma_filters_same(&a->filters, &b->filters);
}

#else

static enum zb_code check_build(const lzma *codec, zb_error *err) {
    (void)codec;
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "this build has no lzma; build zarrbridge with liblzma to have it");
}

static enum zb_code parse_filters(lzma *codec, const zb_json *configuration, zb_error *err) {
    (void)configuration;
    return check_build(codec, err);
}

static bool same_filters(const lzma *a, const lzma *b) {
    (void)a, (void)b;
    return true;
}

static enum zb_code lzma_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, zb__sink *sink, zb_error *err) {
    (void)scratch, (void)in, (void)size, (void)sink;
    return check_build(state, err);
}

static enum zb_code lzma_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, uint8_t *out, size_t capacity, size_t *written,
                                zb_error *err) {
    (void)scratch, (void)in, (void)size, (void)out, (void)capacity, (void)written;
    return check_build(state, err);
}
#endif

/* LZMA2 stores what does not compress in parts of 64 KiB with 3 bytes before each, .xz adds headers
   and a trailer; .lzma may grow by a little more. */
static uint64_t lzma_encode_bound(uint64_t size) {
    return zb__bound_sum(size, size / 8 + 1024);
}

/* ---- Metadata ----------------------------------------------------------------------------- */

#define EXTREME 0x80000000u /* added to a preset: more time */

static enum zb_code parse_preset(lzma *codec, const zb_json *configuration, zb_error *err) {
    const zb_json *value = zb__configuration_given(configuration, "preset");
    char brief[ZB__BRIEF_SIZE];
    uint64_t number;
    codec->preset = 6;
    if (!value)
        return ZB_OK;
    if (!zb_json_uint64(value, &number) || number > UINT32_MAX || (number & ~EXTREME) > 9)
        return zb_fail(err, ZB_EFORMAT,
                       "preset is %s, expected an integer from 0 to 9, maybe with 2^31 added",
                       zb__json_brief(value, brief));
    codec->preset = (int)(number & ~(uint64_t)EXTREME);
    codec->extreme = number & EXTREME;
    return ZB_OK;
}

static enum zb_code lzma_parse(const zb_json *configuration, const zb__binding *binding,
                               void **state, zb_error *err) {
    (void)binding;
    lzma *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    codec->format = FORMAT_XZ;
    codec->check = -1;
    enum zb_code code =
        zb__configuration_integer(configuration, "format", 0, 3, &codec->format, err);
    if (!code)
        code = parse_filters(codec, configuration, err);
    if (!code)
        code = zb__configuration_integer(configuration, "check", -1, 15, &codec->check, err);
    if (!code)
        code = parse_preset(codec, configuration, err);
    return code ? code : check_build(codec, err);
}

static bool lzma_same(const void *a, const void *b) {
    const lzma *x = a, *y = b;
    return x->format == y->format && same_filters(x, y);
}

static const char *const members[] = {"format", "check", "preset", "filters", NULL};
static const char *const defaults[] = {"1", "-1", "null", "null"};

const zb__codec_ops zb__codec_numcodecs_lzma = {
    .name = "numcodecs.lzma",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .parse = lzma_parse,
    .free = free,
    .same = lzma_same,
    .bytes = {.decode = lzma_decode,
              .encode_bound = lzma_encode_bound,
              .encode = lzma_encode,
              .fixed_overhead = -1,
              .cost = 15000},
};
