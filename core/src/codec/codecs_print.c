/* SPDX-License-Identifier: MIT */
/*
 * The bytes→bytes codecs of a new array: those that the caller asks for, completed. Readers in the
 * wild want the object form (no bare names) and all members of a configuration, so defaults are
 * written out. The parser, which reads the result afterwards, decides whether it is a chain that
 * works.
 */
#include "codec/codecs_print.h"

#include <stdio.h>

#include "base/extension.h"
#include "base/json_brief.h"
#include "base/json_writer.h"
#include "codec/table.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* The caller's members win; one that the codec does not have is refused here, because afterwards it
   would be too late to say where it came from. */
static enum zb_code print_configuration(zb_json_writer *w, const zb__codec_ops *ops,
                                        const zb_json *given, zb_dtype dtype, zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    for (size_t i = 0; ops->members[i]; i++) {
        const zb_json *value = zb_json_get(given, ops->members[i]);
        if (i == 0) {
            zb_json_write_name(w, "configuration");
            zb_json_begin_object(w);
        }
        zb_json_write_name(w, ops->members[i]);
        if (value)
            zb_json_write_value(w, value);
        else if (ops->defaults[i])
            zb_json_write_raw(w, ops->defaults[i]);
        else
            ops->print_default(w, ops->members[i], dtype);
    }
    if (ops->members[0])
        zb_json_end_object(w);
    for (const zb_json *m = zb_json_first(given); m; m = zb_json_next(m)) {
        if (!zb__name_in(zb_json_name(m), ops->members))
            return zb_fail(err, ZB_EINVAL, "codec %s has no option %s", ops->name,
                           zb__name_brief(zb_json_name(m), brief));
    }
    return ZB_OK;
}

/* Writes "zstd, gzip or crc32c". */
static void list_names(char *out, size_t size) {
    const zb__codec_ops *ops, *last = NULL;
    size_t used = 0;
    for (size_t i = 0; (ops = zb__codec_at(i)) != NULL; i++)
        last = ops->kind == ZB__BYTES_TO_BYTES ? ops : last;
    for (size_t i = 0; (ops = zb__codec_at(i)) != NULL && used < size; i++) {
        const char *before = used == 0 ? "" : ops == last ? " or " : ", ";
        if (ops->kind == ZB__BYTES_TO_BYTES)
            used += (size_t)snprintf(out + used, size - used, "%s%s", before, ops->name);
    }
}

static enum zb_code print_codec(zb_json_writer *w, const zb_json *item, zb_dtype dtype,
                                zb_error *err) {
    zb__extension codec;
    char brief[ZB__BRIEF_SIZE], names[320];
    enum zb_code code = zb__extension_parse(item, "codecs", &codec, err);
    if (code)
        return zb_fail(err, ZB_EINVAL,
                       "codecs has %s, expected a codec's name or an object with it",
                       zb__json_brief(item, brief));
    const zb__codec_ops *ops = zb__codec_find(codec.name);
    if (!ops || ops->kind != ZB__BYTES_TO_BYTES) {
        list_names(names, sizeof names);
        return zb_fail(err, ZB_EUNSUPPORTED, "codec %s is not supported, expected %s",
                       zb__name_brief(codec.name, brief), names);
    }
    zb_json_begin_object(w);
    zb_json_write_name(w, "name");
    zb_json_write_string(w, ops->name);
    code = print_configuration(w, ops, codec.configuration, dtype, err);
    zb_json_end_object(w);
    return code;
}

enum zb_code zb__codecs_print(zb_json_writer *w, const zb_json *codecs, zb_dtype dtype,
                              zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    enum zb_code code = ZB_OK;
    if (zb_json_kind_of(codecs) != ZB_JSON_ARRAY)
        return zb_fail(err, ZB_EINVAL, "codecs is %s, expected a list",
                       zb__json_brief(codecs, brief));
    for (const zb_json *item = zb_json_first(codecs); item && !code; item = zb_json_next(item))
        code = print_codec(w, item, dtype, err);
    return code;
}
