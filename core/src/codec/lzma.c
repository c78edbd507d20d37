/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.lzma: one or more .xz streams (format 1), one .lzma stream (format 2), or a
 * raw one (format 3), whose filters are in the document.
 *
 * A stream states the size of its decoder's dictionary. No encoder needs more than the content, but
 * all of them state what their preset says, at most 64 MiB; the decoder gets memory for that, or
 * for twice the destination where that is more. The filters of a raw stream have the same bound,
 * and their encoder that of the highest preset.
 */
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/configuration.h"
#include "util/checked.h"
#include "util/extension.h"
#include "util/json_excerpt.h"

enum format { FORMAT_AUTO, FORMAT_XZ, FORMAT_ALONE, FORMAT_RAW };

/* Of a raw stream, which says nothing of itself: a pipeline of filters, which point into it. */
typedef struct filter_pipeline {
    lzma_filter list[LZMA_FILTERS_MAX + 1];
    union {
        lzma_options_lzma lzma;
        lzma_options_delta delta;
        lzma_options_bcj bcj;
    } options[LZMA_FILTERS_MAX];
} filter_pipeline;

typedef struct lzma {
    int format;
    int check;  /* of .xz: the library's number, -1 for its default */
    int preset; /* 0 to 9 */
    bool extreme;
    filter_pipeline filters; /* of a raw stream */
} lzma;

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

/* LZMA2 stores what does not compress in parts of 64 KiB with 3 bytes before each, .xz adds headers
   and a trailer; .lzma may grow by a little more. */
static uint64_t lzma_encode_bound(uint64_t size) {
    return zb__bound_sum(size, size / 8 + 1024);
}

/* ---- Filters of raw streams --------------------------------------------------------------- */

/* A filter of Python's lzma is an object with the library's number of the filter as "id" and its
   options beside it. Those that are missing are the library's defaults, or those of "preset". */

/* An option of the name, where it is there. */
static enum zb_code read_option(const zb_json *filter, const char *name, uint32_t *out,
                                zb_error *err) {
    const zb_json *value = zb_json_get(filter, name);
    char excerpt[ZB__BRIEF_SIZE];
    uint64_t number;
    if (!value)
        return ZB_OK;
    if (!zb_json_uint64(value, &number) || number > UINT32_MAX)
        return zb_fail(err, ZB_EFORMAT, "%s is %s, expected an integer from 0 to 4294967295", name,
                       zb__json_excerpt(value, excerpt));
    *out = (uint32_t)number;
    return ZB_OK;
}

static enum zb_code parse_lzma(const zb_json *filter, lzma_options_lzma *out, zb_error *err) {
    uint32_t preset = LZMA_PRESET_DEFAULT, mode, finder;
    enum zb_code code = read_option(filter, "preset", &preset, err);
    if (code)
        return code;
    if (lzma_lzma_preset(out, preset))
        return zb_fail(err, ZB_EFORMAT, "preset is %u, which lzma does not have", preset);
    mode = out->mode;
    finder = out->mf;
    const struct {
        const char *name;
        uint32_t *value;
    } options[] = {{"dict_size", &out->dict_size},
                   {"lc", &out->lc},
                   {"lp", &out->lp},
                   {"pb", &out->pb},
                   {"mode", &mode},
                   {"nice_len", &out->nice_len},
                   {"mf", &finder},
                   {"depth", &out->depth}};
    for (size_t i = 0; i < sizeof options / sizeof *options && !code; i++)
        code = read_option(filter, options[i].name, options[i].value, err);
    out->mode = (lzma_mode)mode;
    out->mf = (lzma_match_finder)finder;
    return code;
}

static enum zb_code parse_filter(const zb_json *item, filter_pipeline *out, size_t at,
                                 zb_error *err) {
    static const char *const lzma_names[] = {"id",   "preset",   "dict_size", "lc",    "lp", "pb",
                                             "mode", "nice_len", "mf",        "depth", NULL};
    static const char *const delta_names[] = {"id", "dist", NULL};
    static const char *const bcj_names[] = {"id", "start_offset", NULL};
    char excerpt[ZB__BRIEF_SIZE];
    uint64_t id;
    if (!zb_json_uint64(zb_json_get(item, "id"), &id))
        return zb_fail(err, ZB_EFORMAT, "it is %s, expected an object with an id",
                       zb__json_excerpt(item, excerpt));
    bool is_lzma = id == LZMA_FILTER_LZMA1 || id == LZMA_FILTER_LZMA2;
    const char *const *names = is_lzma                   ? lzma_names
                               : id == LZMA_FILTER_DELTA ? delta_names
                                                         : bcj_names;
    for (const zb_json *m = zb_json_first(item); m; m = zb_json_next(m)) {
        if (!zb__name_in(zb_json_name(m), names))
            return zb_fail(err, ZB_EFORMAT, "the filter has no option %s",
                           zb__name_excerpt(zb_json_name(m), excerpt));
    }
    out->list[at] = (lzma_filter){.id = id, .options = &out->options[at]};
    if (is_lzma)
        return parse_lzma(item, &out->options[at].lzma, err);
    if (id == LZMA_FILTER_DELTA) {
        out->options[at].delta = (lzma_options_delta){.type = LZMA_DELTA_TYPE_BYTE, .dist = 1};
        return read_option(item, "dist", &out->options[at].delta.dist, err);
    }
    if (!lzma_filter_decoder_is_supported(id) || !lzma_filter_encoder_is_supported(id))
        return zb_fail(err, ZB_EUNSUPPORTED, "liblzma has no filter with the id %llu",
                       (unsigned long long)id);
    out->options[at].bcj = (lzma_options_bcj){.start_offset = 0};
    return read_option(item, "start_offset", &out->options[at].bcj.start_offset, err);
}

/* Reads a list of them. Refuses a pipeline that liblzma cannot decode or encode. `out` stays where
   it is. */
static enum zb_code parse_pipeline(const zb_json *list, filter_pipeline *out, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    size_t count = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_count(list) : 0, at = 0;
    enum zb_code code = ZB_OK;
    if (count == 0 || count > LZMA_FILTERS_MAX)
        return zb_fail(err, ZB_EFORMAT, "filters is %s, expected a list of 1 to %d filters",
                       zb__json_excerpt(list, excerpt), LZMA_FILTERS_MAX);
    for (const zb_json *item = zb_json_first(list); item && !code; item = zb_json_next(item)) {
        code = parse_filter(item, out, at, err);
        if (code)
            return zb_error_prefix(err, code, "filters[%zu]", at);
        at++;
    }
    out->list[at] = (lzma_filter){.id = LZMA_VLI_UNKNOWN};
    if (lzma_raw_decoder_memusage(out->list) == UINT64_MAX ||
        lzma_raw_encoder_memusage(out->list) == UINT64_MAX)
        return zb_fail(err, ZB_EFORMAT, "filters is a pipeline that lzma does not have");
    return ZB_OK;
}

static bool same_options(const filter_pipeline *a, const filter_pipeline *b, size_t at) {
    const lzma_options_lzma *x = &a->options[at].lzma, *y = &b->options[at].lzma;
    switch (a->list[at].id) {
    case LZMA_FILTER_LZMA1:
    case LZMA_FILTER_LZMA2:
        return x->dict_size == y->dict_size && x->lc == y->lc && x->lp == y->lp && x->pb == y->pb;
    case LZMA_FILTER_DELTA:
        return a->options[at].delta.dist == b->options[at].delta.dist;
    default:
        return a->options[at].bcj.start_offset == b->options[at].bcj.start_offset;
    }
}

/* True if two pipelines decode alike: settings of the search do not matter. */
static bool same_pipeline(const filter_pipeline *a, const filter_pipeline *b) {
    size_t at = 0;
    while (a->list[at].id == b->list[at].id && a->list[at].id != LZMA_VLI_UNKNOWN) {
        if (!same_options(a, b, at))
            return false;
        at++;
    }
    return a->list[at].id == b->list[at].id;
}

/* ---- Metadata ----------------------------------------------------------------------------- */

/* numcodecs reads filters with raw streams alone. */
static enum zb_code parse_filters(lzma *codec, const zb_json *configuration, zb_error *err) {
    const zb_json *filters = zb__configuration_given(configuration, "filters");
    if (codec->format != FORMAT_RAW && filters)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "filters go with raw streams (format 3) alone; expected null");
    if (codec->format == FORMAT_RAW && !filters)
        return zb_fail(err, ZB_EFORMAT, "a raw stream (format 3) needs filters");
    return filters ? parse_pipeline(filters, &codec->filters, err) : ZB_OK;
}

static bool same_filters(const lzma *a, const lzma *b) {
    return a->format != FORMAT_RAW || same_pipeline(&a->filters, &b->filters);
}

#define EXTREME 0x80000000u /* added to a preset: more time */

static enum zb_code parse_preset(lzma *codec, const zb_json *configuration, zb_error *err) {
    const zb_json *value = zb__configuration_given(configuration, "preset");
    char excerpt[ZB__BRIEF_SIZE];
    uint64_t number;
    codec->preset = 6;
    if (!value)
        return ZB_OK;
    if (!zb_json_uint64(value, &number) || number > UINT32_MAX || (number & ~EXTREME) > 9)
        return zb_fail(err, ZB_EFORMAT,
                       "preset is %s, expected an integer from 0 to 9, maybe with 2^31 added",
                       zb__json_excerpt(value, excerpt));
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
    if (!code && codec->check >= 0 && !lzma_check_is_supported((lzma_check)codec->check))
        code =
            zb_fail(err, ZB_EUNSUPPORTED, "check is %d, which liblzma does not have", codec->check);
    return code;
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
