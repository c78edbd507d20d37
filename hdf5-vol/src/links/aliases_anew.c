/* SPDX-License-Identifier: MIT */
/* Hard links of other programs: see aliases_anew.h. */
#include "links/aliases_anew.h"

#include "attributes/attribute_list.h"
#include "links/aliases.h"
#include "links/link_store.h"
#include "links/links.h"
#include "links/places.h"
#include "tree/children.h"
#include "tree/node_life.h"
#include "tree/side.h"

#include <stdlib.h>
#include <string.h>

static bool is_stored(const vol_node *node) {
    return node->zarr && !node->loose && !node->is_dimension && !node->is_unreadable;
}

/* Puts the node's present state, which it takes over, in place of the old one. */
static enum zb_code take(vol_node *node, zb_node *now, zb_error *err) {
    if (!vol_node_replace(node, now))
        return zb_fail(err, ZB_ECONFLICT,
                       "'%s' has become another kind of object: close it and open it again",
                       node->path);
    vol_node_attrs_outdate(node);
    vol_alias_forget(node);
    return ZB_OK;
}

/* A node that has gone keeps its old state: the change that is to come finds that out. */
static enum zb_code refresh(const vol_node *node, zb_node **now, zb_error *err) {
    enum zb_code code = zb_node_refresh(node->zarr, now, err);
    if (code == ZB_ENOTFOUND)
        *now = NULL;
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

/* Reads the aliases of a group, once for each reading of the file. */
static enum zb_code read_group(vol_node *group, zb_error *err) {
    zb_node *now = NULL;
    if (!is_stored(group) || group->reading == group->file->reading)
        return ZB_OK;
    group->reading = group->file->reading;
    enum zb_code code = vol_links_store_own(group, err);
    if (!code)
        code = refresh(group, &now, err);
    if (code || !now)
        return code;
    code = take(group, now, err);
    return code ? code : vol_node_list(group, err);
}

/* A list of names as text, malloc'ed; "" for none, NULL without memory. */
static char *print_names(const zb_json *names) {
    return names ? zb_json_print(names) : strdup("");
}

static enum zb_code read_names(vol_node *node, zb_error *err) {
    zb_node *now = NULL;
    enum zb_code code = vol_links_store_own(node, err);
    if (!code)
        code = refresh(node, &now, err);
    if (code || !now)
        return code;
    zb_hdf5_extension *side;
    code = zb_hdf5_extension_of(now, &side, err);
    char *old = print_names(vol_side_get(node, ZB_HDF5_NAMES));
    char *new = print_names(zb_hdf5_extension_get(side, ZB_HDF5_NAMES));
    zb_hdf5_extension_free(side);
    if (!code && (!old || !new))
        code = zb_fail(err, ZB_ENOMEM, "no memory for the names of %s", node->path);
    if (!code && strcmp(old, new) != 0)
        code = take(node, now, err);
    else
        zb_node_release(now);
    free(old);
    free(new);
    return code;
}

/* The groups that hold a node's names, where they do not know of it. */
static enum zb_code read_holders(vol_node *node, zb_error *err) {
    const zb_json *list = vol_side_get(node, ZB_HDF5_NAMES);
    if (vol_alias_count(node) >= zb_json_count(list))
        return ZB_OK;
    enum zb_code code = ZB_OK;
    for (const zb_json *one = zb_json_first(list); one && !code; one = zb_json_next(one)) {
        const char *text = zb_json_string(one);
        char *name = NULL;
        vol_node *group = text ? vol_place_parent(node, text, &name) : NULL;
        if (group && group != node && !vol_link_entry_find(group, name))
            code = read_group(group, err);
        free(name);
    }
    vol_alias_forget_names(node);
    return code;
}

/* A node right below a group; what has just been opened need not be read again. */
typedef struct child {
    vol_node *node;
    bool is_new;
} child;

/* In memory of the caller's, since lists of links change when what is below is read. */
static enum zb_code children_of(vol_node *group, child **out, size_t *count, zb_error *err) {
    enum zb_code code = vol_node_list(group, err);
    if (!code && !(*out = malloc((vol_links_count(group) + 1) * sizeof **out)))
        code = zb_fail(err, ZB_ENOMEM, "no memory for the links of %s", group->path);
    vol_children walk = {.group = group, .code = code};
    for (vol_node *node; (node = vol_children_next(&walk, err));)
        (*out)[(*count)++] = (child){node, walk.is_new};
    return walk.code;
}

static enum zb_code read_below(vol_node *node, bool is_new, zb_error *err) {
    if (!is_stored(node))
        return ZB_OK;
    const bool is_group = node->kind == VOL_GROUP;
    child *children = NULL;
    size_t count = 0;
    enum zb_code code = ZB_OK;
    if (!is_new)
        code = is_group ? read_group(node, err) : read_names(node, err);
    if (!code)
        code = vol_side_load(node, err);
    if (!code)
        code = read_holders(node, err);
    if (!code && is_group)
        code = children_of(node, &children, &count, err);
    for (size_t i = 0; i < count && !code; i++)
        code = read_below(children[i].node, children[i].is_new, err);
    free(children);
    return code;
}

/* A node that is opened later is read then. Reading one forgets no links but its own. */
enum zb_code vol_aliases_read_ends(vol_node *group, zb_error *err) {
    const vol_link_list *entries = vol_link_entries(group, err);
    enum zb_code code = entries ? ZB_OK : ZB_ENOMEM;
    for (size_t i = 0; !code && i < entries->count; i++) {
        vol_link *link = entries->link[i];
        vol_node *end = link->kind == VOL_LINK_ALIAS ? vol_place_opened(group, link->target) : NULL;
        if (end && end != group && is_stored(end) && vol_alias_is_lost(link))
            code = read_names(end, err);
    }
    return code;
}

enum zb_code vol_aliases_read_anew(vol_node *top, zb_error *err) {
    top->file->reading++;
    vol_moved_outdate(top->file); /* names are to be as new as what is read */
    return read_below(top, false, err);
}
