/* SPDX-License-Identifier: MIT */
/*
 * Many processes that change attributes and the hierarchy of one store: nothing is lost, and the
 * consolidated metadata are true.
 *
 * Full tests (check.h) have five times the rounds.
 */
#include "parties.h"
#include "support/store.h" /* of tests/core/meta */
#include "world.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/hierarchy.h"

static char *place;
static char root[256];

static void consolidate_root(void) {
    static const char text[] =
        "{\"zarr_format\":3,\"consolidated_metadata\":{\"kind\":\"inline\","
        "\"must_understand\":false,\"metadata\":{}},\"node_type\":\"group\"}";
    zb_hierarchy *hierarchy;
    zb_error err;
    world_remove(root);
    ASSERT_OK(zb_hierarchy_create(root, NULL, &hierarchy, &err), err);
    zb_part part = {text, sizeof text - 1};
    ASSERT_OK(
        zb_store_put(zb_hierarchy_store(hierarchy), "zarr.json", &part, 1, ZB_SYNC_NONE, &err),
        err);
    zb_hierarchy_release(hierarchy);
}

static void set_attributes(int party) {
    zb_node *node = parties_open_node(root, "g");
    for (int i = 0; i < 10; i++) {
        char name[32], value[16];
        zb_node *changed;
        zb_error err;
        snprintf(name, sizeof name, "a%d_%d", party, i);
        snprintf(value, sizeof value, "%d", party * 10 + i);
        MUST(zb_node_set_attribute(node, name, value, &changed, &err), err);
        zb_node_release(changed);
    }
    zb_node_release(node);
}

static void test_attributes(void **state) {
    (void)state;
    for (int round = 0; round < parties_rounds(5); round++) {
        consolidate_root();
        zb_hierarchy *hierarchy = parties_open_store(root);
        zb_node *node;
        zb_error err;
        ASSERT_OK(zb_group_create(hierarchy, "g", NULL, &node, &err), err);
        zb_node_release(node);
        parties_run_processes(PARTIES, set_attributes);
        node = parties_open_node(root, "g");
        assert_int_equal(zb_json_count(zb_node_attributes(node)), PARTIES * 10);
        zb_node_release(node);
        store_check_consolidated(hierarchy);
        zb_hierarchy_release(hierarchy);
    }
}

/* Groups that all need the same new group above them. */
static void create_groups(int party) {
    zb_hierarchy *hierarchy = parties_open_store(root);
    for (int i = 0; i < 5; i++) {
        char path[32];
        zb_node *node;
        zb_error err;
        snprintf(path, sizeof path, "n/m/g%d_%d", party, i);
        MUST(zb_group_create(hierarchy, path, NULL, &node, &err), err);
        zb_node_release(node);
    }
    zb_hierarchy_release(hierarchy);
}

static void test_groups(void **state) {
    (void)state;
    for (int round = 0; round < parties_rounds(5); round++) {
        consolidate_root();
        parties_run_processes(PARTIES, create_groups);
        zb_node *node = parties_open_node(root, "n/m");
        zb_children children;
        zb_error err;
        ASSERT_OK(zb_group_children(node, &children, &err), err);
        assert_int_equal(children.count, PARTIES * 5);
        zb_children_free(&children);
        store_check_consolidated(zb_node_hierarchy(node));
        zb_node_release(node);
    }
}

int main(void) {
    place = world_new_place();
    snprintf(root, sizeof root, "%s/store", place);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_groups),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        check_remove_directory(place);
    return failed;
}
