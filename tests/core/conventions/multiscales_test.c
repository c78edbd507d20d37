/* SPDX-License-Identifier: MIT */
/* Lists of levels: what is read of them, hostile ones among them, and how they are written. */
#include "support/stores.h"
#include "support/starve.h"
#include "zarrbridge/multiscales.h"

#define DECLARED                                                                                   \
    "\"zarr_conventions\":[{\"uuid\":\"d35379db-88df-4056-af3a-620245f8e347\"}],\"multiscales\":"
#define LAYOUT(entries) "{" DECLARED "{\"layout\":[" entries "]}}"

static zb_hierarchy *hierarchy;

/* Groups alone are looked at here. */
static const zb_node *node_at(void *context, const char *path) {
    const zb_node *group = context;
    return group && strcmp(zb_node_path(group), path) == 0 ? group : NULL;
}

static zb_node *group_with(const char *attributes) {
    zb_error err;
    zb_node *group;
    (void)zb_node_delete(hierarchy, "g", NULL);
    ASSERT_OK(zb_group_create(hierarchy, "g", attributes, &group, &err), err);
    return group;
}

/* "a,b;c": the lists of the group. */
static void expect_lists(const char *attributes, const char *expected) {
    zb_node *group = group_with(attributes);
    const zb_nodes nodes = {node_at, group};
    zb_asset_lists lists;
    zb_error err;
    char text[512] = "";
    ASSERT_OK(zb_group_pyramids(group, &nodes, &lists, &err), err);
    for (size_t i = 0; i < lists.count; i++) {
        for (size_t j = 0; j < lists.list[i].count; j++) {
            strcat(text, j ? "," : i ? ";" : "");
            strcat(text, lists.list[i].text[j]);
        }
    }
    assert_string_equal(text, expected);
    zb_asset_lists_clear(&lists);
    zb_node_release(group);
}

static const struct {
    const char *attributes, *lists;
} rows[] = {
    {LAYOUT("{\"asset\":\"a\"},{\"asset\":\"b\",\"derived_from\":\"a\"}"), "a,b"},
    /* Without the declaration it is a private attribute. */
    {"{\"multiscales\":{\"layout\":[{\"asset\":\"a\"}]}}", ""},
    {"{\"zarr_conventions\":[{\"uuid\":\"other\",\"schema_url\":\"https://zarr-x/multiscales/\"}],"
     "\"multiscales\":{\"layout\":[{\"asset\":\"a\"}]}}",
     ""},
    {"{\"zarr_conventions\":[{\"schema_url\":\"https://x/zarr-conventions/multiscales/v1\"}],"
     "\"multiscales\":{\"layout\":[{\"asset\":\"a\"}]}}",
     "a"},
    /* Two families. */
    {LAYOUT("{\"asset\":\"a\"},{\"asset\":\"c\"},{\"asset\":\"b\",\"derived_from\":\"a\"},"
            "{\"asset\":\"d\",\"derived_from\":\"c\"}"),
     "a,b;c,d"},
    {LAYOUT("{\"asset\":\"a\",\"transform\":{\"scale\":[1,1]}},"
            "{\"asset\":\"b\",\"transform\":{\"scale\":[1.0]}}"),
     "a;b"},
    /* Other forms than expected. */
    {LAYOUT("1,null,\"x\",[],{},{\"asset\":7},{\"asset\":\"\"},{\"asset\":\"a\"}"), "a"},
    {LAYOUT(""), ""},
    {"{" DECLARED "{\"layout\":{\"asset\":\"a\"}}}", ""},
    {"{" DECLARED "[]}", ""},
    {"{" DECLARED "\"layout\"}", ""},
    {"{\"zarr_conventions\":{\"uuid\":\"d35379db-88df-4056-af3a-620245f8e347\"},"
     "\"multiscales\":{\"layout\":[{\"asset\":\"a\"}]}}",
     ""},
    /* Made of itself, and in a circle. */
    {LAYOUT("{\"asset\":\"a\",\"derived_from\":\"a\"},{\"asset\":\"b\",\"derived_from\":\"c\"},"
            "{\"asset\":\"c\",\"derived_from\":\"b\"}"),
     "a,b,c"},
    {LAYOUT("{\"asset\":\"a\"},{\"asset\":\"a\",\"derived_from\":\"a\"},{\"asset\":\"a\"}"),
     "a,a,a"},
    {"{\"ome\":{\"multiscales\":[{\"datasets\":[{\"path\":\"0\"},{\"path\":1},{\"path\":\"1\"}]}]}"
     "}",
     "0,1"},
    /* OME-NGFF 0.4; without axes the list is of nobody that is known. */
    {"{\"multiscales\":[{\"axes\":[],\"datasets\":[{\"path\":\"0\"},{\"path\":\"1\"}]}]}", "0,1"},
    {"{\"multiscales\":[{\"axes\":\"x\",\"datasets\":[{\"path\":\"0\"}]}]}", ""},
    {"{\"ome\":{\"multiscales\":{\"datasets\":[{\"path\":\"0\"}]}}}", ""},
    /* ndpyramid: by the factors, or the coarsest first. */
    {"{\"multiscales\":[{\"datasets\":[{\"path\":\"4\"},{\"path\":\"1\"},{\"path\":\"2\"}],"
     "\"metadata\":{\"kwargs\":{\"factors\":[4,1,2]}}}]}",
     "1,2,4"},
    {"{\"multiscales\":[{\"datasets\":[{\"path\":\"0\"},{\"path\":\"1\"}],"
     "\"metadata\":{\"method\":\"pyramid_reproject\"}}]}",
     "1,0"},
    {"{\"multiscales\":[{\"datasets\":[{\"path\":\"0\"},{\"path\":\"1\"}],"
     "\"metadata\":{\"kwargs\":{\"factors\":[\"NaN\",1,2]}}}]}",
     "1,0"},
    {"{\"multiscales\":[{\"datasets\":[{\"path\":\"0\"}]}]}", ""},
};

static void test_lists_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_lists(rows[i].attributes, rows[i].lists);
}

/* A chain of so many entries, the last first: time and stack do not grow with their product. */
static void test_a_long_chain_is_one_family(void **state) {
    (void)state;
    enum { ENTRIES = 30000 };
    char *text = malloc(ENTRIES * 64 + 512), *end = text;
    assert_non_null(text);
    end += sprintf(end, "{" DECLARED "{\"layout\":[");
    for (int i = ENTRIES; i > 0; i--)
        end += sprintf(end, "{\"asset\":\"l%d\",\"derived_from\":\"l%d\"},", i, i - 1);
    sprintf(end, "{\"asset\":\"l0\"}]}}");
    zb_node *group = group_with(text);
    const zb_nodes nodes = {node_at, group};
    zb_asset_lists lists;
    zb_error err;
    ASSERT_OK(zb_group_pyramids(group, &nodes, &lists, &err), err);
    assert_int_equal(lists.count, 1);
    assert_int_equal(lists.list[0].count, ENTRIES + 1);
    zb_asset_lists_clear(&lists);

    zb_level_list list;
    zb_strings gone = {.count = 0};
    assert_true(zb_strings_add(&gone, "l1"));
    ASSERT_OK(zb_level_list_take_out(group, &gone, false, &list, &err), err);
    assert_null(strstr(list.multiscales, "\"l0\"},{\"asset\":\"l1\""));
    zb_level_list_clear(&list);
    zb_strings_clear(&gone);
    zb_node_release(group);
    free(text);
}

/* ---- Writing ---- */

static zb_level_entry level(const char *asset, const char *source, const double *scale) {
    return (zb_level_entry){.asset = asset,
                            .derived_from = source,
                            .method = source ? "average" : NULL,
                            .ndim = 2,
                            .scale = scale,
                            .width = 4,
                            .height = 2};
}

static void test_entries_stand_in_the_order_of_sizes(void **state) {
    (void)state;
    static const double one[] = {1, 1}, two[] = {2, 2}, eight[] = {8, 8};
    zb_node *group = group_with("{\"title\":\"t\"}"), *now;
    zb_level_list list;
    zb_error err;
    const zb_level_entry first[] = {level("a", NULL, one), level("ovr_8x/a", "a", eight)};
    ASSERT_OK(zb_level_list_put(group, first, 2, &list, &err), err);
    const zb_attribute_edit edits[] = {
        {.name = "multiscales", .value = list.multiscales},
        {.name = "zarr_conventions", .value = list.zarr_conventions}};
    ASSERT_OK(zb_node_set_attributes(group, edits, 2, &now, &err), err);
    zb_level_list_clear(&list);
    const zb_level_entry second[] = {level("ovr_2x/a", "a", two)};
    ASSERT_OK(zb_level_list_put(now, second, 1, &list, &err), err);
    const char *a = strstr(list.multiscales, "\"asset\":\"a\"");
    const char *b = strstr(list.multiscales, "\"asset\":\"ovr_2x/a\"");
    const char *c = strstr(list.multiscales, "\"asset\":\"ovr_8x/a\"");
    assert_true(a && b && c && a < b && b < c);
    assert_non_null(strstr(list.multiscales, "\"translation\":[3.5,3.5]"));
    zb_level_list_clear(&list);

    /* With the last coarser level the finest goes, and the declaration with it. */
    zb_strings gone = {.count = 0};
    assert_true(zb_strings_add(&gone, "ovr_8x/a"));
    ASSERT_OK(zb_level_list_take_out(now, &gone, false, &list, &err), err);
    assert_null(list.multiscales);
    assert_null(list.zarr_conventions);
    zb_level_list_clear(&list);
    ASSERT_OK(zb_level_list_take_out(now, &gone, true, &list, &err), err);
    assert_non_null(strstr(list.multiscales, "\"asset\":\"a\""));
    zb_level_list_clear(&list);
    zb_strings_clear(&gone);
    zb_node_release(now);
    zb_node_release(group);
}

/* Members and entries of others stay word for word. */
static void test_what_others_wrote_stays(void **state) {
    (void)state;
    static const double two[] = {2, 2};
    zb_node *group = group_with(
        "{\"zarr_conventions\":[{\"name\":\"mine\"},"
        "{\"uuid\":\"d35379db-88df-4056-af3a-620245f8e347\"}],"
        "\"multiscales\":{\"version\":1e3,\"layout\":[\"odd\",{\"asset\":\"b\",\"note\":0.10,"
        "\"derived_from\":\"a\",\"transform\":{\"scale\":[2,2]}},{\"asset\":\"c\",\"x\":[1.50]}]}"
        "}");
    const zb_level_entry put = level("b", "a", two);
    zb_level_list list;
    zb_error err;
    ASSERT_OK(zb_level_list_put(group, &put, 1, &list, &err), err);
    assert_non_null(strstr(list.multiscales, "{\"layout\":[\"odd\",{\"asset\":\"b\","));
    assert_non_null(strstr(list.multiscales, "\"note\":0.10}"));
    assert_non_null(strstr(list.multiscales, "{\"asset\":\"c\",\"x\":[1.50]}"));
    assert_non_null(strstr(list.multiscales, "\"version\":1e3}"));
    assert_non_null(strstr(list.zarr_conventions, "{\"name\":\"mine\"}"));
    zb_level_list_clear(&list);
    zb_node_release(group);
}

static void test_lack_of_memory_is_told(void **state) {
    (void)state;
    static const double one[] = {1, 1}, two[] = {2, 2};
    zb_node *group = group_with(rows[4].attributes);
    const zb_nodes nodes = {node_at, group};
    const zb_level_entry put[] = {level("a", NULL, one), level("n", "a", two)};
    zb_strings gone = {.count = 0};
    zb_error err;
    size_t refused = 1;
    assert_true(zb_strings_add(&gone, "b"));
    for (size_t left = 0; refused > 0; left++) {
        zb_asset_lists lists;
        zb_level_list list, taken;
        starve_begin(left);
        const enum zb_code read = zb_group_pyramids(group, &nodes, &lists, &err);
        const enum zb_code written = zb_level_list_put(group, put, 2, &list, &err);
        const enum zb_code removed = zb_level_list_take_out(group, &gone, false, &taken, &err);
        refused = starve_end();
        if (refused > 0)
            assert_true(read == ZB_ENOMEM || written == ZB_ENOMEM || removed == ZB_ENOMEM ||
                        !zb_convention_holds(group, ZB_CONVENTION_SPATIAL, &nodes));
        zb_asset_lists_clear(&lists);
        zb_level_list_clear(&list);
        zb_level_list_clear(&taken);
    }
    zb_strings_clear(&gone);
    zb_node_release(group);
}

static int make(void **state) {
    (void)state;
    hierarchy = stores_new_mem();
    return 0;
}

static int end(void **state) {
    (void)state;
    zb_hierarchy_release(hierarchy);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_are_read),
        cmocka_unit_test(test_a_long_chain_is_one_family),
        cmocka_unit_test(test_entries_stand_in_the_order_of_sizes),
        cmocka_unit_test(test_what_others_wrote_stays),
        cmocka_unit_test(test_lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, make, end);
}
