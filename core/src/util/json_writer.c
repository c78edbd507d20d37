/* SPDX-License-Identifier: MIT */
/* The one place that writes JSON: white space, commas, escapes, numbers. */
#include "util/json_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/decimal.h"
#include "util/json.h"

zb_json_writer *zb_json_writer_new(void) {
    return calloc(1, sizeof(zb_json_writer));
}

char *zb_json_writer_end(zb_json_writer *writer, size_t *size) {
    char *text = writer ? zb__text_take(&writer->text, size) : NULL;
    free(writer);
    return text;
}

/* ---- Items -------------------------------------------------------------------------------- */

/* Writes the text between items; NULL writers end here. */
static bool begin_item(zb_json_writer *w) {
    if (!w)
        return false;
    if (w->follows && !w->named)
        zb__text_put(&w->text, ", ", w->spaced && !w->lines ? 2 : 1);
    if (w->lines && !w->named)
        zb__text_add_line(&w->text, w->level);
    w->follows = true;
    w->named = false;
    return true;
}

static void begin(zb_json_writer *w, const char *bracket) {
    if (begin_item(w)) {
        zb__text_put(&w->text, bracket, 1);
        w->follows = false;
    }
}

static void end(zb_json_writer *w, const char *bracket) {
    if (w) {
        zb__text_put(&w->text, bracket, 1);
        w->follows = true;
    }
}

void zb_json_begin_object(zb_json_writer *writer) {
    begin(writer, "{");
}

void zb_json_end_object(zb_json_writer *writer) {
    end(writer, "}");
}

void zb_json_begin_array(zb_json_writer *writer) {
    begin(writer, "[");
}

void zb_json_end_array(zb_json_writer *writer) {
    end(writer, "]");
}

void zb_json_write_raw(zb_json_writer *writer, const char *json) {
    if (begin_item(writer))
        zb__text_add(&writer->text, json);
}

void zb_json_write_null(zb_json_writer *writer) {
    zb_json_write_raw(writer, "null");
}

void zb_json_write_bool(zb_json_writer *writer, bool value) {
    zb_json_write_raw(writer, value ? "true" : "false");
}

/* ---- Strings ------------------------------------------------------------------------------ */

/* The short escapes where JSON has one. */
static void add_escape(zb__text *text, char c) {
    static const char special[] = {'"', '\\', '\b', '\f', '\n', '\r', '\t'};
    static const char letters[] = "\"\\bfnrt";
    const char *found = memchr(special, c, sizeof special);
    const char escape[] = {'\\', found ? letters[found - special] : 'u'};
    if (found)
        zb__text_put(text, escape, sizeof escape);
    else
        zb__text_addf(text, "\\u%04x", (unsigned)(unsigned char)c);
}

/* UTF-8 goes out unchanged; only the escapes that JSON demands are made. */
void zb__json_write_text(zb_json_writer *writer, const char *text, size_t size) {
    if (!begin_item(writer))
        return;
    zb__text_put(&writer->text, "\"", 1);
    for (size_t at = 0; at < size; at++) {
        /* The bytes up to the next one that needs an escape go out at once. */
        size_t from = at;
        while (at < size && (unsigned char)text[at] >= 0x20 && text[at] != '"' && text[at] != '\\')
            at++;
        zb__text_put(&writer->text, text + from, at - from);
        if (at < size)
            add_escape(&writer->text, text[at]);
    }
    zb__text_put(&writer->text, "\"", 1);
}

void zb_json_write_string(zb_json_writer *writer, const char *text) {
    zb__json_write_text(writer, text, strlen(text));
}

void zb_json_write_name(zb_json_writer *writer, const char *name) {
    zb_json_write_string(writer, name);
    if (!writer)
        return;
    zb__text_put(&writer->text, ": ", writer->spaced ? 2 : 1);
    writer->named = true;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

/* A document has many small ones, and printf takes longer than all else of them. */
static void write_integer(zb_json_writer *w, bool negative, uint64_t amount) {
    char digits[24], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + amount % 10);
    while (amount /= 10);
    if (negative)
        *--at = '-';
    if (begin_item(w))
        zb__text_put(&w->text, at, (size_t)(digits + sizeof digits - at));
}

void zb_json_write_int64(zb_json_writer *writer, int64_t value) {
    write_integer(writer, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void zb_json_write_uint64(zb_json_writer *writer, uint64_t value) {
    write_integer(writer, false, value);
}

void zb__json_write_real(zb_json_writer *writer, double value, uint32_t size) {
    char digits[ZB__DECIMAL_SIZE];
    if (isnan(value))
        zb_json_write_raw(writer, "\"NaN\"");
    else if (isinf(value))
        zb_json_write_raw(writer, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    else
        zb_json_write_raw(writer, zb__decimal_print(value, size, digits));
}

void zb_json_write_double(zb_json_writer *writer, double value) {
    zb__json_write_real(writer, value, sizeof value);
}

void zb_json_write_float(zb_json_writer *writer, float value) {
    zb__json_write_real(writer, (double)value, sizeof value);
}

/* ---- Values that were parsed -------------------------------------------------------------- */

/* True if the items of this container stand on lines of their own. A list of scalars reads best on
   one line. */
static bool has_lines(const zb_json *container) {
    const zb_json *child = zb_json_first(container);
    if (zb_json_kind_of(container) == ZB_JSON_OBJECT)
        return child != NULL;
    while (child && zb_json_kind_of(child) < ZB_JSON_ARRAY)
        child = zb_json_next(child);
    return child != NULL;
}

void zb__json_write_name_of(zb_json_writer *w, const zb_json *member) {
    if (!member->raw_name) {
        zb_json_write_name(w, zb_json_name(member));
        return;
    }
    zb_json_write_raw(w, member->raw_name);
    zb__text_put(&w->text, ": ", w->spaced ? 2 : 1);
    w->named = true;
}

/* Recursion is bounded by the parser's depth limit. */
static void write_container(zb_json_writer *w, const zb_json *value, bool object) {
    begin(w, object ? "{" : "[");
    bool outside = w->lines;
    w->lines = outside && has_lines(value);
    w->level++;
    for (const zb_json *child = zb_json_first(value); child; child = zb_json_next(child)) {
        if (object)
            zb__json_write_name_of(w, child);
        zb_json_write_value(w, child);
    }
    w->level--;
    if (w->lines)
        zb__text_add_line(&w->text, w->level);
    w->lines = outside;
    end(w, object ? "}" : "]");
}

void zb_json_write_value(zb_json_writer *writer, const zb_json *value) {
    if (!writer)
        return;
    if (value && value->raw) {
        zb_json_write_raw(writer, value->raw);
        return;
    }
    switch (zb_json_kind_of(value)) {
    case ZB_JSON_NULL:
        zb_json_write_null(writer);
        return;
    case ZB_JSON_BOOL:
        zb_json_write_bool(writer, zb_json_bool(value));
        return;
    case ZB_JSON_NUMBER:
        zb_json_write_raw(writer, zb_json_number(value));
        return;
    case ZB_JSON_STRING:
        zb_json_write_string(writer, zb_json_string(value));
        return;
    case ZB_JSON_ARRAY:
    case ZB_JSON_OBJECT:
        write_container(writer, value, zb_json_kind_of(value) == ZB_JSON_OBJECT);
    }
}

char *zb_json_print(const zb_json *value) {
    zb_json_writer w = {.level = 0};
    zb_json_write_value(&w, value);
    return zb__text_take(&w.text, NULL);
}

/* ---- Lists -------------------------------------------------------------------------------- */

void zb__json_write_extents(zb_json_writer *writer, const uint64_t *extents, uint32_t ndim) {
    zb_json_begin_array(writer);
    for (uint32_t d = 0; d < ndim; d++)
        zb_json_write_uint64(writer, extents[d]);
    zb_json_end_array(writer);
}

void zb__json_write_names(zb_json_writer *writer, const char *const *names, uint32_t count) {
    zb_json_begin_array(writer);
    for (uint32_t i = 0; i < count; i++) {
        if (names[i])
            zb_json_write_string(writer, names[i]);
        else
            zb_json_write_null(writer);
    }
    zb_json_end_array(writer);
}
