/* SPDX-License-Identifier: MIT */
/* What belongs to an array alone: what goes with it, by whose hand, and what keeps its path. */
#include "support/stores.h"
#include "zarrbridge/companions.h"
#include "zarrbridge/gdal_extension.h"
#include "zarrbridge/pyramid.h"

static zb_hierarchy *hierarchy;

/* Attributes by which a raster names its mask, and a mask its raster. */
#define MASK_IS(name) "{\"zarrbridge:gdal\": \"{\\\"version\\\":1,\\\"mask\\\":\\\"" name "\\\"}\"}"
#define MASK_OF(name)                                                                              \
    "{\"zarrbridge:gdal\": \"{\\\"version\\\":1,\\\"mask_of\\\":\\\"" name "\\\"}\"}"

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
    make_array("g/r", MASK_IS("m"));
    make_array("g/m", MASK_OF("r"));
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
    make_array("g/copy", MASK_IS("m"));
    zb_node *copy = node_at("g/copy");
    ASSERT_OK(zb_companions_delete(copy, NULL, NULL, &err), err);
    zb_node_release(copy);
    assert_true(is_there("g/m") && is_there("g/ovr_2x/r"));
}

static void delete_companions(const char *path) {
    zb_error err;
    zb_node *node = node_at(path);
    ASSERT_OK(zb_companions_delete(node, NULL, NULL, &err), err);
    zb_node_release(node);
}

static void set_attribute(const char *path, const char *name, const char *value) {
    zb_error err;
    zb_node *changed, *node = node_at(path);
    const zb_attribute_edit edit = {.name = name, .value = value};
    ASSERT_OK(zb_node_set_attributes(node, &edit, 1, &changed, &err), err);
    zb_node_release(changed);
    zb_node_release(node);
}

/* What the raster names, and what names the raster, goes when both do, and else stays: data of
   other programs have such names as well. */
static void test_what_is_marked_on_one_side_stays(void **state) {
    (void)state;
    make_array("g/foreign", "{\"mask\": \"data\", \"zarrbridge:mask\": \"data\"}");
    make_array("g/data", "{\"mask_of\": \"foreign\"}");
    make_array("g/half", MASK_IS("others"));
    make_array("g/others", MASK_OF("r"));
    make_array("g/lonely", NULL);
    make_array("g/claims", MASK_OF("lonely"));
    delete_companions("g/foreign");
    delete_companions("g/half");
    delete_companions("g/lonely");
    assert_true(is_there("g/data") && is_there("g/others") && is_there("g/claims"));
    set_attribute("g/ovr_2x", "zarrbridge:gdal", NULL);
    delete_companions("g/r");
    assert_true(is_there("g/ovr_2x/r") && !is_there("g/m"));
}

/* A level that says it is another raster's is not this one's, whatever the list says. */
static void test_what_says_that_it_is_of_another_one_stays(void **state) {
    (void)state;
    set_attribute("g/ovr_2x", "zarrbridge:gdal",
                  "\"{\\\"version\\\":1,\\\"level_of\\\":{\\\"raster\\\":\\\"s\\\",\\\"group\\\":"
                  "\\\"ovr_2x\\\"}}\"");
    set_attribute("g/m", "zarrbridge:gdal", "\"{\\\"version\\\":1,\\\"mask_of\\\":\\\"s\\\"}\"");
    delete_companions("g/r");
    assert_true(is_there("g/ovr_2x/r") && is_there("g/m"));
}

static void test_a_mask_hears_the_name_of_its_raster(void **state) {
    zb_error err;
    (void)state;
    make_array("g/a", MASK_IS("b"));
    make_array("g/b", MASK_OF("a"));
    zb_node *array = node_at("g/a");
    ASSERT_OK(zb_companions_may_move(array, "g/c", &err), err);
    ASSERT_OK(zb_companions_follow(array, "g/c", &err), err);
    zb_node_release(array);
    ASSERT_OK(zb_node_move(hierarchy, "g/a", "g/c", &err), err);
    zb_node *mask = node_at("g/b");
    char *of = zb_gdal_text(mask, ZB_GDAL_MASK_OF);
    assert_string_equal(of, "c");
    free(of);
    zb_node_release(mask);
    delete_companions("g/c");
    assert_false(is_there("g/b"));
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
        cmocka_unit_test_setup_teardown(test_what_is_marked_on_one_side_stays, make, end),
        cmocka_unit_test_setup_teardown(test_what_says_that_it_is_of_another_one_stays, make, end),
        cmocka_unit_test_setup_teardown(test_a_mask_hears_the_name_of_its_raster, make, end),
        cmocka_unit_test_setup_teardown(test_what_keeps_its_path, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
