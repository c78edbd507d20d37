/* SPDX-License-Identifier: MIT */
/* See numpy_type.h. */
#include "codec/numpy_type.h"

#include <string.h>

#include "base/json_brief.h"
#include "codec/configuration.h"
#include "codec/number.h"
#include "types/kinds.h"

/* By numpy's name, or by letter and size behind the sign of the byte order. False for a type that
   is not known, and for complex ones. */
static bool find(const char *text, zb_dtype *out) {
    bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const char *code = text + (*text && strchr("<>|=", *text));
    const zb__type_name *type;
    uint64_t count;
    const char *rest = "";
    const zb__kind *kind = zb__kind_named(text, &type);
    if (!kind)
        kind = zb__kind_coded(code, &type, &count, &rest);
    if (!kind || !type || type->size == 0 || *rest)
        return false;
    *out = zb__type_of(kind, type);
    out->swapped = out->size > 1 && (*text == '<' || *text == '>') && (*text == '>') != host_is_big;
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
