/* SPDX-License-Identifier: MIT */
/* A node's list of attributes: see node_attrs.h. */
#include "attributes/node_attrs.h"

#include "tree/tree.h"

vol_attrs *vol_node_attrs_now(const vol_node *node) {
    return node->attrs.list;
}

vol_attrs *vol_node_attrs_begin(vol_node *node) {
    if (!node->attrs.list)
        node->attrs = (vol_node_attributes){.list = vol_attrs_new(node->file->lib)};
    return node->attrs.list;
}

void vol_node_attrs_set(vol_node *node, vol_attrs *list) {
    vol_attrs_free(node->attrs.list);
    node->attrs = (vol_node_attributes){.list = list, .change = node->file->changes};
}

/* The attributes of a group are made of its document alone. */
bool vol_node_attrs_are_current(const vol_node *node) {
    return node->attrs.list && node->attrs.change != 0 &&
           (node->kind == VOL_GROUP || node->attrs.change == node->file->changes);
}

void vol_node_attrs_outdate(vol_node *node) {
    node->attrs.change = 0;
    node->file->attribute_changes++;
}

void vol_node_attrs_unnumber(vol_node *node) {
    if (node->attrs.list)
        vol_attrs_unnumber(node->attrs.list);
}

uint64_t vol_node_attrs_change(const vol_node *node) {
    return node->attrs.change;
}

void vol_node_attrs_as_before(vol_node *node, uint64_t change) {
    node->attrs.change = change;
}

static bool have(const vol_node *node, enum vol_attr_place place) {
    const vol_attrs *list = node->attrs.list;
    for (size_t i = 0; list && i < list->count; i++)
        if (list->attr[i].place == place)
            return true;
    return false;
}

bool vol_node_attrs_wait(const vol_node *node) {
    return have(node, VOL_ATTR_UNWRITTEN);
}

bool vol_node_attrs_have_own(const vol_node *node) {
    return have(node, VOL_ATTR_STATED) || have(node, VOL_ATTR_UNWRITTEN);
}
