/* SPDX-License-Identifier: MIT */
/* The members `moved` and `moving` of groups. */
#include <stdlib.h>
#include <string.h>

#include "extension/moved.h"
#include "hierarchy/path.h"
#include "node/walk.h"

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the names of nodes that have moved");
}

/* ---- Reading ---- */

/* The two paths of a node that is being moved; false where there are none. */
static bool is_moving(const zb_hdf5_extension *extension, const char **from, const char **to) {
    const zb_json *list = zb_hdf5_extension_get(extension, ZB_HDF5_MOVING);
    *from = zb_json_string(zb_json_first(list));
    *to = *from ? zb_json_string(zb_json_next(zb_json_first(list))) : NULL;
    return *to && **from && **to && zb__path_check(*from, NULL) == ZB_OK &&
           zb__path_check(*to, NULL) == ZB_OK;
}

enum zb_code zb__moved_state_of(const zb_json *attributes, zb__moved_state *state, zb_error *err) {
    const char *from, *to;
    zb_hdf5_extension *extension;
    const enum zb_code code =
        zb_hdf5_extension_parse(zb_json_get(attributes, ZB_HDF5_EXTENSION), &extension, err);
    state->is_kept = zb_hdf5_extension_get(extension, ZB_HDF5_MOVED) != NULL;
    state->is_moving = state->is_kept && is_moving(extension, &from, &to);
    zb_hdf5_extension_free(extension);
    return code;
}

/* Whether there is a node at a path below a group. */
static enum zb_code look(zb_hierarchy *hierarchy, const char *group, const char *path, bool *there,
                         zb_error *err) {
    char kind = 0, *whole = zb__path_join(group, path);
    enum zb_code code = whole ? zb__node_kind(hierarchy, whole, &kind, err) : fail_memory(err);
    free(whole);
    *there = kind != 0;
    return code;
}

enum zb_code zb__moved_look(zb_hierarchy *hierarchy, const char *group,
                            const zb_hdf5_extension *extension, zb_moved *moved, bool *is_settled,
                            zb_error *err) {
    const char *from, *to;
    bool is_at_from, is_at_to;
    *is_settled = moved && is_moving(extension, &from, &to);
    if (!*is_settled)
        return ZB_OK;
    enum zb_code code = look(hierarchy, group, from, &is_at_from, err);
    if (!code)
        code = look(hierarchy, group, to, &is_at_to, err);
    return code ? code : zb__moved_settle(moved, from, to, is_at_from, is_at_to, err);
}

enum zb_code zb_moved_of(const zb_node *group, zb_moved **out, bool *kept, zb_error *err) {
    zb_hdf5_extension *extension;
    bool is_settled;
    *out = NULL;
    enum zb_code code = zb_hdf5_extension_of(group, &extension, err);
    const zb_json *member = zb_hdf5_extension_get(extension, ZB_HDF5_MOVED);
    if (kept)
        *kept = member != NULL;
    if (!code)
        code = zb_moved_parse(member, out, err);
    if (!code)
        code = zb__moved_look(zb_node_hierarchy(group), zb_node_path(group), extension, *out,
                              &is_settled, err);
    zb_hdf5_extension_free(extension);
    if (code) {
        zb_moved_free(*out);
        *out = NULL;
    }
    return code;
}

/* ---- Printing ---- */

enum zb_code zb__moved_put(const zb_hdf5_extension *extension, const zb_moved *moved, char **out,
                           zb_error *err) {
    char *text;
    *out = NULL;
    enum zb_code code = zb__moved_print(moved, &text, err);
    const zb_hdf5_change changes[] = {{.member = ZB_HDF5_MOVED, .json = text},
                                      {.member = ZB_HDF5_MOVING}};
    if (!code)
        code = zb_hdf5_extension_change(extension, extension, changes, 2, NULL, NULL, out, err);
    free(text);
    return code;
}

enum zb_code zb__moved_put_moving(const zb_hdf5_extension *extension, const char *from,
                                  const char *to, char **out, zb_error *err) {
    zb_json_writer *list = zb_json_writer_new();
    zb_json_begin_array(list);
    zb_json_write_string(list, from);
    zb_json_write_string(list, to);
    zb_json_end_array(list);
    char *text = zb_json_writer_end(list, NULL);
    const zb_hdf5_change change = {.member = ZB_HDF5_MOVING, .json = text};
    *out = NULL;
    enum zb_code code =
        text ? zb_hdf5_extension_change(extension, extension, &change, 1, NULL, NULL, out, err)
             : fail_memory(err);
    free(text);
    return code;
}
