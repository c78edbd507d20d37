/* SPDX-License-Identifier: MIT */
/* Changing links: see edit_links.h. */
#include "links/edit_links.h"

#include "attributes/attribute_list.h"
#include "file/lock_scope.h"
#include "links/aliases.h"
#include "links/aliases_anew.h"
#include "links/link_order.h"
#include "links/links.h"
#include "links/place_text.h"
#include "links/places.h"
#include "objects/reference_count.h"
#include "scales/scale_attributes.h"
#include "tree/node_life.h"
#include "tree/side.h"
#include "waiting/waiting_store.h"

#include "zarrbridge/companions.h"

#include <stdlib.h>
#include <string.h>

/* ---- Making ---- */

enum zb_code vol_edit_create_soft(const vol_place *place, const char *target, zb_error *err) {
    vol_link *link;
    enum zb_code code = vol_link_new_entry(place->name, VOL_LINK_SOFT, target, &link, err);
    return code ? code : vol_link_entry_add(place->group, link, err);
}

enum zb_code vol_edit_create_external(const vol_place *place, const char *file, const char *target,
                                      zb_error *err) {
    vol_link *link;
    enum zb_code code = vol_link_new_external(place->name, file, target, &link, err);
    return code ? code : vol_link_entry_add(place->group, link, err);
}

enum zb_code vol_edit_copy_link(vol_link *link, const vol_place *place, zb_error *err) {
    vol_node *node;
    enum zb_code code = vol_link_node(link, &node, err);
    if (code || node)
        return code ? code : vol_alias_create(place, node, err);
    if (link->reason)
        return vol_link_add_context(link, err);
    if (link->kind == VOL_LINK_SOFT)
        return vol_edit_create_soft(place, link->target, err);
    if (link->kind == VOL_LINK_EXTERNAL)
        return vol_edit_create_external(place, link->external, link->target, err);
    return zb_fail(err, ZB_ENOTFOUND, "the hard link '%s' in %s has lost its node, which was %s",
                   link->name, link->group->path, link->target);
}

/* ---- Deleting ---- */

static bool is_at(const vol_node *node, const vol_place *place) {
    return node->parent == place->group && strcmp(node->name, place->name) == 0;
}

/* A node takes the place of one of its aliases. After an error it may be there all the same, and
   what leads to it is not stored yet. */
static enum zb_code take_place(vol_node *node, vol_link *alias, zb_error *err) {
    const vol_place place = {.group = alias->group, .name = strdup(alias->name)};
    char *way = strdup(alias->target);
    if (!place.name || !way) {
        free(place.name);
        free(way);
        return zb_fail(err, ZB_ENOMEM, "no memory for a name");
    }
    const uint64_t order = alias->order;
    vol_alias_remove(alias);
    enum zb_code code = vol_edit_move(vol_link_of(node), &place, err);
    if (is_at(node, &place))
        vol_order_replace(vol_link_of(node), order);
    else
        vol_alias_create_by(&place, node, way, NULL); /* as it was */
    free(place.name);
    free(way);
    return code;
}

/* A node takes the place of an alias, which takes the node's: the node's group may be rescued,
   too. */
static enum zb_code change_places(vol_node *node, vol_link *alias, zb_error *err) {
    const vol_place old = {.group = node->parent, .name = strdup(node->name)};
    const uint64_t order = vol_link_of(node)->order;
    char *way = NULL;
    enum zb_code code = old.name ? vol_alias_way(old.group, node, &way, err)
                                 : zb_fail(err, ZB_ENOMEM, "no memory for a name");
    if (!code)
        code = take_place(node, alias, err);
    if (way && !is_at(node, &old)) {
        const enum zb_code made = vol_alias_create_by(&old, node, way, code ? NULL : err);
        code = code ? code : made;
        vol_order_replace(vol_link_entry_find(old.group, old.name), order);
    }
    free(old.name);
    free(way);
    return code;
}

/* Nodes below a group that is going to be deleted move to where their aliases are. */
static enum zb_code rescue_below(vol_node *group, const vol_node *top, bool *any, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = vol_links_count(group); i-- > 0 && !code;) {
        vol_node *child = vol_links_at(group, i)->node;
        vol_link *alias = child ? vol_alias_outside(child, top) : NULL;
        *any |= alias != NULL;
        if (alias)
            code = change_places(child, alias, err);
        else if (child)
            code = rescue_below(child, top, any, err);
    }
    return code;
}

/* What belongs to an array in its group (companions.h) does not follow it to another place; a mask
   beside it hears its new name. */
static enum zb_code lead_companions(const vol_node *node, const vol_node *group, const char *name,
                                    zb_error *err) {
    if (node->is_unreadable)
        return ZB_OK;
    char *to;
    enum zb_code code = vol_node_child_path(group, name, &to, err);
    if (!code) {
        code = zb_companions_may_move(node->zarr, to, err);
        if (!code)
            code = zb_companions_follow(node->zarr, to, err);
        free(to);
    }
    return code;
}

static enum zb_code delete_companion(void *context, const char *path, zb_error *err);

/* The list of levels of a group above has changed in the store. */
static enum zb_code show_list(vol_node *group, const char *listed, zb_error *err) {
    while (group && !(group->zarr && strcmp(zb_node_path(group->zarr), listed) == 0))
        group = group->parent;
    zb_node *now;
    enum zb_code code = group ? zb_node_refresh(group->zarr, &now, err) : ZB_OK;
    if (group && !code && vol_node_replace(group, now)) {
        vol_node_attrs_outdate(group);
        vol_node_attrs_unnumber(group);
    }
    return code;
}

static enum zb_code delete_companions(vol_node *node, zb_error *err) {
    const zb_deleter deleter = {delete_companion, node->file};
    if (node->is_unreadable)
        return ZB_OK;
    char *listed;
    enum zb_code code = zb_companions_delete(node->zarr, &deleter, &listed, err);
    if (!code && listed)
        code = show_list(node->parent, listed, err);
    free(listed);
    return code;
}

typedef struct deletion {
    vol_link *link;
    bool is_companion; /* its array goes, too: it may leave the list of levels */
} deletion;

static enum zb_code delete_in_turn(void *context, zb_error *err) {
    const deletion *job = context;
    vol_node *node = job->link->node;
    enum zb_code code = vol_aliases_read_anew(node, err);
    if (!code)
        code = vol_alias_gather(node, err);
    if (!code)
        code = vol_reference_check(node, err);
    /* What has moved out may hold aliases of what is still there, and of the node itself. */
    for (bool any = true; any && !code;) {
        vol_link *alias = vol_alias_outside(node, node);
        if (alias && !job->is_companion)
            code = lead_companions(node, alias->group, alias->name, err);
        if (alias)
            return code ? code : take_place(node, alias, err);
        any = false;
        code = rescue_below(node, node, &any, err);
    }
    if (!code && !job->is_companion) /* whose own mask goes with it; more would go in circles */
        code = delete_companions(node, err);
    return code ? code : vol_edit_delete(job->link, err);
}

/* Data of a node that may stay under another name. What goes is not stored. */
static enum zb_code store_data(vol_node *node, zb_error *err) {
    const enum zb_code code = vol_side_load(node, err);
    const bool may_stay = vol_alias_holds(node) || vol_side_get(node, ZB_HDF5_NAMES);
    return !code && may_stay ? vol_writer_close_below(node, err) : code;
}

/* One lock scope, so that nobody links what has been looked at before it goes. Data are stored
   before. */
static enum zb_code delete_place(vol_link *link, bool is_companion, zb_error *err) {
    deletion job = {link, is_companion};
    enum zb_code code = vol_node_each_below(link->node, store_data, err);
    return code ? code : vol_in_lock_scope(link->group->file, delete_in_turn, &job, err);
}

/* A zb_deleter's function: ids, hard links and data that wait know of it. */
static enum zb_code delete_companion(void *context, const char *path, zb_error *err) {
    vol_file *file = context;
    const vol_node *node = vol_place_at(file, path);
    return node ? delete_place(vol_link_of(node), true, err)
                : zb_node_delete(file->hierarchy, path, err);
}

enum zb_code vol_edit_delete_link(vol_link *link, zb_error *err) {
    if (link && link->is_entry) {
        vol_alias_remove(link);
        return ZB_OK;
    }
    enum zb_code code = link ? vol_link_open(link, err) : ZB_OK;
    if (code)
        return code;
    return link && link->node && !link->node->is_dimension && link->group->zarr
               ? delete_place(link, false, err)
               : vol_edit_delete(link, err);
}

enum zb_code vol_edit_discard(vol_node *node, zb_error *err) {
    vol_writer_abandon_below(node);
    const vol_node *group = node->parent;
    const size_t links = vol_links_count(group);
    enum zb_code code = vol_edit_delete(vol_link_of(node), err);
    return code && vol_links_count(group) == links /* else it has gone, and files stay */
               ? zb_error_prefix(err, code,
                                 "'%s' is not complete, and could not be removed: delete it",
                                 node->path)
               : code;
}

/* ---- Moving ---- */

/* A node that has other names may get one below itself, where it cannot have its place. */
static enum zb_code move_below_itself(vol_link *link, const vol_place *place, zb_error *err) {
    enum zb_code code = vol_alias_create(place, link->node, err);
    return code ? code : vol_edit_delete_link(link, err);
}

/* Reading anew may have brought a link of the place's name, which was free when it was found. */
static enum zb_code read_before_move(vol_node *node, const vol_place *place, zb_error *err) {
    enum zb_code code = vol_aliases_read_anew(node, err);
    if (!code && (vol_links_find(place->group, place->name) ||
                  vol_link_entry_find(place->group, place->name)))
        code = vol_place_fail_taken(place->group, place->name, err);
    return code;
}

typedef struct moving {
    vol_link *link;
    const vol_place *place;
} moving;

static enum zb_code move_in_turn(void *context, zb_error *err) {
    const moving *job = context;
    vol_link *link = job->link;
    const vol_place *place = job->place;
    vol_node *node = link->node;
    enum zb_code code = read_before_move(node, place, err);
    if (code)
        return code;
    if (vol_place_is_below(place->group, node) && vol_alias_outside(node, node))
        return move_below_itself(link, place, err);
    code = lead_companions(node, place->group, place->name, err);
    return code ? code : vol_edit_move(link, place, err);
}

/* One lock scope, as for a deletion. Data are stored before. */
static enum zb_code move_place(vol_link *link, const vol_place *place, zb_error *err) {
    moving job = {.link = link, .place = place};
    enum zb_code code = vol_scale_before_move(link->node, place->group, err);
    if (!code)
        code = vol_writer_close_below(link->node, err);
    return code ? code : vol_in_lock_scope(link->group->file, move_in_turn, &job, err);
}

enum zb_code vol_edit_move_link(vol_link *link, const vol_place *place, zb_error *err) {
    enum zb_code code = link ? vol_link_open(link, err) : ZB_OK;
    if (code)
        return code;
    if (!link || (!link->is_entry && (!link->node || !link->node->zarr)))
        return vol_edit_move(link, place, err);
    if (!link->is_entry)
        return move_place(link, place, err);
    code = vol_edit_copy_link(link, place, err);
    if (!code)
        vol_alias_remove(link);
    return code;
}
