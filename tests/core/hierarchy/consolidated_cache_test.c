/* SPDX-License-Identifier: MIT */
/*
 * Documents of distant stores: those that consolidated metadata serves, and those that are read
 * together; how many requests they take, and when they are read again.
 */
#include "support/later.h"
#include "support/stores.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"

#define GROUP "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"from\":\"%s\"}}"
#define ARRAY                                                                                      \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[%d],\"data_type\":\"uint8\","           \
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[5]}},"               \
    "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":9,"                              \
    "\"codecs\":[{\"name\":\"bytes\"}]}"

static void set(zb_hierarchy *mem, const char *key, const char *text) {
    zb_error err;
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), key, text, strlen(text), &err), err);
}

/* A group of `count` arrays a00, a01, ... of 10 elements, and the group "g" with the array "g/b";
   consolidated, the arrays have 20 elements in the block. */
static zb_hierarchy *new_mem(int count, bool consolidated) {
    zb_hierarchy *mem = stores_new_mem();
    char *block = calloc(1, 1 << 16), key[64], text[1024];
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "a%02d/zarr.json", i);
        snprintf(text, sizeof text, ARRAY, 10);
        set(mem, key, text);
        used += (size_t)sprintf(block + used, "\"a%02d\":" ARRAY ",", i, 20);
    }
    snprintf(text, sizeof text, GROUP, "the store");
    set(mem, "g/zarr.json", text);
    snprintf(text, sizeof text, ARRAY, 10);
    set(mem, "g/b/zarr.json", text);
    used += (size_t)sprintf(block + used, "\"g\":" GROUP ",\"g/b\":" ARRAY, "the block", 20);
    char *root = malloc((1 << 16) + 1024);
    sprintf(root, "{\"zarr_format\":3,\"node_type\":\"group\"%s%s%s}",
            consolidated ? ",\"consolidated_metadata\":{\"kind\":\"inline\","
                           "\"must_understand\":false,\"metadata\":{"
                         : "",
            consolidated ? block : "", consolidated ? "}}" : "");
    set(mem, "zarr.json", root);
    free(root);
    free(block);
    return mem;
}

static uint64_t length_of(const zb_node *node) {
    return zb_node_array(node)->shape[0];
}

static uint64_t length_at(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node = stores_open_node(hierarchy, path);
    uint64_t length = length_of(node);
    zb_node_release(node);
    return length;
}

static int count_name(void *context, const char *name) {
    (void)name;
    ++*(size_t *)context;
    return 0;
}

static int count_entry(void *context, const zb_entry *entry) {
    assert_null(entry->reason);
    ++*(size_t *)context;
    return 0;
}

/* After the root's document, which an open and a read take, nothing is asked for. */
static void a_block_serves_names_and_documents(void **state) {
    (void)state;
    zb_error err;
    for (int can_list = 0; can_list < 2; can_list++) {
        zb_hierarchy *mem = new_mem(50, true), *store;
        zb_hierarchy_store(mem)->hints.can_list = can_list;
        store = later_over(mem, (later_options){.in_flight = 8});
        zb_node *root = stores_open_node(store, "");
        assert_int_equal(later_take(zb_hierarchy_store(store)).calls, 2);
        zb_children children;
        ASSERT_OK(zb_group_children(root, &children, &err), err);
        assert_int_equal(children.count, 51);
        for (size_t i = 0; i < 50; i++)
            assert_int_equal(length_of(children.child[i].node), 20);
        zb_children_free(&children);
        size_t names = 0, entries = 0;
        ASSERT_OK(zb_group_names(root, count_name, &names, &err), err);
        assert_int_equal(names, 51);
        assert_int_equal(length_at(store, "g/b"), 20);
        zb_node *group = stores_open_node(store, "g");
        names = 0;
        ASSERT_OK(zb_group_names(group, count_name, &names, &err), err);
        assert_int_equal(names, 1);
        zb_node_release(group);
        later_counts c = later_take(zb_hierarchy_store(store));
        assert_int_equal(c.calls + c.requests, 0);
        ASSERT_OK(zb_node_each(store, "", count_entry, &entries, &err), err);
        assert_int_equal(entries, 53);
        c = later_take(zb_hierarchy_store(store));
        assert_int_equal(c.calls + c.requests, 2); /* the root again */
        zb_node_release(root);
        zb_hierarchy_release(store);
        zb_hierarchy_release(mem);
    }
}

/* Consolidated metadata whose nodes have no documents are all that there is, until one has. */
static void a_block_alone_serves_a_local_store(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = stores_new_mem();
    char root[2048];
    snprintf(root, sizeof root,
             "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":{\"kind\":"
             "\"inline\",\"must_understand\":false,\"metadata\":{\"g\":" GROUP ",\"g/b\":" ARRAY
             "}}}",
             "the block", 20);
    set(mem, "zarr.json", root);
    set(mem, "g/b/c/0", "\1\1\1\1\1");
    set(mem, "file", "no node");
    zb_node *group = stores_open_node(mem, "");
    zb_children children;
    ASSERT_OK(zb_group_children(group, &children, &err), err);
    assert_int_equal(children.count, 1);
    assert_string_equal(children.child[0].name, "g");
    zb_children_free(&children);
    size_t names = 0;
    ASSERT_OK(zb_group_names(group, count_name, &names, &err), err);
    assert_int_equal(names, 1);
    zb_node_release(group);
    assert_int_equal(length_at(mem, "g/b"), 20);
    zb_node *array = stores_open_node(mem, "g/b");
    unsigned char data[20];
    zb_read read = {.node = array, .view = {.data = data, .dtype = zb_node_array(array)->dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    assert_int_equal(data[0], 1);
    assert_int_equal(data[5], 9); /* not stored */
    zb_node_release(array);
    for (int i = 0; i < 9; i++) { /* more names than are looked at first */
        snprintf(root, sizeof root, "a%d/no node", i);
        set(mem, root, "");
    }
    zb_node_release(stores_open_node(mem, ""));
    assert_int_equal(length_at(mem, "g/b"), 20);
    snprintf(root, sizeof root, ARRAY, 10);
    set(mem, "z/zarr.json", root);
    zb_node_release(stores_open_node(mem, ""));
    zb_node *none;
    ASSERT_FAILS(zb_node_open(mem, "g/b", &none, &err), ZB_ENOTFOUND, err, "g/b");
    zb_hierarchy_release(mem);
}

/* A local store is asked for each document, as a block may be old. */
static void a_local_store_is_asked(void **state) {
    (void)state;
    zb_hierarchy *mem = new_mem(3, true);
    zb_node *root = stores_open_node(mem, "");
    assert_int_equal(length_at(mem, "a00"), 10);
    assert_int_equal(length_at(mem, "g/b"), 10);
    zb_node_release(root);
    zb_hierarchy_release(mem);
}

static void what_the_block_does_not_have_is_asked_for(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = new_mem(3, true), *store = later_over(mem, (later_options){0});
    char text[1024];
    snprintf(text, sizeof text, ARRAY, 7);
    set(mem, "new/zarr.json", text);
    assert_int_equal(length_at(store, "a00"), 10); /* no block was read yet */
    zb_node *root = stores_open_node(store, ""), *none;
    assert_int_equal(length_at(store, "a00"), 20);
    assert_int_equal(length_at(store, "new"), 7);
    assert_int_equal(zb_node_open(store, "none", &none, &err), ZB_ENOTFOUND);
    assert_int_equal(zb_node_open(store, "../a00", &none, &err), ZB_EINVAL);
    zb_node_release(root);
    zb_node *old = stores_open_node(store, "a01"), *now; /* the block outlives its node */
    assert_int_equal(length_of(old), 20);
    ASSERT_OK(zb_node_refresh(old, &now, &err), err); /* asked for the present one */
    assert_int_equal(length_of(now), 10);
    zb_node_release(now);
    zb_node_release(old);
    zb_hierarchy_release(store);
    zb_hierarchy_release(mem);
}

static void a_block_is_read_again_with_its_group_and_dropped_at_a_change(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = new_mem(3, true), *store = later_over(mem, (later_options){0});
    zb_node *root = stores_open_node(store, "");
    assert_int_equal(length_at(store, "a00"), 20);
    ASSERT_OK(zb_store_put(zb_hierarchy_store(store), "x", NULL, 0, ZB_SYNC_NONE, &err), err);
    assert_int_equal(length_at(store, "a00"), 10);
    zb_node *again = stores_open_node(store, "");
    assert_int_equal(length_at(store, "a00"), 20);
    zb_node_release(again);
    char text[1024];
    snprintf(text, sizeof text, GROUP, "the store");
    set(mem, "zarr.json", text); /* by another program: without a block */
    assert_int_equal(length_at(store, "a00"), 20);
    again = stores_open_node(store, "");
    assert_int_equal(length_at(store, "a00"), 10);
    zb_node_release(again);
    zb_node_release(root);
    zb_hierarchy_release(store);
    zb_hierarchy_release(mem);
}

/* An entry that describes no node says nothing: the store's own document counts. */
static void bad_entries_are_not_served(void **state) {
    (void)state;
    zb_hierarchy *mem = new_mem(1, false), *store;
    char text[1024];
    static const char *const entries[] = {"7,\"../a00\":{}",
                                          "7",
                                          "null",
                                          "{}",
                                          "{\"zarr_format\":4}",
                                          "{\"zarr_format\":3,\"node_type\":\"array\"}"};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        snprintf(text, sizeof text,
                 "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":{\"kind\":"
                 "\"inline\",\"must_understand\":false,\"metadata\":{\"a00\":%s}}}",
                 entries[i]);
        set(mem, "zarr.json", text);
        store = later_over(mem, (later_options){0});
        zb_node *root = stores_open_node(store, "");
        assert_int_equal(length_at(store, "a00"), 10);
        zb_node_release(root);
        zb_hierarchy_release(store);
    }
    snprintf(text, sizeof text,
             "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":{\"kind\":"
             "\"inline\",\"must_understand\":false,\"metadata\":{\"../x\":" GROUP "}}}",
             "a path that is none");
    set(mem, "zarr.json", text);
    store = later_over(mem, (later_options){0});
    zb_error err;
    zb_node *root = stores_open_node(store, ""), *none;
    assert_int_equal(zb_node_open(store, "../x", &none, &err), ZB_EINVAL);
    zb_node_release(root);
    zb_hierarchy_release(store);
    zb_hierarchy_release(mem);
}

/* Without a block the documents of a group's children are under way together. */
static void children_are_read_together(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = new_mem(90, false);
    zb_hierarchy *hierarchy = later_over(mem, (later_options){.microseconds = 2000});
    set(mem, "no-node/x", "");
    set(mem, "broken/zarr.json", "{");
    set(mem, "older/.zgroup", "{\"zarr_format\":2}");
    zb_node *root = stores_open_node(hierarchy, "");
    later_take(zb_hierarchy_store(hierarchy));
    zb_children children;
    ASSERT_OK(zb_group_children(root, &children, &err), err);
    assert_int_equal(children.count, 93);
    size_t broken = 0, arrays = 0;
    for (size_t i = 0; i < children.count; i++) {
        const zb_child *child = &children.child[i];
        broken += child->reason != NULL;
        arrays += child->node && zb_node_array(child->node) && length_of(child->node) == 10;
    }
    assert_int_equal(broken, 1);
    assert_int_equal(arrays, 90);
    zb_children_free(&children);
    later_counts c = later_take(zb_hierarchy_store(hierarchy));
    assert_int_equal(c.requests, 94);
    assert_true(c.most_under_way >= 60);
    assert_true(c.calls < 12); /* the listing, and what is of version 2 or of none */
    size_t names = 0, entries = 0;
    ASSERT_OK(zb_group_names(root, count_name, &names, &err), err);
    assert_int_equal(names, 93);
    assert_true(later_take(zb_hierarchy_store(hierarchy)).calls < 12);
    zb_store_mem_set(zb_hierarchy_store(mem), "broken/zarr.json", GROUP, sizeof GROUP - 1, &err);
    ASSERT_OK(zb_node_each(hierarchy, "", count_entry, &entries, &err), err);
    assert_int_equal(entries, 1 + 93 + 1);
    c = later_take(zb_hierarchy_store(hierarchy));
    assert_int_equal(c.requests, 95);
    zb_node_release(root);
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(mem);
}

/* ---- Blocks of many groups ---- */

#define GROUPS 200
#define ARRAYS_OF_ONE 20

static uint64_t names_looked_at; /* of members of JSON */

const char *__real_zb_json_name(const zb_json *value);
const char *__wrap_zb_json_name(const zb_json *value);
const char *__wrap_zb_json_name(const zb_json *value) {
    names_looked_at++;
    return __real_zb_json_name(value);
}

static zb_hierarchy *new_mem_of_groups(void) {
    zb_hierarchy *mem = stores_new_mem();
    char *root = malloc((size_t)GROUPS * (ARRAYS_OF_ONE + 1) * 512);
    size_t used = (size_t)sprintf(root, "{\"zarr_format\":3,\"node_type\":\"group\","
                                        "\"consolidated_metadata\":{\"kind\":\"inline\","
                                        "\"must_understand\":false,\"metadata\":{");
    for (int g = 0; g < GROUPS; g++) {
        used += (size_t)sprintf(root + used, "%s\"g%d\":" GROUP, g ? "," : "", g, "the block");
        for (int a = 0; a < ARRAYS_OF_ONE; a++)
            used += (size_t)sprintf(root + used, ",\"g%d/a%d\":" ARRAY, g, a, 20);
    }
    sprintf(root + used, "}}}");
    set(mem, "zarr.json", root);
    free(root);
    return mem;
}

/* A walk that looked at all of the block for each group would take the square of its time. */
static void a_group_looks_at_its_own_part_of_a_block(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = new_mem_of_groups(), *store = later_over(mem, (later_options){0});
    zb_node *root = stores_open_node(store, "");
    size_t names = 0;
    char path[16];
    const uint64_t opened = names_looked_at;
    for (int g = 0; g < GROUPS; g++) {
        snprintf(path, sizeof path, "g%d", g);
        zb_node *group = stores_open_node(store, path);
        ASSERT_OK(zb_group_names(group, count_name, &names, &err), err);
        zb_node_release(group);
    }
    assert_int_equal(names, GROUPS * ARRAYS_OF_ONE);
    const uint64_t each = (names_looked_at - opened) / names;
    assert_in_range(each, 1, 60); /* two searches of 13 steps, and the members of a document */
    zb_node_release(root);
    zb_hierarchy_release(store);
    zb_hierarchy_release(mem);
}

/* An answer that fails makes one child that cannot be read. */
static void a_failing_document_is_one_child(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = new_mem(9, false), *store = later_over(mem, (later_options){0});
    zb_node *root = stores_open_node(store, "");
    zb_children children;
    later_fail(zb_hierarchy_store(store), 4, ZB_EIO);
    ASSERT_OK(zb_group_children(root, &children, &err), err);
    assert_int_equal(children.count, 10);
    assert_string_equal(children.child[3].reason, "store mem, node /a03: injected fault");
    assert_non_null(children.child[4].node);
    zb_children_free(&children);
    zb_node_release(root);
    zb_hierarchy_release(store);
    zb_hierarchy_release(mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_serves_names_and_documents),
        cmocka_unit_test(a_block_alone_serves_a_local_store),
        cmocka_unit_test(a_local_store_is_asked),
        cmocka_unit_test(what_the_block_does_not_have_is_asked_for),
        cmocka_unit_test(a_block_is_read_again_with_its_group_and_dropped_at_a_change),
        cmocka_unit_test(bad_entries_are_not_served),
        cmocka_unit_test(children_are_read_together),
        cmocka_unit_test(a_group_looks_at_its_own_part_of_a_block),
        cmocka_unit_test(a_failing_document_is_one_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
