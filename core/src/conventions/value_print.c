/* SPDX-License-Identifier: MIT */
/* The way from typed values to JSON: see zb_value. The printed text is parsed to the same value. */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "zarrbridge/conventions.h"

const char *zb_number_text(double value, char text[ZB_NUMBER_TEXT_SIZE]) {
    if (isnan(value))
        return strcpy(text, "NaN");
    if (isinf(value))
        return strcpy(text, value < 0 ? "-Infinity" : "Infinity");
    zb__decimal_print(value, sizeof value, text);
    char *tail = text + strlen(text) - 2;
    if (strcmp(tail, ".0") == 0)
        *tail = '\0';
    return text;
}

static void print_element(zb_json_writer *w, const zb_value *value, size_t i) {
    if (value->kind == ZB_VALUE_TEXTS) {
        const char *text = ((char *const *)value->data)[i];
        zb_json_write_string(w, text ? text : "");
        return;
    }
    switch (value->dtype.kind) {
    case ZB_KIND_BOOL:
        zb_json_write_bool(w, ((const uint8_t *)value->data)[i]);
        return;
    case ZB_KIND_INT:
        zb_json_write_int64(w, ((const int64_t *)value->data)[i]);
        return;
    case ZB_KIND_UINT:
        zb_json_write_uint64(w, ((const uint64_t *)value->data)[i]);
        return;
    default:
        zb_json_write_double(w, ((const double *)value->data)[i]);
    }
}

static void print_list(zb_json_writer *w, const zb_value *value, uint32_t depth, size_t *i) {
    if (depth == value->ndim) {
        print_element(w, value, (*i)++);
        return;
    }
    zb_json_begin_array(w);
    for (uint64_t k = 0; k < value->shape[depth]; k++)
        print_list(w, value, depth + 1, i);
    zb_json_end_array(w);
}

char *zb_value_print(const zb_value *value) {
    zb_json_writer *w = zb_json_writer_new();
    size_t i = 0;
    if (value->kind == ZB_VALUE_NULL)
        zb_json_write_null(w);
    else
        print_list(w, value, 0, &i);
    return zb_json_writer_end(w, NULL);
}
