/* SPDX-License-Identifier: MIT */
/*
 * numpy's names of types: a byte order, a letter, the size in bytes (for U in code points of four),
 * and for times a unit; structs are lists of fields. The table has a line for each type; whether
 * the type of version 3 can be read is the affair of its parser, which has the last word.
 *
 * Version 3 keeps the byte order of a whole array in its codec. That of a struct whose fields
 * differ in it becomes a codec of our own (codec/field_bytes.c).
 */
#include "model/v2_dtype.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/extension.h"
#include "base/json_brief.h"
#include "kernel/number_types.h"
#include "zarrbridge/json.h"

typedef struct row {
    char letter;
    uint32_t count; /* the number behind the letter; 0: any */
    enum zb__v2_form form;
    uint32_t unit; /* bytes that the number counts */
    uint32_t part; /* bytes of a component: above 1 it has a byte order */
    const char *name;
} row;

/* Besides numbers (kernel/number_types.h). */
static const row rows[] = {
    {'V', 0, ZB__V2_RAW, 1, 1, NULL},
    {'S', 0, ZB__V2_BYTES, 1, 1, "null_terminated_bytes"},
    {'U', 0, ZB__V2_TEXT, 4, 4, "fixed_length_utf32"},
    {'M', 8, ZB__V2_TIME, 1, 8, "numpy.datetime64"},
    {'m', 8, ZB__V2_TIME, 1, 8, "numpy.timedelta64"},
};

/* The types of objects, by the codec that serialises them. */
static const struct {
    const char *codec, *name;
} objects[] = {{"vlen-utf8", "string"}, {"vlen-bytes", "variable_length_bytes"}};

static enum zb_code unsupported(const zb_json *value, zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    return zb_fail(err, ZB_EUNSUPPORTED, "dtype %s is not supported", zb__json_brief(value, brief));
}

/* Decimal digits; false for none, and for a number that does not fit. */
static bool take_number(const char **text, uint32_t *out) {
    uint64_t number = 0;
    const char *c = *text;
    for (; isdigit((unsigned char)*c) && number <= UINT32_MAX; c++)
        number = number * 10 + (uint64_t)(*c - '0');
    bool found = c > *text && number <= UINT32_MAX;
    *text = c;
    *out = (uint32_t)number;
    return found;
}

/* "[ns]" or "[25us]"; without brackets the unit is generic. */
static bool parse_unit(const char *text, zb__v2_dtype *out) {
    static const char *const units[] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                        "ms", "us", "ns", "ps", "fs", "as", "generic"};
    out->scale = 1;
    if (*text == '\0') {
        snprintf(out->unit, sizeof out->unit, "generic");
        return true;
    }
    if (*text++ != '[' || (isdigit((unsigned char)*text) && !take_number(&text, &out->scale)))
        return false;
    size_t length = strcspn(text, "]");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i]) == length && strncmp(units[i], text, length) == 0) {
            snprintf(out->unit, sizeof out->unit, "%s", units[i]);
            return strcmp(text + length, "]") == 0 && out->scale > 0;
        }
    }
    return false;
}

static enum zb_code parse_object(const zb_json *value, const char *serial, zb__v2_dtype *out,
                                 zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    for (size_t i = 0; serial && i < sizeof objects / sizeof *objects; i++) {
        if (strcmp(objects[i].codec, serial) == 0) {
            *out = (zb__v2_dtype){
                .form = ZB__V2_OBJECT, .name = objects[i].name, .letter = 'O', .order = '|'};
            return ZB_OK;
        }
    }
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "dtype %s without a filter vlen-utf8 or vlen-bytes: its objects are not "
                   "supported",
                   zb__json_brief(value, brief));
}

static bool find_row(char letter, uint32_t count, row *out) {
    const zb__number_type *number = zb__number_type_coded(letter, count);
    if (number) {
        const uint32_t components = number->kind == ZB_KIND_COMPLEX ? 2 : 1;
        *out = (row){letter, count, ZB__V2_PLAIN, 1, count / components, number->name};
        return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *out = rows[i];
        if (rows[i].letter == letter && (rows[i].count == 0 || rows[i].count == count))
            return true;
    }
    return false;
}

static enum zb_code parse_name(const zb_json *value, const char *serial, zb__v2_dtype *out,
                               zb_error *err) {
    const char *text = zb_json_string(value), *rest = text + 2;
    char order = text[0], letter = order ? text[1] : '\0';
    uint32_t count;
    if (!order || !strchr("<>|", order) || !letter)
        return unsupported(value, err);
    /* zarr-python 3.0 serialises elements of a fixed length so, too, and keeps their name. */
    const char *objects_of = letter == 'U' ? "vlen-utf8" : letter == 'S' ? "vlen-bytes" : NULL;
    if (serial && objects_of && strcmp(serial, objects_of) == 0)
        return parse_object(value, serial, out, err);
    if (letter == 'O')
        return *rest ? unsupported(value, err) : parse_object(value, serial, out, err);
    row found;
    if (!take_number(&rest, &count) || !find_row(letter, count, &found) ||
        (found.part > 1 && order == '|' && count > 0))
        return unsupported(value, err);
    *out = (zb__v2_dtype){.form = found.form,
                          .name = found.name,
                          .size = (uint64_t)count * found.unit,
                          .letter = letter,
                          .order = found.part > 1 && count > 0 ? order : '|'};
    bool good = found.form == ZB__V2_TIME ? parse_unit(rest, out) : *rest == '\0';
    return good ? ZB_OK : unsupported(value, err);
}

/* ---- Structs ---- */

/* Adds one [name, dtype] to a struct. */
static enum zb_code add_field(const zb_json *field, zb__v2_dtype *out, zb_error *err) {
    zb__v2_dtype type;
    char brief[ZB__BRIEF_SIZE];
    const zb_json *name = zb_json_first(field), *value = zb_json_next(name);
    if (zb_json_kind_of(field) != ZB_JSON_ARRAY || !zb_json_string(name) || !value)
        return zb_fail(err, ZB_EFORMAT, "dtype has the field %s, expected [name, dtype]",
                       zb__json_brief(field, brief));
    if (zb_json_count(field) > 2)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "dtype has the field %s: arrays within a struct are not supported",
                       zb__json_brief(field, brief));
    enum zb_code code = zb__v2_dtype_parse(value, NULL, &type, err);
    if (code)
        return code;
    if (out->order == '|')
        out->order = type.order;
    else if (type.order != '|' && type.order != out->order)
        out->order = ZB__V2_BOTH;
    out->size += type.size; /* fewer than 2^32 fields of less than 2^34 bytes */
    return ZB_OK;
}

enum zb_code zb__v2_dtype_parse(const zb_json *value, const char *serial, zb__v2_dtype *out,
                                zb_error *err) {
    if (zb_json_string(value))
        return parse_name(value, serial, out, err);
    char brief[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) == 0)
        return zb_fail(err, ZB_EFORMAT, "dtype is %s, expected a type's name or a list of fields",
                       zb__json_brief(value, brief));
    *out = (zb__v2_dtype){.form = ZB__V2_STRUCT, .name = "struct", .order = '|', .fields = value};
    enum zb_code code = ZB_OK;
    for (const zb_json *f = zb_json_first(value); f && !code; f = zb_json_next(f))
        code = add_field(f, out, err);
    return code;
}

zb__v2_dtype zb__v2_field(const zb_json *field) {
    zb__v2_dtype type = {.order = '|'};
    (void)zb__v2_dtype_parse(zb_json_next(zb_json_first(field)), NULL, &type, NULL);
    return type;
}

/* ---- Writing ---- */

static void write_fields(zb_json_writer *w, const zb_json *fields) {
    zb_json_write_name(w, "fields");
    zb_json_begin_array(w);
    for (const zb_json *f = zb_json_first(fields); f; f = zb_json_next(f)) {
        const zb__v2_dtype type = zb__v2_field(f);
        zb_json_begin_object(w);
        zb_json_write_name(w, "name");
        zb_json_write_string(w, zb_json_string(zb_json_first(f)));
        zb_json_write_name(w, "data_type");
        zb__v2_dtype_write(w, &type);
        zb_json_end_object(w);
    }
    zb_json_end_array(w);
}

void zb__v2_orders_write(zb_json_writer *w, const zb__v2_dtype *dtype) {
    zb_json_begin_array(w);
    for (const zb_json *f = zb_json_first(dtype->fields); f; f = zb_json_next(f)) {
        const zb__v2_dtype type = zb__v2_field(f);
        if (type.form == ZB__V2_STRUCT)
            zb__v2_orders_write(w, &type);
        else
            zb_json_write_string(w, type.order == '>' ? "big" : "little");
    }
    zb_json_end_array(w);
}

void zb__v2_dtype_write(zb_json_writer *w, const zb__v2_dtype *dtype) {
    char name[32];
    switch (dtype->form) {
    case ZB__V2_PLAIN:
    case ZB__V2_OBJECT:
        zb_json_write_string(w, dtype->name);
        return;
    case ZB__V2_RAW:
        snprintf(name, sizeof name, "r%llu", 8ull * dtype->size);
        zb_json_write_string(w, name);
        return;
    case ZB__V2_BYTES:
    case ZB__V2_TEXT:
        zb__extension_begin(w, dtype->name);
        zb_json_write_name(w, "length_bytes");
        zb_json_write_uint64(w, dtype->size);
        break;
    case ZB__V2_TIME:
        zb__extension_begin(w, dtype->name);
        zb_json_write_name(w, "unit");
        zb_json_write_string(w, dtype->unit);
        zb_json_write_name(w, "scale_factor");
        zb_json_write_uint64(w, dtype->scale);
        break;
    case ZB__V2_STRUCT:
        zb__extension_begin(w, dtype->name);
        write_fields(w, dtype->fields);
    }
    zb__extension_end(w);
}
