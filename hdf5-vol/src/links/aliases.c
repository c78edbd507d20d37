/* SPDX-License-Identifier: MIT */
/* Second hard links: see aliases.h. */
#include "links/aliases.h"

#include "dataset/unreadable.h"
#include "file/owners.h"
#include "links/alias_list.h"
#include "links/link_order.h"
#include "links/links.h"
#include "links/place_text.h"
#include "links/places.h"
#include "tree/side.h"
#include "waiting/waiting_store.h"

#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

static vol_aliases *aliases_of(vol_node *node);

/* What an alias says; whether the node agrees is another question. Both ends know each other from
   now on, so neither is forgotten while the file is open. */
static vol_node *alias_target(vol_link *alias) {
    if (alias->alias_of && !alias->alias_of->loose)
        return alias->alias_of;
    alias->alias_of = alias->group->loose ? NULL : vol_place_node(alias->group, alias->target);
    if (alias->alias_of) {
        vol_node_pin(alias->alias_of);
        vol_node_pin(alias->group);
    }
    return alias->alias_of;
}

/* Walks end since they know the nodes to which several links lead, so the node must agree. */
bool vol_alias_is_lost(vol_link *alias) {
    vol_node *node = alias_target(alias);
    return !node || !aliases_of(node) || !alias->counted;
}

enum zb_code vol_link_node(vol_link *link, vol_node **out, zb_error *err) {
    enum zb_code code = vol_link_open(link, err);
    if (link->kind == VOL_LINK_ALIAS)
        *out = vol_alias_is_lost(link) ? NULL : link->alias_of;
    else
        *out = link->node;
    return code;
}

/* ---- The aliases of one node ---- */

/* The alias at a place, if it is there, is shown, and leads to the node. False when memory runs
   out. */
static bool alias_at(vol_node *node, const char *text, vol_link **out) {
    char *name;
    vol_node *group = vol_place_parent(node, text, &name);
    vol_link *link = NULL;
    const enum zb_code code = group ? vol_child_find(group, name, &link, NULL) : ZB_ENOTFOUND;
    const bool is_it = !code && link->kind == VOL_LINK_ALIAS && alias_target(link) == node;
    free(name);
    *out = is_it ? link : NULL;
    return code != ZB_ENOMEM;
}

/* NULL when memory runs out: some of them alone would let the node go while it has others. */
static vol_aliases *aliases_of(vol_node *node) {
    if (node->aliases || !(node->aliases = calloc(1, sizeof *node->aliases)))
        return node->aliases;
    const zb_json *list = node->loose ? NULL : vol_side_get(node, ZB_HDF5_NAMES);
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY)
        return node->aliases;
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one)) {
        const char *text = zb_json_string(one);
        vol_link *alias = NULL;
        bool good = !text || alias_at(node, text, &alias);
        if (good && alias && !alias->counted)
            good = vol_alias_list_add(node->aliases, alias, NULL) == ZB_OK;
        if (!good) {
            vol_alias_forget_names(node);
            return NULL;
        }
    }
    return node->aliases;
}

size_t vol_alias_count(vol_node *node) {
    const vol_aliases *aliases = aliases_of(node);
    size_t count = 0;
    for (size_t i = 0; aliases && i < aliases->list.count; i++)
        count += !aliases->list.link[i]->group->loose;
    return count;
}

enum zb_code vol_alias_each_group(const vol_node *node,
                                  enum zb_code (*act)(vol_node *group, zb_error *err),
                                  zb_error *err) {
    const vol_aliases *aliases = node->aliases;
    enum zb_code code = ZB_OK;
    for (size_t i = 0; aliases && i < aliases->list.count && !code; i++)
        code = act(aliases->list.link[i]->group, err);
    return code;
}

vol_link *vol_alias_outside(vol_node *node, const vol_node *top) {
    const vol_aliases *aliases = aliases_of(node);
    for (size_t i = 0; aliases && i < aliases->list.count; i++) {
        vol_link *alias = aliases->list.link[i];
        if (!alias->group->loose && !vol_place_is_below(alias->group, top))
            return alias;
    }
    return NULL;
}

/* ---- Making and removing ---- */

static enum zb_code check_target(const vol_node *node, const vol_place *place, zb_error *err) {
    if (node->file != place->group->file)
        return zb_fail(err, ZB_EINVAL, "a hard link cannot lead into another file");
    if (node->loose || !node->zarr || node->is_dimension)
        return zb_fail(err, ZB_EINVAL, "'%s' is not in the store: nothing can be linked to it",
                       node->path);
    return vol_unreadable_refuse(node, err);
}

/* What the names take in the node's document. */
static enum zb_code check_size(const vol_node *node, const vol_aliases *aliases,
                               const vol_place *place, zb_error *err) {
    const uint64_t longest =
        4 * (strlen(node->path) + strlen(place->group->path)) + strlen(place->name) + 8;
    if ((aliases->list.count + 1) * longest > zb_limits_get()->document_bytes / 4)
        return zb_fail(err, ZB_ELIMIT,
                       "'%s' has more hard links than its document can hold (limit "
                       "document_bytes)",
                       node->path);
    return ZB_OK;
}

enum zb_code vol_alias_way(const vol_node *group, vol_node *node, char **way, zb_error *err) {
    vol_moved_outdate(node->file); /* another program may have moved either */
    return vol_place_text(group, node, NULL, way, err);
}

enum zb_code vol_alias_create_by(const vol_place *place, vol_node *node, const char *way,
                                 zb_error *err) {
    vol_link *link = NULL;
    vol_aliases *aliases = aliases_of(node);
    enum zb_code code = check_target(node, place, err);
    if (!code)
        code = vol_side_check(node, err);
    if (!code && !aliases)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a link");
    if (!code)
        code = check_size(node, aliases, place, err);
    if (!code)
        code = vol_link_new_entry(place->name, VOL_LINK_ALIAS, way, &link, err);
    if (!code)
        code = vol_link_entry_add(place->group, link, err);
    if (code)
        return code;
    vol_owners_note_links(node);
    code = vol_alias_list_add(aliases, link, err);
    aliases->changed = true;
    if (code) {
        vol_link_entry_remove(link);
        return code;
    }
    link->alias_of = node;
    vol_node_pin(node);
    vol_node_pin(place->group);
    return ZB_OK;
}

enum zb_code vol_alias_create(const vol_place *place, vol_node *node, zb_error *err) {
    char *way = NULL;
    enum zb_code code = check_target(node, place, err);
    if (!code)
        code = vol_side_check(node, err);
    if (!code)
        code = vol_alias_way(place->group, node, &way, err);
    if (!code)
        code = vol_alias_create_by(place, node, way, err);
    free(way);
    return code;
}

/* The node behind an alias has it no longer. */
static void drop_name(vol_link *link) {
    vol_aliases *aliases = link->alias_of ? link->alias_of->aliases : NULL;
    if (!aliases)
        return;
    vol_owners_note_links(link->alias_of);
    vol_alias_list_take(aliases, link);
}

void vol_alias_remove(vol_link *link) {
    if (link->kind == VOL_LINK_ALIAS)
        vol_alias_is_lost(link); /* so that the node's list is known, and stored without this one */
    drop_name(link);
    vol_link_entry_remove(link);
}

void vol_alias_forget_names(vol_node *node) {
    if (!node || !node->aliases)
        return;
    for (size_t i = 0; i < node->aliases->list.count; i++)
        node->aliases->list.link[i]->counted = false;
    vol_alias_list_free(node->aliases);
    node->aliases = NULL;
}

bool vol_alias_holds(const vol_node *node) {
    const vol_aliases *aliases = node->aliases;
    return aliases && (aliases->changed || aliases->list.count > 0);
}

/* ---- Before and after changes ---- */

static enum zb_code gather_one(vol_node *node, zb_error *err) {
    return aliases_of(node) ? ZB_OK
                            : zb_fail(err, ZB_ENOMEM, "no memory for the links of %s", node->path);
}

enum zb_code vol_alias_gather(vol_node *top, zb_error *err) {
    enum zb_code code = gather_one(top, err);
    if (!code && top->kind == VOL_GROUP)
        code = vol_node_list(top, err);
    for (size_t i = 0; i < vol_links_count(top) && !code; i++) {
        vol_node *child;
        code = vol_link_node(vol_links_at(top, i), &child, err);
        if (!code && child)
            code = gather_one(child, err);
        if (!code && child && vol_links_at(top, i)->node)
            code = vol_alias_gather(child, err);
        if (code == ZB_ENOTFOUND) /* another process has deleted it */
            code = ZB_OK;
    }
    return code;
}

void vol_alias_drop_below(vol_node *top) {
    const vol_link_list *entries = vol_link_entries_known(top);
    for (size_t i = 0; entries && i < entries->count; i++)
        drop_name(entries->link[i]);
    size_t at = 0;
    for (vol_node *child; (child = vol_links_opened(top, &at));)
        vol_alias_drop_below(child);
}

/* ---- Storing ---- */

enum zb_code vol_alias_store_names(vol_node *node, zb_error *err) {
    vol_aliases *aliases = node->aliases;
    if (!aliases || !aliases->changed || node->loose)
        return ZB_OK;
    zb_json_writer *list = zb_json_writer_new();
    enum zb_code code = ZB_OK;
    bool any = false;
    zb_json_begin_array(list);
    for (size_t i = 0; i < aliases->list.count && !code; i++) {
        const vol_link *alias = aliases->list.link[i];
        char *text = NULL;
        if (alias->group->loose)
            continue;
        code = vol_place_text(node, alias->group, alias->name, &text, err);
        zb_json_write_string(list, text ? text : "");
        free(text);
        any = true;
    }
    zb_json_end_array(list);
    char *json = zb_json_writer_end(list, NULL);
    if (!code)
        code = json ? vol_side_set(node, ZB_HDF5_NAMES, any ? json : NULL, err)
                    : zb_fail(err, ZB_ENOMEM, "no memory for names");
    free(json);
    if (!code)
        code = vol_waiting_flush(node, err);
    aliases->changed = code != ZB_OK;
    return code;
}

/* What is not listed has no order that a link's going changes. */
void vol_alias_forget(vol_node *node) {
    vol_links_set_listed(node, false);
    vol_order_forget(node);
    const vol_link_list *entries = vol_link_entries_known(node);
    for (size_t i = 0; entries && i < entries->count; i++)
        vol_alias_forget_names(entries->link[i]->alias_of);
    vol_alias_forget_names(node);
    vol_link_entries_forget(node);
}
