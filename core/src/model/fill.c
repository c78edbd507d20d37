/* SPDX-License-Identifier: MIT */
/*
 * Every JSON form of a fill value, exactly: integers from their digits, floats rounded once to
 * the type's own width, NaNs with the bits that are written.
 *
 * Beyond the specification, forms that writers are known to produce or that other readers take are
 * taken: integers as 7.0 or "7", booleans as 0 and 1, complex numbers as one real number,
 * "+Infinity", the bare tokens NaN, Infinity and -Infinity, and null or no value at all (zero). Not
 * taken are forms that readers disagree about, such as hexadecimal strings of another length than
 * the type's.
 */
#include "model/fill.h"

#include <string.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/json_brief.h"
#include "kernel/small.h"
#include "model/fill_bytes.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* The parsers below get a value that is present and not null, and write exactly dtype.size bytes on
   success. Bytes that they write on failure do not matter: the array is not opened then. */

/* ---- Integers ----------------------------------------------------------------------------- */

/* The digits of a number, or of a string that is a plain integer. */
static const char *integer_text(const zb_json *value) {
    const char *text = zb_json_string(value);
    if (!text) {
        text = zb_json_number(value);
        return text && !strpbrk(text, "NI") ? text : NULL;
    }
    const char *digits = text + (*text == '-');
    return *digits && digits[strspn(digits, "0123456789")] == '\0' ? text : NULL;
}

/* Range by magnitude and sign, so that all 64-bit types share one path without losing a bit. */
static enum zb_code parse_integer(const zb_json *value, zb_dtype dtype, void *out, zb_error *err) {
    const char *text = integer_text(value);
    bool negative;
    uint64_t magnitude;
    uint64_t all = UINT64_MAX >> (64 - 8 * dtype.size);
    uint64_t limit = all; /* the largest magnitude of this sign */
    if (!text || !zb__decimal_to_integer(text, &negative, &magnitude))
        return zb__fill_fail(value, dtype, "an integer within range", err);
    if (dtype.kind == ZB_KIND_INT)
        limit = all / 2 + negative;
    else if (negative)
        limit = 0;
    if (magnitude > limit)
        return zb__fill_fail(value, dtype, "an integer within range", err);
    zb__store_element(negative ? 0 - magnitude : magnitude, dtype.size, out);
    return ZB_OK;
}

/* 2 stands for "neither" until the end. */
static enum zb_code parse_bool(const zb_json *value, zb_dtype dtype, void *out, zb_error *err) {
    bool negative;
    uint64_t number = 2;
    const char *text = zb_json_number(value);
    if (zb_json_kind_of(value) == ZB_JSON_BOOL)
        number = zb_json_bool(value);
    else if (text && (strpbrk(text, "NI") || !zb__decimal_to_integer(text, &negative, &number)))
        number = 2;
    if (number > 1 || (number == 1 && text && *text == '-'))
        return zb__fill_fail(value, dtype, "true or false", err);
    zb__store_element(number, 1, out);
    return ZB_OK;
}

/* Bits are handled as uint64 and stored by width, so that NaN payloads never pass through a
   floating point register, where some processors would quieten them. */

/* ---- Floats ------------------------------------------------------------------------------- */

/* IEEE 754 patterns by size in bytes (2, 4, 8). */
static uint64_t infinity_bits(uint32_t size) {
    return size == 2 ? 0x7c00 : size == 4 ? 0x7f800000 : 0x7ff0000000000000;
}

/* The quiet NaN with no other bit of the fraction set, as the specification wants it. */
static uint64_t nan_bits(uint32_t size) {
    return size == 2 ? 0x7e00 : size == 4 ? 0x7fc00000 : 0x7ff8000000000000;
}

/* The most significant bit of a pattern of `size` bytes. */
static uint64_t sign_bit(uint32_t size) {
    return UINT64_C(1) << (8 * size - 1);
}

/* 16 for a character that is no hexadecimal digit. */
static uint64_t digit_value(char c) {
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *found = strchr(digits, c);
    const uint64_t value = found ? (uint64_t)(found - digits) : 22;
    return value < 16 ? value : value - 6;
}

/* "0x" and exactly two digits for each byte, the most significant first; or "0b" and at most eight
   for each byte, from a draft of the format, which GDAL reads, too. */
static bool digits_bits(const char *text, uint32_t size, uint64_t *bits) {
    const bool is_hex = strncmp(text, "0x", 2) == 0;
    if (!is_hex && strncmp(text, "0b", 2) != 0)
        return false;
    const uint64_t base = is_hex ? 16 : 2;
    const size_t count = strlen(text + 2);
    if (is_hex ? count != 2 * (size_t)size : count == 0 || count > 8 * (size_t)size)
        return false;
    *bits = 0;
    for (const char *c = text + 2; *c; c++) {
        const uint64_t digit = digit_value(*c);
        if (digit >= base)
            return false;
        *bits = *bits * base + digit;
    }
    return true;
}

/* The words for infinities and NaN, as strings or as bare tokens. */
static bool word_bits(const char *text, uint32_t size, uint64_t *bits) {
    if (strcmp(text, "NaN") == 0)
        *bits = nan_bits(size);
    else if (strcmp(text, "Infinity") == 0 || strcmp(text, "+Infinity") == 0)
        *bits = infinity_bits(size);
    else if (strcmp(text, "-Infinity") == 0)
        *bits = infinity_bits(size) | sign_bit(size);
    else
        return false;
    return true;
}

/* A float of `size` bytes; one component of a complex number, or a whole element. */
static bool parse_component(const zb_json *value, uint32_t size, void *out) {
    uint64_t bits;
    const char *number = zb_json_number(value);
    const char *text = number ? number : zb_json_string(value);
    if (!text)
        return false;
    if (word_bits(text, size, &bits) || (!number && digits_bits(text, size, &bits))) {
        zb__store_element(bits, size, out);
        return true;
    }
    if (!number)
        return false;
    if (size == 2) {
        zb__store_element(zb__decimal_to_half(number), size, out);
    } else if (size == 4) {
        float f = zb__decimal_to_float(number);
        memcpy(out, &f, sizeof f);
    } else {
        double d = zb__decimal_to_double(number);
        memcpy(out, &d, sizeof d);
    }
    return true;
}

/* Numbers as strings ("1.5") are not taken for floats: no writer is known to make them. */
static enum zb_code parse_float(const zb_json *value, zb_dtype dtype, void *out, zb_error *err) {
    if (parse_component(value, dtype.size, out))
        return ZB_OK;
    return zb__fill_fail(value, dtype,
                         "a number, \"NaN\", \"Infinity\", \"-Infinity\" or all hexadecimal digits",
                         err);
}

/* A list of the two components; each may have another form. */
static enum zb_code parse_complex(const zb_json *value, zb_dtype dtype, void *out, zb_error *err) {
    uint32_t half = dtype.size / 2;
    const zb_json *real = zb_json_first(value);
    const zb_json *imaginary = zb_json_next(real);
    const char *number = zb_json_number(value);
    if (number && !strpbrk(number, "NI")) { /* NaN alone would leave open which part it means */
        memset(out, 0, dtype.size);
        parse_component(value, half, out);
        return ZB_OK;
    }
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) != 2 ||
        !parse_component(real, half, out) || !parse_component(imaginary, half, (char *)out + half))
        return zb__fill_fail(value, dtype, "a list of two floats", err);
    return ZB_OK;
}

/* ---- Text --------------------------------------------------------------------------------- */

/* The text stays in the document. */
static enum zb_code parse_text(const zb_json *value, zb_dtype dtype, void *out, zb_error *err) {
    const char *text = zb_json_string(value);
    if (!text)
        return zb__fill_fail(value, dtype, "a string", err);
    zb_slice slice = {.data = text, .size = strlen(text)};
    memcpy(out, &slice, sizeof slice);
    return ZB_OK;
}

/* ---- Times -------------------------------------------------------------------------------- */

/* The count of units, or the word for no time, which numpy has, too. */
static enum zb_code parse_time(const zb_json *value, zb_dtype dtype, void *out, zb_error *err) {
    static const zb_dtype count = {.kind = ZB_KIND_INT, .size = sizeof(int64_t)};
    const char *text = zb_json_string(value);
    if (text && strcmp(text, "NaT") == 0) {
        zb__store_element((uint64_t)INT64_MIN, count.size, out);
        return ZB_OK;
    }
    if (parse_integer(value, count, out, NULL) == ZB_OK)
        return ZB_OK;
    return zb__fill_fail(value, dtype, "an integer or \"NaT\"", err);
}

/* ---- Small numbers ------------------------------------------------------------------------ */

static bool parse_small_integer(const zb_json *value, enum zb_format format, uint32_t *code) {
    static const zb_dtype byte = {.kind = ZB_KIND_INT, .size = 1};
    int low, high;
    int8_t number;
    zb__format_is_integer(format, &low, &high);
    if (parse_integer(value, byte, &number, NULL) != ZB_OK || number < low || number > high)
        return false;
    *code = (uint8_t)number;
    return true;
}

/* The words where the format has codes for them, hexadecimal digits of all bytes, or a number,
   rounded; one that is too large is no infinity where there is none. */
static bool parse_small_float(const zb_json *value, enum zb_format format, uint32_t *code) {
    const char *number = zb_json_number(value);
    const char *text = number ? number : zb_json_string(value);
    uint64_t bits;
    double limit;
    uint32_t infinity;
    if (!text)
        return false;
    if (strcmp(text, "NaN") == 0)
        return zb__format_nan(format, code);
    if (word_bits(text, 8, &bits)) {
        if (!zb__format_infinity(format, &infinity))
            return false;
        memcpy(&limit, &bits, sizeof limit);
        *code = zb__small_from_double(format, limit);
        return true;
    }
    if (!number && digits_bits(text, zb__format_bytes(format), &bits)) {
        *code = (uint32_t)bits;
        return true;
    }
    if (!number)
        return false;
    *code = zb__small_from_double(format, zb__decimal_to_double(number));
    return true;
}

static bool parse_small_part(const zb_json *value, enum zb_format format, void *out) {
    uint32_t code = 0;
    int low, high;
    const bool good = zb__format_is_integer(format, &low, &high)
                          ? parse_small_integer(value, format, &code)
                          : parse_small_float(value, format, &code);
    zb__store_element(code, zb__format_bytes(format), out);
    return good;
}

static enum zb_code parse_small(const zb_json *value, zb_dtype dtype, void *out, zb_error *err) {
    if (parse_small_part(value, zb_dtype_format(dtype), out))
        return ZB_OK;
    return zb__fill_fail(value, dtype, "a value that the type has", err);
}

static enum zb_code parse_small_complex(const zb_json *value, zb_dtype dtype, void *out,
                                        zb_error *err) {
    const enum zb_format format = zb_dtype_format(dtype);
    const zb_json *real = zb_json_first(value);
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) != 2 ||
        !parse_small_part(real, format, out) ||
        !parse_small_part(zb_json_next(real), format, (char *)out + zb__format_bytes(format)))
        return zb__fill_fail(value, dtype, "a list of two values that the type has", err);
    return ZB_OK;
}

/* ---- Structs ------------------------------------------------------------------------------ */

static enum zb_code parse_fields(const zb_json *value, zb_dtype dtype, zb__arena *memory, void *out,
                                 zb_error *err) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    char brief[ZB__BRIEF_SIZE];
    if (zb_json_count(value) != count)
        return zb__fill_fail(value, dtype, "a value for each field", err);
    for (size_t i = 0; i < count; i++) {
        const zb_json *member = zb_json_get(value, fields[i].name);
        zb__fill_form form;
        if (!member)
            return zb__fill_fail(value, dtype, "a value for each field", err);
        enum zb_code code = zb__fill_parse(member, fields[i].dtype, memory,
                                           (char *)out + fields[i].offset, &form, err);
        if (!code && form.is_packed)
            code = zb__fill_fail(member, fields[i].dtype, "an object", err);
        if (code)
            return zb_error_prefix(err, code, "field %s", zb__name_brief(fields[i].name, brief));
    }
    return ZB_OK;
}

/* An object; base64 of the packed bytes from older writers, which stay in the chunks' order. */
static enum zb_code parse_struct(const zb_json *value, zb_dtype dtype, zb__arena *memory, void *out,
                                 zb__fill_form *form, zb_error *err) {
    if (zb_json_kind_of(value) == ZB_JSON_OBJECT)
        return parse_fields(value, dtype, memory, out, err);
    form->is_packed = true;
    size_t size;
    zb_error local;
    err = err ? err : &local;
    const uint8_t *bytes = zb__fill_bytes(value, dtype, memory, &size, err);
    if (!bytes)
        return err->code == ZB_ENOMEM
                   ? ZB_ENOMEM
                   : zb__fill_fail(value, dtype, "an object with a value for each field", err);
    if (size != dtype.size)
        return zb__fill_fail(value, dtype, "as many bytes as an element has", err);
    memcpy(out, bytes, size);
    return ZB_OK;
}

/* ---- The choice --------------------------------------------------------------------------- */

enum zb_code zb__fill_parse(const zb_json *value, zb_dtype dtype, zb__arena *memory, void *out,
                            zb__fill_form *form, zb_error *err) {
    *form = (zb__fill_form){.is_default = zb_json_kind_of(value) == ZB_JSON_NULL};
    if (form->is_default) {
        memset(out, 0, dtype.size);
        return ZB_OK;
    }
    switch (dtype.kind) {
    case ZB_KIND_BOOL:
        return parse_bool(value, dtype, out, err);
    case ZB_KIND_INT:
    case ZB_KIND_UINT:
        return parse_integer(value, dtype, out, err);
    case ZB_KIND_FLOAT:
        return parse_float(value, dtype, out, err);
    case ZB_KIND_COMPLEX:
        return parse_complex(value, dtype, out, err);
    case ZB_KIND_STRING:
        return parse_text(value, dtype, out, err);
    case ZB_KIND_BYTES:
        return zb__fill_parse_bytes(value, dtype, memory, out, err);
    case ZB_KIND_STRUCT:
        return parse_struct(value, dtype, memory, out, form, err);
    case ZB_KIND_DATETIME:
    case ZB_KIND_TIMEDELTA:
        return parse_time(value, dtype, out, err);
    case ZB_KIND_UTF32:
        return zb__fill_parse_points(value, dtype, out, err);
    case ZB_KIND_SMALL:
        return parse_small(value, dtype, out, err);
    case ZB_KIND_SMALL_COMPLEX:
        return parse_small_complex(value, dtype, out, err);
    case ZB_KIND_RAW:
    case ZB_KIND_CHARS:
        break;
    }
    return zb__fill_parse_fixed(value, dtype, memory, out, err);
}
