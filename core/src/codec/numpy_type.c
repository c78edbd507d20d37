/* SPDX-License-Identifier: MIT */
/* See numpy_type.h. */
#include "codec/numpy_type.h"

#include <string.h>

#include "base/json_brief.h"
#include "codec/configuration.h"
#include "codec/number.h"

/* The letter and size behind the sign of the byte order, and numpy's name. */
static const struct {
    const char *code, *name;
    enum zb_kind kind;
    uint32_t size;
} types[] = {
    {"b1", "bool", ZB_KIND_BOOL, 1},     {"i1", "int8", ZB_KIND_INT, 1},
    {"i2", "int16", ZB_KIND_INT, 2},     {"i4", "int32", ZB_KIND_INT, 4},
    {"i8", "int64", ZB_KIND_INT, 8},     {"u1", "uint8", ZB_KIND_UINT, 1},
    {"u2", "uint16", ZB_KIND_UINT, 2},   {"u4", "uint32", ZB_KIND_UINT, 4},
    {"u8", "uint64", ZB_KIND_UINT, 8},   {"f2", "float16", ZB_KIND_FLOAT, 2},
    {"f4", "float32", ZB_KIND_FLOAT, 4}, {"f8", "float64", ZB_KIND_FLOAT, 8},
};

/* False for a type that is not known. */
static bool find(const char *text, zb_dtype *out) {
    bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    bool is_marked = *text && strchr("<>|=", *text);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(text + is_marked, types[i].code) && strcmp(text, types[i].name))
            continue;
        bool has_order = types[i].size > 1 && (*text == '<' || *text == '>');
        *out = (zb_dtype){.kind = types[i].kind,
                          .size = types[i].size,
                          .swapped = has_order && (*text == '>') != host_is_big};
        return true;
    }
    return false;
}

enum zb_code zb__numpy_type(const zb_json *configuration, const char *name, zb_dtype *out,
                            zb_error *err) {
    const zb_json *value = zb__configuration_given(configuration, name);
    const char *text = zb_json_string(value);
    char brief[ZB__BRIEF_SIZE];
    if (!value)
        return ZB_OK;
    if (text && find(text, out) && !out->swapped)
        return ZB_OK;
    return zb_fail(err, text ? ZB_EUNSUPPORTED : ZB_EFORMAT,
                   "%s is %s, expected a number of numpy in this machine's byte order", name,
                   zb__json_brief(value, brief));
}

enum zb_code zb__numpy_type_check(const zb_json *configuration, const char *name, zb_dtype expected,
                                  zb_error *err) {
    zb_dtype said = expected;
    char brief[ZB__BRIEF_SIZE], type[24];
    enum zb_code code = zb__numpy_type(configuration, name, &said, err);
    bool are_integers = (said.kind == ZB_KIND_INT || said.kind == ZB_KIND_UINT) &&
                        (expected.kind == ZB_KIND_INT || expected.kind == ZB_KIND_UINT);
    if (code || (said.size == expected.size && (said.kind == expected.kind || are_integers)))
        return code;
    return zb_fail(err, ZB_EUNSUPPORTED, "%s is %s, expected the type of its input, %s", name,
                   zb__json_brief(zb_json_get(configuration, name), brief),
                   zb__number_name(expected, type));
}
