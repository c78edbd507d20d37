/* SPDX-License-Identifier: MIT */
/* See reference_count.h. */
#include "objects/reference_count.h"

#include "dataset/unreadable.h"
#include "links/aliases.h"
#include "links/links.h"
#include "tree/side.h"
#include "tree/tree.h"

#include <limits.h>
#include <stdio.h>

static int further(vol_node *node) {
    uint64_t count;
    const zb_json *member =
        node->zarr && !node->is_unreadable ? vol_side_get(node, ZB_HDF5_REFERENCES) : NULL;
    return zb_json_uint64(member, &count) && count <= INT_MAX / 2 ? (int)count : 0;
}

unsigned vol_reference_count(vol_node *node) {
    return node->loose ? 0 : (unsigned)vol_alias_count(node) + 1 + (unsigned)further(node);
}

static enum zb_code set(vol_node *node, int count, zb_error *err) {
    char text[16];
    snprintf(text, sizeof text, "%d", count);
    return vol_side_set(node, ZB_HDF5_REFERENCES, count > 0 ? text : NULL, err);
}

enum zb_code vol_reference_change(vol_node *node, int delta, zb_error *err) {
    const int64_t count = (int64_t)further(node) + delta;
    enum zb_code code = vol_unreadable_refuse(node, err);
    if (code)
        return code;
    if (node->loose || node->is_dimension)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "the object is in no group, and without a link it has no place in a store: "
                       "link it before");
    if (count < 0)
        return zb_fail(err, ZB_EINVAL,
                       "'%s' has no references besides its links: delete one of those", node->path);
    if (count > INT_MAX / 2)
        return zb_fail(err, ZB_ELIMIT, "'%s' has %d references", node->path, further(node));
    return set(node, (int)count, err);
}

static enum zb_code check(vol_node *node, const vol_node *top, zb_error *err) {
    if (vol_alias_outside(node, top))
        return ZB_OK;
    if (further(node) > 0)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "'%s' has %d references besides its links, and without a link it has no "
                       "place in a store: take them back (H5Odecr_refcount) or link it elsewhere",
                       node->path, further(node));
    enum zb_code code = ZB_OK;
    size_t at = 0;
    for (vol_node *child; !code && (child = vol_links_opened(node, &at));)
        code = check(child, top, err);
    return code;
}

enum zb_code vol_reference_check(vol_node *top, zb_error *err) {
    return check(top, top, err);
}

enum zb_code vol_reference_copied(vol_node *copy, zb_error *err) {
    return further(copy) > 0 ? set(copy, 0, err) : ZB_OK;
}
