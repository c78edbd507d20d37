/* SPDX-License-Identifier: MIT */
/*
 * Fill values of version 2 are numbers, words ("NaN") and texts as in version 3, but for bytes and
 * structs, which are the base64 text of one element. Writers made other forms as well: 0 for types
 * that are no numbers, which means an empty element; a list of the one value (NCZarr).
 */
#include "model/v2_fill.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/json_brief.h"
#include "types/fill.h"
#include "types/kinds.h"
#include "types/scatter.h"

/* Brings an element to the host's order, field by field. */
static void to_host(zb_dtype dtype, const uint8_t *element, uint8_t *out) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    zb_dtype host = dtype;
    host.swapped = false;
    for (size_t i = 0; i < count; i++)
        to_host(fields[i].dtype, element + fields[i].offset, out + fields[i].offset);
    if (count == 0 && dtype.size > 0)
        zb__convert(dtype, element, dtype.size, host, out, dtype.size, 1);
}

static enum zb_code write_element(zb_json_writer *w, zb_dtype dtype, const uint8_t *bytes,
                                  uint8_t *element, zb_error *err) {
    to_host(dtype, bytes, element);
    if (!zb__fill_fits(dtype, element))
        return zb_fail(err, ZB_EFORMAT, "fill_value: a field's text has no code points");
    zb__fill_print(w, dtype, element);
    return ZB_OK;
}

static enum zb_code wrong(const zb_json *value, const char *expected, zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    return zb_fail(err, ZB_EFORMAT, "fill_value is %s, expected %s", zb__json_brief(value, brief),
                   expected);
}

static bool is_zero(const zb_json *value) {
    double number;
    return zb_json_double(value, &number) && number == 0;
}

/* The bytes of one element. Memory is asked for by the text, not by the type. */
static enum zb_code write_encoded(zb_json_writer *w, zb_dtype dtype, const zb_json *value,
                                  zb_error *err) {
    static const char expected[] = "the base64 text of one element";
    const char *text = zb_json_string(value);
    if (is_zero(value)) {
        zb_json_write_null(w);
        return ZB_OK;
    }
    if (!text || zb__base64_bytes(text) != dtype.size)
        return wrong(value, expected, err);
    uint8_t *bytes = malloc((size_t)dtype.size + 1), *element = malloc((size_t)dtype.size + 1);
    enum zb_code code;
    if (!bytes || !element)
        code = zb_fail(err, ZB_ENOMEM, "out of memory for a fill value");
    else if (zb__base64_decode(text, bytes))
        code = write_element(w, dtype, bytes, element, err);
    else
        code = wrong(value, expected, err);
    free(bytes);
    free(element);
    return code;
}

enum zb_code zb__v2_fill_write(zb_json_writer *w, zb_dtype dtype, const zb_json *value,
                               zb_error *err) {
    if (zb_json_kind_of(value) == ZB_JSON_ARRAY && zb_json_count(value) == 1 &&
        dtype.kind != ZB_KIND_STRUCT)
        value = zb_json_first(value);
    const bool is_null = zb_json_kind_of(value) == ZB_JSON_NULL;
    if (!is_null && (dtype.kind == ZB_KIND_RAW || dtype.kind == ZB_KIND_STRUCT))
        return write_encoded(w, dtype, value, err);
    if (is_null)
        zb_json_write_null(w);
    else if (zb__kind_of(dtype)->components == 0 && is_zero(value))
        zb_json_write_string(w, "");
    else
        zb_json_write_value(w, value);
    return ZB_OK;
}
