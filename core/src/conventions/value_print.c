/* SPDX-License-Identifier: MIT */
/* From typed values to JSON: see zb_value. What is printed here is parsed to the same value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"
#include "zarrbridge/conventions.h"

/* Exponents are for numbers that would need many zeros. */
#define PLAIN_BELOW 15

/* zb__decimal_print writes 500000 as 5e+05: digits, then the exponent, which is not smaller than
   the number of digits. The digits and the zeros behind them are what people expect. */
static void spell_out(char text[ZB__DECIMAL_SIZE]) {
    char *mark = strchr(text, 'e');
    const long exponent = mark ? strtol(mark + 1, NULL, 10) : 0;
    char plain[ZB__DECIMAL_SIZE];
    size_t size = 0;
    long digits = 0;
    if (!mark || exponent < 0 || exponent >= PLAIN_BELOW)
        return;
    for (const char *at = text; at < mark; at++) {
        digits += *at >= '0' && *at <= '9';
        if (*at != '.')
            plain[size++] = *at;
    }
    for (; digits <= exponent; digits++)
        plain[size++] = '0';
    memcpy(plain + size, ".0", 3);
    strcpy(text, plain);
}

static const char *print_finite(double value, char text[ZB__DECIMAL_SIZE]) {
    zb__decimal_print(value, sizeof value, text);
    spell_out(text);
    return text;
}

static const char *special_name(double value) {
    return isnan(value) ? "NaN" : isinf(value) ? (value < 0 ? "-Infinity" : "Infinity") : NULL;
}

const char *zb_number_text(double value, char text[ZB_NUMBER_TEXT_SIZE]) {
    const char *special = special_name(value);
    if (special)
        return strcpy(text, special);
    print_finite(value, text);
    char *tail = text + strlen(text) - 2;
    if (strcmp(tail, ".0") == 0)
        *tail = '\0';
    return text;
}

/* A fraction tells readers that a double is no integer. */
static void print_number(zb__text *out, zb_dtype dtype, const void *data, size_t i) {
    char text[ZB__DECIMAL_SIZE];
    switch (dtype.kind) {
    case ZB_KIND_BOOL:
        zb__text_add(out, ((const uint8_t *)data)[i] ? "true" : "false");
        return;
    case ZB_KIND_INT:
        zb__text_addf(out, "%lld", (long long)((const int64_t *)data)[i]);
        return;
    case ZB_KIND_UINT:
        zb__text_addf(out, "%llu", (unsigned long long)((const uint64_t *)data)[i]);
        return;
    default:
        break;
    }
    const double value = ((const double *)data)[i];
    const char *special = special_name(value);
    if (special)
        zb__text_add_quoted(out, special);
    else
        zb__text_add(out, print_finite(value, text));
}

static void print_element(zb__text *out, const zb_value *value, size_t i) {
    if (value->kind == ZB_VALUE_NUMBERS) {
        print_number(out, value->dtype, value->data, i);
        return;
    }
    const char *text = ((char *const *)value->data)[i];
    zb__text_add_quoted(out, text ? text : "");
}

static void print_list(zb__text *out, const zb_value *value, uint32_t depth, size_t *i) {
    if (depth == value->ndim) {
        print_element(out, value, (*i)++);
        return;
    }
    zb__text_add(out, "[");
    for (uint64_t k = 0; k < value->shape[depth] && !out->failed; k++) {
        if (k > 0)
            zb__text_add(out, ",");
        print_list(out, value, depth + 1, i);
    }
    zb__text_add(out, "]");
}

char *zb_value_print(const zb_value *value) {
    zb__text text = {.failed = 0};
    size_t i = 0;
    if (value->kind == ZB_VALUE_NULL)
        zb__text_add(&text, "null");
    else
        print_list(&text, value, 0, &i);
    return zb__text_take(&text, NULL);
}
