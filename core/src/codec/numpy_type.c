/* SPDX-License-Identifier: MIT */
/* See numpy_type.h. */
#include "codec/numpy_type.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_brief.h"
#include "codec/configuration.h"
#include "codec/number.h"
#include "kernel/number_types.h"

/* By numpy's name, or by letter and size behind the sign of the byte order. False for a type that
   is not known, and for complex ones. */
static bool find(const char *text, zb_dtype *out) {
    bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const char *code = text + (*text && strchr("<>|=", *text));
    const zb__number_type *type = zb__number_type_named(text);
    if (!type && *code)
        type = zb__number_type_coded(*code, (uint32_t)strtoul(code + 1, NULL, 10));
    if (!type || (strcmp(type->code, code) && strcmp(type->name, text)))
        return false;
    bool has_order = type->size > 1 && (*text == '<' || *text == '>');
    *out = (zb_dtype){.kind = type->kind,
                      .size = type->size,
                      .swapped = has_order && (*text == '>') != host_is_big};
    return zb__is_number(*out);
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
    char brief[ZB__BRIEF_SIZE];
    enum zb_code code = zb__numpy_type(configuration, name, &said, err);
    bool are_integers = (said.kind == ZB_KIND_INT || said.kind == ZB_KIND_UINT) &&
                        (expected.kind == ZB_KIND_INT || expected.kind == ZB_KIND_UINT);
    if (code || (said.size == expected.size && (said.kind == expected.kind || are_integers)))
        return code;
    return zb_fail(err, ZB_EUNSUPPORTED, "%s is %s, expected the type of its input, %s", name,
                   zb__json_brief(zb_json_get(configuration, name), brief),
                   zb__number_name(expected));
}
