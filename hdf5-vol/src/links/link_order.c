/* SPDX-License-Identifier: MIT */
/* The order of links: see link_order.h. */
#include "links/link_order.h"

#include "file/owners.h"
#include "links/numbered_names.h"
#include "tree/side.h"
#include "tree/tree.h"

#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

/* netCDF writes no file whose groups have no order. A group that has none gets that of names, and
   keeps it as soon as a link comes or goes. */
unsigned vol_order_flags(vol_node *group) {
    if (group->order.known)
        return group->order.flags;
    const zb_json *indexed = vol_side_get(group, ZB_HDF5_ORDER_INDEXED);
    const bool tracks = group->file->options.is_netcdf ||
                        zb_json_kind_of(vol_side_get(group, ZB_HDF5_ORDER)) == ZB_JSON_ARRAY;
    const bool indexes = tracks && (!indexed || zb_json_bool(indexed));
    group->order.known = true;
    group->order.flags =
        (tracks ? H5P_CRT_ORDER_TRACKED : 0) | (indexes ? H5P_CRT_ORDER_INDEXED : 0);
    return group->order.flags;
}

enum zb_code vol_order_begin(vol_node *group, unsigned flags, zb_error *err) {
    if (!(flags & H5P_CRT_ORDER_TRACKED))
        return ZB_OK;
    enum zb_code code = vol_side_check(group, err);
    if (!code && !(flags & H5P_CRT_ORDER_INDEXED))
        code = vol_side_set(group, ZB_HDF5_ORDER_INDEXED, "false", err);
    if (code)
        return code;
    vol_owners_note_links(group);
    group->order.known = group->order.changed = true;
    group->order.flags = flags;
    return ZB_OK;
}

/* In the document each quote has its escape. */
static uint64_t bytes_of(const char *name) {
    return strlen(name) + 5;
}

enum zb_code vol_order_check(vol_node *group, const char *name, zb_error *err) {
    if (!vol_order_flags(group))
        return ZB_OK;
    enum zb_code code = vol_side_check(group, err);
    if (!code && group->order.bytes + bytes_of(name) > zb_limits_get()->document_bytes / 4)
        code =
            zb_fail(err, ZB_ELIMIT,
                    "the order of the links of %s takes more than a quarter of a document (limit "
                    "document_bytes): put '%s' into another group",
                    group->path, name);
    return code;
}

void vol_order_cleared(vol_node *group) {
    free(group->order.list);
    group->order.list = NULL;
}

/* No program has made the dataset that a group shows of a dimension. */
static bool is_shown_only(const vol_link *link) {
    return link->node && link->node->is_dimension;
}

void vol_order_added(vol_link *link) {
    vol_node *group = link->group;
    if (!vol_order_flags(group))
        return;
    if (is_shown_only(link)) {
        link->shown = ++group->order.shown;
        return;
    }
    link->order = ++group->order.last;
    group->order.bytes += bytes_of(link->name);
    vol_owners_note_links(group);
    group->order.changed = true;
}

void vol_order_taken(vol_link *link, bool is_last) {
    vol_node *group = link->group;
    if (!vol_order_flags(group) || link->order == 0)
        return;
    group->order.bytes -= bytes_of(link->name);
    if (is_last) /* the numbers of an empty group begin anew, as HDF5's do */
        group->order.last = 0;
    vol_owners_note_links(group);
    group->order.changed = true;
}

void vol_order_go_on(vol_node *group, uint64_t last) {
    if (group->order.last < last)
        group->order.last = last;
}

void vol_order_replace(vol_link *link, uint64_t order) {
    if (!link || order == 0)
        return;
    vol_order *of = &link->group->order;
    if (link->order == of->last && order < of->last) /* it has just been given, to no new link */
        of->last--;
    link->order = order;
    if (of->last < order)
        of->last = order;
    vol_order_cleared(link->group);
}

void vol_order_copy(const vol_node *from, const vol_link_list *originals, vol_node *made,
                    const vol_link_list *copies) {
    uint64_t last = from->order.last;
    if (!vol_order_flags(made))
        return;
    for (size_t i = 0; i < copies->count; i++) {
        vol_link *link = copies->link[i];
        const vol_link *old = vol_link_list_find(originals, link->name);
        if (old && old->order > 0)
            link->order = old->order;
        if (last < link->order)
            last = link->order;
    }
    made->order.last = last;
    vol_order_cleared(made);
}

void vol_order_assign(vol_node *group, const vol_link_list *links) {
    if (!vol_order_flags(group))
        return;
    for (size_t i = 0; i < links->count; i++)
        links->link[i]->order = 0;
    vol_numbered walk = vol_numbered_begin(vol_side_get(group, ZB_HDF5_ORDER));
    for (const char *name; (name = vol_numbered_next(&walk));) {
        vol_link *link = vol_link_list_find(links, name);
        if (link && link->order == 0)
            link->order = walk.number;
    }
    group->order.last = links->count > 0 ? walk.number : 0;
    group->order.bytes = 0;
    for (size_t i = 0; i < links->count; i++) {
        vol_link *link = links->link[i];
        if (link->order == 0 && !is_shown_only(link))
            link->order = ++group->order.last;
        group->order.bytes += link->order > 0 ? bytes_of(link->name) : 0;
    }
}

/* Links without a number come last. */
static int compare_order(const void *a, const void *b) {
    const vol_link *left = *(vol_link *const *)a, *right = *(vol_link *const *)b;
    if (left->order == right->order)
        return (left->shown > right->shown) - (left->shown < right->shown);
    const uint64_t l = left->order - 1, r = right->order - 1; /* 0 becomes the largest number */
    return (l > r) - (l < r);
}

vol_link *const *vol_order_sorted(vol_node *group, const vol_link_list *links) {
    if (!vol_order_flags(group))
        return NULL;
    if (group->order.list || links->count == 0)
        return group->order.list;
    group->order.list = malloc(links->count * sizeof(vol_link *));
    if (group->order.list) {
        memcpy(group->order.list, links->link, links->count * sizeof(vol_link *));
        qsort(group->order.list, links->count, sizeof(vol_link *), compare_order);
    }
    return group->order.list;
}

uint64_t vol_order_last(const vol_node *group) {
    return group->order.last;
}

void vol_order_forget(vol_node *group) {
    group->order.known = false;
}

static char *print_list(const vol_node *group, vol_link *const *sorted, size_t count) {
    zb_json_writer *list = zb_json_writer_new();
    uint64_t last = 0;
    zb_json_begin_array(list);
    for (size_t i = 0; i < count && sorted[i]->order > 0; i++)
        vol_numbered_write(list, sorted[i]->name, sorted[i]->order, &last);
    vol_numbered_write(list, NULL, group->order.last, &last);
    zb_json_end_array(list);
    return zb_json_writer_end(list, NULL);
}

enum zb_code vol_order_store(vol_node *group, const vol_link_list *links, zb_error *err) {
    if (!group->order.changed)
        return ZB_OK;
    vol_link *const *sorted = vol_order_sorted(group, links);
    if (links->count > 0 && !sorted)
        return zb_fail(err, ZB_ENOMEM, "no memory for the order of links");
    char *json = print_list(group, sorted, links->count);
    enum zb_code code = json ? vol_side_set(group, ZB_HDF5_ORDER, json, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for the order of links");
    free(json);
    group->order.changed = code != ZB_OK;
    return code;
}
