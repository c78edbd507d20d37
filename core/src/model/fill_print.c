/* SPDX-License-Identifier: MIT */
/*
 * Fill values as JSON, exactly, in the forms of the core specification only: what fill.c reads back
 * to the same bits, and other readers as well. A NaN other than the canonical one needs the
 * hexadecimal form, which zarr-python 3.0 does not read; there is no other exact one.
 */
#include "model/fill_print.h"

#include <string.h>

#include "base/decimal.h"
#include "base/half.h"
#include "base/text.h"
#include "zarrbridge/dtype.h"

/* The low `size` bytes of an integer in host order. */
static uint64_t load_bits(const void *element, uint32_t size) {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (size) {
    case 1:
        memcpy(&u8, element, sizeof u8);
        return u8;
    case 2:
        memcpy(&u16, element, sizeof u16);
        return u16;
    case 4:
        memcpy(&u32, element, sizeof u32);
        return u32;
    default:
        memcpy(&u64, element, sizeof u64);
        return u64;
    }
}

static void print_int(zb__text *text, const void *element, uint32_t size) {
    uint64_t bits = load_bits(element, size);
    unsigned unused = 64 - 8 * size;
    /* The sign is carried into the upper bits; right shifts of negative numbers do that here. */
    int64_t number = (int64_t)(bits << unused) >> unused;
    zb__text_addf(text, "%lld", (long long)number);
}

/* Exact: every narrower float is a double. Not for NaNs. */
static double float_value(const void *element, uint32_t size) {
    double wide;
    float narrow;
    if (size == 2)
        return (double)zb__half_to_float((uint16_t)load_bits(element, size));
    if (size == 4) {
        memcpy(&narrow, element, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, element, sizeof wide);
    return wide;
}

/* A float of `size` bytes, also one component of a complex number. The bits of a NaN are looked at
   before any floating-point operation could change them. */
static void print_float(zb__text *text, const void *element, uint32_t size) {
    uint64_t bits = load_bits(element, size);
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    uint64_t infinity = size == 2 ? 0x7c00 : size == 4 ? 0x7f800000 : 0x7ff0000000000000;
    /* The canonical NaN has the top bit of the fraction set, and no other. */
    uint64_t top = size == 2 ? 0x0200 : size == 4 ? 0x00400000 : 0x0008000000000000;
    if (bits == (infinity | top)) {
        zb__text_add(text, "\"NaN\"");
    } else if ((bits & ~sign) == infinity) {
        zb__text_add(text, bits & sign ? "\"-Infinity\"" : "\"Infinity\"");
    } else if ((bits & ~sign) > infinity) {
        zb__text_addf(text, "\"0x%0*llx\"", (int)(2 * size), (unsigned long long)bits);
    } else {
        char digits[ZB__DECIMAL_SIZE];
        zb__text_add(text, zb__decimal_print(float_value(element, size), size, digits));
    }
}

void zb__fill_print(zb__text *text, zb_dtype dtype, const void *element) {
    const uint8_t *bytes = element;
    switch (dtype.kind) {
    case ZB_KIND_BOOL:
        zb__text_add(text, bytes[0] ? "true" : "false");
        return;
    case ZB_KIND_INT:
        print_int(text, element, dtype.size);
        return;
    case ZB_KIND_UINT:
        zb__text_addf(text, "%llu", (unsigned long long)load_bits(element, dtype.size));
        return;
    case ZB_KIND_FLOAT:
        print_float(text, element, dtype.size);
        return;
    case ZB_KIND_COMPLEX:
        zb__text_add(text, "[");
        print_float(text, bytes, dtype.size / 2);
        zb__text_add(text, ",");
        print_float(text, bytes + dtype.size / 2, dtype.size / 2);
        zb__text_add(text, "]");
        return;
    case ZB_KIND_RAW:
        break;
    }
    for (uint32_t i = 0; i < dtype.size; i++)
        zb__text_addf(text, "%s%u", i ? "," : "[", bytes[i]);
    zb__text_add(text, "]");
}
