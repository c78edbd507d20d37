/* SPDX-License-Identifier: MIT */
/* See type_users.h. */
#include "objects/type_users.h"

#include "attributes/attribute_list.h"
#include "attributes/attributes.h"
#include "file/forget.h"
#include "links/links.h"
#include "objects/committed_types.h"
#include "objects/tokens.h"
#include "tree/loose.h"
#include "tree/map.h"
#include "tree/side.h"
#include "waiting/waiting.h"

#include "zarrbridge/sys/store.h"

#include <stdlib.h>
#include <string.h>

/* Numbers stand in the map's values; none is 0. */
static uint64_t key_of(const char *name) {
    const uint64_t hash = vol_hash(VOL_HASH_START, name, strlen(name));
    return hash ? hash : 1;
}

static size_t users_at(const vol_map *users, const char *name) {
    return (size_t)(uintptr_t)vol_map_get(users, key_of(name));
}

/* One more, if the name is that of a committed datatype. */
static void add_user(vol_map *users, const char *name) {
    if (name)
        vol_map_set(users, key_of(name), (void *)(uintptr_t)(users_at(users, name) + 1));
}

/* What was deleted counts while it has ids. A list of attributes is only made where one of them may
   have a committed datatype. */
static bool may_use_types(vol_node *node) {
    if (!node->zarr || node->is_unreadable || (node->loose && node->pins == 0))
        return false;
    return vol_node_attrs_now(node) || vol_waiting_now(node) || vol_side_uses_types(node);
}

static void add_users_in(vol_node *node, vol_map *users) {
    if (node->kind == VOL_DATASET)
        add_user(users, zb_json_string(vol_side_get(node, ZB_HDF5_NAMED)));
    const vol_attrs *attrs = vol_node_attrs(node);
    for (size_t i = 0; attrs && i < attrs->count; i++)
        if (attrs->attr[i].name)
            add_user(users, attrs->attr[i].committed);
}

/* Of deleted groups the store has nothing: what is known is all that counts. */
static void add_users_below(vol_node *node, vol_map *users) {
    if (may_use_types(node))
        add_users_in(node, users);
    if (node->kind != VOL_GROUP)
        return;
    vol_node_pin(node);
    if (!node->loose)
        vol_node_list(node, NULL);
    for (size_t i = 0; i < vol_links_count(node); i++) {
        vol_link *link = vol_links_at(node, i);
        if (!node->loose)
            vol_link_open(link, NULL);
        if (link->node)
            add_users_below(link->node, users);
        vol_link_forget(link);
    }
    vol_node_unpin(node);
    vol_tree_forget(node);
}

/* Of nodes and attributes; never 0. */
static uint64_t changes_of(const vol_file *file) {
    return 1 + file->changes + file->attribute_changes;
}

static void find_users(vol_file *file) {
    vol_map_clear(&file->type_users);
    add_users_below(file->root, &file->type_users);
    file->type_users_change = changes_of(file);
}

/* Ids of nodes outside the hierarchy come and go: they are counted each time. */
static size_t loose_users(const vol_file *file, const char *name) {
    vol_map users = {.count = 0};
    for (vol_node *node = vol_loose_next(file, NULL); node; node = vol_loose_next(file, node))
        add_users_below(node, &users);
    const size_t count = users_at(&users, name);
    vol_map_clear(&users);
    return count;
}

/* A walk in a file that keeps all that it opens would fill it. */
static bool may_walk(const vol_file *file) {
    return zb_hierarchy_is_local(file->hierarchy) && !file->dimensions &&
           file->options.dimensions != VOL_DIMENSIONS_ON;
}

unsigned vol_type_users(vol_node *type) {
    vol_file *file = type->file;
    if (type->kind != VOL_DATATYPE || !may_walk(file))
        return 0;
    char *name = vol_committed_name(type);
    if (!name)
        return 0;
    vol_node_pin(type);
    if (file->type_users_change != changes_of(file))
        find_users(file);
    const size_t count = users_at(&file->type_users, name) + loose_users(file, name);
    vol_node_unpin(type);
    free(name);
    return (unsigned)count;
}
