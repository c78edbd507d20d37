/* SPDX-License-Identifier: MIT */
/* Dimension scales of nodes that get another place: see scale_moves.h. */
#include "scales/scale_moves.h"

#include "links/link_entries.h"
#include "links/links.h"
#include "links/place_text.h"
#include "links/places.h"
#include "objects/paths.h"
#include "scales/dimension_records.h"
#include "scales/scale_names.h"
#include "scales/scale_paths.h"
#include "scales/scales.h"
#include "tree/children.h"
#include "tree/side.h"

#include <stdlib.h>
#include <string.h>

typedef enum zb_code (*act_on_scales)(vol_node *dataset, const zb_json *scales, void *context,
                                      zb_error *err);

/* Acts on the datasets with such a member below a node. */
static enum zb_code each_below(vol_node *node, act_on_scales act, void *context, zb_error *err) {
    const zb_json *scales = node->kind == VOL_DATASET ? vol_side_get(node, ZB_HDF5_SCALES) : NULL;
    if (zb_json_kind_of(scales) == ZB_JSON_OBJECT)
        return act(node, scales, context, err);
    vol_children walk = {.group = node, .passes_unopened = true};
    for (vol_node *child; (child = vol_children_next(&walk, err));)
        walk.code = each_below(child, act, context, err);
    return walk.code;
}

/* ---- Moves ---- */

/* A node that has moved with all below it. */
typedef struct movement {
    const vol_node *top;
    const char *old_name;
    bool any_scale; /* has moved */
} movement;

/* Whether a list of scales leads to what has moved. */
static bool leads_into(vol_node *dataset, const zb_json *list, const vol_node *top) {
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one)) {
        const char *text = zb_json_string(one);
        const vol_node *scale = text ? vol_place_node(dataset, text) : NULL;
        if (scale && vol_place_is_below(scale, top))
            return true;
    }
    return false;
}

static enum zb_code move_inside(vol_node *dataset, const zb_json *scales, void *context,
                                zb_error *err) {
    movement *m = context;
    const char *name = dataset == m->top ? m->old_name : dataset->name;
    m->any_scale |= zb_json_get(scales, VOL_SCALE_CLASS) != NULL;
    return vol_scales_count(dataset, scales, name) ? vol_scales_named(dataset, err) : ZB_OK;
}

/* A scale does not know all that refer to it: copies of datasets are not among its references
   back. */
static enum zb_code move_outside(vol_node *dataset, const zb_json *scales, void *context,
                                 zb_error *err) {
    const movement *m = context;
    bool leads = false;
    if (vol_place_is_below(dataset, m->top) || !vol_scales_count(dataset, scales, dataset->name))
        return ZB_OK;
    for (uint32_t d = 0; d < zb_node_array(dataset->zarr)->ndim && !leads; d++)
        leads =
            leads_into(dataset, vol_scales_names(dataset, scales, d, dataset->name).list, m->top);
    return leads ? vol_scales_named(dataset, err) : ZB_OK;
}

enum zb_code vol_scales_moved(vol_node *top, const char *old_name, zb_error *err) {
    movement m = {.top = top, .old_name = old_name};
    enum zb_code code = each_below(top, move_inside, &m, err);
    return code || !m.any_scale ? code : each_below(top->file->root, move_outside, &m, err);
}

/* What leads to the dimension finds a record at any time: the new one is stored before objects
   lead there, and the old one goes when the group is stored. A program that is killed in between
   leaves both. */
enum zb_code vol_scales_move_dimension(vol_link *link, const vol_place *place, zb_error *err) {
    vol_node *group = link->group, *node = link->node;
    if (group->file->ranks)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "several ranks cannot move %s, a dimension without a variable: let one "
                       "process do it",
                       node->path);
    char *name = strdup(link->name), *from = strdup(zb_node_path(node->zarr)), *to = NULL;
    enum zb_code code = name && from ? vol_node_child_path(place->group, place->name, &to, err)
                                     : zb_fail(err, ZB_ENOMEM, "no memory for a name");
    if (!code)
        code = vol_records_add(place->group, place->name, node, err);
    if (!code)
        code = vol_moved_tell(group->file, from, to, err);
    if (!code)
        code = vol_tree_move(link, place->group, place->name, err);
    if (!code)
        code = vol_scales_moved(node, name, err);
    if (!code && vol_links_are_listed(group))
        code = vol_link_entries_show(group, err); /* one that the dimension has hidden */
    free(name);
    free(from);
    free(to);
    return code;
}

/* ---- Copies ---- */

/* How references of a copy change. */
typedef struct conversion {
    vol_scale_paths paths; /* the first member */
    vol_node *original;    /* of the dataset */
    const vol_copies *copies;
} conversion;

static char *to_copied(vol_scale_paths *paths, const char *text) {
    const conversion *self = (const conversion *)paths;
    const vol_copies *copies = self->copies;
    const vol_node *old = vol_place_node(self->original, text);
    const vol_node *now = old ? copies->copy_of(copies->context, old) : NULL;
    if (old && !now && !vol_place_is_below(old, copies->top))
        now = old;
    return now && now->file == paths->dataset->file ? vol_scale_paths_way(paths, now) : NULL;
}

/* An entry whose value has references, with these converted. */
static void print_entry(conversion *how, const zb_json *entry, zb_json_writer *out) {
    zb_json_begin_object(out);
    for (const zb_json *one = zb_json_first(entry); one; one = zb_json_next(one)) {
        zb_json_write_name(out, zb_json_name(one));
        char *value = NULL;
        if (strcmp(zb_json_name(one), VOL_SCALES_VALUE) != 0) {
            zb_json_write_value(out, one);
            continue;
        }
        const enum zb_code code = vol_scale_paths_print(&how->paths, one, &value, NULL);
        if (code && !how->paths.error.code)
            zb_fail(&how->paths.error, code, "no memory for dimension scales");
        zb_json_write_raw(out, value ? value : "null");
        free(value);
    }
    zb_json_end_object(out);
}

/* The member with its references converted; those that are lost are left out. */
static enum zb_code print_scales(conversion *how, const zb_json *scales, char **out,
                                 zb_error *err) {
    zb_json_writer *text = zb_json_writer_new();
    zb_json_begin_object(text);
    for (const zb_json *entry = zb_json_first(scales); entry; entry = zb_json_next(entry)) {
        zb_json_write_name(text, zb_json_name(entry));
        if (vol_scales_refers(entry))
            print_entry(how, entry, text);
        else
            zb_json_write_value(text, entry);
    }
    zb_json_end_object(text);
    *out = zb_json_writer_end(text, NULL);
    if (!how->paths.error.code)
        return *out ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for dimension scales");
    if (err)
        *err = how->paths.error;
    return how->paths.error.code;
}

void vol_scales_before_copies(vol_file *from, vol_file *to) {
    vol_moved_outdate(from);
    vol_moved_outdate(to);
    vol_scales_name_dimensions(to);
}

enum zb_code vol_scales_copied(const vol_copies *copies, vol_node *node, vol_node *copy,
                               zb_error *err) {
    const zb_json *scales = copy->kind == VOL_DATASET ? vol_side_get(copy, ZB_HDF5_SCALES) : NULL;
    conversion how = {
        .paths = {.convert = to_copied, .dataset = copy}, .original = node, .copies = copies};
    const char *others[ZB_MAX_NDIM];
    char *json;
    if (zb_json_kind_of(scales) != ZB_JSON_OBJECT || !vol_scales_count(copy, scales, node->name))
        return ZB_OK;
    enum zb_code code = print_scales(&how, scales, &json, err);
    for (uint32_t d = 0; d < zb_node_array(copy->zarr)->ndim; d++)
        others[d] = vol_scales_name_now(copy, d);
    if (!code)
        code = vol_scales_set(copy, json, others, err);
    free(json);
    return code;
}
