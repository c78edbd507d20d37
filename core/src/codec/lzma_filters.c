/* SPDX-License-Identifier: MIT */
/*
 * A filter of Python's lzma is an object with the library's number of the filter as "id" and its
 * options beside it. Those that are missing are the library's defaults, or those of "preset".
 */
#ifdef ZB_HAVE_LZMA
#include "codec/lzma_filters.h"

#include <string.h>

#include "base/extension.h"
#include "base/json_brief.h"

/* An option of the name, where it is there. */
static enum zb_code read_option(const zb_json *filter, const char *name, uint32_t *out,
                                zb_error *err) {
    const zb_json *value = zb_json_get(filter, name);
    char brief[ZB__BRIEF_SIZE];
    uint64_t number;
    if (!value)
        return ZB_OK;
    if (!zb_json_uint64(value, &number) || number > UINT32_MAX)
        return zb_fail(err, ZB_EFORMAT, "%s is %s, expected an integer from 0 to 4294967295", name,
                       zb__json_brief(value, brief));
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

static enum zb_code parse_filter(const zb_json *item, zb__lzma_filters *out, size_t at,
                                 zb_error *err) {
    static const char *const lzma_names[] = {"id",   "preset",   "dict_size", "lc",    "lp", "pb",
                                             "mode", "nice_len", "mf",        "depth", NULL};
    static const char *const delta_names[] = {"id", "dist", NULL};
    static const char *const bcj_names[] = {"id", "start_offset", NULL};
    char brief[ZB__BRIEF_SIZE];
    uint64_t id;
    if (!zb_json_uint64(zb_json_get(item, "id"), &id))
        return zb_fail(err, ZB_EFORMAT, "it is %s, expected an object with an id",
                       zb__json_brief(item, brief));
    bool is_lzma = id == LZMA_FILTER_LZMA1 || id == LZMA_FILTER_LZMA2;
    const char *const *names = is_lzma                   ? lzma_names
                               : id == LZMA_FILTER_DELTA ? delta_names
                                                         : bcj_names;
    for (const zb_json *m = zb_json_first(item); m; m = zb_json_next(m)) {
        if (!zb__name_in(zb_json_name(m), names))
            return zb_fail(err, ZB_EFORMAT, "the filter has no option %s",
                           zb__name_brief(zb_json_name(m), brief));
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

enum zb_code zb__lzma_filters_parse(const zb_json *list, zb__lzma_filters *out, zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    size_t count = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_count(list) : 0, at = 0;
    enum zb_code code = ZB_OK;
    if (count == 0 || count > LZMA_FILTERS_MAX)
        return zb_fail(err, ZB_EFORMAT, "filters is %s, expected a list of 1 to %d filters",
                       zb__json_brief(list, brief), LZMA_FILTERS_MAX);
    for (const zb_json *item = zb_json_first(list); item && !code; item = zb_json_next(item)) {
        code = parse_filter(item, out, at, err);
        if (code)
            return zb_error_prefix(err, code, "filters[%zu]", at);
        at++;
    }
    out->list[at] = (lzma_filter){.id = LZMA_VLI_UNKNOWN};
    if (lzma_raw_decoder_memusage(out->list) == UINT64_MAX ||
        lzma_raw_encoder_memusage(out->list) == UINT64_MAX)
        return zb_fail(err, ZB_EFORMAT, "filters is a chain that lzma does not have");
    return ZB_OK;
}

static bool same_options(const zb__lzma_filters *a, const zb__lzma_filters *b, size_t at) {
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

bool zb__lzma_filters_same(const zb__lzma_filters *a, const zb__lzma_filters *b) {
    size_t at = 0;
    while (a->list[at].id == b->list[at].id && a->list[at].id != LZMA_VLI_UNKNOWN) {
        if (!same_options(a, b, at))
            return false;
        at++;
    }
    return a->list[at].id == b->list[at].id;
}
#else
typedef int zb__no_lzma; /* a source has at least a declaration */
#endif
