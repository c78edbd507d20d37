/* SPDX-License-Identifier: MIT */
/* The entries of one group: see links.h. */
#include "links/links.h"

#include "links/link_order.h"
#include "tree/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNREADABLE "cannot be read: "

/* All zeros but for the name; NULL when memory runs out. */
static vol_link *allocate(const char *name) {
    const size_t size = strlen(name) + 1;
    vol_link *link = calloc(1, sizeof *link + size);
    if (link)
        link->name = memcpy(link->first_name, name, size);
    return link;
}

enum zb_code vol_link_new_unopened(const char *name, vol_link **out, zb_error *err) {
    *out = allocate(name);
    return *out ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for node %s", name);
}

bool vol_link_is_unopened(const vol_link *link) {
    return link->kind == VOL_LINK_HARD && !link->node;
}

enum zb_code vol_link_set_node(vol_link *link, vol_node *node, const char *reason, zb_error *err) {
    char *target = NULL;
    if (reason && asprintf(&target, UNREADABLE "%s", reason) < 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for node %s", link->name);
    link->kind = node ? VOL_LINK_HARD : VOL_LINK_SOFT;
    link->node = node;
    link->target = target;
    link->reason = reason ? target + strlen(UNREADABLE) : NULL;
    return ZB_OK;
}

void vol_link_unset_node(vol_link *link) {
    free(link->target);
    link->node = NULL;
    link->reason = link->target = NULL;
}

enum zb_code vol_link_new(const char *name, vol_node *node, const char *reason, vol_link **out,
                          zb_error *err) {
    vol_link *link;
    enum zb_code code = vol_link_new_unopened(name, &link, err);
    if (code)
        return code;
    code = vol_link_set_node(link, node, reason, err);
    if (code) {
        vol_link_free(link);
        return code;
    }
    *out = link;
    return ZB_OK;
}

enum zb_code vol_link_new_entry(const char *name, enum vol_link_kind kind, const char *target,
                                vol_link **out, zb_error *err) {
    vol_link *link = allocate(name);
    if (!link || !(link->target = strdup(target))) {
        vol_link_free(link);
        return zb_fail(err, ZB_ENOMEM, "no memory for the link %s", name);
    }
    link->kind = kind;
    link->is_entry = true;
    *out = link;
    return ZB_OK;
}

enum zb_code vol_link_new_external(const char *name, const char *file, const char *target,
                                   vol_link **out, zb_error *err) {
    vol_link *link;
    enum zb_code code = vol_link_new_entry(name, VOL_LINK_EXTERNAL, target, &link, err);
    if (code)
        return code;
    link->external = strdup(file);
    if (!link->external) {
        vol_link_free(link);
        return zb_fail(err, ZB_ENOMEM, "no memory for the link %s", name);
    }
    *out = link;
    return ZB_OK;
}

void vol_link_set_name(vol_link *link, char *name) {
    if (link->name != link->first_name)
        free(link->name);
    free(link->stored);
    link->stored = NULL;
    link->name = name;
}

void vol_link_free(vol_link *link) {
    if (!link)
        return;
    free(link->external);
    free(link->target);
    vol_link_set_name(link, NULL);
    free(link);
}

enum zb_code vol_link_add_context(const vol_link *link, zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED, "%s", link->reason);
}

size_t vol_links_count(const vol_node *group) {
    return group->links.list.count;
}

vol_link *vol_links_at(const vol_node *group, size_t i) {
    return group->links.list.link[i];
}

vol_link *vol_links_find(const vol_node *group, const char *name) {
    return vol_link_list_find(&group->links.list, name);
}

vol_node *vol_links_opened(const vol_node *group, size_t *at) {
    while (*at < vol_links_count(group)) {
        vol_node *node = vol_links_at(group, (*at)++)->node;
        if (node)
            return node;
    }
    return NULL;
}

bool vol_links_are_listed(const vol_node *group) {
    return group->links.listed;
}

void vol_links_set_listed(vol_node *group, bool listed) {
    group->links.listed = listed;
}

void vol_links_assign_order(vol_node *group) {
    vol_order_assign(group, &group->links.list);
}

void vol_links_copy_order(const vol_node *from, vol_node *made) {
    vol_order_copy(from, &from->links.list, made, &made->links.list);
}

vol_link *vol_links_in_order(vol_node *group, bool by_creation, bool backwards, size_t i) {
    const vol_link_list *list = &group->links.list;
    vol_link *const *sorted = by_creation ? vol_order_sorted(group, list) : NULL;
    const size_t at = backwards ? list->count - 1 - i : i;
    return sorted ? sorted[at] : list->link[at];
}

enum zb_code vol_links_store_order(vol_node *group, zb_error *err) {
    return vol_order_store(group, &group->links.list, err);
}

enum zb_code vol_links_reserve(vol_node *group, zb_error *err) {
    if (vol_link_list_reserve(&group->links.list))
        return ZB_OK;
    return zb_fail(err, ZB_ENOMEM, "no memory for the children of %s", group->path);
}

void vol_links_insert(vol_node *group, vol_link *link) {
    vol_link_list_insert(&group->links.list, link);
    group->file->link_count += !link->is_entry;
    link->group = group;
    vol_order_cleared(group);
    if (group->links.listed)
        vol_order_added(link);
}

void vol_links_take(vol_link *link) {
    vol_node *group = link->group;
    vol_order_cleared(group);
    if (group->links.listed)
        vol_order_taken(link, group->links.list.count == 1);
    vol_link_list_take(&group->links.list, link->name);
    group->file->link_count -= !link->is_entry;
    link->group = NULL;
}

void vol_links_clear(vol_node *group) {
    vol_order_cleared(group);
    for (size_t i = 0; i < vol_links_count(group); i++) {
        vol_link *link = vol_links_at(group, i);
        if (link->is_entry)
            continue;
        vol_link_free(link);
        group->file->link_count--;
    }
    vol_link_list_clear(&group->links.list);
    group->links.listed = false;
}
