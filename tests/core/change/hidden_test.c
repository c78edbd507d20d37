/* SPDX-License-Identifier: MIT */
/* Hidden arrays: they belong to one node, go where it goes, and are no nodes of the hierarchy. */
#include "support/store.h"
#include "zarrbridge/check.h"

#include <stdatomic.h>

#define LARGE "__attribute.00000000000000aa"
#define OTHER "__attribute.00000000000000bb"

/* The tree, with a hidden array of the group b and one of the array a. */
static zb_hierarchy *new_tree(bool consolidated) {
    static const char *const owners[] = {"a", "b"};
    zb_hierarchy *hierarchy = store_tree(consolidated);
    zb_error err;
    for (size_t i = 0; i < 2; i++) {
        zb_node *owner, *array;
        ASSERT_OK(zb_node_open(hierarchy, owners[i], &owner, &err), err);
        ASSERT_OK(zb_hidden_create(owner, LARGE, &store_spec, &array, &err), err);
        store_write_all(array, (int16_t)(40 + i));
        zb_node_release(array);
        zb_node_release(owner);
    }
    return hierarchy;
}

/* The first element of the hidden array of the node at path. */
static int16_t first_of(zb_hierarchy *hierarchy, const char *path) {
    const uint64_t one[] = {1, 1};
    int16_t value = -1;
    zb_node *owner, *array;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, path, &owner, &err), err);
    ASSERT_OK(zb_hidden_open(owner, LARGE, &array, &err), err);
    const zb_read read = {.node = array,
                          .count = one,
                          .view = {.data = &value, .dtype = zb_node_array(array)->dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    zb_node_release(array);
    zb_node_release(owner);
    return value;
}

static int refuse_hidden(void *context, const zb_entry *entry) {
    assert_null(strstr(entry->path, LARGE));
    ++*(size_t *)context;
    return 0;
}

static void is_in_no_list(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_tree(true);
    zb_children children;
    zb_node *group;
    zb_error err;
    size_t met = 0;
    store_check_consolidated(hierarchy);
    ASSERT_OK(zb_node_each(hierarchy, "", refuse_hidden, &met, &err), err);
    assert_int_equal(met, 6);
    ASSERT_OK(zb_node_open(hierarchy, "b", &group, &err), err);
    ASSERT_OK(zb_group_children(group, &children, &err), err);
    assert_int_equal(children.count, 2);
    zb_children_free(&children);
    zb_node_release(group);
    zb_hierarchy_release(hierarchy);
}

/* The chunks of the tree itself are no real ones, and no attribute names the arrays. Other threads
   call this. */
static int count_hidden(void *context, const zb_finding *finding) {
    if (finding->kind != ZB_FINDING_STALE)
        atomic_fetch_add((atomic_int *)context, strstr(finding->key, LARGE) != NULL);
    return 0;
}

static void is_verified(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_tree(false);
    zb_verify_summary summary;
    zb_error err;
    atomic_int found = 0;
    ASSERT_OK(zb_hierarchy_verify(hierarchy, count_hidden, &found, &summary, &err), err);
    assert_int_equal(found, 0);
    assert_int_equal(summary.nodes, 8);
    store_set(hierarchy, "a/" LARGE "/c/0/0", "short");
    ASSERT_OK(zb_hierarchy_verify(hierarchy, count_hidden, &found, &summary, &err), err);
    assert_int_equal(found, 1);
    zb_hierarchy_release(hierarchy);
}

static void goes_with_its_owner(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_tree(false), *other = store_new();
    zb_node *root;
    zb_error err;
    ASSERT_OK(zb_node_copy(hierarchy, "a", hierarchy, "a2", &err), err);
    ASSERT_OK(zb_node_copy(hierarchy, "b", other, "x/y", &err), err);
    ASSERT_OK(zb_node_move(hierarchy, "b", "m", &err), err);
    assert_int_equal(first_of(hierarchy, "a2"), 40);
    assert_int_equal(first_of(other, "x/y"), 41);
    assert_int_equal(first_of(hierarchy, "m"), 41);
    store_expect(hierarchy, "b/" LARGE "/zarr.json", NULL);
    ASSERT_OK(zb_node_delete(hierarchy, "a", &err), err);
    store_expect(hierarchy, "a/" LARGE "/zarr.json", NULL);
    ASSERT_OK(zb_node_open(hierarchy, "", &root, &err), err);
    zb_node *hidden;
    ASSERT_OK(zb_hidden_create(root, LARGE, &store_spec, &hidden, &err), err);
    zb_node_release(hidden);
    zb_node_release(root);
    ASSERT_OK(zb_node_delete(hierarchy, "", &err), err);
    char *left = store_dump(hierarchy);
    assert_string_equal(left, "");
    free(left);
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(other);
}

static void copies_to_another_node(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_tree(false);
    zb_node *from, *to;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, "a", &from, &err), err);
    ASSERT_OK(zb_node_open(hierarchy, "b/D", &to, &err), err);
    ASSERT_OK(zb_hidden_copy(from, to, &err), err);
    assert_int_equal(first_of(hierarchy, "b/D"), 40);
    ASSERT_OK(zb_hidden_delete(from, LARGE, &err), err);
    ASSERT_OK(zb_hidden_delete(from, LARGE, &err), err); /* it need not be there */
    store_expect(hierarchy, "a/" LARGE "/zarr.json", NULL);
    assert_int_equal(first_of(hierarchy, "b/D"), 40);
    zb_node_release(from);
    zb_node_release(to);
    zb_hierarchy_release(hierarchy);
}

static void refuses(void **state) {
    (void)state;
    static const char *const names[] = {"large", "__x", LARGE "0", "../" LARGE,
                                        "__attribute.00000000000000AA"};
    zb_hierarchy *hierarchy = new_tree(false);
    zb_node *owner, *made;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, "a", &owner, &err), err);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ASSERT_FAILS(zb_hidden_create(owner, names[i], &store_spec, &made, &err), ZB_EINVAL, err,
                     "the name of a hidden array is __attribute. and 16 hexadecimal digits");
    ASSERT_FAILS(zb_hidden_create(owner, LARGE, &store_spec, &made, &err), ZB_ECONFLICT, err,
                 "there is a node at /a/" LARGE " already");
    ASSERT_OK(zb_node_delete(hierarchy, "a", &err), err);
    assert_int_equal(zb_hidden_create(owner, OTHER, &store_spec, &made, &err), ZB_ECONFLICT);
    store_expect(hierarchy, "a/" OTHER "/zarr.json", NULL);
    zb_node_release(owner);
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_in_no_list),
        cmocka_unit_test(is_verified),
        cmocka_unit_test(goes_with_its_owner),
        cmocka_unit_test(copies_to_another_node),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
