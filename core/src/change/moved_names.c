/* SPDX-License-Identifier: MIT */
/* The group that references are relative to begins to keep track of what moves, and is told of what
   is no node (moved.h). */
#include <stdlib.h>
#include <string.h>

#include "extension/moved.h"
#include "hierarchy/path.h"
#include "node/walk.h"
#include "zarrbridge/node_edit.h"

/* What a group says, before and after a change of it. */
typedef struct member {
    zb_hdf5_extension *extension;
    zb_moved *moved;
    bool is_kept; /* the group has it */
} member;

/* Freed with clear, also after an error. */
static enum zb_code read_member(const zb_node *now, member *out, zb_error *err) {
    *out = (member){.moved = NULL};
    enum zb_code code = zb_hdf5_extension_of(now, &out->extension, err);
    return code ? code : zb_moved_of(now, &out->moved, &out->is_kept, err);
}

static void clear(member *group) {
    zb_moved_free(group->moved);
    zb_hdf5_extension_free(group->extension);
}

static enum zb_code write_member(const zb_node *now, const member *group, zb_node_edits *out,
                                 zb_error *err) {
    char *text;
    enum zb_code code = zb__moved_put(group->extension, group->moved, &text, err);
    return code ? code
                : zb_node_edits_remake(out, zb_node_attributes(now), ZB_HDF5_EXTENSION, text, err);
}

/* ---- Beginning ---- */

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

static enum zb_code make_empty(zb_moved **out, zb_error *err) {
    zb_json *empty = NULL;
    enum zb_code code = zb_json_parse("{}", 2, &empty, err);
    if (!code)
        code = zb_moved_parse(empty, out, err);
    zb_json_free(empty);
    return code;
}

static enum zb_code begin(void *context, const zb_node *now, zb_node_edits *out, zb_error *err) {
    const wish *asked = context;
    const zb_json *value = zb_json_get(zb_node_attributes(now), ZB_HDF5_EXTENSION);
    bool is_nameless = false;
    member group;
    enum zb_code code = read_member(now, &group, err);
    if (!code && !group.extension && value)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "the attribute " ZB_HDF5_EXTENSION " of /%s is of another program or "
                       "version",
                       zb_node_path(now));
    if (!code && !group.is_kept)
        code = make_empty(&group.moved, err);
    if (!code)
        code = give_name(group.moved, now, asked, &is_nameless, err);
    if (!code && (!group.is_kept || is_nameless))
        code = write_member(now, &group, out, err);
    clear(&group);
    return code;
}

enum zb_code zb_moved_begin(const zb_node *group, const char *path, bool is_node, zb_error *err) {
    zb_node *changed;
    wish asked = {.path = path, .is_node = is_node};
    enum zb_code code = zb_node_edit(group, begin, &asked, &changed, err);
    zb_node_release(changed);
    return code;
}

/* ---- Telling ---- */

/* Relative to the group; to: NULL where it has left the group, too. */
typedef struct going {
    const char *from, *to;
} going;

static enum zb_code tell(void *context, const zb_node *now, zb_node_edits *out, zb_error *err) {
    const going *what = context;
    member group;
    enum zb_code code = read_member(now, &group, err);
    if (!code && group.is_kept)
        code = zb__moved_move(group.moved, what->from, what->to, err);
    if (!code && group.is_kept)
        code = write_member(now, &group, out, err);
    clear(&group);
    return code;
}

static enum zb_code tell_group(zb_hierarchy *hierarchy, const char *path, going what,
                               zb_error *err) {
    zb_node *group = NULL, *changed = NULL;
    zb_error why = {0};
    enum zb_code code = zb_node_open(hierarchy, path, &group, &why);
    if (code == ZB_ENOTFOUND)
        return ZB_OK; /* a group that is nothing but a path keeps no track */
    if (code && err)
        *err = why;
    if (code)
        return code;
    code = zb_node_edit(group, tell, &what, &changed, err);
    zb_node_release(changed);
    zb_node_release(group);
    return code;
}

enum zb_code zb_moved_tell(zb_hierarchy *hierarchy, const char *path, const char *to,
                           zb_error *err) {
    char *group = strdup(path);
    enum zb_code code = group ? ZB_OK : zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    while (!code && *group) {
        zb__path_up(group);
        const going what = {.from = zb__path_below(path, group),
                            .to = to ? zb__path_below(to, group) : NULL};
        code = tell_group(hierarchy, group, what, err);
    }
    free(group);
    return code;
}
