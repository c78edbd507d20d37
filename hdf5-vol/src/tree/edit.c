/* SPDX-License-Identifier: MIT */
/* Changing the hierarchy: see edit.h. */
#include "tree/edit.h"

#include "attributes/attribute_list.h"
#include "attributes/large_attributes.h"
#include "dataset/dataset.h"
#include "dataset/deleted.h"
#include "dataset/writers.h"
#include "file/lock_scope.h"
#include "links/aliases.h"
#include "links/aliases_anew.h"
#include "links/link_order.h"
#include "links/link_store.h"
#include "links/links.h"
#include "links/place_text.h"
#include "objects/paths.h"
#include "scales/dimensions.h"
#include "scales/scale_moves.h"
#include "scales/scale_names.h"
#include "scales/scales.h"
#include "tree/loose.h"
#include "tree/node_life.h"
#include "tree/side.h"
#include "waiting/waiting_store.h"

#include "zarrbridge/change.h"
#include "zarrbridge/sys/store.h"

#include <stdlib.h>
#include <string.h>

/* ---- Places ---- */

void vol_place_clear(vol_place *place) {
    free(place->name);
    place->name = NULL;
}

/* Before a link of that name is added. */
static enum zb_code prepare_order(vol_node *group, const char *name, zb_error *err) {
    enum zb_code code = vol_order_flags(group) ? vol_node_list(group, err) : ZB_OK;
    return code ? code : vol_order_check(group, name, err);
}

/* A group on the way to a new object keeps the order of its links if the one above does. */
static enum zb_code make_on_the_way(const vol_place *place, const vol_changes *members,
                                    vol_node **out, zb_error *err) {
    enum zb_code code = prepare_order(place->group, place->name, err);
    char *attributes = vol_missing_attributes(place->group, members);
    if (!code && !attributes)
        code = zb_fail(err, ZB_ENOMEM, "no memory for the attributes of a group");
    if (!code)
        code = vol_edit_create_group(place, attributes, out, err);
    free(attributes);
    return code ? code : vol_order_begin(*out, vol_order_flags(place->group), err);
}

/* The group called `name` in place->group, made if there is none and that is allowed. */
static enum zb_code enter(vol_place *place, vol_missing missing, zb_error *err) {
    vol_found next;
    vol_route route = {.left = VOL_LINKS_FOLLOWED};
    enum zb_code code = vol_path_find(place->group, place->name, &route, &next, err);
    const bool is_there = code == ZB_OK;
    if (is_there)
        code = vol_path_enter(&route, &next, err);
    if (code == ZB_ENOTFOUND && missing.make && !is_there) {
        code = make_on_the_way(place, missing.members, &next.node, err);
        if (code == ZB_ECONFLICT && (next.node = vol_node_find(place->group, place->name, NULL)))
            code = next.node->kind == VOL_GROUP ? ZB_OK : code; /* another process has made it */
    } else if (code == ZB_ENOTFOUND && !is_there)
        code = zb_fail(err, ZB_ENOTFOUND, "there is no group '%s' in %s", place->name,
                       place->group->path);
    else if (!code && next.node->kind != VOL_GROUP)
        code = zb_fail(err, ZB_EINVAL, "'%s' is no group", next.node->path);
    if (!code)
        place->group = next.node;
    vol_place_clear(place);
    return code;
}

/* Goes along a path: "a/b/c" ends in group a/b with the name c, and "a/b/." without one. */
static enum zb_code walk_place(vol_place *place, char *rest, vol_missing missing, zb_error *err) {
    enum zb_code code = ZB_OK;
    char *part;
    bool is_itself = false;
    while (!code && (part = strsep(&rest, "/"))) {
        if (*part)
            is_itself = strcmp(part, ".") == 0;
        if (!*part || is_itself)
            continue;
        if (place->name)
            code = enter(place, missing, err);
        if (!code && !(place->name = strdup(part)))
            code = zb_fail(err, ZB_ENOMEM, "no memory for a name");
    }
    if (is_itself)
        vol_place_clear(place);
    return code;
}

/* is_free: the cheap question whether the group has no such link. */
static enum zb_code find_place(vol_node *base, const char *path, vol_missing missing,
                               bool (*is_free)(vol_node *group, const char *name), vol_place *out,
                               zb_error *err) {
    vol_link *there;
    *out = (vol_place){.group = path[0] == '/' ? base->file->root : base};
    if (out->group->loose)
        return zb_fail(err, ZB_EINVAL,
                       "the group has no name: nothing can be made in it before it is linked");
    char *copy = strdup(path);
    enum zb_code code = copy ? walk_place(out, copy, missing, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for path %s", path);
    free(copy);
    if (!code && !out->name)
        code = zb_fail(err, ZB_EINVAL, "'%s' names no new object", path);
    else if (!code && out->group->kind != VOL_GROUP)
        code = zb_fail(err, ZB_EINVAL, "'%s' is no group", out->group->path);
    else if (!code && !is_free(out->group, out->name) &&
             vol_child_find(out->group, out->name, &there, NULL) == ZB_OK)
        code = vol_place_fail_taken(out->group, out->name, err);
    else if (!code && !out->group->zarr)
        code = zb_fail(err, ZB_EINVAL,
                       "the store '%s' is a single array: nothing else can be made in it",
                       base->file->shown);
    if (!code)
        code = prepare_order(out->group, out->name, err);
    if (code)
        vol_place_clear(out);
    return code;
}

enum zb_code vol_place_find(vol_node *base, const char *path, vol_missing missing, vol_place *out,
                            zb_error *err) {
    return find_place(base, path, missing, vol_child_is_absent, out, err);
}

enum zb_code vol_place_for_new(vol_node *base, const char *path, vol_missing missing,
                               vol_place *out, zb_error *err) {
    return find_place(base, path, missing, vol_child_is_unknown, out, err);
}

/* ---- Creating ---- */

/* What a node could not be made for: another program's, which the list of the group may not have
   yet. */
static enum zb_code add_name(const vol_place *place, enum zb_code code, zb_error *err) {
    vol_link *there;
    if (code != ZB_ECONFLICT)
        return code;
    vol_links_set_listed(place->group, false);
    if (vol_child_find(place->group, place->name, &there, NULL) != ZB_OK)
        return code;
    return vol_place_fail_taken(place->group, place->name, err);
}

enum zb_code vol_edit_add(const vol_place *place, zb_node *made, vol_node **out, zb_error *err) {
    enum zb_code code = vol_tree_add(place->group, place->name, made, out, err);
    place->group->file->changes++;
    return code;
}

/* A node that has just been made in the store, and has found no place in the tree. */
typedef struct new_node {
    zb_hierarchy *hierarchy;
    const char *path;
    bool is_whole; /* what lies below it has been made with it */
    size_t nodes;  /* at the path and below, as far as they were counted */
    bool has_gone; /* whatever may stay of its files */
} new_node;

static int count_two(void *context, const zb_entry *entry) {
    new_node *made = context;
    (void)entry;
    return ++made->nodes > 1;
}

static enum zb_code delete_new(void *context, zb_error *err) {
    new_node *made = context;
    enum zb_code code =
        made->is_whole ? ZB_OK : zb_node_each(made->hierarchy, made->path, count_two, made, err);
    if (!code && made->nodes > 1)
        code = zb_fail(err, ZB_ECONFLICT, "another program has made something in it");
    if (!code)
        code = zb_node_delete(made->hierarchy, made->path, err);
    made->has_gone = !code || code == ZB_ENOTFOUND;
    return code;
}

enum zb_code vol_edit_take_back(vol_file *file, const char *path, bool whole, enum zb_code code,
                                zb_error *err) {
    new_node made = {.hierarchy = file->hierarchy, .path = path, .is_whole = whole};
    zb_error why = {0};
    const enum zb_code done = vol_in_lock_scope(file, delete_new, &made, &why);
    if (!made.has_gone)
        return zb_error_prefix(err, code, "'/%s' has been made, and could not be removed: %s", path,
                               why.message);
    return !done || done == ZB_ENOTFOUND ? code : zb_error_prefix(err, code, "%s", why.message);
}

/* Takes the path over. */
static enum zb_code add_made(const vol_place *place, char *path, zb_node *made, vol_node **out,
                             zb_error *err) {
    enum zb_code code = vol_edit_add(place, made, out, err);
    if (code)
        code = vol_edit_take_back(place->group->file, path, false, code, err);
    free(path);
    return code;
}

/* As add_made, of what could not be made. */
static enum zb_code add_none(const vol_place *place, char *path, enum zb_code code, zb_error *err) {
    free(path);
    return add_name(place, code, err);
}

enum zb_code vol_edit_create_group(const vol_place *place, const char *attributes, vol_node **out,
                                   zb_error *err) {
    zb_node *made;
    char *path;
    enum zb_code code = vol_node_child_path(place->group, place->name, &path, err);
    if (!code)
        code = zb_group_create(place->group->file->hierarchy, path, attributes, &made, err);
    code = code ? add_none(place, path, code, err) : add_made(place, path, made, out, err);
    if (!code)
        vol_links_set_listed(*out, true); /* it is empty, and we shall see what is made in it */
    return code;
}

enum zb_code vol_edit_create_array(const vol_place *place, const zb_array_spec *spec,
                                   vol_node **out, zb_error *err) {
    zb_node *made;
    char *path;
    enum zb_code code = vol_node_child_path(place->group, place->name, &path, err);
    if (!code)
        code = zb_array_create(place->group->file->hierarchy, path, spec, &made, err);
    return code ? add_none(place, path, code, err) : add_made(place, path, made, out, err);
}

/* Of an array (spec), or of a group with these attributes. */
static enum zb_code create_loose(vol_file *file, const zb_array_spec *spec, const char *attributes,
                                 vol_node **out, zb_error *err) {
    zb_hierarchy *hierarchy;
    zb_node *made;
    enum zb_code code = zb_hierarchy_new_mem("(object without a name)", &hierarchy, err);
    if (code)
        return code;
    code = spec ? zb_array_create(hierarchy, "", spec, &made, err)
                : zb_group_create(hierarchy, "", attributes, &made, err);
    if (!code)
        code = vol_tree_add_loose(file, made, out, err);
    if (code)
        zb_hierarchy_release(hierarchy);
    else
        vol_loose_set_hierarchy(*out, hierarchy);
    return code;
}

enum zb_code vol_edit_create_loose(vol_file *file, const zb_array_spec *spec, vol_node **out,
                                   zb_error *err) {
    return create_loose(file, spec, NULL, out, err);
}

enum zb_code vol_edit_create_loose_group(vol_file *file, const char *attributes, vol_node **out,
                                         zb_error *err) {
    enum zb_code code = create_loose(file, NULL, attributes, out, err);
    if (!code)
        vol_links_set_listed(*out, true); /* nothing can be made in it */
    return code;
}

/* The chunks of a nameless dataset are copied as they are, by rank 0 where there are several. */
enum zb_code vol_edit_link(vol_node *loose, const vol_place *place, zb_error *err) {
    vol_file *file = place->group->file;
    const bool leads = h5_ranks_lead(file->ranks);
    char *path;
    enum zb_code code = vol_node_child_path(place->group, place->name, &path, err);
    if (!code)
        code = vol_writer_close(loose, err);
    if (!code)
        code = vol_waiting_flush(loose, err);
    if (!code && leads)
        code = zb_node_copy(vol_loose_hierarchy(loose), "", file->hierarchy, path, err);
    if (!code && (code = vol_tree_place(loose, place->group, place->name, err)) && leads)
        code = vol_edit_take_back(file, path, true, code, err);
    if (!code && !loose->loose) {
        vol_loose_set_hierarchy(loose, NULL);
        file->links_changed |= vol_order_is_changed(loose);
        code = vol_scales_named(loose, err);
    }
    free(path);
    return code;
}

/* ---- Changing places ---- */

static bool is_dimension(const vol_link *link) {
    return link->node && link->node->is_dimension;
}

/* True if there surely is no node: those of version 2 and those that a block in a group above
   describes are there, and cannot be deleted. One that is open has its path: it may be under a
   reserved name, which `path` has in another form. */
static bool has_gone(const vol_link *link, const char *path) {
    const zb_node *open = link->node ? link->node->zarr : NULL;
    zb_node *node;
    const enum zb_code code =
        zb_node_open(open ? zb_node_hierarchy(open) : link->group->file->hierarchy,
                     open ? zb_node_path(open) : path, &node, NULL);
    if (!code)
        zb_node_release(node);
    return code == ZB_ENOTFOUND;
}

enum zb_code vol_edit_delete(vol_link *link, zb_error *err) {
    if (!link)
        return zb_fail(err, ZB_EINVAL, "the root group cannot be deleted");
    vol_node *group = link->group;
    if (!group->zarr)
        return zb_fail(err, ZB_EINVAL, "the store '%s' is this array: delete the file instead",
                       group->file->shown);
    char *path;
    enum zb_code code = vol_node_child_path(group, link->name, &path, err);
    vol_deleted *copies = !code && link->node ? vol_deleted_keep(link->node) : NULL;
    const bool stored = !code && !is_dimension(link);
    if (stored)
        code = zb_node_delete(group->file->hierarchy, path, err);
    else if (!code && vol_moved_is_kept(group->file))
        code = vol_moved_tell(group->file, path, NULL, err);
    vol_moved_outdate(group->file);
    /* A deletion that fails may have taken the node away all the same, and left files. */
    const bool gone = !code || (stored && has_gone(link, path));
    if (code == ZB_ENOTFOUND && gone)
        code = ZB_OK; /* another program has deleted it */
    free(path);
    if (gone && link->node) {
        vol_writer_abandon_below(link->node);
        vol_alias_drop_below(link->node);
    }
    if (gone)
        vol_tree_remove(link);
    vol_deleted_end(copies, gone);
    return !code && vol_links_are_listed(group)
               ? vol_link_entries_show(group, err) /* one that the node has hidden */
               : code;
}

/* What a node was that moves. */
typedef struct movement {
    char *name;     /* of the link */
    uint64_t order; /* likewise */
    char *from;     /* in the store */
} movement;

/* Whether anything leads to a node or to one below it, or from there, that goes by names. All that
   is to move is known (vol_alias_gather). */
static bool is_linked(vol_node *node) {
    const vol_link_list *entries = node->kind == VOL_GROUP ? vol_link_entries_known(node) : NULL;
    bool linked = node->kind == VOL_DATATYPE || vol_alias_count(node) > 0 ||
                  (node->kind == VOL_DATASET && vol_side_get(node, ZB_HDF5_SCALES));
    for (size_t i = 0; entries && i < entries->count && !linked; i++)
        linked = entries->link[i]->kind == VOL_LINK_ALIAS;
    size_t at = 0;
    for (vol_node *child; !linked && (child = vol_links_opened(node, &at));)
        linked = is_linked(child);
    return linked;
}

/* Links that an older program has stored are names as long as nothing has moved. */
static enum zb_code keep_track(vol_node *node, zb_error *err) {
    if (vol_moved_is_kept(node->file))
        return ZB_OK;
    enum zb_code code = vol_alias_gather(node, err);
    return code || !is_linked(node) ? code : vol_moved_keep_track(node->file, err);
}

/* What leads to the node is stored before it moves: a program that is killed leaves it. */
static enum zb_code prepare(vol_node *node, zb_error *err) {
    enum zb_code code = keep_track(node, err);
    if (!code)
        code = vol_links_store_around(node, err);
    return code ? code : vol_writer_close_below(node, err);
}

/* A node that could not be opened where it has been moved to returns. */
static enum zb_code move_back(vol_link *link, vol_node *group, const movement *old, const char *to,
                              enum zb_code code, zb_error *err) {
    zb_error why = {0};
    vol_moved_outdate(group->file);
    if (zb_node_move(group->file->hierarchy, to, old->from, &why) == ZB_OK &&
        vol_tree_move(link, group, old->name, &why) == ZB_OK) {
        vol_order_replace(link, old->order);
        return code;
    }
    vol_tree_close(link);
    return zb_error_prefix(err, code,
                           "moving '/%s' to '/%s' could not be undone (%s): open what is there now",
                           old->from, to, why.message);
}

static void clear(movement *old) {
    free(old->from);
    free(old->name);
}

enum zb_code vol_edit_move(vol_link *link, const vol_place *place, zb_error *err) {
    if (!link)
        return zb_fail(err, ZB_EINVAL, "the root group cannot be moved");
    vol_node *group = link->group, *node = link->node;
    if (!group->zarr)
        return zb_fail(err, ZB_EINVAL, "'%s' cannot be moved", link->name);
    if (is_dimension(link))
        return vol_scales_move_dimension(link, place, err);
    if (node && vol_place_is_below(place->group, node))
        return zb_fail(err, ZB_EINVAL, "'%s' cannot be moved into itself", link->name);
    movement old = {.name = strdup(link->name), .order = link->order};
    char *to = NULL;
    enum zb_code code = old.name ? vol_node_child_path(group, link->name, &old.from, err)
                                 : zb_fail(err, ZB_ENOMEM, "no memory for a name");
    if (!code)
        code = vol_node_child_path(place->group, place->name, &to, err);
    if (!code && node)
        code = prepare(node, err);
    if (!code)
        code = zb_node_move(group->file->hierarchy, old.from, to, err);
    vol_moved_outdate(group->file);
    if (!code && (code = vol_tree_move(link, place->group, place->name, err)))
        code = move_back(link, group, &old, to, code, err);
    if (!code && node)
        code = vol_scales_moved(node, old.name, err);
    if (!code && vol_links_are_listed(group))
        code = vol_link_entries_show(group, err); /* one that the node has hidden */
    clear(&old);
    free(to);
    return code;
}

/* ---- Changing a node ---- */

enum zb_code vol_edit_make_dimension(vol_node *dataset, zb_error *err) {
    vol_file *file = dataset->file;
    zb_node *made;
    enum zb_code code = vol_waiting_flush(dataset, err);
    if (!code && file->ranks)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "several ranks cannot make %s a dimension without a variable: give it one",
                       dataset->path);
    if (!code && vol_large_any(dataset))
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "a dimension without a variable has no attributes above the limit "
                       "attribute_bytes; delete them, or make %s a variable",
                       dataset->path);
    if (code)
        return code;
    const zb_json *attributes = zb_node_attributes(dataset->zarr);
    char *text = attributes ? zb_json_print(attributes) : NULL;
    code = attributes && !text ? zb_fail(err, ZB_ENOMEM, "no memory for attributes") : ZB_OK;
    if (!code)
        code = vol_dims_new_array(file, zb_node_path(dataset->zarr),
                                  zb_node_array(dataset->zarr)->shape[0], text, &made, err);
    free(text);
    if (code)
        return code;
    code = zb_node_withdraw(file->hierarchy, zb_node_path(dataset->zarr), err);
    if (code) {
        zb_node_release(made);
        return code;
    }
    vol_writer_abandon_below(dataset);
    dataset->is_dimension = true;
    vol_node_replace(dataset, made);
    file->changes++;
    return ZB_OK;
}

/* Children that other programs have deleted lose their place. Others are found when the group is
   listed again, as are entries that could not be read. */
static void remove_gone(vol_node *group) {
    for (size_t i = vol_links_count(group); i-- > 0;) {
        vol_link *link = vol_links_at(group, i);
        vol_node *child = link->node;
        zb_node *now = NULL;
        if (link->is_entry)
            continue;
        if (link->reason || vol_link_is_unopened(link)) {
            vol_tree_remove(link);
        } else if (!child->is_dimension &&
                   zb_node_refresh(child->zarr, &now, NULL) == ZB_ENOTFOUND) {
            vol_writer_abandon_below(child);
            vol_tree_remove(link);
        }
        zb_node_release(now);
    }
}

enum zb_code vol_edit_refresh(vol_node *node, zb_error *err) {
    zb_node *now;
    if (!node->zarr || node->is_dimension || node->is_unreadable || vol_loose_hierarchy(node))
        return ZB_OK; /* not in the store */
    enum zb_code code = vol_writer_close(node, err);
    if (!code)
        code = vol_links_store_below(node, err);
    if (!code && node->loose)
        code = zb_fail(err, ZB_ENOTFOUND, "the object has been deleted");
    if (!code)
        code = vol_waiting_flush(node, err);
    if (!code)
        code = zb_node_refresh(node->zarr, &now, err);
    if (code)
        return code;
    if (!vol_node_replace(node, now))
        return zb_fail(err, ZB_ECONFLICT,
                       "'%s' has become another kind of object: close it and open it again",
                       node->path);
    node->file->changes++;
    vol_scales_name_dimensions(node->file);
    vol_node_attrs_outdate(node);
    vol_node_attrs_unnumber(node);
    if (node->kind == VOL_DATASET) {
        vol_node_tell_shape(node);
        vol_node_know_shape(node);
    } else {
        vol_alias_forget(node);
        remove_gone(node);
        code = vol_aliases_read_ends(node, err);
    }
    return code;
}
