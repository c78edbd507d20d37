/* SPDX-License-Identifier: MIT */
/* Dimension scales of nodes that get another place: see scale_moves.h. */
#include "scales/scale_moves.h"

#include "links/links.h"
#include "links/place_text.h"
#include "links/places.h"
#include "scales/scale_names.h"
#include "scales/scale_paths.h"
#include "scales/scales.h"
#include "tree/map.h"
#include "tree/side.h"

#include <stdlib.h>
#include <string.h>

/* How references change. */
typedef struct conversion {
    vol_scale_paths paths; /* the first member */
    const char *old_path;  /* of the dataset */
    const struct movement *move;
} conversion;

/* A node with all below it gets another place, in the store or by a copy. */
typedef struct movement {
    const char *old_top, *new_top; /* its paths in the store */
    const char *old_name;
    const vol_node *top;
    char *(*convert)(const vol_scale_paths *paths, const char *path);
    vol_map done;   /* datasets outside, by their tokens */
    bool any_scale; /* has moved */
    bool is_other_file;
} movement;

/* Prints the member with its references converted. Those that are lost are left out. */
static char *print_scales(const conversion *how, const zb_json *scales) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    for (const zb_json *entry = zb_json_first(scales); entry; entry = zb_json_next(entry)) {
        zb_json_write_name(out, zb_json_name(entry));
        if (!vol_scales_refers(entry)) {
            zb_json_write_value(out, entry);
            continue;
        }
        zb_json_begin_object(out);
        for (const zb_json *one = zb_json_first(entry); one; one = zb_json_next(one)) {
            zb_json_write_name(out, zb_json_name(one));
            char *value = strcmp(zb_json_name(one), VOL_SCALES_VALUE) == 0
                              ? vol_scale_paths_print(&how->paths, one)
                              : zb_json_print(one);
            zb_json_write_raw(value ? out : NULL, value ? value : "");
            free(value);
        }
        zb_json_end_object(out);
    }
    zb_json_end_object(out);
    return zb_json_writer_end(out, NULL);
}

/* Names may change though the references do not. */
static enum zb_code convert_scales(const conversion *how, const zb_json *scales, bool is_inside,
                                   zb_error *err) {
    const char *others[ZB_MAX_NDIM];
    char *json = print_scales(how, scales), *old = zb_json_print(scales);
    const bool same = json && old && strcmp(json, old) == 0;
    free(old);
    if (same && !is_inside) {
        free(json);
        return ZB_OK;
    }
    for (uint32_t d = 0; d < zb_node_array(how->paths.dataset->zarr)->ndim; d++)
        others[d] = vol_scales_name_now(how->paths.dataset, d);
    enum zb_code code = json ? vol_scales_set(how->paths.dataset, json, others, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for dimension scales");
    free(json);
    return code;
}

/* What follows `top` in a path of the store: "" for itself, NULL when it is not below it. */
static const char *below(const char *path, const char *top) {
    const size_t length = strlen(top);
    if (strncmp(path, top, length) != 0 || (length > 0 && path[length] && path[length] != '/'))
        return NULL;
    return path + length;
}

/* A path with another beginning, where it has the old one; malloc'ed. The root's path is empty. */
static char *swap_top(const char *path, const char *from, const char *to) {
    const char *rest = below(path, from);
    if (!rest)
        return strdup(path);
    rest += *rest == '/';
    char *text = malloc(strlen(to) + strlen(rest) + 2);
    if (text)
        strcat(strcat(strcpy(text, to), *to && *rest ? "/" : ""), rest);
    return text;
}

/* Of a reference that was true before the move. */
static char *to_moved(const vol_scale_paths *paths, const char *path) {
    const conversion *self = (const conversion *)paths;
    char *old = zb_path_resolve(self->old_path, path);
    char *now = old ? swap_top(old, self->move->old_top, self->move->new_top) : NULL;
    char *text = now ? vol_place_relative(zb_node_path(paths->dataset->zarr), now) : NULL;
    free(now);
    free(old);
    return text;
}

/* Of one that was copied; within the copy they are true as they are. */
static char *to_copied(const vol_scale_paths *paths, const char *path) {
    const conversion *self = (const conversion *)paths;
    char *old = zb_path_resolve(self->old_path, path), *text = NULL;
    if (old && below(old, self->move->old_top))
        text = strdup(path);
    else if (old && !self->move->is_other_file)
        text = vol_place_relative(zb_node_path(paths->dataset->zarr), old);
    free(old);
    return text;
}

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

/* Converts the references of one dataset, if they count. */
static enum zb_code move_one(vol_node *dataset, const zb_json *scales, movement *m, zb_error *err) {
    char *old_path = swap_top(zb_node_path(dataset->zarr), m->new_top, m->old_top);
    const conversion how = {
        .paths = {.dataset = dataset, .convert = m->convert}, .old_path = old_path, .move = m};
    const char *name = dataset == m->top ? m->old_name : dataset->name;
    enum zb_code code = ZB_OK;
    if (!old_path)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a path");
    else if (vol_scales_count(dataset, scales, name))
        code = convert_scales(&how, scales, vol_place_is_below(dataset, m->top), err);
    free(old_path);
    return code;
}

/* The datasets outside that a value refers to. The recursion is bounded as in print. */
static enum zb_code move_partners(vol_node *dataset, const zb_json *value, movement *m,
                                  zb_error *err) {
    enum zb_code code = ZB_OK;
    for (const zb_json *one = zb_json_first(value); one && !code; one = zb_json_next(one))
        code = move_partners(dataset, one, m, err);
    const char *path = zb_json_string(value);
    vol_node *partner = path ? vol_place_node(dataset, path) : NULL;
    if (code || !partner || vol_place_is_below(partner, m->top) ||
        vol_map_get(&m->done, partner->token))
        return code;
    const zb_json *scales =
        partner->kind == VOL_DATASET ? vol_side_get(partner, ZB_HDF5_SCALES) : NULL;
    if (!vol_map_set(&m->done, partner->token, partner))
        return zb_fail(err, ZB_ENOMEM, "no memory for dimension scales");
    return scales ? move_one(partner, scales, m, err) : ZB_OK;
}

static enum zb_code move_inside(vol_node *dataset, const zb_json *scales, void *context,
                                zb_error *err) {
    movement *m = context;
    m->any_scale |= zb_json_get(scales, VOL_SCALE_CLASS) != NULL;
    enum zb_code code = move_one(dataset, scales, m, err);
    const zb_json *now = zb_json_first(vol_side_get(dataset, ZB_HDF5_SCALES));
    for (; now && !code; now = zb_json_next(now))
        if (vol_scales_refers(now))
            code = move_partners(dataset, zb_json_get(now, VOL_SCALES_VALUE), m, err);
    return code;
}

/* A scale does not know all that refer to it: copies of datasets are not among its references
   back. */
static enum zb_code move_outside(vol_node *dataset, const zb_json *scales, void *context,
                                 zb_error *err) {
    movement *m = context;
    const bool is_done =
        vol_place_is_below(dataset, m->top) || vol_map_get(&m->done, dataset->token);
    return is_done ? ZB_OK : move_one(dataset, scales, m, err);
}

enum zb_code vol_scales_moved(vol_node *top, const char *old_path, zb_error *err) {
    const char *slash = strrchr(old_path, '/');
    char *new_path = strdup(zb_node_path(top->zarr)); /* the node's own goes with its names */
    movement m = {.old_top = old_path,
                  .new_top = new_path,
                  .old_name = slash ? slash + 1 : old_path,
                  .top = top,
                  .convert = to_moved};
    enum zb_code code = new_path ? each_below(top, move_inside, &m, err)
                                 : zb_fail(err, ZB_ENOMEM, "no memory for a path");
    if (!code && m.any_scale)
        code = each_below(top->file->root, move_outside, &m, err);
    vol_map_clear(&m.done);
    free(new_path);
    return code;
}

static enum zb_code copy_one(vol_node *dataset, const zb_json *scales, void *context,
                             zb_error *err) {
    return move_one(dataset, scales, context, err);
}

enum zb_code vol_scales_copied(vol_node *from, vol_node *to, zb_error *err) {
    char *new_path = strdup(zb_node_path(to->zarr));
    movement m = {.old_top = zb_node_path(from->zarr),
                  .new_top = new_path,
                  .old_name = from->name,
                  .top = to,
                  .convert = to_copied,
                  .is_other_file = from->file != to->file};
    enum zb_code code = new_path ? each_below(to, copy_one, &m, err)
                                 : zb_fail(err, ZB_ENOMEM, "no memory for a path");
    free(new_path);
    return code;
}
