/* SPDX-License-Identifier: MIT */
/* Staged documents over a store in memory: the same changes lead to the same hierarchy at once, and
   to the same store when they are committed. tests/remote/test_s3_staged.py has them in S3, with
   kills and other programs. */
#include "change/new_store.h"
#include "hierarchy/staged.h"
#include "support/store.h"
#include "zarrbridge/sys/hierarchy.h"

static zb_hierarchy *begin(zb_hierarchy *inner) {
    zb_hierarchy *staging;
    zb_error err;
    ASSERT_OK(zb__new_store_over(zb_store_retain(zb_hierarchy_store(inner)), &staging, &err), err);
    assert_true(zb__is_staging(staging));
    return staging;
}

static void expect_same(zb_hierarchy *hierarchy, zb_hierarchy *plain) {
    char *text = store_dump(hierarchy), *right = store_dump(plain);
    assert_string_equal(text, right);
    free(right);
    free(text);
}

static void fill(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node = store_array(hierarchy, path);
    store_write_all(node, 3);
    zb_node_release(node);
}

static void erase(zb_hierarchy *hierarchy, const char *path) {
    zb_error err;
    ASSERT_OK(zb_node_delete(hierarchy, path, &err), err);
}

static void make(zb_hierarchy *hierarchy) {
    zb_node_release(store_group(hierarchy, "", "{\"k\":1}"));
    fill(hierarchy, "a");
    fill(hierarchy, "g/b");
    fill(hierarchy, "g/h/c");
}

static void erase_some(zb_hierarchy *hierarchy) {
    make(hierarchy);
    erase(hierarchy, "g/b");
    erase(hierarchy, "a");
    fill(hierarchy, "a");
}

static void erase_group(zb_hierarchy *hierarchy) {
    make(hierarchy);
    erase(hierarchy, "g");
    fill(hierarchy, "g/b");
}

static void erase_all(zb_hierarchy *hierarchy) {
    make(hierarchy);
    erase(hierarchy, "");
    fill(hierarchy, "z");
}

static void move(zb_hierarchy *hierarchy) {
    zb_error err;
    make(hierarchy);
    ASSERT_OK(zb_node_move(hierarchy, "g", "m", &err), err);
    ASSERT_OK(zb_node_copy(hierarchy, "m/h", hierarchy, "n", &err), err);
    erase(hierarchy, "m/h");
}

static void change(zb_hierarchy *hierarchy) {
    zb_error err;
    zb_node *node, *changed;
    make(hierarchy);
    ASSERT_OK(zb_node_open(hierarchy, "a", &node, &err), err);
    ASSERT_OK(zb_node_set_attribute(node, "unit", "\"K\"", &changed, &err), err);
    zb_node_release(node);
    zb_node_release(store_resize(changed, 6, 20));
    store_consolidate(hierarchy);
    fill(hierarchy, "late");
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
}

static void an_array_is_the_root(zb_hierarchy *hierarchy) {
    fill(hierarchy, "");
}

static void the_same_comes_of_it(void **state) {
    (void)state;
    static void (*const all[])(zb_hierarchy *) = {
        make, erase_some, erase_group, erase_all, change, move, an_array_is_the_root};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        zb_error err;
        zb_hierarchy *plain = store_new(), *inner = store_new(), *staging = begin(inner);
        all[i](plain);
        all[i](staging);
        char *below = store_dump(inner);
        assert_null(strstr(below, "zarr.json"));
        free(below);
        expect_same(staging, plain);
        ASSERT_OK(zb_hierarchy_commit(staging, &err), err);
        expect_same(inner, plain);
        expect_same(staging, plain);
        const char *after = all[i] == an_array_is_the_root ? "" : "g2/after";
        if (!*after) {
            erase(staging, "");
            erase(plain, "");
        }
        fill(staging, after);
        fill(plain, after);
        ASSERT_OK(zb_hierarchy_write_back(staging, &err), err);
        ASSERT_OK(zb_hierarchy_write_back(plain, &err), err);
        expect_same(inner, plain);
        zb_hierarchy_release(staging);
        zb_hierarchy_release(inner);
        zb_hierarchy_release(plain);
    }
}

static void one_that_was_given_up_leaves_nothing(void **state) {
    (void)state;
    zb_hierarchy *inner = store_new(), *staging = begin(inner);
    make(staging);
    erase(staging, "");
    zb_hierarchy_release(staging);
    char *text = store_dump(inner);
    assert_string_equal(text, "");
    free(text);
    zb_hierarchy_release(inner);
}

static void a_store_that_is_there_gets_none(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *inner = store_new(), *same;
    zb_store *store = zb_hierarchy_store(inner);
    make(inner);
    ASSERT_OK(zb__new_store_over(zb_store_retain(store), &same, &err), err);
    assert_false(zb__is_staging(same));
    zb_hierarchy_release(same);
    store_set(inner, ".zarrbridge-copy", ""); /* left behind the last document */
    ASSERT_OK(zb__new_store_over(zb_store_retain(store), &same, &err), err);
    assert_false(zb__is_staging(same));
    zb_hierarchy_release(same);
    zb_hierarchy_release(inner);
}

static void what_a_killed_program_has_left_goes(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *plain = store_new(), *inner = store_new();
    make(plain);
    store_set(inner, ".zarrbridge-copy", "");
    zb_node_release(store_group(inner, "old", NULL)); /* its root's document had not come yet */
    ASSERT_OK(zb_store_erase(zb_hierarchy_store(inner), "zarr.json", &err), err);
    store_set(inner, "a/c/0/0", "chunk");
    store_set(inner, ".zarrbridge-copy", "");
    zb_hierarchy *staging = begin(inner);
    make(staging);
    ASSERT_OK(zb_hierarchy_commit(staging, &err), err);
    expect_same(inner, plain);
    zb_hierarchy_release(staging);
    zb_hierarchy_release(inner);
    zb_hierarchy_release(plain);
}

/* One that has made a store there meanwhile, and is done: its note has gone. */
static void what_another_program_has_made_stays(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *inner = store_new(), *staging = begin(inner);
    make(staging);
    ASSERT_OK(zb_store_erase(zb_hierarchy_store(inner), ".zarrbridge-copy", &err), err);
    store_set(inner, "g/b/c/0/0", "theirs");
    ASSERT_FAILS(zb_node_delete(staging, "g", &err), ZB_ECONFLICT, err, "another program");
    ASSERT_FAILS(zb_hierarchy_commit(staging, &err), ZB_ECONFLICT, err, "another program");
    zb_hierarchy_release(staging);
    store_expect(inner, "g/b/c/0/0", "theirs");
    store_expect(inner, "zarr.json", NULL);
    zb_hierarchy_release(inner);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_comes_of_it),
        cmocka_unit_test(one_that_was_given_up_leaves_nothing),
        cmocka_unit_test(a_store_that_is_there_gets_none),
        cmocka_unit_test(what_a_killed_program_has_left_goes),
        cmocka_unit_test(what_another_program_has_made_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
