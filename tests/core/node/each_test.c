/* SPDX-License-Identifier: MIT */
/* The list of all nodes below one: which there are, in which order, at which cost. */
#include "support/store.h"
#include "support/wrappers.h"
#include "zarrbridge/sys/store.h"

#include <malloc.h>

#define ARRAY ARRAY_OF("4")
#define ARRAY_OF(shape)                                                                            \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[" shape "],\"data_type\":\"uint8\","    \
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2]}},"               \
    "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":0,\"codecs\":[{\"name\":"        \
    "\"bytes\"}]}"

static const char group3[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";

typedef struct seen {
    char line[512]; /* "g" or "a" and the format before each path; "!" before what is unreadable */
    size_t used, count, stop_after;
    char reason[ZB_MESSAGE_SIZE];
} seen;

static int see(void *context, const zb_entry *entry) {
    seen *s = context;
    s->used += (size_t)snprintf(s->line + s->used, sizeof s->line - s->used, "%s%c%d/%s",
                                s->count ? " " : "",
                                entry->reason  ? '!'
                                : entry->array ? 'a'
                                               : 'g',
                                entry->format, entry->path);
    if (entry->array)
        assert_int_equal(entry->array->shape[0], 4);
    if (entry->reason)
        snprintf(s->reason, sizeof s->reason, "%s", entry->reason);
    return ++s->count == s->stop_after;
}

static zb_hierarchy *mixed(bool can_list) {
    zb_hierarchy *hierarchy = store_new();
    zb_hierarchy_store(hierarchy)->hints.can_list = can_list;
    store_set(
        hierarchy, "zarr.json",
        "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":{\"kind\":"
        "\"inline\",\"must_understand\":false,\"metadata\":{\"g\":{},\"gone\":{},\"b\":{}}}}");
    store_set(hierarchy, "b/zarr.json", ARRAY);
    store_set(hierarchy, "b/c/zarr.json", group3); /* nothing is below an array */
    store_set(hierarchy, "g/zarr.json", group3);
    store_set(hierarchy, "g/x/zarr.json", ARRAY);
    store_set(hierarchy, "g-/zarr.json", group3);
    store_set(hierarchy, "bad/zarr.json", "{");
    store_set(hierarchy, "files/x", "nothing");
    store_set(hierarchy, ".hidden/zarr.json", ARRAY);
    store_set(hierarchy, "old/.zgroup", "{\"zarr_format\":2}");
    return hierarchy;
}

static int see_extent(void *context, const zb_entry *entry) {
    char *line = context;
    const size_t used = strlen(line);
    if (entry->array)
        snprintf(line + used, 256 - used, "%s:%d ", entry->path, (int)entry->array->shape[0]);
    return 0;
}

/* An array is described by its own document, whatever was looked at before it. */
static void like_documents_are_like_arrays(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    char line[256] = "";
    zb_error err;
    store_set(hierarchy, "zarr.json", group3);
    store_set(hierarchy, "a/zarr.json", ARRAY_OF("4"));
    store_set(hierarchy, "b/zarr.json", ARRAY_OF("4"));
    store_set(hierarchy, "c/zarr.json", ARRAY_OF("6"));
    store_set(hierarchy, "d/zarr.json", group3);
    store_set(hierarchy, "d/x/zarr.json", ARRAY_OF("6"));
    store_set(hierarchy, "e/zarr.json", "{");
    store_set(hierarchy, "f/zarr.json", ARRAY_OF("4"));
    store_set(hierarchy, "g/zarr.json", ARRAY_OF("4") " ");
    ASSERT_OK(zb_node_each(hierarchy, "", see_extent, line, &err), err);
    assert_string_equal(line, "a:4 b:4 c:6 d/x:6 f:4 g:4 ");
    zb_hierarchy_release(hierarchy);
}

static void lists_what_children_find(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = mixed(true);
    zb_error err;
    seen all = {.count = 0}, part = {.count = 0}, one = {.count = 0};
    ASSERT_OK(zb_node_each(hierarchy, "", see, &all, &err), err);
    assert_string_equal(all.line, "g3/ a3/.hidden a3/b !0/bad g3/g a3/g/x g3/g- g2/old");
    assert_non_null(strstr(all.reason, "store test, node /bad: zarr.json: line 1"));
    ASSERT_OK(zb_node_each(hierarchy, "g", see, &part, &err), err);
    assert_string_equal(part.line, "g3/g a3/g/x");
    ASSERT_OK(zb_node_each(hierarchy, "b", see, &one, &err), err);
    assert_string_equal(one.line, "a3/b");
    zb_hierarchy_release(hierarchy);
}

static void takes_names_of_a_block_where_no_listing_is(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = mixed(false);
    zb_error err;
    seen all = {.count = 0};
    ASSERT_OK(zb_node_each(hierarchy, "", see, &all, &err), err);
    assert_string_equal(all.line, "g3/ a3/b g3/g");
    zb_hierarchy_release(hierarchy);
}

static void stops_when_told(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = mixed(true);
    zb_error err;
    seen some = {.stop_after = 5};
    ASSERT_OK(zb_node_each(hierarchy, "", see, &some, &err), err);
    assert_string_equal(some.line, "g3/ a3/.hidden a3/b !0/bad g3/g");
    zb_hierarchy_release(hierarchy);
}

/* "<" behind the last name of each group; nothing below g is wanted. */
static int see_last(void *context, const zb_entry *entry) {
    char *line = context;
    const size_t used = strlen(line);
    snprintf(line + used, 256 - used, "%s%s ", entry->path, entry->is_last ? "<" : "");
    return strcmp(entry->path, "g") == 0 ? ZB_WALK_PAST : 0;
}

static void goes_past_nodes(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = mixed(true);
    zb_error err;
    char line[256] = "";
    store_set(hierarchy, "g-/x/zarr.json", ARRAY);
    store_set(hierarchy, "g-/y/zarr.json", ARRAY);
    ASSERT_OK(zb_node_each(hierarchy, "", see_last, line, &err), err);
    assert_string_equal(line, "< .hidden b bad g g- g-/x g-/y< old< ");
    zb_hierarchy_release(hierarchy);
}

static void tells_where_nothing_is(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = mixed(true);
    zb_error err;
    seen none = {.count = 0};
    ASSERT_FAILS(zb_node_each(hierarchy, "nowhere", see, &none, &err), ZB_ENOTFOUND, err,
                 "zarr.json");
    ASSERT_FAILS(zb_node_each(hierarchy, "a//b", see, &none, &err), ZB_EINVAL, err, "empty part");
    assert_int_equal(none.count, 0);
    zb_hierarchy_release(hierarchy);
}

/* ---- Cost --------------------------------------------------------------------------------- */

enum { ARRAYS = 3000 };

typedef struct cost {
    size_t count, held[2]; /* bytes of the heap at the first array and at the last */
} cost;

static int weigh(void *context, const zb_entry *entry) {
    cost *c = context;
    (void)entry;
    c->count++;
    if (c->count == 2 || c->count == ARRAYS + 1)
        c->held[c->count > 2] = mallinfo2().uordblks;
    return 0;
}

/* One open and one read for each node, one listing for each group, no lookup of anything else; and
   the nodes that have passed take no memory. */
static void costs_one_read_for_each_node(void **state) {
    (void)state;
    zb_hierarchy *inner = store_new(), *store;
    zb_error err;
    cost c = {.count = 0};
    char key[32];
    store_set(inner, "zarr.json", group3);
    for (int i = 0; i < ARRAYS; i++) {
        snprintf(key, sizeof key, "a%05d/zarr.json", i);
        store_set(inner, key, ARRAY);
    }
    ASSERT_OK(wrap(zb_store_new_count, inner, &store, &err), err);
    ASSERT_OK(zb_node_each(store, "", weigh, &c, &err), err);
    const zb_store_counts calls = zb_store_count_take(zb_hierarchy_store(store));
    assert_int_equal(c.count, ARRAYS + 1);
    assert_int_equal(calls.opens, ARRAYS + 1);
    assert_int_equal(calls.reads, ARRAYS + 1);
    assert_int_equal(calls.lists, 1);
    assert_int_equal(calls.stats, 0);
    assert_true(c.held[1] < c.held[0] + (64 << 10));
    zb_hierarchy_release(store);
    zb_hierarchy_release(inner);
}

/* A tree of the block's entries would take several times the memory of the text. */
static void makes_no_tree_of_a_block(void **state) {
    (void)state;
    enum { ENTRIES = 20000 };
    zb_hierarchy *hierarchy = store_new();
    zb_error err;
    cost c = {.count = 0};
    static const char head[] = "{\"zarr_format\":3,\"node_type\":\"group\","
                               "\"consolidated_metadata\":{\"kind\":\"inline\",\"must_understand\":"
                               "false,\"metadata\":{";
    const size_t size = sizeof head + ENTRIES * (sizeof ARRAY + 16);
    char *text = malloc(size);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, size, "%s", head);
    for (int i = 0; i < ENTRIES; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s\"a%05d\":%s", i ? "," : "", i, ARRAY);
    snprintf(text + used, size - used, "}}}");
    store_set(hierarchy, "zarr.json", text);
    store_set(hierarchy, "a00000/zarr.json", ARRAY);
    free(text);
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    ASSERT_OK(zb_node_each(hierarchy, "", weigh, &c, &err), err);
    assert_int_equal(c.count, 2);
    assert_true(c.held[0] < before + (64 << 10));
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_what_children_find),
        cmocka_unit_test(like_documents_are_like_arrays),
        cmocka_unit_test(takes_names_of_a_block_where_no_listing_is),
        cmocka_unit_test(stops_when_told),
        cmocka_unit_test(goes_past_nodes),
        cmocka_unit_test(tells_where_nothing_is),
        cmocka_unit_test(costs_one_read_for_each_node),
        cmocka_unit_test(makes_no_tree_of_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
