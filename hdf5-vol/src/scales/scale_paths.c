/* SPDX-License-Identifier: MIT */
/* Paths in values of dimension scales: see scale_paths.h. */
#include "scales/scale_paths.h"

#include "links/place_text.h"
#include "links/places.h"
#include "objects/paths.h"
#include "scales/scales.h"

#include <stdlib.h>
#include <string.h>

/* Prints a value with all its paths; false when a path in it, outside of lists, leads nowhere. */
static bool print(const vol_scale_paths *how, const zb_json *value, zb_json_writer *out);

static bool leads_somewhere(const vol_scale_paths *how, const zb_json *value) {
    zb_json_writer *trial = zb_json_writer_new();
    const bool good = print(how, value, trial);
    free(zb_json_writer_end(trial, NULL));
    return good;
}

static void print_list(const vol_scale_paths *how, const zb_json *list, zb_json_writer *out) {
    zb_json_begin_array(out);
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one))
        if (zb_json_kind_of(one) == ZB_JSON_ARRAY || leads_somewhere(how, one))
            print(how, one, out);
    zb_json_end_array(out);
}

static bool print_members(const vol_scale_paths *how, const zb_json *object, zb_json_writer *out) {
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
static bool print(const vol_scale_paths *how, const zb_json *value, zb_json_writer *out) {
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

char *vol_scale_paths_print(const vol_scale_paths *how, const zb_json *value) {
    zb_json_writer *out = zb_json_writer_new();
    print(how, value, out);
    return zb_json_writer_end(out, NULL);
}

static char *to_open_file(const vol_scale_paths *self, const char *path) {
    const vol_node *node = vol_place_node(self->dataset, path);
    return node && node->kind == VOL_DATASET ? strdup(node->path) : NULL;
}

static char *to_place(const vol_scale_paths *self, const char *path) {
    const vol_node *node = vol_node_find(self->dataset->file->root, path, NULL);
    return node && node->kind == VOL_DATASET ? vol_place_text(self->dataset, node, NULL) : NULL;
}

char *vol_scale_paths_open(vol_node *dataset, const zb_json *value) {
    const vol_scale_paths how = {.dataset = dataset, .convert = to_open_file};
    return vol_scale_paths_print(&how, value);
}

char *vol_scale_paths_store(vol_node *dataset, const zb_json *value) {
    const vol_scale_paths how = {.dataset = dataset, .convert = to_place};
    return vol_scale_paths_print(&how, value);
}

char *vol_scales_value(vol_node *dataset, const zb_json *entry) {
    const zb_json *value = zb_json_get(entry, VOL_SCALES_VALUE);
    return vol_scales_refers(entry) ? vol_scale_paths_open(dataset, value) : zb_json_print(value);
}
