/* SPDX-License-Identifier: MIT */
#include "support/stores.h"
#include "zarrbridge/sys/hierarchy.h"

zb_hierarchy *stores_new_mem(void) {
    zb_error err;
    zb_hierarchy *mem = NULL;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
    return mem;
}

zb_node *stores_open_node(zb_hierarchy *hierarchy, const char *path) {
    zb_error err;
    zb_node *node = NULL;
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    return node;
}

char *stores_get(zb_hierarchy *hierarchy, const char *key, size_t *size) {
    char *data = NULL;
    zb_error err;
    ASSERT_OK(
        zb_store_get(zb_hierarchy_store(hierarchy), key, 1 << 20, "limit", &data, size, NULL, &err),
        err);
    return data;
}
