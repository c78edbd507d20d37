/* SPDX-License-Identifier: MIT */
/*
 * Binding a codec list to a type and a number of dimensions. The list is checked and folded once,
 * when an array is opened: array→array codecs into a permutation of dimensions; the array→bytes
 * codec and the bytes→bytes codecs remain at run time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/extension.h"
#include "base/json_brief.h"
#include "codec/chain.h"
#include "codec/form.h"
#include "codec/refused.h"
#include "codec/table.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"

void zb__chain_free(zb__chain *chain) {
    if (!chain)
        return;
    zb__form_cache_free(chain->forms);
    zb__codec_free(&chain->serial);
    for (size_t i = 0; i < chain->codec_count; i++)
        zb__codec_free(&chain->codecs[i]);
    free(chain->codecs);
    free(chain);
}

/* A chain in the making. */
typedef struct making {
    zb__chain *chain;
    uint32_t depth;   /* shards around */
    size_t at;        /* of the codec in hand in the list */
    const char *what; /* the same for messages: "codecs[2]" */
} making;

static enum zb_code check_order(const making *m, const char *name, enum zb__codec_kind kind,
                                zb_error *err) {
    bool serialised = m->chain->serial.ops != NULL;
    if (kind == ZB__ARRAY_TO_ARRAY && serialised)
        return zb_fail(err, ZB_EFORMAT, "%s: \"%s\" must come before the array-to-bytes codec",
                       m->what, name);
    if (kind == ZB__ARRAY_TO_BYTES && serialised)
        return zb_fail(err, ZB_EFORMAT, "%s: \"%s\" is a second array-to-bytes codec", m->what,
                       name);
    if (kind == ZB__BYTES_TO_BYTES && !serialised)
        return zb_fail(err, ZB_EFORMAT, "%s: \"%s\" must come after the array-to-bytes codec",
                       m->what, name);
    return ZB_OK;
}

/* The chain takes the bound codec over. */
static void add(making *m, zb__codec codec) {
    zb__chain *chain = m->chain;
    switch (codec.ops->kind) {
    case ZB__ARRAY_TO_ARRAY:
        codec.ops->array.compose(codec.state, chain->ndim, chain->axis);
        zb__codec_free(&codec);
        break;
    case ZB__ARRAY_TO_BYTES:
        chain->serial = codec;
        chain->serial_at = m->at;
        if (codec.ops->serial.stored_dtype)
            chain->dtype = codec.ops->serial.stored_dtype(codec.state, chain->dtype);
        break;
    case ZB__BYTES_TO_BYTES:
        chain->codecs[chain->codec_count++] = codec;
        chain->cost += codec.ops->bytes.cost;
        break;
    }
}

static enum zb_code bind_codec(making *m, const zb_json *item, zb_error *err) {
    zb__extension extension;
    enum zb_code code = zb__extension_parse(item, m->what, &extension, err);
    if (code)
        return code;
    zb__codec codec = {.ops = zb__codec_find(extension.name)};
    char brief[ZB__BRIEF_SIZE];
    if (!codec.ops) {
        const char *reason = zb__codec_refusal(extension.name);
        return zb_fail(err, ZB_EUNSUPPORTED, "%s: codec %s is not supported%s%s", m->what,
                       zb__name_brief(extension.name, brief), reason ? ": " : "",
                       reason ? reason : "");
    }
    code = check_order(m, extension.name, codec.ops->kind, err);
    if (!code)
        code = zb__extension_check(&extension, m->what, codec.ops->members, err);
    if (code)
        return code;
    const zb__binding binding = {
        .ndim = m->chain->ndim, .dtype = m->chain->dtype, .depth = m->depth};
    if (codec.ops->parse)
        code = codec.ops->parse(extension.configuration, &binding, &codec.state, err);
    if (code) {
        zb__codec_free(&codec);
        return zb_error_prefix(err, code, "%s: %s", m->what, extension.name);
    }
    add(m, codec);
    return ZB_OK;
}

static enum zb_code bind_list(making *m, const zb_json *codecs, zb_error *err) {
    char brief[ZB__BRIEF_SIZE], what[32];
    size_t count = zb_json_kind_of(codecs) == ZB_JSON_ARRAY ? zb_json_count(codecs) : 0;
    uint64_t limit = zb_limits_get()->codecs;
    if (count == 0)
        return zb_fail(err, ZB_EFORMAT, "codecs is %s, expected a list with at least one codec",
                       zb__json_brief(codecs, brief));
    if (count > limit)
        return zb_fail(err, ZB_ELIMIT,
                       "codecs: %zu codecs are more than the limit codecs (%" PRIu64 ")", count,
                       limit);
    m->chain->codecs = calloc(count, sizeof *m->chain->codecs);
    m->chain->forms = zb__form_cache_new();
    if (!m->chain->codecs || !m->chain->forms)
        return zb_fail(err, ZB_ENOMEM, "no memory for a chain of %zu codecs", count);
    enum zb_code code = ZB_OK;
    m->what = what;
    for (const zb_json *item = zb_json_first(codecs); item && !code; item = zb_json_next(item)) {
        snprintf(what, sizeof what, "codecs[%zu]", m->at);
        code = bind_codec(m, item, err);
        m->at++;
    }
    if (!code && !m->chain->serial.ops)
        code =
            zb_fail(err, ZB_EFORMAT, "codecs: there is no array-to-bytes codec such as \"bytes\"");
    if (!code)
        m->chain->is_raw = m->chain->codec_count == 0 && m->chain->serial.ops->serial.is_elements;
    m->chain->is_variable = zb_dtype_is_variable(m->chain->dtype);
    return code;
}

static enum zb_code bind(const zb_json *codecs, const zb__binding *binding, bool is_index,
                         zb__chain **out, zb_error *err) {
    making m = {.chain = calloc(1, sizeof *m.chain), .depth = binding->depth};
    if (!m.chain)
        return zb_fail(err, ZB_ENOMEM, "no memory for a codec chain");
    m.chain->ndim = binding->ndim;
    m.chain->dtype = binding->dtype;
    m.chain->is_index = is_index;
    for (uint32_t d = 0; d < binding->ndim; d++)
        m.chain->axis[d] = d;
    enum zb_code code = bind_list(&m, codecs, err);
    if (code)
        zb__chain_free(m.chain);
    else
        *out = m.chain;
    return code;
}

enum zb_code zb__chain_bind(const zb_json *codecs, const zb__binding *binding, zb__chain **out,
                            zb_error *err) {
    return bind(codecs, binding, false, out, err);
}

enum zb_code zb__chain_bind_index(const zb_json *codecs, const zb__binding *binding,
                                  zb__chain **out, zb_error *err) {
    return bind(codecs, binding, true, out, err);
}
