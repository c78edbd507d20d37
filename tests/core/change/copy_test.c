/* SPDX-License-Identifier: MIT */
/* What copying asks of its source. */
#include "support/store.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/store.h"

static const char group3[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";
static const char group2[] = "{\"zarr_format\":2}";

/* A root with three groups, of which one holds a fourth. */
static zb_hierarchy *new_source(const char *document, const char *text) {
    static const char *const paths[] = {"", "a/", "b/", "c/", "c/d/"};
    zb_hierarchy *hierarchy = store_new();
    char key[64];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(key, sizeof key, "%s%s", paths[i], document);
        store_set(hierarchy, key, text);
    }
    return hierarchy;
}

static zb_store_counts counts_of_copy(zb_hierarchy *from, const char *to_path) {
    zb_hierarchy *counted, *to = store_new();
    zb_node *node;
    zb_error err;
    ASSERT_OK(wrap(zb_store_new_count, from, &counted, &err), err);
    ASSERT_OK(zb_node_copy(counted, "", to, to_path, &err), err);
    const zb_store_counts calls = zb_store_count_take(zb_hierarchy_store(counted));
    ASSERT_OK(zb_node_open(to, "new/c/d", &node, &err), err);
    assert_int_equal(zb_node_format(node), 3);
    zb_node_release(node);
    zb_hierarchy_release(counted);
    zb_hierarchy_release(to);
    return calls;
}

/* Each group is listed once. Its document is read twice: to see what the node is, and to copy
   it. */
static void lists_its_source_once(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_source("zarr.json", group3);
    const zb_store_counts calls = counts_of_copy(hierarchy, "new");
    assert_int_equal(calls.lists, 5);
    assert_int_equal(calls.opens, 10);
    assert_int_equal(calls.stats, 0);
    zb_hierarchy_release(hierarchy);
}

static void lists_version_2_once(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_source(".zgroup", group2);
    assert_int_equal(counts_of_copy(hierarchy, "new").lists, 5);
    zb_hierarchy_release(hierarchy);
}

/* Moves the array /a, of 12 chunks, within a store. */
static zb_store_counts counts_of_move(bool can_copy) {
    zb_hierarchy *hierarchy = store_new(), *counted;
    zb_store_ops ops = *zb_hierarchy_store(hierarchy)->ops;
    const zb_store_ops *own = zb_hierarchy_store(hierarchy)->ops;
    zb_node *node = store_array(hierarchy, "a");
    zb_error err;
    store_write_all(node, 5);
    zb_node_release(node);
    char *before = store_text(hierarchy, "a/c/1/3");
    if (!can_copy)
        ops.copy = NULL;
    zb_hierarchy_store(hierarchy)->ops = &ops;
    ASSERT_OK(wrap(zb_store_new_count, hierarchy, &counted, &err), err);
    ASSERT_OK(zb_node_move(counted, "a", "b", &err), err);
    const zb_store_counts calls = zb_store_count_take(zb_hierarchy_store(counted));
    store_expect(hierarchy, "b/c/1/3", before);
    store_expect(hierarchy, "a/c/1/3", NULL);
    free(before);
    zb_hierarchy_release(counted);
    zb_hierarchy_store(hierarchy)->ops = own;
    zb_hierarchy_release(hierarchy);
    return calls;
}

/* Chunks are not read where the store copies them; the document is put, as ever, and the marker. */
static void lets_the_store_copy(void **state) {
    (void)state;
    const zb_store_counts calls = counts_of_move(true), carried = counts_of_move(false);
    assert_int_equal(calls.copies, 12);
    assert_int_equal(calls.puts, 2);
    assert_int_equal(carried.puts, 14);
    assert_int_equal(carried.opens - calls.opens, 12);
}

/* ---- Files of other programs ---- */

/* The store of the test, with files in it that belong to no node, and temporary ones of ours. */
static zb_hierarchy *with_files(void) {
    zb_hierarchy *hierarchy = store_tree(false);
    zb_error err;
    store_set(hierarchy, "README", "read me");
    store_set(hierarchy, "b/OME/METADATA.ome.xml", "<OME/>");
    store_set(hierarchy, "b/points.parquet/part.0.parquet", "PAR1");
    store_set(hierarchy, "b/.zattrs", "{}");
    store_set(hierarchy, "b/.git/HEAD", "ref");
    store_set(hierarchy, "a/notes.txt", "in an array");
    ASSERT_OK(zb_node_copy(hierarchy, "a", hierarchy, "b/D/.hidden", &err), err);
    char *text = store_text(hierarchy, "a/zarr.json");
    store_set(hierarchy, "b/__xarray_dataarray_variable__/zarr.json", text);
    store_set(hierarchy, "b/__xarray_dataarray_variable__/c/0/0", "chunk");
    free(text);
    return hierarchy;
}

static void set_ours(zb_hierarchy *hierarchy) {
    store_set(hierarchy, "b/.zarr.json.0.1.zb-tmp", "half");
    store_set(hierarchy, "b/.zb.zb-lock", "");
    store_set(hierarchy, ".zarrbridge-consolidated", "");
    store_set(hierarchy, "zarrbridge-test-1", "");
}

static void copies_files_of_others(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = with_files(), *copy = store_new();
    zb_error err;
    char *expected = store_dump(hierarchy);
    set_ours(hierarchy);
    ASSERT_OK(zb_node_copy(hierarchy, "", copy, "", &err), err);
    char *made = store_dump(copy);
    assert_string_equal(made, expected);
    free(expected);
    free(made);
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(copy);
}

/* Where the store cannot rename. */
static void moves_files_of_others(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = with_files();
    zb_error err;
    ASSERT_OK(zb_node_move(hierarchy, "b", "moved", &err), err);
    store_expect(hierarchy, "moved/OME/METADATA.ome.xml", "<OME/>");
    store_expect(hierarchy, "moved/points.parquet/part.0.parquet", "PAR1");
    store_expect(hierarchy, "moved/__xarray_dataarray_variable__/c/0/0", "chunk");
    store_expect(hierarchy, "b/OME/METADATA.ome.xml", NULL);
    zb_hierarchy_release(hierarchy);
}

/* Neither a copy of version 3, nor one of version 2, nor a move. */
static void replaces_no_files_of_others(void **state) {
    (void)state;
    static const char *const files[] = {"new/README", "new/t/c/0", "new", "new/c/9/9"};
    zb_hierarchy *old = new_source(".zgroup", group2);
    zb_error err;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        zb_hierarchy *hierarchy = store_tree(false);
        store_set(hierarchy, files[i], "mine");
        char *before = store_dump(hierarchy);
        ASSERT_FAILS(zb_node_copy(hierarchy, "a", hierarchy, "new", &err), ZB_ECONFLICT, err,
                     "already");
        ASSERT_FAILS(zb_node_copy(hierarchy, "b", hierarchy, "new", &err), ZB_ECONFLICT, err,
                     "already");
        ASSERT_FAILS(zb_node_copy(old, "", hierarchy, "new", &err), ZB_ECONFLICT, err, files[i]);
        ASSERT_FAILS(zb_node_move(hierarchy, "b", "new", &err), ZB_ECONFLICT, err, "no node");
        char *after = store_dump(hierarchy);
        assert_string_equal(before, after);
        free(before);
        free(after);
        zb_hierarchy_release(hierarchy);
    }
    zb_hierarchy_release(old);
}

/* One that was killed has left a marker, of an array, too. */
static void copies_again(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_tree(false), *fault;
    zb_error err;
    char *whole = NULL;
    for (uint64_t call = 1; !whole && call < 1000; call++) {
        zb_hierarchy *target = store_new();
        ASSERT_OK(wrap(zb_store_new_fault, target, &fault, &err), err);
        zb_store_fault_from(zb_hierarchy_store(fault), call);
        if (zb_node_copy(hierarchy, "a", fault, "new", &err) == ZB_OK)
            whole = store_dump(target);
        else
            ASSERT_OK(zb_node_copy(hierarchy, "a", target, "new", &err), err);
        zb_hierarchy_release(fault);
        zb_hierarchy_release(target);
    }
    assert_non_null(whole);
    free(whole);
    zb_hierarchy_release(hierarchy);
}

/* ---- Names ---- */

static void keeps_names_and_makes_none(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_tree(false);
    zb_error err;
    char *text = store_text(hierarchy, "a/zarr.json");
    store_set(hierarchy, "__a/zarr.json", text);
    free(text);
    ASSERT_OK(zb_node_copy(hierarchy, "__a", hierarchy, "b/__a", &err), err);
    ASSERT_OK(zb_node_move(hierarchy, "__a", "a2", &err), err);
    ASSERT_FAILS(zb_node_move(hierarchy, "a2", "__b", &err), ZB_EINVAL, err, "reserved");
    ASSERT_FAILS(zb_node_copy(hierarchy, "a", hierarchy, "__b/a", &err), ZB_EINVAL, err,
                 "reserved");
    ASSERT_OK(zb_node_delete(hierarchy, "b/__a", &err), err);
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_its_source_once), cmocka_unit_test(lists_version_2_once),
        cmocka_unit_test(lets_the_store_copy),   cmocka_unit_test(copies_files_of_others),
        cmocka_unit_test(moves_files_of_others), cmocka_unit_test(replaces_no_files_of_others),
        cmocka_unit_test(copies_again),          cmocka_unit_test(keeps_names_and_makes_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
