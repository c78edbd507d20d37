/* SPDX-License-Identifier: MIT */
/* Creating nodes: the documents, refused specifications, the groups above, and leftovers. */
#include "support/store.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/hierarchy.h"

static const char golden_array[] = "{\n"
                                   "  \"shape\": [10, 20],\n"
                                   "  \"data_type\": \"int16\",\n"
                                   "  \"chunk_grid\": {\n"
                                   "    \"name\": \"regular\",\n"
                                   "    \"configuration\": {\n"
                                   "      \"chunk_shape\": [4, 5]\n"
                                   "    }\n"
                                   "  },\n"
                                   "  \"chunk_key_encoding\": {\n"
                                   "    \"name\": \"default\",\n"
                                   "    \"configuration\": {\n"
                                   "      \"separator\": \"/\"\n"
                                   "    }\n"
                                   "  },\n"
                                   "  \"fill_value\": 7,\n"
                                   "  \"codecs\": [\n"
                                   "    {\n"
                                   "      \"name\": \"bytes\",\n"
                                   "      \"configuration\": {\n"
                                   "        \"endian\": \"little\"\n"
                                   "      }\n"
                                   "    }\n"
                                   "  ],\n"
                                   "  \"attributes\": {},\n"
                                   "  \"zarr_format\": 3,\n"
                                   "  \"node_type\": \"array\",\n"
                                   "  \"storage_transformers\": []\n"
                                   "}\n";

static const char golden_group[] = "{\n"
                                   "  \"attributes\": {\n"
                                   "    \"b\": 1.50\n"
                                   "  },\n"
                                   "  \"zarr_format\": 3,\n"
                                   "  \"node_type\": \"group\"\n"
                                   "}\n";

static void test_golden(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *group = store_group(hierarchy, "", "{\"b\":1.50}");
    store_expect(hierarchy, "zarr.json", golden_group);
    zb_node *array = store_array(hierarchy, "a");
    store_expect(hierarchy, "a/zarr.json", golden_array);
    assert_string_equal(zb_node_path(array), "a");
    assert_int_equal(zb_node_array(array)->shape[1], 20);
    zb_node_release(array);
    zb_node_release(group);
    zb_hierarchy_release(hierarchy);
}

/* The codecs member, compact, of an array that was created from this specification. */
static char *codecs_of(const zb_array_spec *spec) {
    zb_hierarchy *hierarchy = store_new();
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_array_create(hierarchy, "", spec, &node, &err), err);
    char *text = zb_json_print(zb_json_get(zb_node_document(node), "codecs"));
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    return text;
}

static void expect_codecs(const zb_array_spec *spec, const char *expected) {
    char *text = codecs_of(spec);
    assert_string_equal(text, expected);
    free(text);
}

#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"

static void test_codecs(void **state) {
    (void)state;
    zb_array_spec spec = store_spec;
    spec.codecs = NULL;
    expect_codecs(&spec, "[" BYTES ",{\"name\":\"zstd\",\"configuration\":"
                         "{\"level\":3,\"checksum\":false}}]");
    spec.codecs = "[{\"name\":\"blosc\",\"configuration\":{\"clevel\":9,\"cname\":\"lz4\"}},"
                  "\"crc32c\"]";
    expect_codecs(&spec, "[" BYTES ",{\"name\":\"blosc\",\"configuration\":{\"typesize\":2,"
                         "\"cname\":\"lz4\",\"clevel\":9,\"shuffle\":\"shuffle\",\"blocksize\":0}},"
                         "{\"name\":\"crc32c\"}]");
    spec.codecs = "[{\"name\":\"gzip\"}]";
    spec.dtype.swapped = true;
    expect_codecs(&spec, "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},"
                         "{\"name\":\"gzip\",\"configuration\":{\"level\":5}}]");
    /* One byte has no order. */
    spec.codecs = "[]";
    spec.dtype = (zb_dtype){.kind = ZB_KIND_UINT, .size = 1};
    expect_codecs(&spec, "[{\"name\":\"bytes\"}]");
    spec.dtype = store_spec.dtype;
    spec.shard_shape = (const uint64_t[]){8, 20};
    expect_codecs(&spec, "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[4,5],"
                         "\"codecs\":[" BYTES "],\"index_codecs\":[" BYTES
                         ",{\"name\":\"crc32c\"}],\"index_location\":\"end\"}}]");
}

static void test_names_and_keys(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node;
    zb_error err;
    zb_array_spec spec = store_spec;
    spec.separator = '.';
    spec.dimension_names = (const char *const[]){"y \"quoted\"", NULL};
    spec.attributes = "{\"z\":1,\"a\":18446744073709551615}";
    ASSERT_OK(zb_array_create(hierarchy, "grün", &spec, &node, &err), err);
    const zb_array_info *info = zb_node_array(node);
    assert_string_equal(info->dimension_names[0], "y \"quoted\"");
    assert_null(info->dimension_names[1]);
    char *text = zb_json_print(zb_json_get(zb_node_document(node), "chunk_key_encoding"));
    assert_string_equal(text, "{\"name\":\"default\",\"configuration\":{\"separator\":\".\"}}");
    free(text);
    text = zb_json_print(zb_node_attributes(node));
    assert_string_equal(text, spec.attributes);
    free(text);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* Nothing is written when the specification does not work. */
static void expect_refused(const char *path, const zb_array_spec *spec, enum zb_code expected,
                           const char *message) {
    zb_hierarchy *hierarchy = store_new();
    zb_node *node;
    zb_error err;
    ASSERT_FAILS(zb_array_create(hierarchy, path, spec, &node, &err), expected, err, message);
    char *dump = store_dump(hierarchy);
    assert_string_equal(dump, "");
    free(dump);
    zb_hierarchy_release(hierarchy);
}

static void test_refused_specs(void **state) {
    (void)state;
    zb_array_spec spec = store_spec;
    spec.inner_shape = (const uint64_t[]){4, 0};
    expect_refused("a", &spec, ZB_EINVAL, "chunk_shape[1] is 0");
    spec = store_spec;
    spec.shard_shape = (const uint64_t[]){9, 20};
    expect_refused("a", &spec, ZB_EINVAL, "sharding_indexed");
    spec = store_spec;
    spec.codecs = "[\"lzma\"]";
    expect_refused("a", &spec, ZB_EUNSUPPORTED, "\"lzma\" is not supported");
    spec.codecs = "[{\"name\":\"zstd\",\"configuration\":{\"level\":99}}]";
    expect_refused("a", &spec, ZB_EINVAL, "level");
    spec.codecs = "[{\"name\":\"gzip\",\"configuration\":{\"speed\":1}}]";
    expect_refused("a", &spec, ZB_EINVAL, "no option \"speed\"");
#ifdef ZB_HAVE_ZFP /* what cannot be written is not created either */
    spec.codecs = "[{\"name\":\"zfp\",\"configuration\":{\"mode\":\"fixed_rate\",\"rate\":8}}]";
    expect_refused("a", &spec, ZB_EUNSUPPORTED, "fixed rate in other than three dimensions");
#endif
    spec.codecs = "{}";
    expect_refused("a", &spec, ZB_EINVAL, "expected a list");
    spec.codecs = "[";
    expect_refused("a", &spec, ZB_EINVAL, "codecs: ");
    spec = store_spec;
    spec.attributes = "[1]";
    expect_refused("a", &spec, ZB_EINVAL, "attributes is [1]");
    spec.attributes = "{\"x\":[{\"y\":NaN}]}";
    expect_refused("a", &spec, ZB_EINVAL, "NaN is no JSON");
    spec = store_spec;
    spec.separator = '-';
    expect_refused("a", &spec, ZB_EINVAL, "separator");
    spec = store_spec;
    spec.dtype.size = 3;
    expect_refused("a", &spec, ZB_EINVAL, "no data type");
    spec = store_spec;
    spec.dimension_names = (const char *const[]){"\xff", NULL};
    expect_refused("a", &spec, ZB_EINVAL, "UTF-8");
    spec = store_spec;
    spec.ndim = 33;
    expect_refused("a", &spec, ZB_ELIMIT, "ZB_MAX_NDIM");
}

static void test_refused_names(void **state) {
    (void)state;
    static const char *const bad[] = {
        "/a",
        "a/",
        "a//b",
        ".",
        "a/..",
        "...",
        "__a",
        "__a/b", /* a group would be made */
        "a/zarr.json/b",
        ".zgroup",
        "a/.zattrs",
        ".a.zb-lock",
        "a/.0.zb-journal/b",
        ".a.1-2.zarrbridge-new",
        ".zarrbridge-copy",
        "__attribute.0123456789abcdef",
        "a\\b",
        "a\nb",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_refused(bad[i], &store_spec, ZB_EINVAL, "path");
    expect_refused("\xc3", &store_spec, ZB_EINVAL, "UTF-8");
    assert_true(zb_name_is_reserved("zarr.json") && zb_name_is_reserved("__x"));
    assert_false(zb_name_is_reserved(".hidden") || zb_name_is_reserved("zarr.json2") ||
                 zb_name_is_reserved(".zb-lock"));
}

/* A dot hides nothing, and in a group of a reserved name, which others have made, nodes are made as
   in all. */
static void test_names_that_are_free(void **state) {
    (void)state;
    static const char *const good[] = {".hidden", "..a", ".zb-lock", ".git/x", "_", "a__", "__g/x"};
    zb_hierarchy *hierarchy = store_new();
    store_set(hierarchy, "__g/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        zb_node_release(store_array(hierarchy, good[i]));
    zb_hierarchy_release(hierarchy);
}

static void test_groups_above(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node = store_array(hierarchy, "a/b/c"), *other;
    zb_error err;
    char *group = store_text(hierarchy, "zarr.json");
    store_expect(hierarchy, "a/zarr.json", group);
    store_expect(hierarchy, "a/b/zarr.json", group);
    free(group);
    store_expect(hierarchy, "a/b/c/zarr.json", golden_array);
    zb_node_release(node);

    char *before = store_dump(hierarchy);
    ASSERT_FAILS(zb_group_create(hierarchy, "a/b/c", NULL, &other, &err), ZB_ECONFLICT, err,
                 "node at /a/b/c already");
    ASSERT_FAILS(zb_array_create(hierarchy, "a/b", &store_spec, &other, &err), ZB_ECONFLICT, err,
                 "node at /a/b already");
    ASSERT_FAILS(zb_group_create(hierarchy, "a/b/c/d/e", NULL, &other, &err), ZB_ECONFLICT, err,
                 "/a/b/c is no group");
    char *after = store_dump(hierarchy);
    assert_string_equal(before, after);
    free(before);
    free(after);
    zb_hierarchy_release(hierarchy);
}

/* Chunks left by a deletion that was killed do not become the new array's; other files stay. */
static void test_leftovers(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_error err;
    zb_node *node, *other;
    store_set(hierarchy, "a/c/0/0", "old");
    store_set(hierarchy, "a/c/700/0", "old");
    store_set(hierarchy, "a/c/x", "mine");
    store_set(hierarchy, "a/c/00/0", "mine");
    store_set(hierarchy, "a/readme", "mine");
    store_set(hierarchy, "a/0/0", "mine");
    node = store_array(hierarchy, "a");
    store_expect(hierarchy, "a/c/0/0", NULL);
    store_expect(hierarchy, "a/c/700/0", NULL);
    store_expect(hierarchy, "a/c/x", "mine");
    store_expect(hierarchy, "a/c/00/0", "mine");
    store_expect(hierarchy, "a/readme", "mine");
    store_expect(hierarchy, "a/0/0", "mine");
    zb_node_release(node);
    store_set(hierarchy, "g/deep/down/zarr.json", golden_group);
    ASSERT_FAILS(zb_array_create(hierarchy, "g", &store_spec, &other, &err), ZB_ECONFLICT, err,
                 "node below, /g/deep/down");
    zb_node_release(store_group(hierarchy, "g", NULL)); /* a group may come above them */
    zb_hierarchy_release(hierarchy);
}

/* Without a document, in a store where only consolidated metadata describe nodes. */
static void test_described_nodes(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_tree(true), *from = store_tree(false);
    zb_error err;
    zb_node *root, *other;
    static const char *const own[] = {"a/zarr.json", "b/zarr.json", "b/c/zarr.json",
                                      "b/D/zarr.json", "b/D/e/zarr.json"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        ASSERT_OK(zb_store_erase(zb_hierarchy_store(hierarchy), own[i], &err), err);
    store_set(hierarchy, "a/c/0/0", "chunk");
    char *before = store_dump(hierarchy);
    for (int opened = 0; opened < 2; opened++) {
        if (opened)
            ASSERT_OK(zb_node_open(hierarchy, "", &root, &err), err);
        ASSERT_FAILS(zb_array_create(hierarchy, "b/c", &store_spec, &other, &err), ZB_ECONFLICT,
                     err, "node at /b already, which only consolidated metadata describe");
        ASSERT_FAILS(zb_array_create(hierarchy, "a", &store_spec, &other, &err), ZB_ECONFLICT, err,
                     "node at /a already, which only consolidated metadata describe");
        ASSERT_FAILS(zb_group_create(hierarchy, "a", NULL, &other, &err), ZB_ECONFLICT, err,
                     "node at /a already");
        ASSERT_FAILS(zb_group_create(hierarchy, "b/new", NULL, &other, &err), ZB_ECONFLICT, err,
                     "node at /b already");
        ASSERT_FAILS(zb_node_copy(from, "b/c", hierarchy, "a", &err), ZB_ECONFLICT, err,
                     "node at /a already");
        ASSERT_FAILS(zb_group_create(hierarchy, "new", NULL, &other, &err), ZB_EUNSUPPORTED, err,
                     "only the consolidated metadata of / describe the nodes below it");
        ASSERT_FAILS(zb_node_copy(from, "b/c", hierarchy, "new", &err), ZB_EUNSUPPORTED, err,
                     "change a copy of the store");
    }
    char *after = store_dump(hierarchy);
    assert_string_equal(before, after);
    free(before);
    free(after);
    zb_node_release(root);
    zb_hierarchy_release(from);
    zb_hierarchy_release(hierarchy);
}

static void test_root_array(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_error err;
    zb_node *other;
    zb_node *node = store_array(hierarchy, "");
    store_expect(hierarchy, "zarr.json", golden_array);
    ASSERT_FAILS(zb_group_create(hierarchy, "a", NULL, &other, &err), ZB_ECONFLICT, err,
                 "no group");
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* Nodes that differ by their names alone share a document in memory, whichever store they are in,
   and each has all of it in its store. */
static void test_equal_documents(void **state) {
    (void)state;
    static const char one[] = "{\"a\": 1}", other[] = "{\"a\": 2}";
    zb_hierarchy *hierarchy = store_new(), *second = store_new();
    zb_node *first = store_group(hierarchy, "g", one),
            *differs = store_group(hierarchy, "h", other);
    zb_node *again = store_group(second, "i", one), *array = store_array(second, "j");
    assert_ptr_equal(zb_node_attributes(first), zb_node_attributes(again));
    assert_ptr_not_equal(zb_node_attributes(first), zb_node_attributes(differs));
    assert_string_equal(zb_json_number(zb_json_get(zb_node_attributes(differs), "a")), "2");
    zb_node_release(first);
    zb_hierarchy_release(hierarchy);
    assert_string_equal(zb_json_number(zb_json_get(zb_node_attributes(again), "a")), "1");
    store_expect(second, "j/zarr.json", golden_array);
    zb_node_release(store_array(second, "k"));
    store_expect(second, "k/zarr.json", golden_array);
    zb_node_release(differs);
    zb_node_release(again);
    zb_node_release(array);
    zb_hierarchy_release(second);
}

/* Attributes that are a whole object only together with the text around them, each time. */
static void test_attributes_out_of_bounds(void **state) {
    (void)state;
    static const char *const texts[] = {"{},\"x\":{}", "{}}", "{\"a\": NaN}", "[]", ""};
    zb_hierarchy *hierarchy = store_new();
    for (size_t i = 0; i < 2 * sizeof texts / sizeof *texts; i++) {
        zb_node *node;
        zb_error err;
        zb_array_spec spec = store_spec;
        spec.attributes = texts[i / 2];
        ASSERT_FAILS(zb_group_create(hierarchy, "g", texts[i / 2], &node, &err), ZB_EINVAL, err,
                     "attributes");
        ASSERT_FAILS(zb_array_create(hierarchy, "a", &spec, &node, &err), ZB_EINVAL, err,
                     "attributes");
    }
    /* Not even where the text would be that of another array. */
    zb_node *node;
    zb_error err;
    zb_array_spec spec = store_spec;
    spec.attributes = "{}";
    spec.dimension_names = (const char *const[]){"x", "y"};
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    zb_node_release(node);
    spec.attributes = "{},\"dimension_names\":[\"x\",\"y\"]";
    spec.dimension_names = NULL;
    ASSERT_FAILS(zb_array_create(hierarchy, "b", &spec, &node, &err), ZB_EINVAL, err, "attributes");
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),          cmocka_unit_test(test_codecs),
        cmocka_unit_test(test_names_and_keys),  cmocka_unit_test(test_refused_specs),
        cmocka_unit_test(test_refused_names),   cmocka_unit_test(test_names_that_are_free),
        cmocka_unit_test(test_groups_above),    cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_root_array),      cmocka_unit_test(test_described_nodes),
        cmocka_unit_test(test_equal_documents), cmocka_unit_test(test_attributes_out_of_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
