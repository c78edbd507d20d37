/* SPDX-License-Identifier: MIT */
/* See changed.h. */
#include "model/changed.h"

#include "zarrbridge/sys/store.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000000)

/* The age of a file, in nanoseconds; 0 where it is not known. */
static int64_t age_of(zb_store *store, const char *path, const char *document) {
    zb_object_info info = {.age = 0};
    char *key = NULL;
    if (asprintf(&key, "%s%s%s", path, *path ? "/" : "", document) < 0)
        return 0;
    const int64_t age = zb_store_stat(store, key, &info, NULL) == ZB_OK ? info.age : 0;
    free(key);
    return age;
}

/* No server is asked: tools ask for the times of each object that they list. Ages are by the coarse clock, which is used here, too: so two calls give the same time. */
time_t vol_node_changed(const vol_node *node) {
    static const char *const documents[] = {"zarr.json", ".zarray", ".zgroup"};
    struct timespec now;
    int64_t age = 0;
    if (!node->zarr || node->own_store || node->is_dimension || node->is_unreadable ||
        !zb_node_store(node->zarr)->hints.is_local ||
        clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0)
        return 0;
    for (size_t i = 0; age == 0 && i < sizeof documents / sizeof *documents; i++)
        age = age_of(zb_node_store(node->zarr), zb_node_path(node->zarr), documents[i]);
    return age == 0 ? 0 : (time_t)((now.tv_sec * SECOND + now.tv_nsec - age) / SECOND);
}
