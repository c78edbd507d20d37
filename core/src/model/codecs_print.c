/* SPDX-License-Identifier: MIT */
/*
 * The bytes→bytes codecs of a new array: what the caller asks for, completed. Readers in the wild
 * want the object form (no bare names) and all members of a configuration, so defaults are written
 * out. Whether the result is a chain that works is the parser's to say, which reads it afterwards.
 */
#include "model/codecs_print.h"

#include <string.h>

#include "base/json_brief.h"
#include "codec/extension.h"
#include "model/build.h"
#include "zarrbridge/zarrbridge.h"

typedef struct default_member {
    const char *name, *value; /* value NULL: the size of an element */
} default_member;

typedef struct codec_defaults {
    const char *codec;
    default_member members[6]; /* in the order that zarr-python writes */
} codec_defaults;

static const codec_defaults known[] = {
    {"zstd", {{"level", "3"}, {"checksum", "false"}}},
    {"gzip", {{"level", "5"}}},
    {"blosc",
     {{"typesize", NULL},
      {"cname", "\"zstd\""},
      {"clevel", "5"},
      {"shuffle", "\"shuffle\""},
      {"blocksize", "0"}}},
    {"crc32c", {{NULL, NULL}}},
};

/* Blosc takes at most 255, and shuffles larger elements as single bytes. */
static uint32_t typesize_of(zb_dtype dtype) {
    return dtype.size > 255 ? 1 : dtype.size;
}

/* The caller's members win; one that the codec does not have is refused here, because afterwards it
   would be too late to say where it came from. */
static enum zb_code print_configuration(zb_json_writer *w, const codec_defaults *defaults,
                                        const zb_json *given, zb_dtype dtype, zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    const char *names[7] = {NULL};
    for (size_t i = 0; defaults->members[i].name; i++) {
        const default_member *member = &defaults->members[i];
        const zb_json *value = zb_json_get(given, member->name);
        names[i] = member->name;
        if (i == 0) {
            zb_json_write_name(w, "configuration");
            zb_json_begin_object(w);
        }
        zb_json_write_name(w, member->name);
        if (value)
            zb_json_write_value(w, value);
        else if (member->value)
            zb_json_write_raw(w, member->value);
        else
            zb_json_write_uint64(w, typesize_of(dtype));
    }
    if (names[0])
        zb_json_end_object(w);
    for (const zb_json *m = zb_json_first(given); m; m = zb_json_next(m)) {
        if (!zb__name_in(zb_json_name(m), names))
            return zb_fail(err, ZB_EINVAL, "codec %s has no option %s", defaults->codec,
                           zb__name_brief(zb_json_name(m), brief));
    }
    return ZB_OK;
}

static enum zb_code print_codec(zb_json_writer *w, const zb_json *item, zb_dtype dtype,
                                zb_error *err) {
    zb__extension codec;
    char brief[ZB__BRIEF_SIZE];
    enum zb_code code = zb__extension_parse(item, "codecs", &codec, err);
    if (code)
        return zb_fail(err, ZB_EINVAL,
                       "codecs has %s, expected a codec's name or an object with it",
                       zb__json_brief(item, brief));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].codec, codec.name) == 0) {
            zb_json_begin_object(w);
            zb_json_write_name(w, "name");
            zb_json_write_string(w, codec.name);
            code = print_configuration(w, &known[i], codec.configuration, dtype, err);
            zb_json_end_object(w);
            return code;
        }
    }
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "codec %s is not supported, expected zstd, gzip, blosc or crc32c",
                   zb__name_brief(codec.name, brief));
}

enum zb_code zb__codecs_print(zb_json_writer *w, const char *codecs, zb_dtype dtype,
                              zb_error *err) {
    zb_json *list;
    char brief[ZB__BRIEF_SIZE];
    enum zb_code code = zb__argument_parse(codecs, "codecs", &list, err);
    if (code)
        return code;
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY)
        code =
            zb_fail(err, ZB_EINVAL, "codecs is %s, expected a list", zb__json_brief(list, brief));
    for (const zb_json *item = zb_json_first(list); item && !code; item = zb_json_next(item))
        code = print_codec(w, item, dtype, err);
    zb_json_free(list);
    return code;
}
