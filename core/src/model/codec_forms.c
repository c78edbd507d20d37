/* SPDX-License-Identifier: MIT */
#include "model/codec_forms.h"

#include "model/dtype.h"
#include "model/fill.h"

static bool is_number(zb_dtype dtype) {
    return dtype.kind <= ZB_KIND_COMPLEX || dtype.kind == ZB_KIND_SMALL;
}

/* Codecs make numbers of numbers, whose details are static; those of other types would go with this
   memory. */
static enum zb_code parse_number_type(const zb_json *value, zb_dtype *out, zb_error *err) {
    zb__arena memory = {0};
    char name[ZB_DTYPE_NAME_SIZE];
    enum zb_code code = zb__dtype_parse(value, &memory, out, err);
    if (!code && !is_number(*out))
        code = zb_fail(err, ZB_EUNSUPPORTED, "a codec to elements of type %s is not supported",
                       zb_dtype_name(*out, name));
    zb__arena_free(&memory);
    return code;
}

static enum zb_code parse_number(const zb_json *value, zb_dtype dtype, void *out, bool *is_default,
                                 zb_error *err) {
    char name[ZB_DTYPE_NAME_SIZE];
    zb__fill_form form = {.is_default = false};
    if (!is_number(dtype))
        return zb_fail(err, ZB_EUNSUPPORTED, "a codec of elements of type %s is not supported",
                       zb_dtype_name(dtype, name));
    enum zb_code code = zb__fill_parse(value, dtype, NULL, out, &form, err);
    *is_default = form.is_default;
    return code;
}

const zb__document_forms zb__codec_forms = {.dtype = parse_number_type, .value = parse_number};
