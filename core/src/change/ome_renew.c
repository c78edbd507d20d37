/* SPDX-License-Identifier: MIT */
/*
 * OME-NGFF 0.4 is of version 2 of Zarr, and 0.5 of version 3. All that the former has at the top of
 * a group's attributes the latter has in one, `ome`, beside the version, which it states once.
 */
#include "change/ome_renew.h"

#include <stdlib.h>
#include <string.h>

static const char *const early_members[] = {
    "multiscales", "omero", "labels", "image-label", "plate", "well", "bioformats2raw.layout"};

static bool is_early_member(const char *name) {
    for (size_t i = 0; i < sizeof early_members / sizeof *early_members; i++)
        if (strcmp(name, early_members[i]) == 0)
            return true;
    return false;
}

static const zb_json *attribute(const zb_node *group, const char *name) {
    return zb_json_get(zb_node_attributes(group), name);
}

/* A list of that name without axes is ndpyramid's. */
static bool has_image(const zb_node *group) {
    const zb_json *list = attribute(group, "multiscales");
    const zb_json *image = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : NULL;
    return zb_json_kind_of(zb_json_get(image, "axes")) == ZB_JSON_ARRAY;
}

/* True for 0.4, and for the groups without an image that belong to it (plates, labels). A list of
   names is one of labels only below an image, whose group is called "labels". */
static bool is_early(const zb_node *group) {
    const zb_json *plate = attribute(group, "plate"), *well = attribute(group, "well");
    const zb_json *labels = attribute(group, "labels");
    return !attribute(group, "ome") &&
           (has_image(group) || zb_json_get(plate, "wells") || zb_json_get(well, "images") ||
            attribute(group, "bioformats2raw.layout") ||
            (labels && strcmp(zb_node_name(group), "labels") == 0));
}

/* Members state their version one by one in 0.4, and in 0.5 once for all. */
static void write_without_version(zb_json_writer *w, const zb_json *value) {
    if (zb_json_kind_of(value) == ZB_JSON_ARRAY) {
        zb_json_begin_array(w);
        for (const zb_json *one = zb_json_first(value); one; one = zb_json_next(one)) {
            if (zb_json_kind_of(one) == ZB_JSON_OBJECT)
                write_without_version(w, one);
            else
                zb_json_write_value(w, one);
        }
        zb_json_end_array(w);
    } else if (zb_json_kind_of(value) == ZB_JSON_OBJECT) {
        zb_json_begin_object(w);
        for (const zb_json *one = zb_json_first(value); one; one = zb_json_next(one)) {
            if (strcmp(zb_json_name(one), "version") == 0)
                continue;
            zb_json_write_name(w, zb_json_name(one));
            zb_json_write_value(w, one);
        }
        zb_json_end_object(w);
    } else {
        zb_json_write_value(w, value);
    }
}

enum zb_code zb__ome_renew(const zb_node *group, char **attributes, zb_error *err) {
    if (!is_early(group))
        return ZB_OK;
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_object(w);
    zb_json_write_name(w, "ome");
    zb_json_begin_object(w);
    zb_json_write_name(w, "version");
    zb_json_write_string(w, "0.5");
    const zb_json *all = zb_node_attributes(group);
    for (const zb_json *one = zb_json_first(all); one; one = zb_json_next(one)) {
        if (is_early_member(zb_json_name(one))) {
            zb_json_write_name(w, zb_json_name(one));
            write_without_version(w, one);
        }
    }
    zb_json_end_object(w);
    for (const zb_json *one = zb_json_first(all); one; one = zb_json_next(one)) {
        if (!is_early_member(zb_json_name(one))) {
            zb_json_write_name(w, zb_json_name(one));
            zb_json_write_value(w, one);
        }
    }
    zb_json_end_object(w);
    char *text = zb_json_writer_end(w, NULL);
    if (!text)
        return zb_fail(err, ZB_ENOMEM, "out of memory for attributes");
    free(*attributes);
    *attributes = text;
    return ZB_OK;
}
