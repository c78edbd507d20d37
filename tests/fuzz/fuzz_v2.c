/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the documents of Zarr version 2: a .zarray, its .zattrs, a .zgroup and a .zmetadata,
 * separated by bytes 255. Opening ends with a node or an error; the zarr.json that stands for the
 * documents is one that version 3 opens, as the same array.
 */
#include "fuzz.h"

#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/zarrbridge.h"

static void set(zb_hierarchy *hierarchy, const char *key, const void *data, size_t size) {
    zb_error err;
    REQUIRE_OK(zb_store_mem_set(zb_hierarchy_store(hierarchy), key, data, size, &err), err);
}

static void check_same(const zb_array_info *a, const zb_array_info *b) {
    REQUIRE(a->ndim == b->ndim && zb_dtype_equal(a->dtype, b->dtype));
    REQUIRE(a->codec_count == b->codec_count && a->fill_is_default == b->fill_is_default);
    REQUIRE(!a->dimension_names == !b->dimension_names);
    for (uint32_t d = 0; d < a->ndim; d++)
        REQUIRE(a->shape[d] == b->shape[d] && a->chunk_shape[d] == b->chunk_shape[d]);
    if (a->dtype.kind != ZB_KIND_STRING)
        REQUIRE(memcmp(a->fill_value, b->fill_value, a->dtype.size) == 0);
}

/* The document is one of version 3. */
static void check_document(const zb_node *node) {
    zb_hierarchy *hierarchy;
    zb_node *again;
    zb_error err;
    char *text = zb_json_print(zb_node_document(node));
    REQUIRE(text);
    REQUIRE_OK(zb_hierarchy_new_mem("again", &hierarchy, &err), err);
    set(hierarchy, "zarr.json", text, strlen(text));
    REQUIRE_OK(zb_node_open(hierarchy, "", &again, &err), err);
    REQUIRE(zb_node_format(node) == 2 && zb_node_format(again) == 3);
    REQUIRE(!zb_node_array(node) == !zb_node_array(again));
    if (zb_node_array(node))
        check_same(zb_node_array(node), zb_node_array(again));
    zb_node_release(again);
    zb_hierarchy_release(hierarchy);
    free(text);
}

static void open_and_check(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node;
    zb_children children;
    zb_error err;
    enum zb_code code = zb_node_open(hierarchy, path, &node, &err);
    fuzz_check_error(code, &err);
    if (code)
        return;
    check_document(node);
    if (!zb_node_array(node)) {
        code = zb_group_children(node, &children, &err);
        fuzz_check_error(code, &err);
        if (!code)
            zb_children_free(&children);
    }
    zb_node_release(node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const keys[] = {"a/.zarray", "a/.zattrs", ".zgroup", ".zmetadata"};
    zb_hierarchy *hierarchy;
    zb_error err;
    REQUIRE_OK(zb_hierarchy_new_mem("fuzz", &hierarchy, &err), err);
    for (size_t i = 0; i < 4 && data; i++) {
        size_t length = 0;
        const uint8_t *part = fuzz_next(&data, &size, &length);
        if (length > 0)
            set(hierarchy, keys[i], part, length);
    }
    open_and_check(hierarchy, "a");
    open_and_check(hierarchy, "");
    zb_hierarchy_store(hierarchy)->hints.can_list = false; /* .zmetadata tells the children */
    open_and_check(hierarchy, "");
    zb_hierarchy_release(hierarchy);
    return 0;
}
