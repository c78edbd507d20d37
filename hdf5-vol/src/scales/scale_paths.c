/* SPDX-License-Identifier: MIT */
/* Paths in values of dimension scales: see scale_paths.h. */
#include "scales/scale_paths.h"

#include "links/place_text.h"
#include "links/places.h"
#include "objects/paths.h"
#include "scales/scales.h"

#include <stdlib.h>
#include <string.h>

/* Prints a value with all its texts; false when a text in it, outside of lists, leads nowhere. */
static bool print(vol_scale_paths *how, const zb_json *value, zb_json_writer *out);

static bool leads_somewhere(vol_scale_paths *how, const zb_json *value) {
    zb_json_writer *trial = zb_json_writer_new();
    const bool good = print(how, value, trial);
    free(zb_json_writer_end(trial, NULL));
    return good;
}

static void print_list(vol_scale_paths *how, const zb_json *list, zb_json_writer *out) {
    zb_json_begin_array(out);
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one))
        if (zb_json_kind_of(one) == ZB_JSON_ARRAY || leads_somewhere(how, one))
            print(how, one, out);
    zb_json_end_array(out);
}

static bool print_members(vol_scale_paths *how, const zb_json *object, zb_json_writer *out) {
    bool good = true;
    zb_json_begin_object(out);
    for (const zb_json *one = zb_json_first(object); one; one = zb_json_next(one)) {
        zb_json_write_name(out, zb_json_name(one));
        good &= print(how, one, out);
    }
    zb_json_end_object(out);
    return good;
}

/* The document's limit of nesting bounds the recursion. */
static bool print(vol_scale_paths *how, const zb_json *value, zb_json_writer *out) {
    switch (zb_json_kind_of(value)) {
    case ZB_JSON_ARRAY:
        print_list(how, value, out);
        return true;
    case ZB_JSON_OBJECT:
        return print_members(how, value, out);
    case ZB_JSON_STRING: {
        char *path = how->convert(how, zb_json_string(value));
        zb_json_write_string(out, path ? path : "");
        const bool good = path != NULL;
        free(path);
        return good;
    }
    case ZB_JSON_NULL:
        zb_json_write_null(out);
        return false;
    default:
        zb_json_write_value(out, value);
        return true;
    }
}

enum zb_code vol_scale_paths_print(vol_scale_paths *how, const zb_json *value, char **out,
                                   zb_error *err) {
    zb_json_writer *text = zb_json_writer_new();
    print(how, value, text);
    *out = zb_json_writer_end(text, NULL);
    if (!how->error.code && !*out)
        return zb_fail(err, ZB_ENOMEM, "no memory for dimension scales");
    if (!how->error.code)
        return ZB_OK;
    free(*out);
    *out = NULL;
    if (err)
        *err = how->error;
    return how->error.code;
}

static char *to_open_file(vol_scale_paths *self, const char *text) {
    const vol_node *node = vol_place_node(self->dataset, text);
    return node && node->kind == VOL_DATASET ? strdup(node->path) : NULL;
}

char *vol_scale_paths_way(vol_scale_paths *how, const vol_node *scale) {
    char *way = NULL;
    zb_error why = {0};
    if (!how->error.code && vol_place_text(how->dataset, scale, NULL, &way, &why) != ZB_OK)
        how->error = why;
    return way;
}

static char *to_way(vol_scale_paths *self, const char *path) {
    const vol_node *node = vol_node_find(self->dataset->file->root, path, NULL);
    return node && node->kind == VOL_DATASET ? vol_scale_paths_way(self, node) : NULL;
}

enum zb_code vol_scale_paths_store(vol_node *dataset, const zb_json *value, char **out,
                                   zb_error *err) {
    vol_scale_paths how = {.dataset = dataset, .convert = to_way};
    vol_moved_outdate(dataset->file);
    return vol_scale_paths_print(&how, value, out, err);
}

char *vol_scales_value(vol_node *dataset, const zb_json *entry) {
    const zb_json *value = zb_json_get(entry, VOL_SCALES_VALUE);
    vol_scale_paths how = {.dataset = dataset, .convert = to_open_file};
    char *text;
    if (!vol_scales_refers(entry))
        return zb_json_print(value);
    vol_moved_outdate(dataset->file); /* another program may have moved what they lead to */
    return vol_scale_paths_print(&how, value, &text, NULL) ? NULL : text;
}
