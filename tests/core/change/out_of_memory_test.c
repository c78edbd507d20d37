/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out at each allocation in turn while nodes are opened and listed: the answer is
 * ZB_ENOMEM (or an error that was due anyway), nothing leaks (the address sanitizer tells) and
 * nothing crashes.
 */
#include "support/sample.h"

#include "support/starve.h"
#include "zarrbridge/sys/hierarchy.h"

/* Opens the root and, when it is a group, its children. */
static enum zb_code open_all(zb_hierarchy *hierarchy, zb_error *err) {
    zb_node *node;
    zb_children children;
    enum zb_code code = zb_node_open(hierarchy, "", &node, err);
    if (code)
        return code;
    if (!zb_node_array(node)) {
        code = zb_group_children(node, &children, err);
        if (!code)
            zb_children_free(&children);
    }
    zb_node_release(node);
    return code;
}

/* Counts the allocations at which memory ran out. */
static size_t starve(const char *text, bool can_list) {
    zb_hierarchy *hierarchy;
    zb_error err;
    assert_int_equal(zb_hierarchy_new_mem("test", &hierarchy, &err), ZB_OK);
    assert_int_equal(
        zb_store_mem_set(zb_hierarchy_store(hierarchy), "zarr.json", text, strlen(text), &err),
        ZB_OK);
    char *group = sample_group("", NULL);
    assert_int_equal(
        zb_store_mem_set(zb_hierarchy_store(hierarchy), "a/zarr.json", group, strlen(group), &err),
        ZB_OK);
    assert_int_equal(zb_store_mem_set(zb_hierarchy_store(hierarchy), "b/zarr.json", "{}", 2, &err),
                     ZB_OK);
    free(group);
    zb_hierarchy_store(hierarchy)->hints.can_list = can_list;
    enum zb_code expected = open_all(hierarchy, &err);
    size_t places = 0;
    for (;; places++) {
        starve_begin(places);
        enum zb_code code = open_all(hierarchy, &err);
        if (starve_end() == 0)
            break;
        if (code != ZB_ENOMEM && (code != expected || code == ZB_OK))
            fail_msg("allocation %zu: %s %s", places, zb_code_name(code), err.message);
    }
    zb_hierarchy_release(hierarchy);
    return places;
}

static void ends_with_an_error(void **state) {
    (void)state;
    char *good = sample_array("dimension_names", "[\"y\",null]");
    char *unknown = sample_array("data_type", "\"unknown\"");
    char *names = sample_group("consolidated_metadata", "{\"metadata\":{\"a\":1,\"b/x\":[2]}}");
    char *escape = sample_group("consolidated_metadata", "{\"metadata\":{\"a/../b\":1}}");
    char *codecs = sample_array(
        "codecs", "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"
                  "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1,1],"
                  "\"codecs\":[\"bytes\",\"zstd\",\"gzip\",\"blosc\",\"crc32c\"],"
                  "\"index_codecs\":[\"bytes\",\"crc32c\"]}}]");
    char *const texts[] = {good, codecs, unknown, names, escape};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (int can_list = 0; can_list < 2; can_list++) {
            /* Fewer would mean that the allocations do not come through here. */
            assert_true(starve(texts[i], can_list) > 8);
        }
        free(texts[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_with_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
