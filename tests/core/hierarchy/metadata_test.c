/* SPDX-License-Identifier: MIT */
/*
 * What a distant store has told of its nodes: which requests it spares, for how long, and that
 * walks read ahead without asking for more.
 */
#include <pthread.h>

#include "support/clocks.h"
#include "support/later.h"
#include "support/stores.h"
#include "zarrbridge/sys/hierarchy.h"

#define GROUP "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":null}"
#define ARRAY                                                                                      \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[%d],\"data_type\":\"uint8\","           \
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[5]}},"               \
    "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":9,"                              \
    "\"codecs\":[{\"name\":\"bytes\"}]}"

#define LONG 1000000000000 /* nanoseconds */

static void set_array(zb_hierarchy *mem, const char *path, int length) {
    char key[64], text[1024];
    zb_error err;
    snprintf(key, sizeof key, "%s/zarr.json", path);
    snprintf(text, sizeof text, ARRAY, length);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), key, text, strlen(text), &err), err);
}

static void set_group(zb_hierarchy *mem, const char *path) {
    char key[64];
    zb_error err;
    snprintf(key, sizeof key, "%s%szarr.json", path, *path ? "/" : "");
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), key, GROUP, strlen(GROUP), &err), err);
}

/* 6 groups g0, ... with 4 groups h0, ... each, which have 3 arrays; beside them a prefix that is no
   node. */
static zb_hierarchy *new_tree(void) {
    zb_hierarchy *mem = stores_new_mem();
    zb_error err;
    char path[64];
    set_group(mem, "");
    for (int g = 0; g < 6; g++) {
        snprintf(path, sizeof path, "g%d", g);
        set_group(mem, path);
        for (int h = 0; h < 4; h++) {
            snprintf(path, sizeof path, "g%d/h%d", g, h);
            set_group(mem, path);
            for (int a = 0; a < 3; a++) {
                snprintf(path, sizeof path, "g%d/h%d/a%d", g, h, a);
                set_array(mem, path, 100 * g + 10 * h + a + 1);
            }
        }
    }
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), "g1/files/x", "1", 1, &err), err);
    return mem;
}

enum { GROUPS = 1 + 6 + 24, NODES = GROUPS + 72 };

static int add_line(void *context, const zb_entry *entry) {
    char *lines = context;
    size_t used = strlen(lines);
    assert_null(entry->reason);
    snprintf(lines + used, (1 << 16) - used, "%s %d\n", entry->path,
             entry->array ? (int)entry->array->shape[0] : 0);
    return 0;
}

static uint64_t asked(zb_hierarchy *hierarchy) {
    const later_counts c = later_take(zb_hierarchy_store(hierarchy));
    return c.requests + c.calls;
}

/* One document of each node and of the prefix that is none, and one listing of each group. The root
   is opened and read. */
static void a_walk_asks_for_all_once_and_in_its_order(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = new_tree();
    zb_hierarchy *hierarchy = later_over(mem, (later_options){.in_flight = 64, .fresh = LONG});
    static char expected[1 << 16], found[1 << 16];
    ASSERT_OK(zb_node_each(mem, "", add_line, expected, &err), err);
    for (int i = 0; i < 2; i++) {
        found[0] = '\0';
        (void)later_take(zb_hierarchy_store(hierarchy));
        ASSERT_OK(zb_node_each(hierarchy, "", add_line, found, &err), err);
        assert_string_equal(found, expected);
        /* A prefix without a zarr.json may be of version 2: some more for that one. */
        const size_t requests = asked(hierarchy);
        assert_true(requests >= NODES + GROUPS && requests <= NODES + GROUPS + 8);
    }
    set_array(mem, "g0/h0/a0", 7); /* the next walk asks anew */
    found[0] = '\0';
    ASSERT_OK(zb_node_each(hierarchy, "", add_line, found, &err), err);
    assert_non_null(strstr(found, "g0/h0/a0 7\n"));
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(mem);
}

static int count_name(void *context, const char *name) {
    (void)name;
    ++*(size_t *)context;
    return 0;
}

static size_t count_names(zb_hierarchy *hierarchy, const char *path) {
    zb_node *group;
    zb_error err;
    size_t names = 0;
    ASSERT_OK(zb_node_open_cached(hierarchy, path, &group, &err), err);
    ASSERT_OK(zb_group_names(group, count_name, &names, &err), err);
    zb_node_release(group);
    return names;
}

/* By the names of groups, one after the other, as HDF5 programs do. */
static void who_lists_groups_is_read_ahead_of(void **state) {
    (void)state;
    zb_hierarchy *mem = new_tree();
    zb_hierarchy *hierarchy = later_over(mem, (later_options){.in_flight = 64, .fresh = LONG});
    assert_int_equal(count_names(hierarchy, ""), 6);
    assert_int_equal(count_names(hierarchy, "g0"), 4);
    (void)later_take(zb_hierarchy_store(hierarchy));
    assert_int_equal(count_names(hierarchy, "g2"), 4); /* g3 to g5 as well */
    assert_true(asked(hierarchy) >= 20);
    for (int g = 3; g < 6; g++) {
        char path[8];
        snprintf(path, sizeof path, "g%d", g);
        assert_int_equal(count_names(hierarchy, path), 4);
    }
    assert_int_equal(asked(hierarchy), 0);
    assert_int_equal(count_names(hierarchy, "g5"), 4); /* again: the present ones */
    assert_true(asked(hierarchy) >= 5);
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(mem);
}

/* A group with more names than a page has is told as a whole all the same. */
static void a_large_group_is_whole(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = new_tree();
    static char expected[1 << 16], found[1 << 16];
    char path[64];
    for (int i = 0; i < 1100; i++) {
        snprintf(path, sizeof path, "g3/z%04d", i);
        set_array(mem, path, 1);
    }
    zb_hierarchy *hierarchy = later_over(mem, (later_options){.in_flight = 64, .fresh = LONG});
    ASSERT_OK(zb_node_each(mem, "", add_line, expected, &err), err);
    ASSERT_OK(zb_node_each(hierarchy, "", add_line, found, &err), err);
    assert_string_equal(found, expected);
    assert_int_equal(count_names(hierarchy, ""), 6);
    assert_int_equal(count_names(hierarchy, "g0"), 4);
    assert_int_equal(count_names(hierarchy, "g1"), 4);
    assert_int_equal(count_names(hierarchy, "g3"), 1104);
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(mem);
}

/* Of what is stored nothing is believed. */
static void odd_documents(void **state) {
    (void)state;
    zb_error err;
    static const char odd[] = "{\"node_type\":\0\"group\"";
    zb_hierarchy *mem = new_tree();
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), "g1/zarr.json", odd, sizeof odd, &err),
              err);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), "g2/zarr.json", odd, 13, &err), err);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), "g3/zarr.json", "", 0, &err), err);
    zb_hierarchy *hierarchy = later_over(mem, (later_options){.in_flight = 64, .fresh = LONG});
    zb_node *node;
    assert_int_equal(count_names(hierarchy, ""), 6);
    for (int i = 1; i <= 3; i++) {
        const char path[] = {'g', (char)('0' + i), '\0'};
        assert_true(zb_node_open_cached(hierarchy, path, &node, &err) == ZB_EFORMAT);
    }
    assert_int_equal(count_names(hierarchy, "g4"), 4);
    assert_int_equal(count_names(hierarchy, "g5"), 4);
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(mem);
}

static int length_lately(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open_cached(hierarchy, path, &node, &err), err);
    const int length = (int)zb_node_array(node)->shape[0];
    zb_node_release(node);
    return length;
}

static void a_list_spares_the_opening(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = new_tree();
    zb_hierarchy *hierarchy = later_over(mem, (later_options){.in_flight = 64, .fresh = LONG});
    zb_node *node;
    assert_int_equal(count_names(hierarchy, "g1/h2"), 3);
    (void)later_take(zb_hierarchy_store(hierarchy));
    assert_int_equal(length_lately(hierarchy, "g1/h2/a1"), 122);
    ASSERT_FAILS(zb_node_open_cached(hierarchy, "g1/h2/x", &node, &err), ZB_ENOTFOUND, err,
                 "g1/h2/x");
    assert_int_equal(asked(hierarchy), 0);
    set_array(mem, "g1/h2/a1", 5);
    set_array(mem, "g1/h2/x", 6);
    assert_int_equal(length_lately(hierarchy, "g1/h2/a1"), 122);
    /* by its name: the present one */
    ASSERT_OK(zb_node_open(hierarchy, "g1/h2/a1", &node, &err), err);
    assert_int_equal(zb_node_array(node)->shape[0], 5);
    zb_node_release(node);
    assert_int_equal(length_lately(hierarchy, "g1/h2/a1"), 5);
    ASSERT_OK(zb_store_put(zb_hierarchy_store(hierarchy), "y", NULL, 0, ZB_SYNC_NONE, &err), err);
    set_array(mem, "g1/h2/a2", 8);
    assert_int_equal(length_lately(hierarchy, "g1/h2/a2"), 8); /* something was changed */
    assert_int_equal(length_lately(hierarchy, "g1/h2/x"), 6);
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(mem);
}

/* The first that is missed in a group asks for all names in it. */
static void what_is_missed_is_asked_for_once(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = new_tree();
    zb_hierarchy *hierarchy = later_over(mem, (later_options){.in_flight = 64, .fresh = LONG});
    zb_node *node;
    ASSERT_FAILS(zb_node_open_cached(hierarchy, "g1/x", &node, &err), ZB_ENOTFOUND, err, "g1/x");
    assert_true(asked(hierarchy) > 0);
    ASSERT_FAILS(zb_node_open_cached(hierarchy, "g1/y", &node, &err), ZB_ENOTFOUND, err, "g1/y");
    ASSERT_FAILS(zb_node_open_cached(hierarchy, "g1/h", &node, &err), ZB_ENOTFOUND, err, "g1/h");
    assert_int_equal(asked(hierarchy), 0);
    ASSERT_OK(zb_node_open_cached(hierarchy, "g1/h1", &node, &err), err);
    zb_node_release(node);
    ASSERT_FAILS(zb_node_open_cached(hierarchy, "g1/../g1", &node, &err), ZB_EINVAL, err, "g1");
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(mem);
}

static void it_counts_for_a_while(void **state) {
    (void)state;
    zb_hierarchy *mem = new_tree();
    for (int i = 0; i < 2; i++) {
        const int64_t fresh = i ? LONG : 0;
        zb_hierarchy *hierarchy = later_over(mem, (later_options){.in_flight = 64, .fresh = fresh});
        set_array(mem, "g1/h2/a1", 122);
        assert_int_equal(count_names(hierarchy, "g1/h2"), 3);
        set_array(mem, "g1/h2/a1", 5);
        assert_int_equal(length_lately(hierarchy, "g1/h2/a1"), fresh ? 122 : 5);
        clocks_pass(fresh);
        assert_int_equal(length_lately(hierarchy, "g1/h2/a1"), 5);
        zb_hierarchy_release(hierarchy);
    }
    zb_hierarchy_release(mem);
}

static void *walk(void *context) {
    static _Thread_local char lines[1 << 16];
    zb_error err;
    for (int i = 0; i < 5; i++) {
        lines[0] = '\0';
        ASSERT_OK(zb_node_each(context, "", add_line, lines, &err), err);
        assert_non_null(strstr(lines, "g5/h3/a2 533\n"));
    }
    return NULL;
}

static void several_threads_walk(void **state) {
    (void)state;
    zb_hierarchy *mem = new_tree();
    zb_hierarchy *hierarchy = later_over(mem, (later_options){.in_flight = 64, .fresh = LONG});
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, walk, hierarchy), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_asks_for_all_once_and_in_its_order),
        cmocka_unit_test(who_lists_groups_is_read_ahead_of),
        cmocka_unit_test(a_large_group_is_whole),
        cmocka_unit_test(odd_documents),
        cmocka_unit_test(a_list_spares_the_opening),
        cmocka_unit_test(what_is_missed_is_asked_for_once),
        cmocka_unit_test(it_counts_for_a_while),
        cmocka_unit_test(several_threads_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
