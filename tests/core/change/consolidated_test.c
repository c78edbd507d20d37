/* SPDX-License-Identifier: MIT */
/* A change of one node touches one entry of a block: the others keep their bytes, and cost neither
   calls of the store nor allocations. */
#include "change/consolidated_block.h"

#include "support/starve.h"
#include "support/store.h"
#include "support/wrappers.h"
#include "util/text.h"
#include "zarrbridge/change.h"

static void set_attribute(zb_hierarchy *hierarchy, const char *path, const char *value) {
    zb_node *node, *changed;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    ASSERT_OK(zb_node_set_attribute(node, "k", value, &changed, &err), err);
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
    zb_node_release(node);
    zb_node_release(changed);
}

/* ---- Bytes -------------------------------------------------------------------------------- */

#define GROUP(attributes)                                                                          \
    "{\"attributes\":" attributes ",\"zarr_format\":3,\"consolidated_metadata\":"                  \
    "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{}},\"node_type\":\"group\"}"

/* A block in a form of its own: odd spaces, numbers, escapes, no order, a name that stands twice,
   and an entry whose node is gone. */
#define BEGIN "{\"zarr_format\":3,\"consolidated_metadata\":{\"kind\":\"inline\","
#define REST "\"must_understand\":false,\"metadata\":"
#define ODD " {\"n\":1.50e+0 , \"s\":\"\\u0041\\/\\ud800\"}"
#define END "},\"node_type\":\"group\"}"

static zb_hierarchy *odd_store(const char *map) {
    zb_hierarchy *hierarchy = store_new();
    char text[2048];
    for (int i = 0; i < 3; i++) {
        char key[32];
        snprintf(key, sizeof key, "%c/zarr.json", "abm"[i]);
        store_set(hierarchy, key, "{\"attributes\":{},\"zarr_format\":3,\"node_type\":\"group\"}");
    }
    snprintf(text, sizeof text, BEGIN REST "%s" END, map);
    store_set(hierarchy, "zarr.json", text);
    return hierarchy;
}

static void expect_map(zb_hierarchy *hierarchy, const char *map) {
    char text[2048];
    snprintf(text, sizeof text, BEGIN REST "%s" END, map);
    store_expect(hierarchy, "zarr.json", text);
}

static void other_entries_keep_their_bytes(void **state) {
    (void)state;
    zb_hierarchy *hierarchy =
        odd_store("{ \"z\":" ODD ",  \"b\" :" ODD ",\"gone\":[ ] , \"z\" : 2 }");
    zb_error err;
    /* One that stands in the block; as its order is not ours, the place is that of the first entry
       that comes behind. */
    set_attribute(hierarchy, "b", "1");
    expect_map(hierarchy,
               "{ \"b\":" GROUP("{\"k\":1}") ", \"z\":" ODD ", \"gone\":[ ] , \"z\" : 2 }");
    /* One that does not. */
    set_attribute(hierarchy, "m", "2");
    expect_map(hierarchy, "{ \"b\":" GROUP("{\"k\":1}") ", \"m\":" GROUP(
                              "{\"k\":2}") ", \"z\":" ODD ", \"gone\":[ ] , \"z\" : 2 }");
    ASSERT_OK(zb_node_delete(hierarchy, "b", &err), err);
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
    expect_map(hierarchy,
               "{ \"m\":" GROUP("{\"k\":2}") ", \"z\":" ODD ", \"gone\":[ ] , \"z\" : 2 }");
    zb_hierarchy_release(hierarchy);
}

static void all_entries_may_go(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = odd_store("{ \"a\":" ODD ", \"a\":1}");
    zb_error err;
    ASSERT_OK(zb_node_delete(hierarchy, "a", &err), err);
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
    expect_map(hierarchy, "{}");
    set_attribute(hierarchy, "m", "2");
    expect_map(hierarchy, "{\"m\":" GROUP("{\"k\":2}") "}");
    zb_hierarchy_release(hierarchy);
}

/* Documents in lines, as zarr-python writes them. */
static void lines_stay_lines(void **state) {
    (void)state;
    static const char before[] = "{\n  \"zarr_format\": 3,\n  \"consolidated_metadata\": {\n"
                                 "    \"kind\": \"inline\",\n    \"must_understand\": false,\n"
                                 "    \"metadata\": {\n      \"a\": {\n        \"x\": 1\n      }\n"
                                 "    }\n  },\n  \"node_type\": \"group\"\n}";
    static const char after[] = "{\n  \"zarr_format\": 3,\n  \"consolidated_metadata\": {\n"
                                "    \"kind\": \"inline\",\n    \"must_understand\": false,\n"
                                "    \"metadata\": {\n      \"a\": {\n        \"x\": 1\n      },\n"
                                "      \"b\": {\n        \"attributes\": {\n          \"k\": 1\n"
                                "        },\n        \"zarr_format\": 3,\n"
                                "        \"consolidated_metadata\": {\n"
                                "          \"kind\": \"inline\",\n"
                                "          \"must_understand\": false,\n"
                                "          \"metadata\": {}\n        },\n"
                                "        \"node_type\": \"group\"\n      }\n"
                                "    }\n  },\n  \"node_type\": \"group\"\n}";
    zb_hierarchy *hierarchy = odd_store("{}");
    zb_error err;
    store_set(hierarchy, "zarr.json", before);
    set_attribute(hierarchy, "b", "1");
    store_expect(hierarchy, "zarr.json", after);
    ASSERT_OK(zb_node_delete(hierarchy, "b", &err), err);
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
    store_expect(hierarchy, "zarr.json", before);
    zb_hierarchy_release(hierarchy);
}

/* A document whose block has an entry in the middle of many. */
static char *long_document(const char *entry) {
    zb__text text = {0};
    zb__text_add(&text, BEGIN REST "{");
    for (size_t i = 0; i < 2000; i++) {
        zb__text_addf(&text, "%s \"%c%05zu\" :" ODD, i ? "," : "", i < 1000 ? 'l' : 'n', i);
        if (i == 999)
            zb__text_addf(&text, ", \"m\":%s", entry);
    }
    zb__text_add(&text, " }" END);
    return zb__text_take(&text, NULL);
}

static void many_entries_keep_their_bytes(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = odd_store("{}");
    char *before = long_document("[0]"), *after = long_document(GROUP("{\"k\":1}"));
    store_set(hierarchy, "zarr.json", before);
    set_attribute(hierarchy, "m", "1");
    store_expect(hierarchy, "zarr.json", after);
    free(before);
    free(after);
    zb_hierarchy_release(hierarchy);
}

/* ---- Cost --------------------------------------------------------------------------------- */

typedef struct cost {
    zb_store_counts calls;
    size_t allocations;
} cost;

/* Of changing one attribute in a store with a block of so many entries besides. */
static cost cost_with(size_t entries) {
    cost spent;
    zb_hierarchy *hierarchy = odd_store("{}"), *counted;
    zb_error err;
    zb__text text = {0};
    zb__text_add(&text, BEGIN REST "{");
    for (size_t i = 0; i < entries; i++)
        zb__text_addf(&text, "%s\"n%05zu\":" GROUP("{\"a\":[1,2,3]}"), i ? "," : "", i);
    zb__text_add(&text, "}" END);
    store_set(hierarchy, "zarr.json", text.data);
    free(text.data);
    ASSERT_OK(wrap(zb_store_new_count, hierarchy, &counted, &err), err);
    starve_begin(SIZE_MAX); /* nothing fails; allocations are counted */
    set_attribute(counted, "m", "1");
    (void)starve_end();
    spent = (cost){.calls = zb_store_count_take(zb_hierarchy_store(counted)),
                   .allocations = starve_asked()};
    zb_hierarchy_release(counted);
    zb_hierarchy_release(hierarchy);
    return spent;
}

static void entries_cost_no_calls_and_no_allocations(void **state) {
    (void)state;
    const cost few = cost_with(100), many = cost_with(10000);
    assert_int_equal(few.calls.opens, many.calls.opens);
    assert_int_equal(few.calls.reads, many.calls.reads);
    assert_int_equal(few.calls.stats, many.calls.stats);
    assert_int_equal(few.calls.lists, many.calls.lists);
    assert_int_equal(few.calls.puts, many.calls.puts);
    /* Texts that double while they grow, and the names of entries in blocks of 32 KiB. A tree would
       take an allocation of 64 KiB for about 500 values: 3000 more of them. */
    if (many.allocations > few.allocations + 50)
        fail_msg("%zu allocations with 100 entries, %zu with 10000", few.allocations,
                 many.allocations);
}

/* ---- Making blocks ------------------------------------------------------------------------ */

static void a_group_gets_a_block(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_tree(false);
    zb_error err;
    ASSERT_OK(zb_group_consolidate(hierarchy, "", &err), err);
    store_check_consolidated(hierarchy);
    /* It is kept current from now on. */
    zb_node_release(store_group(hierarchy, "b/new", NULL));
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
    store_check_consolidated(hierarchy);
    /* One below, in which paths begin at its group. */
    ASSERT_OK(zb_group_consolidate(hierarchy, "b", &err), err);
    char *text = store_text(hierarchy, "b/zarr.json");
    assert_non_null(strstr(text, "\"D/e\""));
    assert_null(strstr(text, "b/D"));
    free(text);
    store_check_consolidated(hierarchy);
    zb_hierarchy_release(hierarchy);
}

static void what_cannot_have_a_block_is_refused(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_tree(false);
    zb_error err;
    char *before = store_text(hierarchy, "a/zarr.json");
    ASSERT_FAILS(zb_group_consolidate(hierarchy, "a", &err), ZB_EINVAL, err, "only groups");
    store_expect(hierarchy, "a/zarr.json", before);
    free(before);
    ASSERT_FAILS(zb_group_consolidate(hierarchy, "none", &err), ZB_ENOTFOUND, err, "none");
    store_set(hierarchy, "old/.zgroup", "{\"zarr_format\":2}");
    ASSERT_FAILS(zb_group_consolidate(hierarchy, "old", &err), ZB_EUNSUPPORTED, err, "version 2");
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_entries_keep_their_bytes),
        cmocka_unit_test(all_entries_may_go),
        cmocka_unit_test(lines_stay_lines),
        cmocka_unit_test(many_entries_keep_their_bytes),
        cmocka_unit_test(entries_cost_no_calls_and_no_allocations),
        cmocka_unit_test(a_group_gets_a_block),
        cmocka_unit_test(what_cannot_have_a_block_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
