/* SPDX-License-Identifier: MIT */
/* What belongs to an array alone: what goes with it, by whose hand, and what keeps its path. */
#include "support/stores.h"
#include "zarrbridge/companions.h"
#include "zarrbridge/pyramid.h"

static zb_hierarchy *hierarchy;

static void make_array(const char *path, const char *attributes) {
    zb_error err;
    zb_node *made;
    const uint64_t shape[] = {8, 8};
    const zb_array_spec spec = {.ndim = 2,
                                .shape = shape,
                                .inner_shape = shape,
                                .dtype = {.kind = ZB_KIND_UINT, .size = 1},
                                .attributes = attributes};
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &made, &err), err);
    zb_node_release(made);
}

static zb_node *node_at(const char *path) {
    zb_error err;
    zb_node *node;
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    return node;
}

static bool is_there(const char *path) {
    zb_node *node;
    const bool is = zb_node_open(hierarchy, path, &node, NULL) == ZB_OK;
    if (is)
        zb_node_release(node);
    return is;
}

/* A group with a raster, its mask, and a level. */
static int make(void **state) {
    zb_error err;
    zb_node *group;
    static const uint64_t factors[] = {2};
    (void)state;
    hierarchy = stores_new_mem();
    ASSERT_OK(zb_group_create(hierarchy, "g", NULL, &group, &err), err);
    zb_node_release(group);
    make_array("g/r", "{\"zarrbridge:mask\": \"m\"}");
    make_array("g/m", NULL);
    zb_node *raster = node_at("g/r");
    ASSERT_OK(zb_pyramid_build(raster, &(zb_pyramid_options){.factors = factors, .factor_count = 1},
                               &err),
              err);
    zb_node_release(raster);
    assert_true(is_there("g/ovr_2x/r"));
    return 0;
}

static int end(void **state) {
    (void)state;
    zb_hierarchy_release(hierarchy);
    return 0;
}

/* A zb_deleter's function that notes the paths. */
static enum zb_code note_and_delete(void *context, const char *path, zb_error *err) {
    zb_strings *deleted = context;
    assert_true(zb_strings_add(deleted, path));
    return zb_node_delete(hierarchy, path, err);
}

static void test_the_caller_deletes(void **state) {
    zb_error err;
    zb_strings deleted = {.count = 0};
    char *listed;
    (void)state;
    zb_node *raster = node_at("g/r");
    const zb_deleter deleter = {note_and_delete, &deleted};
    ASSERT_OK(zb_companions_delete(raster, &deleter, &listed, &err), err);
    zb_node_release(raster);
    assert_int_equal(deleted.count, 2);
    assert_true(zb_strings_have(&deleted, "g/ovr_2x") && zb_strings_have(&deleted, "g/m"));
    assert_string_equal(listed, "g");
    free(listed);
    zb_strings_clear(&deleted);
    zb_node *group = node_at("g");
    assert_null(zb_json_get(zb_node_attributes(group), "multiscales"));
    zb_node_release(group);
}

static enum zb_code refuse(void *context, const char *path, zb_error *err) {
    (void)context;
    return zb_fail(err, ZB_EIO, "%s stays", path);
}

static void test_a_failure_leaves_the_list(void **state) {
    zb_error err;
    char *listed;
    (void)state;
    zb_node *raster = node_at("g/r"), *group = node_at("g");
    const zb_deleter deleter = {refuse, NULL};
    assert_int_equal(zb_companions_delete(raster, &deleter, &listed, &err), ZB_EIO);
    assert_string_equal(err.message, "g/ovr_2x stays");
    assert_null(listed);
    assert_non_null(zb_json_get(zb_node_attributes(group), "multiscales"));
    zb_node_release(group);
    zb_node_release(raster);
}

static void test_what_another_array_has_stays(void **state) {
    zb_error err;
    (void)state;
    make_array("g/copy", "{\"zarrbridge:mask\": \"m\"}");
    zb_node *copy = node_at("g/copy");
    ASSERT_OK(zb_companions_delete(copy, NULL, NULL, &err), err);
    zb_node_release(copy);
    assert_true(is_there("g/m") && is_there("g/ovr_2x/r"));
}

static void expect_move(const char *from, const char *to, const char *reason) {
    zb_error err;
    zb_node *node = node_at(from);
    const enum zb_code code = zb_companions_may_move(node, to, &err);
    assert_int_equal(code, reason ? ZB_EUNSUPPORTED : ZB_OK);
    if (reason)
        assert_non_null(strstr(err.message, reason));
    zb_node_release(node);
}

static void test_what_keeps_its_path(void **state) {
    zb_error err;
    (void)state;
    expect_move("g/r", "g/s", "overviews under its name");
    expect_move("g/ovr_2x", "g/small", "in the list of levels");
    expect_move("g/ovr_2x/r", "r", "in the list of levels");
    expect_move("g/m", "g/n", NULL);
    expect_move("g", "h", NULL);
    zb_node *raster = node_at("g/r");
    ASSERT_OK(zb_pyramid_remove(raster, NULL, &err), err);
    zb_node_release(raster);
    expect_move("g/r", "g/s", NULL);
    expect_move("g/r", "r", "mask beside it, /g/m");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_caller_deletes, make, end),
        cmocka_unit_test_setup_teardown(test_a_failure_leaves_the_list, make, end),
        cmocka_unit_test_setup_teardown(test_what_another_array_has_stays, make, end),
        cmocka_unit_test_setup_teardown(test_what_keeps_its_path, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
