/* SPDX-License-Identifier: MIT */
/* The attribute _hdf5: see side.h. */
#include "model/side.h"

#include "model/edit.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 1

/* The text of the attribute; NULL when there is none, or it is no text. */
static const char *text_of(const vol_node *node) {
    return node->zarr ? zb_json_string(zb_json_get(zb_node_attributes(node->zarr), VOL_SIDE))
                      : NULL;
}

static bool is_ours(const zb_json *json) {
    uint64_t version;
    return zb_json_uint64(zb_json_get(json, "version"), &version) && version == VERSION;
}

const zb_json *vol_side(vol_node *node) {
    const char *text = node->side ? NULL : text_of(node);
    if (text && zb_json_parse(text, strlen(text), &node->side, NULL) == ZB_OK &&
        !is_ours(node->side))
        vol_side_forget(node);
    return node->side;
}

const zb_json *vol_side_get(vol_node *node, const char *member) {
    return zb_json_get(vol_side(node), member);
}

bool vol_side_hides(vol_node *node, const char *name) {
    return strcmp(name, VOL_SIDE) == 0 && vol_side(node);
}

void vol_side_forget(vol_node *node) {
    zb_json_free(node->side);
    node->side = NULL;
}

/* The object with the member changed, as the JSON of a text; *empty when no member is left. NULL
   when memory runs out. */
static char *print(const zb_json *old, const char *member, const char *json, bool *empty) {
    zb_json_writer *object = zb_json_writer_new();
    *empty = !json;
    zb_json_begin_object(object);
    zb_json_write_name(object, "version");
    zb_json_write_uint64(object, VERSION);
    for (const zb_json *one = zb_json_first(old); one; one = zb_json_next(one)) {
        const char *name = zb_json_name(one);
        if (strcmp(name, "version") == 0 || strcmp(name, member) == 0)
            continue;
        *empty = false;
        zb_json_write_name(object, name);
        zb_json_write_value(object, one);
    }
    if (json) {
        zb_json_write_name(object, member);
        zb_json_write_raw(object, json);
    }
    zb_json_end_object(object);
    char *text = zb_json_writer_end(object, NULL);
    zb_json_writer *string = text ? zb_json_writer_new() : NULL;
    zb_json_write_string(string, text ? text : "");
    free(text);
    return zb_json_writer_end(string, NULL);
}

enum zb_code vol_side_check(vol_node *node, zb_error *err) {
    const bool there = node->zarr && zb_json_get(zb_node_attributes(node->zarr), VOL_SIDE);
    if (!there || vol_side(node))
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "the attribute " VOL_SIDE " of %s is of another program or version: what only "
                   "HDF5 knows cannot be kept in it",
                   node->path);
}

enum zb_code vol_side_set(vol_node *node, const char *member, const char *json, zb_error *err) {
    const zb_json *old = vol_side(node);
    bool empty;
    if (vol_side_check(node, err) != ZB_OK)
        return ZB_EUNSUPPORTED;
    if (!json && !zb_json_get(old, member))
        return ZB_OK;
    char *text = print(old, member, json, &empty);
    enum zb_code code = text ? vol_edit_attribute(node, VOL_SIDE, empty ? NULL : text, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for the attribute " VOL_SIDE);
    free(text);
    return code;
}
