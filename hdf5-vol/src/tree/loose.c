/* SPDX-License-Identifier: MIT */
/* Nodes outside the hierarchy: see loose.h. */
#include "tree/loose.h"

#include "tree/tree.h"

void vol_loose_add(vol_node *node) {
    node->outside.next = node->file->loose;
    node->file->loose = node;
}

void vol_loose_take(vol_node *node) {
    vol_node **at = &node->file->loose;
    while (*at != node)
        at = &(*at)->outside.next;
    *at = node->outside.next;
}

vol_node *vol_loose_next(const vol_file *file, const vol_node *node) {
    return node ? node->outside.next : file->loose;
}

zb_hierarchy *vol_loose_hierarchy(const vol_node *node) {
    return node->outside.hierarchy;
}

void vol_loose_set_hierarchy(vol_node *node, zb_hierarchy *hierarchy) {
    zb_hierarchy_release(node->outside.hierarchy);
    node->outside.hierarchy = hierarchy;
}

bool vol_node_is_gone(const vol_node *node) {
    return node->loose && !node->outside.hierarchy;
}
