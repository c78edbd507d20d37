/* SPDX-License-Identifier: MIT */
/* The group that references are relative to begins to keep track of what moves (moved.h). */
#include <stdlib.h>

#include "extension/moved.h"
#include "zarrbridge/node_edit.h"

/* Sets *needed when the path (NULL: none) has no name, and gives it one. */
static enum zb_code give_name(zb_moved *moved, const char *path, bool *needed, zb_error *err) {
    char *name = path ? zb_moved_name(moved, path) : NULL;
    *needed = path && !name;
    free(name);
    return *needed ? zb__moved_assign(moved, path, err) : ZB_OK;
}

/* The edit of the attribute, which counts while it is what it was made of. */
static enum zb_code make_edit(const zb_node *now, const zb_hdf5_extension *extension,
                              const zb_moved *moved, zb_node_edits *out, zb_error *err) {
    const zb_json *former = zb_json_get(zb_node_attributes(now), ZB_HDF5_EXTENSION);
    char *value = NULL, *old = former ? zb_json_print(former) : NULL;
    enum zb_code code = zb__moved_put(extension, moved, &value, err);
    out->edit = calloc(1, sizeof *out->edit);
    if (!code && (!out->edit || (former && !old)))
        code = zb_fail(err, ZB_ENOMEM, "out of memory for an attribute");
    if (code) {
        free(value);
        free(old);
        return code;
    }
    out->edit[out->count++] = (zb_attribute_edit){
        .name = ZB_HDF5_EXTENSION, .value = value, .checked = true, .former = old};
    return ZB_OK;
}

static enum zb_code begin(void *context, const zb_node *now, zb_node_edits *out, zb_error *err) {
    const char *path = context;
    const zb_json *value = zb_json_get(zb_node_attributes(now), ZB_HDF5_EXTENSION);
    zb_hdf5_extension *extension;
    zb_json *empty = NULL;
    zb_moved *moved = NULL;
    enum zb_code code = zb_hdf5_extension_parse(value, &extension, err);
    const zb_json *member = zb_hdf5_extension_get(extension, ZB_HDF5_MOVED);
    bool needed = !member;
    if (!code && !member)
        code = zb_json_parse("{}", 2, &empty, err);
    if (!code && !extension && value)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "the attribute " ZB_HDF5_EXTENSION " of /%s is of another program or "
                       "version",
                       zb_node_path(now));
    if (!code)
        code = zb_moved_parse(member ? member : empty, &moved, err);
    if (!code) {
        bool is_nameless;
        code = give_name(moved, path, &is_nameless, err);
        needed |= is_nameless;
    }
    if (!code && needed)
        code = make_edit(now, extension, moved, out, err);
    zb_moved_free(moved);
    zb_json_free(empty);
    zb_hdf5_extension_free(extension);
    return code;
}

enum zb_code zb_moved_begin(const zb_node *group, const char *path, zb_error *err) {
    zb_node *changed;
    enum zb_code code = zb_node_edit(group, begin, (char *)(uintptr_t)path, &changed, err);
    zb_node_release(changed);
    return code;
}
