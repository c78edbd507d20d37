/* SPDX-License-Identifier: MIT */
/*
 * `_FillValue` and `missing_value`. No specification binds them in Zarr: xarray writes integers as
 * numbers and floats as the base64 text of a double (FillValueCoder in xarray/backends/zarr.py),
 * other writers numbers and words. A value means the same whichever way it is written.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "types/fill.h"
#include "types/fill.h"
#include "zarrbridge/conventions.h"

static bool is_number_type(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT || dtype.kind == ZB_KIND_FLOAT;
}

/* Words as Python and other programs print them. */
static bool word_to_double(const char *text, double *out) {
    const char *word = text + (*text == '-' || *text == '+');
    if (strcasecmp(word, "nan") == 0)
        *out = NAN;
    else if (strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0)
        *out = *text == '-' ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

/* The core takes a number that is too large for a float for an infinity, as a reader of
   `fill_value` has to; here it is a value that no element has. */
static bool is_too_large(const zb_json *value, zb_dtype dtype, const void *element) {
    const char *number = zb_json_number(value);
    return dtype.kind == ZB_KIND_FLOAT && number && !strpbrk(number, "NI") &&
           isinf(zb_element_to_double(element, dtype));
}

bool zb_fill_attribute_parse(const zb_json *value, zb_dtype dtype, void *element) {
    unsigned char parsed[sizeof(double)];
    double number;
    zb__fill_form form; /* numbers need no memory */
    if (zb_json_kind_of(value) == ZB_JSON_ARRAY)
        value = zb_json_first(value);
    if (!is_number_type(dtype) || zb_json_kind_of(value) == ZB_JSON_NULL)
        return false;
    const char *text = zb_json_string(value);
    if (text && (word_to_double(text, &number) || zb__base64_to_double(text, &number)))
        return zb_element_from_double(number, dtype, element);
    if (zb__fill_parse(value, dtype, NULL, parsed, &form, NULL) != ZB_OK ||
        is_too_large(value, dtype, parsed))
        return false;
    memcpy(element, parsed, dtype.size);
    return true;
}

char *zb_fill_attribute_print(const void *element, zb_dtype dtype) {
    zb_json_writer *w = zb_json_writer_new();
    char base64[ZB__BASE64_SIZE];
    if (dtype.kind == ZB_KIND_FLOAT)
        zb_json_write_string(w,
                             zb__base64_from_double(zb_element_to_double(element, dtype), base64));
    else
        zb__fill_print(w, dtype, element);
    return zb_json_writer_end(w, NULL);
}
