/* SPDX-License-Identifier: MIT */
/* Dimension scales of nodes that get another place: see scale_moves.h. */
#include "scales/scale_moves.h"

#include "links/links.h"
#include "links/place_text.h"
#include "links/places.h"
#include "objects/paths.h"
#include "scales/scale_names.h"
#include "scales/scale_paths.h"
#include "scales/scales.h"
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
    enum zb_code code = node->kind == VOL_GROUP ? vol_node_list(node, err) : ZB_OK;
    for (size_t i = 0; i < vol_links_count(node) && !code; i++)
        if (vol_link_open(vol_links_at(node, i), NULL) == ZB_OK && vol_links_at(node, i)->node)
            code = each_below(vol_links_at(node, i)->node, act, context, err);
    return code;
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

/* ---- Copies ---- */

/* How references of a copy change. */
typedef struct conversion {
    vol_scale_paths paths; /* the first member */
    vol_node *original;    /* of the dataset */
    vol_node *from, *to;   /* what was copied, and the copy */
} conversion;

/* The node in one tree that is what `node` is in the other; NULL when there is none. */
static vol_node *counterpart(const vol_node *node, const vol_node *top, vol_node *other) {
    const char *rest = node->path + strlen(top->path);
    return node == top ? other : vol_node_find(other, rest + (*rest == '/'), NULL);
}

static char *to_copied(vol_scale_paths *paths, const char *text) {
    conversion *self = (conversion *)paths;
    const vol_node *old = vol_place_node(self->original, text), *now = old;
    char *way = NULL;
    if (old && vol_place_is_below(old, self->from))
        now = counterpart(old, self->from, self->to);
    if (now && now->file == paths->dataset->file && !paths->error.code)
        (void)vol_place_text(paths->dataset, now, NULL, &way, &paths->error);
    return way;
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

static enum zb_code copy_one(vol_node *dataset, const zb_json *scales, void *context,
                             zb_error *err) {
    conversion how = *(const conversion *)context;
    const char *others[ZB_MAX_NDIM];
    char *json;
    how.paths.dataset = dataset;
    how.original = counterpart(dataset, how.to, how.from);
    if (!how.original || !vol_scales_count(dataset, scales, how.original->name))
        return ZB_OK;
    enum zb_code code = print_scales(&how, scales, &json, err);
    for (uint32_t d = 0; d < zb_node_array(dataset->zarr)->ndim; d++)
        others[d] = vol_scales_name_now(dataset, d);
    if (!code)
        code = vol_scales_set(dataset, json, others, err);
    free(json);
    return code;
}

enum zb_code vol_scales_copied(vol_node *from, vol_node *to, zb_error *err) {
    conversion how = {.paths = {.convert = to_copied}, .from = from, .to = to};
    vol_moved_outdate(from->file);
    vol_moved_outdate(to->file);
    vol_scales_name_dimensions(to->file);
    return each_below(to, copy_one, &how, err);
}
