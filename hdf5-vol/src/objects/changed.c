/* SPDX-License-Identifier: MIT */
/* See changed.h. */
#include "objects/changed.h"

#include "tree/loose.h"
#include "zarrbridge/sys/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000000)

bool vol_document_info(const vol_node *node, const char *document, zb_object_info *out) {
    const char *path = zb_node_path(node->zarr);
    char *key = NULL;
    if (asprintf(&key, "%s%s%s", path, *path ? "/" : "", document) < 0)
        return false;
    const bool is_there = zb_store_stat(zb_hierarchy_place(zb_node_hierarchy(node->zarr), key), key,
                                        out, NULL) == ZB_OK;
    free(key);
    return is_there;
}

/* No server is asked: tools ask for the times of each object that they list. Ages are by the coarse
   clock, which is used here, too: so two calls give the same time. */
time_t vol_node_changed(const vol_node *node) {
    static const char *const documents[] = {"zarr.json", ".zarray", ".zgroup"};
    zb_object_info info;
    struct timespec now;
    int64_t age = 0;
    if (!node->zarr || vol_loose_hierarchy(node) || node->is_dimension || node->is_unreadable ||
        !zb_hierarchy_is_local(zb_node_hierarchy(node->zarr)) ||
        clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0)
        return 0;
    for (size_t i = 0; age == 0 && i < sizeof documents / sizeof *documents; i++)
        age = vol_document_info(node, documents[i], &info) ? info.age : 0;
    return age == 0 ? 0 : (time_t)((now.tv_sec * SECOND + now.tv_nsec - age) / SECOND);
}
