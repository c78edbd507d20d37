/* SPDX-License-Identifier: MIT */
/*
 * A whole store: keys and contents in turn, separated by bytes 255. All calls that walk a store are
 * made: listings, consolidated metadata, checking, repairing, compacting, shrinking, copying,
 * moving, deleting.
 */
#include "fuzz.h"

#include "zarrbridge/change.h"
#include "zarrbridge/check.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

#define DEPTH_MAX 3

static zb_hierarchy *make_store(const uint8_t *data, size_t left) {
    zb_hierarchy *hierarchy;
    zb_error err;
    REQUIRE_OK(zb_hierarchy_new_mem("fuzz", &hierarchy, &err), err);
    while (data) {
        char *key = fuzz_next_text(&data, &left);
        size_t size = 0;
        const uint8_t *content = fuzz_next(&data, &left, &size);
        if (content)
            fuzz_check_error(
                zb_store_mem_set(zb_hierarchy_store(hierarchy), key, content, size, &err), &err);
        free(key);
    }
    return hierarchy;
}

/* One element from each end of an array that may be of any size. */
static void read_some(const zb_node *node) {
    const zb_array_info *info = zb_node_array(node);
    uint64_t coords[2 * ZB_MAX_NDIM] = {0};
    uint8_t *elements = calloc(2, info->dtype.size);
    zb_error err;
    REQUIRE(elements);
    for (uint32_t d = 0; d < info->ndim; d++)
        coords[info->ndim + d] = info->shape[d] - 1;
    enum zb_code code =
        zb_array_read_points(&(zb_points){.node = node,
                                          .coords = coords,
                                          .count = 2,
                                          .view = {.data = elements, .dtype = info->dtype}},
                             &err);
    fuzz_check_error(code, &err);
    free(elements);
}

/* A grid of several extents is written anew when its array grows. */
static void grow(const zb_node *old) {
    const zb_array_info *info = zb_node_array(old);
    uint64_t shape[ZB_MAX_NDIM];
    bool is_small = true, ends = false;
    zb_node *node, *larger;
    zb_error err;
    for (uint32_t d = 0; d < info->ndim; d++) {
        shape[d] = info->shape[d] + 7;
        is_small = is_small && shape[d] < 10000;
        ends = ends || zb_array_run_count(old, d) > 0;
    }
    if (!is_small || !ends || zb_node_refresh(old, &node, &err) != ZB_OK)
        return;
    enum zb_code code = zb_array_resize(node, shape, &larger, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        read_some(larger);
        zb_node_release(larger);
    }
    zb_node_release(node);
}

static void change_array(const zb_node *node) {
    uint64_t shape[ZB_MAX_NDIM], bytes;
    const zb_array_info *info = zb_node_array(node);
    zb_node *smaller;
    zb_error err;
    fuzz_check_error(zb_array_storage_size(node, &bytes, &err), &err);
    fuzz_check_error(zb_array_compact(node, ZB_SYNC_NONE, &bytes, &err), &err);
    for (uint32_t d = 0; d < info->ndim; d++)
        shape[d] = info->shape[d] / 2;
    enum zb_code code = zb_array_resize(node, shape, &smaller, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        read_some(smaller);
        zb_node_release(smaller);
    }
    grow(node);
}

/* Calls `visit` for the arrays at and below a node. */
static void walk(zb_node *node, unsigned depth, void (*visit)(const zb_node *array)) {
    zb_children children;
    zb_error err;
    if (zb_node_array(node)) {
        visit(node);
        return;
    }
    enum zb_code code = zb_group_children(node, &children, &err);
    fuzz_check_error(code, &err);
    if (code != ZB_OK)
        return;
    for (size_t i = 0; i < children.count; i++) {
        REQUIRE(!children.child[i].node == !!children.child[i].reason);
        if (children.child[i].node && depth < DEPTH_MAX)
            walk(children.child[i].node, depth + 1, visit);
    }
    zb_children_free(&children);
}

static void walk_root(zb_hierarchy *hierarchy, bool can_list, void (*visit)(const zb_node *array)) {
    zb_node *root;
    zb_error err;
    zb_hierarchy_store(hierarchy)->hints.can_list = can_list;
    enum zb_code code = zb_node_open(hierarchy, "", &root, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        walk(root, 0, visit);
        zb_node_release(root);
    }
    zb_hierarchy_store(hierarchy)->hints.can_list = true;
}

static int on_finding(void *context, const zb_finding *finding) {
    (void)context;
    REQUIRE(*finding->message && !strchr(finding->message, '\n'));
    return 0;
}

static void check_and_repair(zb_hierarchy *hierarchy) {
    zb_verify_summary before, after;
    zb_error err;
    enum zb_code code = zb_hierarchy_verify(hierarchy, on_finding, NULL, &before, &err);
    fuzz_check_error(code, &err);
    enum zb_code repaired = zb_hierarchy_repair(hierarchy, on_finding, NULL, &err);
    fuzz_check_error(repaired, &err);
    if (code == ZB_OK && repaired == ZB_OK) {
        REQUIRE_OK(zb_hierarchy_verify(hierarchy, on_finding, NULL, &after, &err), err);
        REQUIRE(after.findings <= before.findings);
    }
}

static void copy_move_delete(zb_hierarchy *hierarchy) {
    zb_hierarchy *other;
    zb_error err;
    REQUIRE_OK(zb_hierarchy_new_mem("other", &other, &err), err);
    enum zb_code code = zb_node_copy(hierarchy, "", other, "copy", &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        REQUIRE_OK(zb_node_move(other, "copy", "a/moved", &err), err);
        code = zb_node_delete(other, "a/moved", &err);
        REQUIRE_OK(code, err);
    }
    zb_hierarchy_release(other);
    fuzz_check_error(zb_node_move(hierarchy, "a", "b/c", &err), &err);
    fuzz_check_error(zb_node_delete(hierarchy, "", &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    zb_hierarchy *hierarchy = make_store(data, size);
    walk_root(hierarchy, false, read_some);
    walk_root(hierarchy, true, read_some);
    check_and_repair(hierarchy);
    walk_root(hierarchy, true, change_array);
    copy_move_delete(hierarchy);
    zb_hierarchy_release(hierarchy);
    return 0;
}
