/* SPDX-License-Identifier: MIT */
/* The hierarchy of an open file: see tree.h. */
#include "tree/tree.h"

#include "dataset/unreadable.h"
#include "links/links.h"
#include "links/link_entries.h"
#include "objects/tokens.h"
#include "tree/loose.h"
#include "tree/node_life.h"

#include "zarrbridge/conventions.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME_HASH "has the same hash as another node's"

/* ---- Adding ---- */

/* A node with a place in the hierarchy. *reason is set, and *out NULL, when it cannot have one.
   Takes over `zarr`. */
static enum zb_code new_placed(vol_file *file, vol_node *parent, const char *name, zb_node *zarr,
                               vol_node **out, const char **reason, zb_error *err) {
    vol_node *node;
    *out = NULL;
    enum zb_code code = vol_node_new(file, zarr, &node, err);
    if (code)
        return code;
    if (!vol_node_set_path(node, parent, name)) {
        vol_node_free(node);
        return zb_fail(err, ZB_ENOMEM, "no memory for node %s", name);
    }
    node->parent = parent;
    if (vol_token_register(node)) {
        *out = node;
    } else {
        vol_node_free(node);
        *reason = "its path " SAME_HASH;
    }
    return ZB_OK;
}

enum zb_code vol_tree_new_root(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err) {
    const char *reason; /* none: no other node is there */
    enum zb_code code = new_placed(file, NULL, "", zarr, out, &reason, err);
    if (!code && !zarr)
        vol_links_set_listed(*out, true);
    return code;
}

enum zb_code vol_tree_add_loose(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err) {
    vol_node *node;
    enum zb_code code = vol_node_new(file, zarr, &node, err);
    if (code)
        return code;
    node->name = node->path = strdup("");
    if (!node->path) {
        vol_node_free(node);
        return zb_fail(err, ZB_ENOMEM, "no memory for a node");
    }
    vol_token_loosen(node);
    vol_loose_add(node);
    *out = node;
    return ZB_OK;
}

/* The node of an entry: the store's, or, with a reason, a dataset in its place. *reason is set, and
   *out NULL, when it cannot have one. Takes over `zarr`. */
static enum zb_code new_child(vol_node *group, const char *name, zb_node *zarr, vol_node **out,
                              const char **reason, zb_error *err) {
    const bool is_unreadable = *reason != NULL;
    enum zb_code code = is_unreadable ? vol_unreadable_new(*reason, &zarr, err) : ZB_OK;
    if (!code)
        code = new_placed(group->file, group, name, zarr, out, reason, err);
    if (!code && *out)
        (*out)->is_unreadable = is_unreadable;
    return code;
}

static void free_child(vol_node *node) {
    if (node)
        vol_token_unregister(node);
    vol_node_free(node);
}

/* What stands behind a new link: a node, or the reason why it cannot be read. */
typedef struct entry {
    zb_node *zarr;
    const char *reason;
    const char *stored; /* vol_link.stored, or NULL */
    bool is_dimension;
} entry;

/* Adds an entry with its node. Takes over `zarr`. */
static enum zb_code add_link(vol_node *group, const char *name, entry what, vol_link **out,
                             zb_error *err) {
    vol_node *node = NULL;
    enum zb_code code = vol_links_reserve(group, err);
    if (code)
        zb_node_release(what.zarr);
    else
        code = new_child(group, name, what.zarr, &node, &what.reason, err);
    if (!code)
        code = vol_link_new(name, node, what.reason, out, err);
    if (!code && what.stored && !((*out)->stored = strdup(what.stored))) {
        vol_link_free(*out);
        code = zb_fail(err, ZB_ENOMEM, "no memory for the name %s", name);
    }
    if (!code && node)
        node->is_dimension = what.is_dimension; /* the order asks for it */
    if (!code)
        vol_links_insert(group, *out);
    else
        free_child(node);
    return code;
}

enum zb_code vol_tree_add(vol_node *group, const char *name, zb_node *zarr, vol_node **out,
                          zb_error *err) {
    vol_link *link;
    enum zb_code code = add_link(group, name, (entry){.zarr = zarr}, &link, err);
    if (code)
        return code;
    *out = link->node;
    if (*out)
        return ZB_OK;
    code = vol_link_add_context(link, err);
    vol_tree_remove(link);
    return code;
}

enum zb_code vol_tree_add_dimension(vol_node *group, const char *name, zb_node *zarr,
                                    zb_error *err) {
    vol_link *link;
    return add_link(group, name, (entry){.zarr = zarr, .is_dimension = true}, &link, err);
}

/* ---- Finding ---- */

bool vol_link_is_stored_as(const vol_link *link, const char *stored) {
    if (link->stored || !zb_name_has_form(link->name))
        return strcmp(link->stored ? link->stored : link->name, stored) == 0;
    char *form = zb_name_stored(link->name);
    const bool is = form && strcmp(form, stored) == 0;
    free(form);
    return is;
}

/* Of a node that another program has made under a reserved name. */
static enum zb_code read_as_named(const vol_node *group, const char *name, zb_node **zarr,
                                  zb_error *reason, zb_error *err) {
    const char *above = group->zarr ? zb_node_path(group->zarr) : "";
    char *path;
    if (asprintf(&path, "%s%s%s", above, *above ? "/" : "", name) < 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for the path of %s", name);
    reason->code = zb_node_open(group->file->hierarchy, path, zarr, reason);
    free(path);
    return ZB_OK;
}

/* Reads the document of a child, or the reason why it cannot be read. *as_named: the child has its
   reserved name in the store, too. */
static enum zb_code read_child(const vol_node *group, const char *name, zb_node **zarr,
                               bool *as_named, zb_error *reason, zb_error *err) {
    char *path;
    *zarr = NULL;
    *as_named = false;
    if (group->loose) { /* another group may have its path by now */
        zb_fail(reason, ZB_ENOTFOUND, "the group of %s has been deleted", name);
        return ZB_OK;
    }
    enum zb_code code = vol_node_child_path(group, name, &path, err);
    if (code)
        return code;
    reason->code = vol_links_are_listed(group)
                       ? zb_node_open_cached(group->file->hierarchy, path, zarr, reason)
                       : zb_node_open(group->file->hierarchy, path, zarr, reason);
    free(path);
    *as_named = reason->code == ZB_ENOTFOUND && zb_name_needs_form(name);
    return *as_named ? read_as_named(group, name, zarr, reason, err) : ZB_OK;
}

static enum zb_code pass_on(const zb_error *reason, enum zb_code code, zb_error *err) {
    if (err)
        *err = *reason;
    return code;
}

/* Array stores never get here, as their synthetic root is listed from the start. */
static enum zb_code open_child(vol_node *group, const char *name, vol_link **out, zb_error *err) {
    zb_node *zarr;
    zb_error reason;
    bool as_named;
    enum zb_code code = read_child(group, name, &zarr, &as_named, &reason, err);
    if (code)
        return code;
    /* What may pass is an error of this call. Only content that cannot be read has a link. */
    switch (reason.code) {
    case ZB_ENOTFOUND:
    case ZB_EINVAL:
        return pass_on(&reason, ZB_ENOTFOUND, err);
    case ZB_ENOMEM:
    case ZB_ECANCELLED:
    case ZB_EIO:
    case ZB_ECONFLICT:
        return pass_on(&reason, reason.code, err);
    default:
        return add_link(group, name,
                        (entry){.zarr = zarr,
                                .reason = reason.code ? reason.message : NULL,
                                .stored = as_named ? name : NULL},
                        out, err);
    }
}

/* The listing has shown that there is something, so all but its going is a reason. */
enum zb_code vol_link_open(vol_link *link, zb_error *err) {
    zb_node *zarr;
    zb_error why;
    bool as_named;
    if (!vol_link_is_unopened(link))
        return ZB_OK;
    enum zb_code code = read_child(link->group, link->name, &zarr, &as_named, &why, err);
    if (code)
        return code;
    if (why.code == ZB_ENOTFOUND || why.code == ZB_ENOMEM || why.code == ZB_ECANCELLED)
        return pass_on(&why, why.code, err);
    const char *reason = why.code ? why.message : NULL;
    vol_node *node = NULL;
    code = new_child(link->group, link->name, zarr, &node, &reason, err);
    if (!code)
        code = vol_link_set_node(link, node, reason, err);
    if (code)
        free_child(node);
    return code;
}

/* One read of one document: opening a path lists no group. */
enum zb_code vol_child_find(vol_node *group, const char *name, vol_link **out, zb_error *err) {
    enum zb_code code = ZB_OK;
    if (group->kind != VOL_GROUP)
        code = ZB_ENOTFOUND;
    else if (group->file->extras->need_list(group))
        code = vol_node_list(group, err);
    if (!code) {
        *out = vol_links_find(group, name);
        if (!*out)
            code = vol_links_are_listed(group) ? ZB_ENOTFOUND : open_child(group, name, out, err);
        /* A node hides a link of its name. */
        if (code == ZB_ENOTFOUND && (*out = vol_link_entry_find(group, name)))
            code = ZB_OK;
    }
    return code == ZB_ENOTFOUND ? zb_fail(err, ZB_ENOTFOUND, "there is no node %s%s%s", group->path,
                                          group->parent ? "/" : "", name)
                                : code;
}

bool vol_child_is_unknown(vol_node *group, const char *name) {
    return !vol_links_are_listed(group) && !vol_loose_hierarchy(group) &&
           group->file->options.dimensions != VOL_DIMENSIONS_ON && !vol_links_find(group, name) &&
           !vol_link_entry_find(group, name) && !zb_name_needs_form(name);
}

bool vol_child_is_absent(vol_node *group, const char *name) {
    char *path;
    if (!vol_child_is_unknown(group, name) ||
        vol_node_child_path(group, name, &path, NULL) != ZB_OK)
        return false;
    const bool absent = zb_hierarchy_is_absent(group->file->hierarchy, path);
    free(path);
    return absent;
}

vol_link *vol_link_of(const vol_node *node) {
    return node->parent ? vol_links_find(node->parent, node->name) : NULL;
}

typedef struct listing {
    vol_node *group;
    enum zb_code code;
    zb_error *err;
} listing;

/* stored: the name in the store where it is not that of zb_name_stored, or NULL. */
static enum zb_code add_name(vol_node *group, const char *name, const char *stored, zb_error *err) {
    vol_link *link;
    enum zb_code code = vol_links_reserve(group, err);
    if (!code)
        code = vol_link_new_unopened(name, &link, err);
    if (!code && stored && !(link->stored = strdup(stored))) {
        vol_link_free(link);
        code = zb_fail(err, ZB_ENOMEM, "no memory for the name %s", stored);
    }
    if (!code)
        vol_links_insert(group, link);
    return code;
}

/* A node of a reserved name and one of its form show the same name: the second one that is listed
   shows the form. */
static enum zb_code add_odd_name(vol_node *group, const char *name, const char *stored,
                                 zb_error *err) {
    const vol_link *link = vol_links_find(group, name);
    if (link && vol_link_is_stored_as(link, stored))
        return ZB_OK;
    if (!link)
        return add_name(group, name, zb_name_needs_form(stored) ? stored : NULL, err);
    char *form = zb_name_stored(name);
    enum zb_code code = form ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a name");
    if (!code && !vol_links_find(group, form))
        code = add_name(group, form, stored, err);
    free(form);
    return code;
}

static int take_name(void *context, const char *stored) {
    listing *l = context;
    if (zb_name_is_plain(stored) && !zb_name_needs_form(stored))
        return l->code = vol_links_find(l->group, stored)
                             ? ZB_OK
                             : add_name(l->group, stored, NULL, l->err);
    char *name = zb_name_shown(stored);
    l->code = name ? add_odd_name(l->group, name, stored, l->err)
                   : zb_fail(l->err, ZB_ENOMEM, "no memory for the name %s", stored);
    free(name);
    return l->code;
}

enum zb_code vol_node_list(vol_node *group, zb_error *err) {
    listing l = {.group = group, .err = err};
    if (group->kind != VOL_GROUP)
        return zb_fail(err, ZB_EINVAL, "%s is no group", group->path);
    if (vol_links_are_listed(group))
        return ZB_OK;
    enum zb_code code = zb_group_names(group->zarr, take_name, &l, err);
    code = code ? code : l.code;
    if (!code)
        code = vol_link_entries_show(group, err);
    vol_links_set_listed(group, code == ZB_OK);
    if (!code)
        code = group->file->extras->show_kept(group, err);
    if (!code)
        vol_links_assign_order(group);
    if (!code)
        code = group->file->extras->show_made(group, err);
    return code;
}

enum zb_code vol_walk_count(const vol_file *file, uint64_t *count, zb_error *err) {
    const uint64_t limit = zb_limits_get()->nodes;
    if (++*count <= limit)
        return ZB_OK;
    return zb_fail(err, ZB_ELIMIT, "%s has more than %llu nodes (limit nodes)", file->shown,
                   (unsigned long long)limit);
}

/* ---- Changing places ---- */

/* Children stay with their parent, which owns them. */
static void loosen(vol_node *node) {
    vol_token_unregister(node);
    vol_token_loosen(node);
    size_t at = 0;
    for (vol_node *child; (child = vol_links_opened(node, &at));)
        loosen(child);
}

/* A node that has lost its link, with all below it. */
static void set_loose(vol_node *node) {
    loosen(node);
    node->parent = NULL;
    vol_loose_add(node);
}

void vol_tree_remove(vol_link *link) {
    vol_node *node = link->node;
    vol_file *file = link->group->file;
    vol_links_take(link);
    vol_link_free(link);
    if (node)
        set_loose(node);
    file->changes++;
}

void vol_tree_close(vol_link *link) {
    vol_node *node = link->node;
    vol_link_unset_node(link);
    if (node)
        set_loose(node);
    link->group->file->changes++;
}

/* One that is not in the store. What lay at its new path in memory has been deleted. */
static enum zb_code move_dimension(vol_node *node, const char *path, zb_error *err) {
    zb_hierarchy *hierarchy = node->file->dimensions;
    const char *from = zb_node_path(node->zarr);
    zb_node *zarr;
    if (strcmp(from, path) == 0)
        return ZB_OK;
    enum zb_code code = zb_node_move(hierarchy, from, path, err);
    if (code == ZB_ECONFLICT && zb_node_delete(hierarchy, path, NULL) == ZB_OK)
        code = zb_node_move(hierarchy, from, path, err);
    if (!code)
        code = zb_node_open(hierarchy, path, &zarr, err);
    if (!code)
        vol_node_replace(node, zarr);
    return code;
}

/* Gives a node that no token leads to the place `name` of its parent; it is loose after an
   error. */
static enum zb_code place_one(vol_node *node, const char *name, zb_error *err) {
    zb_node *zarr = NULL;
    char *path;
    enum zb_code code = vol_node_child_path(node->parent, name, &path, err);
    if (!code && !vol_node_set_path(node, node->parent, name))
        code = zb_fail(err, ZB_ENOMEM, "no memory for node %s", name);
    if (!code && node->is_dimension)
        code = move_dimension(node, path, err);
    else if (!code && node->zarr && !node->is_unreadable)
        code = zb_node_open(node->file->hierarchy, path, &zarr, err);
    if (!code && !vol_token_register(node))
        code = zb_fail(err, ZB_EUNSUPPORTED, "'%s' " SAME_HASH, node->path);
    node->loose = false;
    if (code)
        vol_token_loosen(node);
    if (code)
        zb_node_release(zarr);
    else if (zarr)
        vol_node_replace(node, zarr);
    free(path);
    return code;
}

/* The same with all below it. What another program has deleted below becomes loose. */
static enum zb_code place_again(vol_node *node, const char *name, zb_error *err) {
    enum zb_code code = place_one(node, name, err);
    size_t at = 0;
    for (vol_node *child; (child = vol_links_opened(node, &at));) {
        vol_token_unregister(child);
        const enum zb_code below =
            place_again(child, vol_links_at(node, at - 1)->name, code ? NULL : err);
        code = code || below == ZB_ENOTFOUND ? code : below;
    }
    return code;
}

/* The link is in no group; `group` has memory for it. */
static enum zb_code put_link(vol_link *link, vol_node *group, zb_error *err) {
    vol_links_insert(group, link);
    group->file->changes++;
    if (!link->node)
        return ZB_OK;
    link->node->parent = group;
    return place_again(link->node, link->name, err);
}

enum zb_code vol_tree_move(vol_link *link, vol_node *group, const char *name, zb_error *err) {
    enum zb_code code = vol_links_reserve(group, err);
    char *copy = strdup(name);
    if (!code && !copy)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a name");
    if (code) {
        free(copy);
        return code;
    }
    const uint64_t last = vol_order_last(group);
    vol_links_take(link);
    vol_order_go_on(group, last);
    vol_link_set_name(link, copy);
    if (link->node)
        vol_token_unregister(link->node);
    return put_link(link, group, err);
}

/* Out of the list of those without a group, or out of the group with which it was deleted. */
static void take_loose(vol_node *loose) {
    if (loose->parent) {
        vol_link *link = vol_link_of(loose);
        vol_links_take(link);
        vol_link_free(link);
        return;
    }
    vol_loose_take(loose);
}

enum zb_code vol_tree_place(vol_node *loose, vol_node *group, const char *name, zb_error *err) {
    vol_link *link;
    enum zb_code code = vol_links_reserve(group, err);
    if (!code)
        code = vol_link_new(name, loose, NULL, &link, err);
    if (code)
        return code;
    take_loose(loose);
    code = put_link(link, group, err);
    if (code)
        vol_tree_remove(link);
    return code;
}
