/* SPDX-License-Identifier: MIT */
/*
 * Fill values as JSON, exactly, in the forms of the core specification only, which fill.c and other
 * readers read back to the same bits. A NaN other than the canonical one needs the hexadecimal
 * form, which zarr-python 3.0 does not read; no other form is exact.
 */
#include "model/fill_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/half.h"
#include "base/json_writer.h"
#include "kernel/small.h"
#include "model/fill_bytes.h"
#include "zarrbridge/dtype.h"

static void print_int(zb_json_writer *w, const void *element, uint32_t size) {
    unsigned unused = 64 - 8 * size;
    /* The sign is carried into the upper bits; right shifts of negative numbers do that here. */
    zb_json_write_int64(w, (int64_t)(zb__load_element(element, size) << unused) >> unused);
}

/* A float of `size` bytes, also one component of a complex number. The bits of a NaN are looked at
   before any floating-point operation could change them. */
static void print_float(zb_json_writer *w, const void *element, uint32_t size) {
    uint64_t bits = zb__load_element(element, size);
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    uint64_t infinity = size == 2 ? 0x7c00 : size == 4 ? 0x7f800000 : 0x7ff0000000000000;
    /* The canonical NaN has the top bit of the fraction set, and no other. */
    uint64_t top = size == 2 ? 0x0200 : size == 4 ? 0x00400000 : 0x0008000000000000;
    char digits[24];
    if ((bits & ~sign) <= infinity || bits == (infinity | top)) {
        zb__json_write_real(w, zb__load_float(element, size), size);
        return;
    }
    snprintf(digits, sizeof digits, "0x%0*llx", (int)(2 * size), (unsigned long long)bits);
    zb_json_write_string(w, digits);
}

/* The caller has seen to it that no NUL is in it (build.c). Without memory the writer fails. */
static void print_text(zb_json_writer *w, const void *element) {
    zb_slice slice;
    memcpy(&slice, element, sizeof slice);
    char *text = strndup(slice.size ? slice.data : "", slice.size);
    w->text.failed = w->text.failed || !text;
    zb_json_write_string(w, text ? text : "");
    free(text);
}

/* Hexadecimal for a NaN that is not the canonical one. */
static void print_small(zb_json_writer *w, enum zb_format format, const void *element) {
    const uint32_t size = zb__format_bytes(format);
    const uint32_t code = (uint32_t)zb__load_element(element, size) & zb__format_mask(format);
    const double value = zb__small_to_double(format, code);
    int low, high;
    uint32_t nan;
    char digits[8];
    if (zb__format_is_integer(format, &low, &high)) {
        zb_json_write_int64(w, (int64_t)value);
    } else if (value == value || (zb__format_nan(format, &nan) && code == nan)) {
        zb__json_write_real(w, value, sizeof value);
    } else {
        snprintf(digits, sizeof digits, "0x%0*x", (int)(2 * size), code);
        zb_json_write_string(w, digits);
    }
}

static void print_complex(zb_json_writer *w, const uint8_t *parts, uint32_t size) {
    zb_json_begin_array(w);
    print_float(w, parts, size);
    print_float(w, parts + size, size);
    zb_json_end_array(w);
}

static void print_struct(zb_json_writer *w, zb_dtype dtype, const uint8_t *element) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    zb_json_begin_object(w);
    for (size_t i = 0; i < count; i++) {
        zb_json_write_name(w, fields[i].name);
        zb__fill_print(w, fields[i].dtype, element + fields[i].offset);
    }
    zb_json_end_object(w);
}

void zb__fill_print(zb_json_writer *w, zb_dtype dtype, const void *element) {
    const uint8_t *bytes = element;
    switch (dtype.kind) {
    case ZB_KIND_BOOL:
        zb_json_write_bool(w, bytes[0]);
        return;
    case ZB_KIND_INT:
        print_int(w, element, dtype.size);
        return;
    case ZB_KIND_UINT:
        zb_json_write_uint64(w, zb__load_element(element, dtype.size));
        return;
    case ZB_KIND_FLOAT:
        print_float(w, element, dtype.size);
        return;
    case ZB_KIND_COMPLEX:
        print_complex(w, bytes, dtype.size / 2);
        return;
    case ZB_KIND_STRING:
        print_text(w, element);
        return;
    case ZB_KIND_DATETIME:
    case ZB_KIND_TIMEDELTA:
        print_int(w, element, dtype.size);
        return;
    case ZB_KIND_STRUCT:
        print_struct(w, dtype, element);
        return;
    case ZB_KIND_UTF32:
        zb__fill_print_points(w, dtype, element);
        return;
    case ZB_KIND_SMALL:
        print_small(w, zb_dtype_format(dtype), element);
        return;
    case ZB_KIND_SMALL_COMPLEX:
        zb_json_begin_array(w);
        print_small(w, zb_dtype_format(dtype), bytes);
        print_small(w, zb_dtype_format(dtype), bytes + dtype.size / 2);
        zb_json_end_array(w);
        return;
    case ZB_KIND_RAW:
    case ZB_KIND_CHARS:
    case ZB_KIND_BYTES:
        break;
    }
    zb__fill_print_bytes(w, dtype, element);
}
