/* SPDX-License-Identifier: MIT */
/* Changing nodes: attributes, deleting, copying, moving; consolidated metadata at every step. */
#include "support/store.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/hierarchy.h"

/* Every call below is followed by a look at the root's block, if any, against the store. */

static zb_node *open_node(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    return node;
}

static void set(zb_hierarchy *hierarchy, const char *path, const char *name, const char *value) {
    zb_node *node = open_node(hierarchy, path), *changed;
    zb_error err;
    ASSERT_OK(zb_node_set_attribute(node, name, value, &changed, &err), err);
    const zb_json *now = zb_json_get(zb_node_attributes(changed), name);
    assert_true(!now == !value);
    if (value) {
        char *text = zb_json_print(now);
        assert_string_equal(text, value);
        free(text);
    }
    store_check_consolidated(hierarchy);
    zb_node_release(changed);
    zb_node_release(node);
}

/* ---- Attributes --------------------------------------------------------------------------- */

/* By another writer, with things that must survive: order, escapes, numbers, white space, unknown
   members. */
#define STRANGE                                                                                    \
    "{\"zarr_format\":3, \"x-more\": {\"must_understand\":false, \"k\" : [ 1.0e+2 ]},\n"           \
    "\t\"attributes\" : {\"z\\u00e9\":1.000, \"a\":%s\"last\":18446744073709551616},\r\n"          \
    "\"node_type\":\"group\" , \"consolidated_metadata\": null}"

static char *strange(const char *middle) {
    size_t size = sizeof STRANGE + strlen(middle);
    char *text = malloc(size);
    snprintf(text, size, STRANGE, middle);
    return text;
}

static void test_attributes_keep_the_rest(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    char *before = strange("[], ");
    /* In a document with line breaks a new value has them, too. */
    char *expected = strange("{\n      \"b\": null\n    }, ");
    store_set(hierarchy, "a/zarr.json", before);
    set(hierarchy, "a", "a", "{\"b\":null}");
    store_expect(hierarchy, "a/zarr.json", expected);
    set(hierarchy, "a", "new", "1.50");
    set(hierarchy, "a", "new", NULL);
    store_expect(hierarchy, "a/zarr.json", expected);
    set(hierarchy, "a", "a", "[]");
    store_expect(hierarchy, "a/zarr.json", before);
    free(before);
    free(expected);
    zb_hierarchy_release(hierarchy);
}

static void test_attributes_are_made(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    store_set(hierarchy, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    set(hierarchy, "", "x", "\"1\"");
    store_expect(hierarchy, "zarr.json",
                 "{\"attributes\":{\"x\":\"1\"},\"zarr_format\":3,\"node_type\":\"group\"}");
    store_set(hierarchy, "zarr.json",
              "{\"zarr_format\":3,\"attributes\":null,\"node_type\":\"group\"}");
    set(hierarchy, "", "x", "\"1\"");
    store_expect(hierarchy, "zarr.json",
                 "{\"zarr_format\":3,\"attributes\":{\"x\":\"1\"},\"node_type\":\"group\"}");
    zb_hierarchy_release(hierarchy);
}

static void test_attribute_errors(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node = store_group(hierarchy, "a", "{\"x\":1}"), *out;
    zb_error err;
    ASSERT_FAILS(zb_node_set_attribute(node, "y", NULL, &out, &err), ZB_ENOTFOUND, err,
                 "no attribute \"y\"");
    ASSERT_FAILS(zb_node_set_attribute(node, "y", "{", &out, &err), ZB_EINVAL, err, "value");
    ASSERT_FAILS(zb_node_set_attribute(node, "y", "[Infinity]", &out, &err), ZB_EINVAL, err,
                 "Infinity is no JSON");
    ASSERT_FAILS(zb_node_set_attribute(node, "\xff", "1", &out, &err), ZB_EINVAL, err, "UTF-8");
    ASSERT_OK(zb_node_delete(hierarchy, "a", &err), err);
    ASSERT_FAILS(zb_node_set_attribute(node, "y", "1", &out, &err), ZB_ENOTFOUND, err, "/a");
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* All in one change of the document, or none. */
static void test_many_attributes(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node = store_group(hierarchy, "a", "{\"x\":1,\"y\":[1, 2.50]}"), *changed, *out;
    zb_error err;
    const zb_attribute_edit good[] = {
        {.name = "x"},
        {.name = "n", .value = "{}", .checked = true},
        {.name = "x", .value = "2"},
        {.name = "y", .value = "3", .checked = true, .former = "[1,2.50]"}};
    ASSERT_OK(zb_node_set_attributes(node, good, 4, &changed, &err), err);
    char *text = zb_json_print(zb_node_attributes(changed));
    assert_string_equal(text, "{\"y\":3,\"n\":{},\"x\":2}");
    free(text);
    const struct {
        zb_attribute_edit bad;
        enum zb_code code;
        const char *words;
    } rows[] = {
        {{.name = "z"}, ZB_ENOTFOUND, "no attribute \"z\""},
        {{.name = "z", .value = "{"}, ZB_EINVAL, "value"},
        {{.name = "\xff", .value = "1"}, ZB_EINVAL, "UTF-8"},
        {{.name = "y", .value = "4", .checked = true, .former = "2"}, ZB_ECONFLICT, "meanwhile"},
        {{.name = "y", .value = "4", .checked = true}, ZB_ECONFLICT, "meanwhile"},
        {{.name = "z", .value = "4", .checked = true, .former = "2"}, ZB_ECONFLICT, "meanwhile"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const zb_attribute_edit edits[] = {{.name = "x", .value = "7"}, rows[i].bad};
        ASSERT_FAILS(zb_node_set_attributes(node, edits, 2, &out, &err), rows[i].code, err,
                     rows[i].words);
    }
    ASSERT_FAILS(zb_node_set_attributes(node, NULL, 0, &out, &err), ZB_EINVAL, err, "attribute");
    zb_node *now = open_node(hierarchy, "a");
    text = zb_json_print(zb_node_attributes(now));
    assert_string_equal(text, "{\"y\":3,\"n\":{},\"x\":2}");
    free(text);
    zb_node_release(now);
    zb_node_release(changed);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static void name_dimensions(zb_hierarchy *hierarchy, const char *const *names,
                            const char *expected) {
    zb_node *node = open_node(hierarchy, "a"), *changed;
    zb_error err;
    ASSERT_OK(zb_array_set_dimension_names(node, names, &changed, &err), err);
    store_expect(hierarchy, "a/zarr.json", expected);
    store_check_consolidated(hierarchy);
    const zb_array_info *info = zb_node_array(changed);
    assert_true(!info->dimension_names == !names);
    zb_node_release(changed);
    zb_node_release(node);
}

/* By another writer, with and without names. */
#define NAMELESS(members)                                                                          \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[2,3],\"data_type\":\"int8\","           \
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2,3]}},"             \
    "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":0,\"codecs\":[{\"name\":"        \
    "\"bytes\"}]," members "\"attributes\":{}}"

static void test_dimension_names(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_error err;
    zb_node *group, *out;
    const char *some[] = {"y \"1\"", NULL}, *bad[] = {"\xff", "x"};
    store_set(hierarchy, "a/zarr.json", NAMELESS(""));
    name_dimensions(hierarchy, some, NAMELESS("\"dimension_names\":[\"y \\\"1\\\"\",null],"));
    name_dimensions(hierarchy, NULL, NAMELESS(""));
    zb_node *array = open_node(hierarchy, "a");
    ASSERT_FAILS(zb_array_set_dimension_names(array, bad, &out, &err), ZB_EINVAL, err, "/a");
    /* Two programs, neither of which knows of the other's name. */
    const char *x[] = {NULL, "x"}, *y[] = {"y", NULL};
    name_dimensions(hierarchy, x, NAMELESS("\"dimension_names\":[null,\"x\"],"));
    ASSERT_OK(zb_array_set_dimension_names(array, y, &out, &err), err);
    store_expect(hierarchy, "a/zarr.json", NAMELESS("\"dimension_names\":[\"y\",\"x\"],"));
    zb_node_release(array);
    zb_node_release(out);
    group = store_group(hierarchy, "g", NULL);
    ASSERT_FAILS(zb_array_set_dimension_names(group, some, &out, &err), ZB_EINVAL, err,
                 "is a group");
    zb_node_release(group);
    zb_hierarchy_release(hierarchy);
}

/* The node was opened before another process changed the document. */
static void test_attributes_of_others_stay(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *early = store_group(hierarchy, "a", NULL), *changed;
    zb_error err;
    set(hierarchy, "a", "theirs", "1");
    ASSERT_OK(zb_node_set_attribute(early, "ours", "2", &changed, &err), err);
    char *text = zb_json_print(zb_node_attributes(changed));
    assert_string_equal(text, "{\"theirs\":1,\"ours\":2}");
    free(text);
    assert_null(zb_json_get(zb_node_attributes(early), "theirs"));
    zb_node_release(changed);
    zb_node_release(early);
    zb_hierarchy_release(hierarchy);
}

/* What a document's tree cannot hold stays in the text, and in a block of consolidated metadata;
   removing a name removes it as often as it stands there. */
static void test_strange_attributes_stay(void **state) {
    (void)state;
    static const char before[] =
        "{\"attributes\":{\"n\":\"a\\u0000\",\"twice\":1,\"x\":2,\"twice\":3,\"\\udc00\":4},"
        "\"zarr_format\":3,\"node_type\":\"group\"}";
    static const char after[] = "{\"attributes\":{\"n\":\"a\\u0000\",\"x\":[5],\"\\udc00\":4},"
                                "\"zarr_format\":3,\"node_type\":\"group\"}";
    zb_hierarchy *hierarchy = store_tree(true);
    store_set(hierarchy, "s/zarr.json", before);
    set(hierarchy, "s", "x", "[5]");
    set(hierarchy, "s", "twice", NULL);
    store_expect(hierarchy, "s/zarr.json", after);
    char *text = store_text(hierarchy, "zarr.json");
    assert_non_null(
        strstr(text, "\"s\":{\"attributes\":{\"n\":\"a\\u0000\",\"x\":[5],\"\\udc00\":4}"));
    set(hierarchy, "b", "other", "2"); /* the entry of s goes from the old block into the new one */
    free(text);
    text = store_text(hierarchy, "zarr.json");
    assert_non_null(
        strstr(text, "\"s\":{\"attributes\":{\"n\":\"a\\u0000\",\"x\":[5],\"\\udc00\":4}"));
    free(text);
    zb_hierarchy_release(hierarchy);
}

/* ---- Consolidated metadata ---------------------------------------------------------------- */

static bool has_block(zb_hierarchy *hierarchy) {
    char *text = store_text(hierarchy, "zarr.json");
    bool found = text && strstr(text, "\"consolidated_metadata\":");
    free(text);
    return found;
}

static void test_consolidated(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_tree(true);
    zb_error err;
    store_check_consolidated(hierarchy);
    zb_node_release(store_array(hierarchy, "x/y/z"));
    store_check_consolidated(hierarchy);
    zb_node_release(store_group(hierarchy, "b/A", "{\"q\":[1,{\"r\":2}]}"));
    store_check_consolidated(hierarchy);
    set(hierarchy, "a", "units", "\"K\"");
    set(hierarchy, "", "title", "\"root\"");
    zb_node *node = open_node(hierarchy, "b/D/e"), *changed;
    ASSERT_OK(zb_array_resize(node, (const uint64_t[]){11, 20}, &changed, &err), err);
    store_check_consolidated(hierarchy);
    zb_node_release(node);
    zb_node_release(changed);
    ASSERT_OK(zb_node_copy(hierarchy, "b", hierarchy, "x/b", &err), err);
    store_check_consolidated(hierarchy);
    ASSERT_OK(zb_node_move(hierarchy, "x/b/D", "m", &err), err);
    store_check_consolidated(hierarchy);
    ASSERT_OK(zb_node_delete(hierarchy, "b", &err), err);
    store_check_consolidated(hierarchy);
    assert_true(has_block(hierarchy));
    zb_hierarchy_release(hierarchy);
}

/* A block below the root is kept current, too; a block for which that fails is dropped. */
static void test_other_blocks(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *hierarchy = store_new();
    store_set(hierarchy, "zarr.json",
              "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":"
              "{\"kind\":\"remote\",\"must_understand\":false,\"metadata\":{}}}");
    store_set(hierarchy, "g/zarr.json",
              "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":"
              "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{}}}");
    zb_node_release(store_group(hierarchy, "g/h", NULL));
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
    store_expect(hierarchy, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    store_expect(hierarchy, "g/zarr.json",
                 "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":"
                 "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{\"h\":"
                 "{\"attributes\":{},\"zarr_format\":3,\"consolidated_metadata\":"
                 "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{}},"
                 "\"node_type\":\"group\"}}}}");
    zb_hierarchy_release(hierarchy);
}

/* ---- Deleting, copying, moving ------------------------------------------------------------ */

static void test_delete(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_tree(false);
    zb_error err;
    ASSERT_FAILS(zb_node_delete(hierarchy, "b/x", &err), ZB_ENOTFOUND, err, "deleting /b/x");
    ASSERT_OK(zb_node_delete(hierarchy, "b/c", &err), err);
    store_expect(hierarchy, "b/c/c/0/0", NULL);
    store_expect(hierarchy, "b/c/zarr.json", NULL);
    char *kept = store_text(hierarchy, "b/D/e/zarr.json");
    assert_non_null(kept);
    free(kept);
    /* At the root only nodes go. */
    store_set(hierarchy, "readme", "mine");
    store_set(hierarchy, "docs/readme", "mine");
    ASSERT_OK(zb_node_delete(hierarchy, "", &err), err);
    char *dump = store_dump(hierarchy);
    assert_string_equal(dump, "docs/readme\nmine\nreadme\nmine\n");
    free(dump);
    zb_node_release(store_array(hierarchy, ""));
    store_set(hierarchy, "c/1/1", "chunk");
    ASSERT_OK(zb_node_delete(hierarchy, "", &err), err);
    dump = store_dump(hierarchy);
    assert_string_equal(dump, "docs/readme\nmine\nreadme\nmine\n");
    free(dump);
    zb_hierarchy_release(hierarchy);
}

/* The same bytes, also of nodes that cannot be opened, and in another store. */
static void test_copy(void **state) {
    (void)state;
    zb_hierarchy *from = store_tree(false), *to = store_new();
    zb_error err;
    store_set(from, "b/u/zarr.json", "{ \"zarr_format\":3,\"node_type\":\"array\", \"new\":1 }");
    store_set(from, "b/u/c/0", "bytes");
    ASSERT_OK(zb_node_copy(from, "", to, "", &err), err);
    char *a = store_dump(from);
    char *b = store_dump(to);
    assert_string_equal(a, b);
    free(b);
    ASSERT_FAILS(zb_node_copy(from, "b", to, "b", &err), ZB_ECONFLICT, err, "already");
    ASSERT_FAILS(zb_node_copy(from, "q", to, "r", &err), ZB_ENOTFOUND, err, "no node /q");
    ASSERT_FAILS(zb_node_copy(from, "b", from, "b/D/f", &err), ZB_EINVAL, err, "within");
    ASSERT_FAILS(zb_node_copy(from, "b", to, "__b", &err), ZB_EINVAL, err, "path");
    b = store_dump(to);
    assert_string_equal(a, b);
    free(a);
    free(b);
    /* Chunks without a document at the target do not become the copy's, and are erased where a
       killed copy has left them. */
    store_set(to, "n/a/c/1/0", "old");
    ASSERT_FAILS(zb_node_copy(from, "a", to, "n/a", &err), ZB_ECONFLICT, err, "no node");
    store_set(to, "n/a/.zarrbridge-copy", "");
    ASSERT_OK(zb_node_copy(from, "a", to, "n/a", &err), err);
    store_expect(to, "n/a/c/1/0", NULL);
    store_expect(to, "n/a/.zarrbridge-copy", NULL);
    zb_hierarchy_release(from);
    zb_hierarchy_release(to);
}

/* Chunks without an array, and nodes beside the marker of a copy, were left by a killed process. */
static void test_copy_to_left_overs(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_tree(false), *expected = store_tree(false);
    zb_error err;
    ASSERT_OK(zb_node_copy(expected, "b", expected, "n/m", &err), err);
    store_set(hierarchy, "n/m/c/c/1/1", "of a deleted array");
    store_set(hierarchy, "n/m/.zarrbridge-copy", "");
    char *document = store_text(hierarchy, "b/c/zarr.json");
    store_set(hierarchy, "n/m/old/zarr.json", document);
    free(document);
    ASSERT_OK(zb_node_copy(hierarchy, "b", hierarchy, "n/m", &err), err);
    char *now = store_dump(hierarchy), *then = store_dump(expected);
    assert_string_equal(now, then);
    free(now);
    free(then);
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(expected);
}

/* Without its own document, but with nodes below, a group can be deleted again. */
static void test_delete_again(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_tree(false);
    zb_error err;
    ASSERT_OK(zb_store_erase(zb_hierarchy_store(hierarchy), "b/zarr.json", &err), err);
    ASSERT_OK(zb_node_delete(hierarchy, "b", &err), err);
    store_expect(hierarchy, "b/c/zarr.json", NULL);
    store_expect(hierarchy, "b/D/e/c/1/1", NULL);
    ASSERT_FAILS(zb_node_delete(hierarchy, "b", &err), ZB_ENOTFOUND, err, "no node");
    zb_hierarchy_release(hierarchy);
}

static void test_move(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_tree(false), *expected = store_tree(false);
    zb_error err;
    ASSERT_OK(zb_node_copy(expected, "b", expected, "new/place", &err), err);
    ASSERT_OK(zb_node_delete(expected, "b", &err), err);
    ASSERT_OK(zb_node_move(hierarchy, "b", "new/place", &err), err);
    char *a = store_dump(hierarchy), *b = store_dump(expected);
    assert_string_equal(a, b);
    store_expect(hierarchy, "new/place/c/c/0/0", "chunk");
    free(a);
    free(b);
    ASSERT_FAILS(zb_node_move(hierarchy, "a", "new", &err), ZB_ECONFLICT, err, "already");
    ASSERT_FAILS(zb_node_move(hierarchy, "a", "a", &err), ZB_EINVAL, err, "within");
    zb_hierarchy_release(hierarchy);
    zb_hierarchy_release(expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes_keep_the_rest),
        cmocka_unit_test(test_attributes_are_made),
        cmocka_unit_test(test_attribute_errors),
        cmocka_unit_test(test_many_attributes),
        cmocka_unit_test(test_dimension_names),
        cmocka_unit_test(test_attributes_of_others_stay),
        cmocka_unit_test(test_strange_attributes_stay),
        cmocka_unit_test(test_consolidated),
        cmocka_unit_test(test_other_blocks),
        cmocka_unit_test(test_delete),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_copy_to_left_overs),
        cmocka_unit_test(test_delete_again),
        cmocka_unit_test(test_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
