/* SPDX-License-Identifier: MIT */
/*
 * Version 2 has no names of dimensions and no other place for nodata than fill_value. xarray keeps
 * the names in the attribute _ARRAY_DIMENSIONS, NCZarr in a dictionary; both take fill_value for
 * nodata whenever it is there. So the names become dimension_names, and fill_value an attribute
 * _FillValue, which says the same in version 3.
 *
 * JSON has no NaN. Python writes the bare word, which becomes the string that the rules for
 * attributes take for the number (docs/conventions.md).
 */
#include "model/v2_attributes.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/half.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "zarrbridge/json.h"

#define NAMES "_ARRAY_DIMENSIONS"

/* ---- Names of dimensions ---- */

/* A list with one text for each dimension, or NULL. */
static const zb_json *names_list(const zb_json *list, size_t ndim) {
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || zb_json_count(list) != ndim)
        return NULL;
    for (const zb_json *name = zb_json_first(list); name; name = zb_json_next(name)) {
        if (!zb_json_string(name))
            return NULL;
    }
    return list;
}

/* Paths of NCZarr's dimensions, whose last parts are the names: an attribute, in older stores a
   member of .zarray. */
static const zb_json *nczarr_list(const zb_json *zarray, const zb_json *zattrs, size_t ndim) {
    static const char *const owners[] = {"_nczarr_array", "_NCZARR_ARRAY"};
    static const char *const members[] = {"dimrefs", "dimension_references"};
    for (size_t i = 0; i < 4; i++) {
        const zb_json *owner = zb_json_get(zattrs, owners[i / 2]);
        if (!owner)
            owner = zb_json_get(zarray, owners[i / 2]);
        const zb_json *list = names_list(zb_json_get(owner, members[i % 2]), ndim);
        if (list)
            return list;
    }
    return NULL;
}

static void write_names(zb_json_writer *w, const zb_json *names) {
    zb_json_write_name(w, "dimension_names");
    zb_json_begin_array(w);
    for (const zb_json *name = zb_json_first(names); name; name = zb_json_next(name)) {
        const char *text = zb_json_string(name), *slash = strrchr(text, '/');
        zb_json_write_string(w, slash ? slash + 1 : text);
    }
    zb_json_end_array(w);
}

/* ---- Attributes ---- */

static void write_value(zb_json_writer *w, const zb_json *value) {
    const char *number = zb_json_number(value);
    enum zb_json_kind kind = zb_json_kind_of(value);
    if (value->raw) {
        zb_json_write_value(w, value);
    } else if (number && strpbrk(number, "NI")) {
        zb_json_write_string(w, number);
    } else if (kind == ZB_JSON_ARRAY || kind == ZB_JSON_OBJECT) {
        kind == ZB_JSON_OBJECT ? zb_json_begin_object(w) : zb_json_begin_array(w);
        for (const zb_json *m = zb_json_first(value); m; m = zb_json_next(m)) {
            if (kind == ZB_JSON_OBJECT)
                zb__json_write_name_of(w, m);
            write_value(w, m);
        }
        kind == ZB_JSON_OBJECT ? zb_json_end_object(w) : zb_json_end_array(w);
    } else {
        zb_json_write_value(w, value);
    }
}

/* Writes all but `hidden` (NULL: none) and what NCZarr keeps for itself. */
static void write_members(zb_json_writer *w, const zb_json *zattrs, const char *hidden) {
    static const char nczarr[] = "_nczarr_";
    for (const zb_json *m = zb_json_first(zattrs); m; m = zb_json_next(m)) {
        const char *name = zb_json_name(m);
        if ((hidden && strcmp(name, hidden) == 0) || strncasecmp(name, nczarr, strlen(nczarr)) == 0)
            continue;
        zb__json_write_name_of(w, m);
        write_value(w, m);
    }
}

/* The value of a float, rounded to the size of the elements. */
static bool parse_float(const zb_json *fill, uint64_t size, double *out) {
    static const struct {
        const char *text;
        double value;
    } words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    const char *text = zb_json_string(fill);
    bool found = zb_json_double(fill, out);
    for (size_t i = 0; text && i < sizeof words / sizeof *words && !found; i++) {
        found = strcmp(text, words[i].text) == 0;
        *out = words[i].value;
    }
    if (size == 2)
        *out = (double)zb__half_to_float(zb__half_from_double(*out));
    else if (size == 4)
        *out = (double)(float)*out;
    return found;
}

/* The fill value of a number, in the form that xarray takes from version 3: integers as they stand,
   floats as the base64 text of a double. A fill value that is none is told when the array is
   opened. */
static void write_nodata(zb_json_writer *w, const zb_json *fill, zb_dtype dtype) {
    char base64[ZB__BASE64_SIZE];
    double value = 0;
    if (zb_json_kind_of(fill) == ZB_JSON_ARRAY && zb_json_count(fill) == 1)
        fill = zb_json_first(fill);
    const bool is_integer = dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT;
    if (dtype.kind == ZB_KIND_FLOAT && parse_float(fill, dtype.size, &value)) {
        zb_json_write_name(w, "_FillValue");
        zb_json_write_string(w, zb__base64_from_double(value, base64));
    } else if (is_integer && (zb_json_number(fill) || zb_json_string(fill))) {
        zb_json_write_name(w, "_FillValue");
        write_value(w, fill);
    }
}

void zb__v2_group_attributes_write(zb_json_writer *w, const zb_json *zattrs) {
    zb_json_write_name(w, "attributes");
    zb_json_begin_object(w);
    write_members(w, zattrs, NULL);
    zb_json_end_object(w);
}

void zb__v2_array_attributes_write(zb_json_writer *w, const zb_json *zarray, const zb_json *zattrs,
                                   zb_dtype dtype) {
    size_t ndim = zb_json_count(zb_json_get(zarray, "shape"));
    const zb_json *own = names_list(zb_json_get(zattrs, NAMES), ndim);
    const zb_json *names = own ? own : nczarr_list(zarray, zattrs, ndim);
    zb_json_write_name(w, "attributes");
    zb_json_begin_object(w);
    write_members(w, zattrs, own ? NAMES : NULL);
    if (!zb_json_get(zattrs, "_FillValue"))
        write_nodata(w, zb_json_get(zarray, "fill_value"), dtype);
    zb_json_end_object(w);
    if (names)
        write_names(w, names);
}
