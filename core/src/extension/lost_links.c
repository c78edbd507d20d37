/* SPDX-License-Identifier: MIT */
/* Links that a move of their node would lose (the public hdf5_extension.h). */
#include <stdlib.h>
#include <string.h>

#include "extension/moved.h"
#include "hierarchy/path.h"

/* The node whose links are looked at. */
typedef struct looking {
    const zb_node *node;
    zb_hdf5_path_fn fn;
    void *context;
} looking;

static enum zb_code fail_memory(const zb_node *node, zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the links of /%s", zb_node_path(node));
}

/* ---- Groups above ---- */

/* Sets *moved to the names of a group; NULL when it keeps none, or is no group of ours. */
static enum zb_code names_of(const zb_node *node, const char *group, zb_moved **moved,
                             zb_error *err) {
    zb_node *above;
    *moved = NULL;
    enum zb_code code = zb_node_open(zb_node_hierarchy(node), group, &above, err);
    if (code)
        return code == ZB_ENOTFOUND || code == ZB_EFORMAT ? ZB_OK : code;
    code = zb_moved_of(above, moved, NULL, err);
    zb_node_release(above);
    return code;
}

/* Whether a group keeps track of both ends of a way (text), which goes by names then. */
static enum zb_code keeps(const zb_node *node, const char *group, const char *text, bool *kept,
                          zb_error *err) {
    zb_moved *moved;
    enum zb_code code = names_of(node, group, &moved, err);
    char *name = moved ? zb_moved_name(moved, zb__path_below(zb_node_path(node), group)) : NULL;
    char *end = name ? zb_path_resolve(name, text) : NULL;
    *kept = end != NULL;
    free(end);
    free(name);
    zb_moved_free(moved);
    return code;
}

static enum zb_code is_kept(const zb_node *node, const char *text, bool *kept, zb_error *err) {
    char *group = strdup(zb_node_path(node));
    enum zb_code code = group ? ZB_OK : fail_memory(node, err);
    *kept = false;
    while (!code && !*kept && *group) {
        zb__path_up(group);
        code = keeps(node, group, text, kept, err);
    }
    free(group);
    return code;
}

/* ---- Links ---- */

static enum zb_code visit(const looking *job, const char *text, zb_error *err) {
    bool kept;
    if (!text)
        return ZB_OK;
    const enum zb_code code = is_kept(job->node, text, &kept, err);
    if (code || kept)
        return code;
    char *path = zb_path_resolve(zb_node_path(job->node), text);
    if (path)
        job->fn(job->context, path);
    free(path);
    return ZB_OK;
}

enum zb_code zb_hdf5_lost_links(const zb_node *node, zb_hdf5_path_fn fn, void *context,
                                zb_error *err) {
    const looking job = {.node = node, .fn = fn, .context = context};
    zb_hdf5_extension *extension;
    enum zb_code code = zb_hdf5_extension_of(node, &extension, err);
    const zb_json *one = zb_json_first(zb_hdf5_extension_get(extension, ZB_HDF5_NAMES));
    for (; one && !code; one = zb_json_next(one))
        code = visit(&job, zb_json_string(one), err);
    one = zb_json_first(zb_hdf5_extension_get(extension, ZB_HDF5_LINKS));
    for (; one && !code; one = zb_json_next(one))
        code = visit(&job, zb_json_string(zb_json_get(one, "hard")), err);
    zb_hdf5_extension_free(extension);
    return code;
}
