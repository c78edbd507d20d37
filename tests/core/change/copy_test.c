/* SPDX-License-Identifier: MIT */
/* What copying asks of its source. */
#include "support/store.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/sys/wrappers.h"

static const char group3[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";
static const char group2[] = "{\"zarr_format\":2}";

/* A root with three groups, of which one holds a fourth. */
static zb_store *new_source(const char *document, const char *text) {
    static const char *const paths[] = {"", "a/", "b/", "c/", "c/d/"};
    zb_store *store = store_new();
    char key[64];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(key, sizeof key, "%s%s", paths[i], document);
        store_set(store, key, text);
    }
    return store;
}

static zb_store_counts counts_of_copy(zb_store *from, const char *to_path) {
    zb_store *counted, *to = store_new();
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_store_new_count(from, &counted, &err), err);
    ASSERT_OK(zb_node_copy(counted, "", to, to_path, &err), err);
    const zb_store_counts calls = zb_store_count_take(counted);
    ASSERT_OK(zb_node_open(to, "new/c/d", &node, &err), err);
    assert_int_equal(zb_node_format(node), 3);
    zb_node_release(node);
    zb_store_release(counted);
    zb_store_release(to);
    return calls;
}

/* Each group is listed once. Its document is read twice: to see what the node is, and to copy
   it. */
static void lists_its_source_once(void **state) {
    (void)state;
    zb_store *store = new_source("zarr.json", group3);
    const zb_store_counts calls = counts_of_copy(store, "new");
    assert_int_equal(calls.lists, 5);
    assert_int_equal(calls.opens, 10);
    assert_int_equal(calls.stats, 0);
    zb_store_release(store);
}

static void lists_version_2_once(void **state) {
    (void)state;
    zb_store *store = new_source(".zgroup", group2);
    assert_int_equal(counts_of_copy(store, "new").lists, 5);
    zb_store_release(store);
}

/* Moves the array /a, of 12 chunks, within a store. */
static zb_store_counts counts_of_move(bool can_copy) {
    zb_store *store = store_new(), *counted;
    zb_store_ops ops = *store->ops;
    const zb_store_ops *own = store->ops;
    zb_node *node = store_array(store, "a");
    zb_error err;
    store_write_all(node, 5);
    zb_node_release(node);
    char *before = store_text(store, "a/c/1/3");
    if (!can_copy)
        ops.copy = NULL;
    store->ops = &ops;
    ASSERT_OK(zb_store_new_count(store, &counted, &err), err);
    ASSERT_OK(zb_node_move(counted, "a", "b", &err), err);
    const zb_store_counts calls = zb_store_count_take(counted);
    store_expect(store, "b/c/1/3", before);
    store_expect(store, "a/c/1/3", NULL);
    free(before);
    zb_store_release(counted);
    store->ops = own;
    zb_store_release(store);
    return calls;
}

/* Chunks are not read where the store copies them; the document is put, as ever. */
static void lets_the_store_copy(void **state) {
    (void)state;
    const zb_store_counts calls = counts_of_move(true), carried = counts_of_move(false);
    assert_int_equal(calls.copies, 12);
    assert_int_equal(calls.puts, 1);
    assert_int_equal(carried.puts, 13);
    assert_int_equal(carried.opens - calls.opens, 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_its_source_once),
        cmocka_unit_test(lists_version_2_once),
        cmocka_unit_test(lets_the_store_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
