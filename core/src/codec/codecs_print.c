/* SPDX-License-Identifier: MIT */
/*
 * The codecs of a new array: those that the caller asks for, completed. Readers in the wild want
 * the object form (no bare names) and all members of a configuration, so defaults are written out.
 * The parser, which reads the result afterwards, decides whether it is a pipeline that works.
 */
#include "codec/codecs_print.h"

#include <stdio.h>
#include <string.h>

#include "codec/table.h"
#include "util/extension.h"
#include "util/json_excerpt.h"
#include "util/json_writer.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Lists of codecs contain lists of codecs, as deep as the limit json_depth. */
typedef struct printing {
    zb_json_writer *w;
    zb_dtype dtype;
    const char *serializer;
} printing;

static enum zb_code print_list(const printing *p, const zb_json *codecs, zb_error *err);

/* One member, unless it is missing and has no default. */
static enum zb_code print_member(const printing *p, const zb__codec_ops *ops, size_t i,
                                 const zb_json *value, zb_error *err) {
    const char *name = ops->members[i], *text = ops->defaults ? ops->defaults[i] : NULL;
    bool is_list = ops->kind == ZB__ARRAY_TO_BYTES && ops->serializer.passes_filters &&
                   strcmp(name, "codecs") == 0;
    if (!value && !text && !ops->print_default)
        return ZB_OK;
    zb_json_write_name(p->w, name);
    if (value && is_list)
        return print_list(p, value, err);
    if (value)
        zb_json_write_value(p->w, value);
    else if (text)
        zb_json_write_raw(p->w, text);
    else
        ops->print_default(p->w, name, p->dtype);
    return ZB_OK;
}

static bool is_of_numcodecs(const char *name) {
    return strncmp(name, "numcodecs.", strlen("numcodecs.")) == 0;
}

/* zarr-python refuses a codec of numcodecs without a configuration, also where it has no
   members. */
static bool has_configuration(const zb__codec_ops *ops) {
    return ops->members[0] || is_of_numcodecs(ops->name);
}

/* The caller's members win; one that the codec does not have is refused here, because afterwards it
   would be too late to say where it came from. */
static enum zb_code print_configuration(const printing *p, const zb__codec_ops *ops,
                                        const zb_json *given, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    enum zb_code code = ZB_OK;
    if (has_configuration(ops)) {
        zb_json_write_name(p->w, "configuration");
        zb_json_begin_object(p->w);
    }
    for (size_t i = 0; ops->members[i] && !code; i++)
        code = print_member(p, ops, i, zb_json_get(given, ops->members[i]), err);
    if (has_configuration(ops))
        zb_json_end_object(p->w);
    for (const zb_json *m = zb_json_first(given); m && !code; m = zb_json_next(m)) {
        if (!zb__name_in(zb_json_name(m), ops->members))
            return zb_fail(err, ZB_EINVAL, "codec %s has no option %s", ops->name,
                           zb__name_excerpt(zb_json_name(m), excerpt));
    }
    return code;
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

/* The codec that a list asks for; NULL where the name is not known. */
static const zb__codec_ops *codec_of(const zb_json *item) {
    const char *name = zb_json_string(item);
    if (!name)
        name = zb_json_string(zb_json_get(item, "name"));
    return name ? zb__codec_find(name) : NULL;
}

zb__codec_kinds zb__codecs_kinds(const zb_json *codecs) {
    zb__codec_kinds kinds = {0};
    for (const zb_json *item = zb_json_first(codecs); item; item = zb_json_next(item)) {
        const zb__codec_ops *ops = codec_of(item);
        kinds.has_array |= ops && ops->kind == ZB__ARRAY_TO_ARRAY;
        kinds.has_serializer |= ops && ops->kind == ZB__ARRAY_TO_BYTES;
    }
    return kinds;
}

static enum zb_code print_codec(const printing *p, const zb_json *item, zb_error *err) {
    zb__extension codec;
    char excerpt[ZB__BRIEF_SIZE], names[320];
    enum zb_code code = zb__extension_parse(item, "codecs", &codec, err);
    if (code)
        return zb_fail(err, ZB_EINVAL,
                       "codecs has %s, expected a codec's name or an object with it",
                       zb__json_excerpt(item, excerpt));
    const zb__codec_ops *ops = zb__codec_find(codec.name);
    const char *reason = ops ? NULL : zb__codec_refusal(codec.name);
    if (reason)
        return zb_fail(err, ZB_EUNSUPPORTED, "codec %s is not supported: %s",
                       zb__name_excerpt(codec.name, excerpt), reason);
    if (!ops) {
        list_names(names, sizeof names);
        return zb_fail(err, ZB_EUNSUPPORTED, "codec %s is not supported, expected %s",
                       zb__name_excerpt(codec.name, excerpt), names);
    }
    zb_json_begin_object(p->w);
    zb_json_write_name(p->w, "name");
    /* An old name is not written, but zarr-python knows some codecs by that of numcodecs alone. */
    zb_json_write_string(p->w, is_of_numcodecs(codec.name) ? codec.name : ops->name);
    code = print_configuration(p, ops, codec.configuration, err);
    zb_json_end_object(p->w);
    return code;
}

static enum zb_code print_list(const printing *p, const zb_json *codecs, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    enum zb_code code = ZB_OK;
    if (zb_json_kind_of(codecs) != ZB_JSON_ARRAY)
        return zb_fail(err, ZB_EINVAL, "codecs is %s, expected a list",
                       zb__json_excerpt(codecs, excerpt));
    bool implied = !zb__codecs_kinds(codecs).has_serializer;
    zb_json_begin_array(p->w);
    for (const zb_json *item = zb_json_first(codecs); item && !code; item = zb_json_next(item)) {
        const zb__codec_ops *ops = codec_of(item);
        if (implied && !(ops && ops->kind == ZB__ARRAY_TO_ARRAY)) {
            zb_json_write_raw(p->w, p->serializer);
            implied = false;
        }
        code = print_codec(p, item, err);
    }
    if (implied)
        zb_json_write_raw(p->w, p->serializer);
    zb_json_end_array(p->w);
    return code;
}

enum zb_code zb__codecs_print(zb_json_writer *w, const zb_json *codecs, zb_dtype dtype,
                              const char *serializer, zb_error *err) {
    const printing p = {.w = w, .dtype = dtype, .serializer = serializer};
    return print_list(&p, codecs, err);
}
