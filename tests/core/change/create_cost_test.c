/* SPDX-License-Identifier: MIT */
/* What creating a node asks of a directory store, where nothing is and where something is. */
#include "store/fixture.h"
#include "support/store.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/moved.h"

static zb_hierarchy *count_calls(const fixture *f) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(wrap(zb_store_new_count, f->hierarchy, &hierarchy, &err), err);
    zb_node_release(store_group(hierarchy, "", NULL));
    (void)zb_store_count_take(zb_hierarchy_store(hierarchy));
    return hierarchy;
}

/* The group above is asked for its version and read. Nothing is asked of the new place: making its
   directory tells, and the new document has no version yet that is worth asking for. Documents of
   version 2, notes and chunks are not looked for one by one where there is no directory. */
static void absent_places_cost_no_question(void **state) {
    zb_hierarchy *hierarchy = count_calls(*state);
    zb_store_counts calls;
    zb_node_release(store_group(hierarchy, "g", NULL));
    calls = zb_store_count_take(zb_hierarchy_store(hierarchy));
    assert_int_equal(calls.opens, 1);
    assert_int_equal(calls.stats, 1);
    assert_int_equal(calls.lists, 0);
    zb_node_release(store_array(hierarchy, "a"));
    calls = zb_store_count_take(zb_hierarchy_store(hierarchy));
    assert_int_equal(calls.opens, 1);
    assert_int_equal(calls.stats, 1);
    assert_int_equal(calls.lists, 0);
    zb_hierarchy_release(hierarchy);
}

/* A group above whose document has a version is read once, and again when it has changed. */
static void groups_above_are_read_once(void **state) {
    const fixture *f = *state;
    static const char array[] = "{\"zarr_format\":3,\"node_type\":\"array\"}";
    zb_hierarchy *hierarchy = count_calls(f);
    zb_node *node;
    zb_error err;
    store_let_age(hierarchy, "zarr.json");
    zb_node_release(store_group(hierarchy, "first", NULL));
    (void)zb_store_count_take(zb_hierarchy_store(hierarchy));
    zb_node_release(store_group(hierarchy, "g", NULL));
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(hierarchy)).opens, 0);
    check_write_file(f->root, "zarr.json", array, sizeof array - 1);
    ASSERT_FAILS(zb_group_create(hierarchy, "h", NULL, &node, &err), ZB_ECONFLICT, err, "no group");
    zb_hierarchy_release(hierarchy);
}

/* A group that keeps track of nodes that move costs creation nothing. A deletion reads and puts its
   document, a move puts it before and after; below any other group they cost what they did. */
static void keeping_track_costs_moves_alone(void **state) {
    zb_hierarchy *hierarchy = count_calls(*state);
    zb_store_counts calls;
    zb_error err;
    zb_node *root;
    ASSERT_OK(zb_node_open(hierarchy, "", &root, &err), err);
    for (int keeps = 0; keeps < 2; keeps++) {
        if (keeps)
            ASSERT_OK(zb_moved_begin(root, NULL, false, &err), err);
        store_let_age(hierarchy, "zarr.json");
        zb_node_release(store_group(hierarchy, "first", NULL)); /* reads the group above */
        (void)zb_store_count_take(zb_hierarchy_store(hierarchy));
        zb_node_release(store_group(hierarchy, "g", NULL));
        calls = zb_store_count_take(zb_hierarchy_store(hierarchy));
        assert_int_equal(calls.opens, 0);
        assert_int_equal(calls.puts, 1);
        ASSERT_OK(zb_node_move(hierarchy, "g", "h", &err), err);
        calls = zb_store_count_take(zb_hierarchy_store(hierarchy));
        assert_int_equal(calls.puts, 2 * keeps);
        store_let_age(hierarchy, "zarr.json");
        zb_node_release(store_group(hierarchy, "second", NULL));
        (void)zb_store_count_take(zb_hierarchy_store(hierarchy));
        ASSERT_OK(zb_node_delete(hierarchy, "h", &err), err);
        calls = zb_store_count_take(zb_hierarchy_store(hierarchy));
        assert_int_equal(calls.puts, keeps);
        ASSERT_OK(zb_node_delete(hierarchy, "first", &err), err);
        ASSERT_OK(zb_node_delete(hierarchy, "second", &err), err);
    }
    zb_node_release(root);
    zb_hierarchy_release(hierarchy);
}

static int locks(const fixture *f) {
    int ours;
    fixture_files(f->root, &ours);
    return ours;
}

/* The lock's file stays until the flush, or the end, and goes with all else. */
static void the_lock_stays_until_the_flush(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node_release(store_group(f->hierarchy, "", NULL));
    assert_int_equal(locks(f), 1);
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    assert_int_equal(locks(f), 0);
    zb_node_release(store_group(f->hierarchy, "g", NULL));
    assert_int_equal(locks(f), 1);
    ASSERT_OK(zb_node_delete(f->hierarchy, "", &err), err);
    assert_int_equal(locks(f), 0);
    zb_hierarchy *other;
    ASSERT_OK(zb_hierarchy_open(f->root, &other, &err), err);
    zb_node_release(store_group(other, "", NULL));
    zb_hierarchy_release(other);
    assert_int_equal(locks(f), 0);
}

/* Opening what is not there: one lookup of zarr.json. */
static void absent_nodes_cost_one_open(void **state) {
    zb_hierarchy *hierarchy = count_calls(*state);
    zb_node *node;
    zb_error err;
    ASSERT_FAILS(zb_node_open(hierarchy, "none", &node, &err), ZB_ENOTFOUND, err, "none/zarr.json");
    zb_store_counts calls = zb_store_count_take(zb_hierarchy_store(hierarchy));
    assert_int_equal(calls.opens, 1);
    assert_int_equal(calls.stats + calls.lists, 0);
    zb_hierarchy_release(hierarchy);
}

/* Whatever stands in a directory without a zarr.json is seen as before. */
static void what_is_there_is_seen(void **state) {
    const fixture *f = *state;
    zb_hierarchy *hierarchy = count_calls(f);
    zb_node *node;
    zb_error err;
    check_write_file(f->root, "left/c/0/0", "old", 3);
    zb_node_release(store_array(hierarchy, "left"));
    assert_holds(zb_hierarchy_store(hierarchy), "left/c/0/0", NULL);
    check_write_file(f->root, "two/.zgroup", "{\"zarr_format\":2}", 17);
    ASSERT_FAILS(zb_array_create(hierarchy, "two", &store_spec, &node, &err), ZB_EUNSUPPORTED, err,
                 "version 2");
    check_write_file(f->root, "above/below/zarr.json", "{", 1);
    ASSERT_FAILS(zb_array_create(hierarchy, "above", &store_spec, &node, &err), ZB_ECONFLICT, err,
                 "node below");
    fixture_link(f, "nowhere", "dangling");
    ASSERT_FAILS(zb_array_create(hierarchy, "dangling", &store_spec, &node, &err), ZB_EINVAL, err,
                 "symbolic link");
    ASSERT_FAILS(zb_node_open(hierarchy, "dangling", &node, &err), ZB_EINVAL, err, "symbolic link");
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(absent_places_cost_no_question),  FIXTURE_TEST(groups_above_are_read_once),
        FIXTURE_TEST(keeping_track_costs_moves_alone), FIXTURE_TEST(the_lock_stays_until_the_flush),
        FIXTURE_TEST(absent_nodes_cost_one_open),      FIXTURE_TEST(what_is_there_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
