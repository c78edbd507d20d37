/* SPDX-License-Identifier: MIT */
/* Letting nodes and links go: see forget.h. */
#include "file/forget.h"

#include "attributes/attribute_list.h"
#include "dataset/max_shape.h"
#include "dataset/writers.h"
#include "links/aliases.h"
#include "links/link_order.h"
#include "links/links.h"
#include "links/link_entries.h"
#include "objects/tokens.h"
#include "tree/loose.h"
#include "tree/node_life.h"
#include "waiting/waiting.h"
#include "waiting/waiting_store.h"

#include "zarrbridge/limits.h"

#include <stdlib.h>

/* Walks keep little, as they do not come back. Programs open and close one object again and again.
   A node takes about 9 KiB, a link about 150 bytes. */
#define NODES_AFTER_WALK 2000
#define LINKS_AFTER_WALK 100000
#define NODES_KEPT 20000

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static bool may_forget(const vol_file *file) {
    return file->holds == 0 && !file->dimensions && file->options.dimensions != VOL_DIMENSIONS_ON;
}

/* ---- Nodes of files that are written ---- */

static bool has_changed_links(const vol_node *node) {
    return vol_order_is_changed(node) || vol_link_entries_changed(node) || vol_alias_holds(node);
}

/* Nothing leads to the node, and the store tells all of it. */
static bool is_idle_alone(vol_node *node) {
    return node->pins == 0 && !node->loose && !vol_loose_hierarchy(node) &&
           !vol_writer_is_open(node) && !vol_waiting_now(node) && !vol_node_attrs_have_own(node) &&
           !has_changed_links(node) && vol_max_shape_is_stored(node);
}

/* Depth first; recursion is bounded by the length of a path. */
static bool is_idle(vol_node *node) {
    if (!node->file->writable)
        return node->pins == 0;
    size_t at = 0;
    bool idle = is_idle_alone(node);
    for (vol_node *child; idle && (child = vol_links_opened(node, &at));)
        idle = is_idle(child);
    return idle;
}

/* Stores what waits of a node that nothing leads to. What cannot be stored goes on waiting, and the
   flush or the close of the file tells the error. */
static void store_waiting(vol_node *node) {
    if (node->pins > 0 || !node->file->writable || node->loose || vol_loose_hierarchy(node))
        return;
    if (!vol_writer_is_open(node) || vol_writer_close(node, NULL) == ZB_OK)
        vol_waiting_flush(node, NULL);
}

static void unregister_below(vol_node *node) {
    size_t at = 0;
    vol_token_unregister(node);
    for (vol_node *child; (child = vol_links_opened(node, &at));)
        unregister_below(child);
}

static void free_node(vol_link *link) {
    unregister_below(link->node);
    vol_node_free(link->node);
    vol_link_unset_node(link);
}

/* ---- After walks ---- */

static uint64_t nodes_after_walk(void) {
    return least(NODES_AFTER_WALK, zb_limits_get()->open_nodes / 2);
}

/* The node of an array store's only link stays: no group of the store lists it. */
void vol_link_forget(vol_link *link) {
    const vol_file *file = link->group->file;
    if (link->node && link->group->zarr && may_forget(file) &&
        file->node_count > nodes_after_walk() && is_idle(link->node))
        free_node(link);
}

/* Links that are no places stay with their group. */
static void free_links(vol_node *group) {
    for (size_t i = 0; i < vol_links_count(group); i++) {
        vol_link *link = vol_links_at(group, i);
        if (link->node)
            free_node(link);
    }
    vol_links_clear(group);
}

void vol_tree_forget(vol_node *group) {
    const vol_file *file = group->file;
    if (group->kind == VOL_GROUP && group->zarr && !file->writable && group->pins == 0 &&
        may_forget(file) &&
        (file->node_count > nodes_after_walk() || file->link_count > LINKS_AFTER_WALK))
        free_links(group);
}

/* ---- At calls ---- */

/* Depth first, so that what is below a node has gone, where it can, when the node is looked at. */
static void forget_below(vol_node *group) {
    for (size_t i = 0; i < vol_links_count(group); i++) {
        vol_link *link = vol_links_at(group, i);
        if (!link->node)
            continue;
        forget_below(link->node);
        store_waiting(link->node);
        if (is_idle(link->node))
            free_node(link);
    }
}

/* The count of nodes at which the next sweep for idle ones pays, when the last sweep left `left`. A
   sweep costs about as much as opening the nodes that it visits, so that it waits for as many new
   ones; close to the limit for half of those that still fit. */
static uint64_t next_look(uint64_t left, uint64_t kept, uint64_t limit) {
    const uint64_t wanted = left + most(left / 2, kept);
    return left < limit ? least(wanted, left + (limit - left) / 2) : wanted;
}

void vol_file_tidy_all(vol_file *file) {
    const zb_limits *limits = zb_limits_get();
    const bool is_full =
        file->node_count > next_look(file->nodes_left, NODES_KEPT, limits->open_nodes) ||
        file->link_count > next_look(file->links_left, limits->children, UINT64_MAX);
    if (!is_full || !may_forget(file) || !file->root->zarr)
        return;
    forget_below(file->root);
    file->nodes_left = file->node_count;
    file->links_left = file->link_count;
}

void vol_file_tidy(vol_file *file) {
    if (!file->writable)
        vol_file_tidy_all(file);
}

void vol_file_hold(vol_file *file) {
    file->holds++;
}

void vol_file_let_go(vol_file *file) {
    file->holds--;
}
