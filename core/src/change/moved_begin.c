/* SPDX-License-Identifier: MIT */
/* The group that references are relative to begins to keep track of what moves (moved.h). */
#include <stdlib.h>

#include "extension/moved.h"
#include "hierarchy/path.h"
#include "node/walk.h"
#include "zarrbridge/node_edit.h"

/* What the group is asked for. */
typedef struct wish {
    const char *path; /* of a node that is to have a name; NULL: of none */
    bool is_node;
} wish;

static enum zb_code expect_node(const zb_node *group, const char *path, zb_error *err) {
    char kind = 0, *whole = zb__path_join(zb_node_path(group), path);
    enum zb_code code = whole ? zb__node_kind(zb_node_hierarchy(group), whole, &kind, err)
                              : zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    if (!code && !kind)
        code =
            zb_fail(err, ZB_ENOTFOUND, "there is no node /%s, to which a name could lead", whole);
    free(whole);
    return code;
}

/* Sets *needed when the path has no name, and gives it one. */
static enum zb_code give_name(zb_moved *moved, const zb_node *group, const wish *asked,
                              bool *needed, zb_error *err) {
    char *name = asked->path ? zb_moved_name(moved, asked->path) : NULL;
    *needed = asked->path && !name;
    free(name);
    enum zb_code code = *needed && asked->is_node ? expect_node(group, asked->path, err) : ZB_OK;
    return code || !*needed ? code : zb__moved_assign(moved, asked->path, err);
}

/* The member as it stands; an empty one where there is none. */
static enum zb_code read_moved(const zb_node *now, zb_moved **moved, bool *kept, zb_error *err) {
    zb_json *empty = NULL;
    enum zb_code code = zb_moved_of(now, moved, kept, err);
    if (code || *kept)
        return code;
    code = zb_json_parse("{}", 2, &empty, err);
    if (!code)
        code = zb_moved_parse(empty, moved, err);
    zb_json_free(empty);
    return code;
}

static enum zb_code begin(void *context, const zb_node *now, zb_node_edits *out, zb_error *err) {
    const wish *asked = context;
    const zb_json *value = zb_json_get(zb_node_attributes(now), ZB_HDF5_EXTENSION);
    zb_hdf5_extension *extension;
    zb_moved *moved = NULL;
    char *text = NULL;
    bool kept = true, is_nameless = false;
    enum zb_code code = zb_hdf5_extension_of(now, &extension, err);
    if (!code && !extension && value)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "the attribute " ZB_HDF5_EXTENSION " of /%s is of another program or "
                       "version",
                       zb_node_path(now));
    if (!code)
        code = read_moved(now, &moved, &kept, err);
    if (!code)
        code = give_name(moved, now, asked, &is_nameless, err);
    const bool changes = !code && (!kept || is_nameless);
    if (changes)
        code = zb__moved_put(extension, moved, &text, err);
    if (changes && !code)
        code = zb_node_edits_remake(out, zb_node_attributes(now), ZB_HDF5_EXTENSION, text, err);
    zb_moved_free(moved);
    zb_hdf5_extension_free(extension);
    return code;
}

enum zb_code zb_moved_begin(const zb_node *group, const char *path, bool is_node, zb_error *err) {
    zb_node *changed;
    wish asked = {.path = path, .is_node = is_node};
    enum zb_code code = zb_node_edit(group, begin, &asked, &changed, err);
    zb_node_release(changed);
    return code;
}
