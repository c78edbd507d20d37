/* SPDX-License-Identifier: MIT */
/* Nodes of version 2: which documents make a node, what is listed, what is refused. */
#include "support/store.h"
#include "zarrbridge/check.h"
#include "zarrbridge/sys/hierarchy.h"

#define ZARRAY(members)                                                                            \
    "{\"zarr_format\":2,\"shape\":[4],\"chunks\":[2],\"dtype\":\"<i2\",\"compressor\":null,"       \
    "\"fill_value\":7,\"order\":\"C\",\"filters\":null" members "}"
#define ZGROUP "{\"zarr_format\":2}"

static const char group3[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";

/* A group of version 2 with an array, a group without a document, and nodes of version 3. */
static zb_hierarchy *mixed(void) {
    zb_hierarchy *hierarchy = store_new();
    store_set(hierarchy, ".zgroup", ZGROUP);
    store_set(hierarchy, ".zattrs", "{\"title\":\"t\",\"n\":NaN}");
    store_set(hierarchy, "a/.zarray", ZARRAY(""));
    store_set(hierarchy, "a/.zattrs", "{\"_ARRAY_DIMENSIONS\":[\"x\"],\"units\":\"m\"}");
    assert_int_equal(zb_store_mem_set(zb_hierarchy_store(hierarchy), "a/0", "\1\0\2\0", 4, NULL),
                     ZB_OK);
    store_set(hierarchy, "deep/er/b/.zarray", ZARRAY(""));
    store_set(hierarchy, "three/zarr.json", group3);
    store_set(hierarchy, "three/.zgroup", "{\"zarr_format\":9}");
    store_set(hierarchy, "three/c/.zarray", ZARRAY(""));
    store_set(hierarchy, "bad/.zarray", "{\"zarr_format\":2}");
    store_set(hierarchy, "files/x", "nothing");
    return hierarchy;
}

static int append_name(void *context, const char *name) {
    char *line = context;
    size_t used = strlen(line);
    snprintf(line + used, 256 - used, "%s%s", used ? " " : "", name);
    return 0;
}

static char *names_of(zb_hierarchy *hierarchy, const char *path) {
    static char line[256];
    zb_node *node;
    zb_error err;
    line[0] = '\0';
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    ASSERT_OK(zb_group_names(node, append_name, line, &err), err);
    zb_node_release(node);
    return line;
}

static char *children_of(zb_hierarchy *hierarchy, const char *path) {
    static char line[256];
    zb_node *node;
    zb_children children;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    ASSERT_OK(zb_group_children(node, &children, &err), err);
    size_t used = 0;
    line[0] = '\0';
    for (size_t i = 0; i < children.count; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s%s", i ? " " : "",
                                 children.child[i].name, children.child[i].node ? "" : "!");
    zb_children_free(&children);
    zb_node_release(node);
    return line;
}

static void finds_nodes_of_both_versions(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = mixed();
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, "", &node, &err), err);
    assert_int_equal(zb_node_format(node), 2);
    assert_string_equal(zb_json_string(zb_json_get(zb_node_attributes(node), "title")), "t");
    assert_string_equal(zb_json_string(zb_json_get(zb_node_attributes(node), "n")), "NaN");
    zb_node_release(node);
    assert_string_equal(children_of(hierarchy, ""), "a bad! deep three");
    assert_string_equal(children_of(hierarchy, "deep"), "er");
    assert_string_equal(children_of(hierarchy, "deep/er"), "b");
    assert_string_equal(children_of(hierarchy, "three"), "c");
    assert_string_equal(names_of(hierarchy, ""), "a bad deep three");
    assert_string_equal(names_of(hierarchy, "deep"), "er");
    ASSERT_OK(zb_node_open(hierarchy, "three", &node, &err), err);
    assert_int_equal(zb_node_format(node), 3);
    zb_node_release(node);
    ASSERT_FAILS(zb_node_open(hierarchy, "bad", &node, &err), ZB_EFORMAT, err,
                 "store test, node /bad: .zarray: shape is missing");
    ASSERT_FAILS(zb_node_open(hierarchy, "files", &node, &err), ZB_ENOTFOUND, err, "zarr.json");
    ASSERT_FAILS(zb_node_open(hierarchy, "none", &node, &err), ZB_ENOTFOUND, err, "zarr.json");
    zb_hierarchy_release(hierarchy);
}

static void reads_an_array(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = mixed();
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, "a", &node, &err), err);
    const zb_array_info *info = zb_node_array(node);
    assert_string_equal(info->dimension_names[0], "x");
    assert_null(zb_json_get(zb_node_attributes(node), "_ARRAY_DIMENSIONS"));
    int16_t out[4];
    zb_read read = {.node = node, .view = {.data = out, .dtype = info->dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    assert_int_equal(out[0] + 10 * out[1] + 100 * out[2] + 1000 * out[3], 7721);
    /* An array that was replaced is another one, a changed attribute changes nothing. */
    store_set(hierarchy, "a/.zattrs", "{}");
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    store_set(hierarchy, "a/.zarray", ZARRAY(",\"dimension_separator\":\"/\""));
    ASSERT_FAILS(zb_array_read(&read, 1, &err), ZB_ECONFLICT, err, "another node");
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* Where the store cannot list, consolidated metadata give the names. */
/* What Python writes and reads, in the attributes of the root and of an array: shown as in version
   3. */
static void strange_attributes_keep_no_node_from_being_read(void **state) {
    (void)state;
    char deep[200] = "{\"d\":", *end = deep + strlen(deep);
    for (int i = 0; i < 40; i++)
        *end++ = '[';
    *end++ = '1';
    for (int i = 0; i < 40; i++)
        *end++ = ']';
    strcpy(end, "}");
    const struct {
        const char *zattrs, *shown; /* NULL: the same */
    } rows[] = {
        {"{\"a\":\"x\\u0000y\",\"b\\u0000\":[\"\\ud800\",{\"\\ude00\":NaN}]}",
         "{\"a\":\"x\\u0000y\",\"b\\u0000\":[\"\\ud800\",{\"\\ude00\":\"NaN\"}]}"},
        {"{\"a\":1,\"b\":2,\"a\":{\"c\":3,\"c\":4}}", "{\"b\":2,\"a\":{\"c\":4}}"},
        {deep, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const char *const nodes[] = {"", "a"};
        zb_hierarchy *hierarchy = mixed();
        store_set(hierarchy, ".zattrs", rows[i].zattrs);
        store_set(hierarchy, "a/.zattrs", rows[i].zattrs);
        for (int n = 0; n < 2; n++) {
            zb_node *node;
            zb_error err;
            ASSERT_OK(zb_node_open(hierarchy, nodes[n], &node, &err), err);
            char *text = zb_json_print(zb_node_attributes(node));
            const char *shown = rows[i].shown ? rows[i].shown : rows[i].zattrs;
            if (strncmp(text, shown, strlen(shown) - 1) != 0) /* an array has a _FillValue, too */
                fail_msg("%s\n%s", text, shown);
            free(text);
            zb_node_release(node);
        }
        assert_string_equal(names_of(hierarchy, ""), "a bad deep three");
        zb_hierarchy_release(hierarchy);
    }
}

static void lists_by_consolidated_metadata(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = mixed();
    zb_hierarchy_store(hierarchy)->hints.can_list = false;
    store_set(hierarchy, ".zmetadata",
              "{\"zarr_consolidated_format\":1,\"metadata\":{\".zgroup\":{},\".zattrs\":{},"
              "\"a/.zarray\":{},\"a/.zattrs\":{},\"deep/er/b/.zarray\":{},\"gone/.zgroup\":{},"
              "\"three/.zgroup\":{},\"three/.zarray\":{}}}");
    assert_string_equal(children_of(hierarchy, ""), "a three");
    zb_hierarchy_release(hierarchy);
}

static void refuses_changes(void **state) {
    (void)state;
    static const char way_out[] = "`zarrbridge copy`";
    zb_hierarchy *hierarchy = mixed();
    char *before = store_dump(hierarchy);
    zb_node *array, *group, *out;
    zb_writer *writer;
    zb_error err;
    const uint64_t shape[] = {8};
    const zb_array_spec spec = {
        .ndim = 1, .shape = shape, .inner_shape = shape, .dtype = {.kind = ZB_KIND_INT, .size = 2}};
    ASSERT_OK(zb_node_open(hierarchy, "a", &array, &err), err);
    ASSERT_OK(zb_node_open(hierarchy, "", &group, &err), err);
    ASSERT_FAILS(zb_writer_open(array, NULL, &writer, &err), ZB_EUNSUPPORTED, err, way_out);
    ASSERT_FAILS(zb_array_resize(array, shape, &out, &err), ZB_EUNSUPPORTED, err, way_out);
    ASSERT_FAILS(zb_array_compact(array, ZB_SYNC_NONE, NULL, &err), ZB_EUNSUPPORTED, err, way_out);
    ASSERT_FAILS(zb_array_set_dimension_names(array, NULL, &out, &err), ZB_EUNSUPPORTED, err,
                 way_out);
    ASSERT_FAILS(zb_node_set_attribute(group, "x", "1", &out, &err), ZB_EUNSUPPORTED, err, way_out);
    ASSERT_FAILS(zb_group_create(hierarchy, "", NULL, &out, &err), ZB_EUNSUPPORTED, err, way_out);
    ASSERT_FAILS(zb_group_create(hierarchy, "new", NULL, &out, &err), ZB_EUNSUPPORTED, err,
                 way_out);
    ASSERT_FAILS(zb_group_create(hierarchy, "deep", NULL, &out, &err), ZB_EUNSUPPORTED, err,
                 way_out);
    ASSERT_FAILS(zb_array_create(hierarchy, "three/c", &spec, &out, &err), ZB_EUNSUPPORTED, err,
                 way_out);
    for (size_t i = 0; i < 3; i++) {
        static const char *const paths[] = {"", "a", "deep"};
        ASSERT_FAILS(zb_node_delete(hierarchy, paths[i], &err), ZB_EUNSUPPORTED, err, way_out);
        ASSERT_FAILS(zb_node_move(hierarchy, paths[i], "three/new", &err), ZB_EUNSUPPORTED, err,
                     way_out);
    }
    char *after = store_dump(hierarchy);
    assert_string_equal(before, after);
    free(before);
    free(after);
    zb_node_release(array);
    zb_node_release(group);
    zb_hierarchy_release(hierarchy);
}

/* Each document has the limit document_bytes, and all of a node together. */
static void bounds_documents(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = mixed();
    zb_node *node;
    zb_error err;
    size_t limit = (size_t)zb_limits_get()->document_bytes;
    char *text = malloc(limit + 16);
    assert_non_null(text);
    memset(text, ' ', limit + 15);
    memcpy(text, "{\"a\":1", 6);
    text[limit + 14] = '}';
    text[limit + 15] = '\0';
    store_set(hierarchy, "a/.zattrs", text);
    ASSERT_FAILS(zb_node_open(hierarchy, "a", &node, &err), ZB_ELIMIT, err, "limit document_bytes");
    memset(text, 'x', limit + 15);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + limit - 2, "\"}", 3);
    store_set(hierarchy, "a/.zattrs", text);
    ASSERT_FAILS(zb_node_open(hierarchy, "a", &node, &err), ZB_ELIMIT, err, "limit document_bytes");
    free(text);
    zb_hierarchy_release(hierarchy);
}

static int count_finding(void *context, const zb_finding *finding) {
    ++*(size_t *)context;
    print_message("%s: %s\n", finding->key, finding->message);
    return 0;
}

static void verifies_chunks(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_verify_summary sum;
    zb_error err;
    size_t findings = 0;
    store_set(hierarchy, ".zgroup", ZGROUP);
    store_set(hierarchy, ".zmetadata", "{}");
    store_set(hierarchy, "a/.zarray", ZARRAY(""));
    store_set(hierarchy, "a/.zattrs", "{}");
    assert_int_equal(zb_store_mem_set(zb_hierarchy_store(hierarchy), "a/1", "\1\0\2\0", 4, &err),
                     ZB_OK);
    ASSERT_OK(zb_hierarchy_verify(hierarchy, count_finding, &findings, &sum, &err), err);
    assert_int_equal(findings, 0);
    assert_int_equal(sum.nodes, 2);
    assert_int_equal(sum.objects, 1);
    store_set(hierarchy, "a/0", "1");            /* truncated */
    store_set(hierarchy, "a/2", "1234");         /* beyond the edge */
    store_set(hierarchy, "a/b/.zgroup", ZGROUP); /* below an array */
    store_set(hierarchy, "other/.zarray", "{");  /* no document */
    ASSERT_OK(zb_hierarchy_verify(hierarchy, count_finding, &findings, &sum, &err), err);
    assert_int_equal(findings, 4);
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_nodes_of_both_versions),
        cmocka_unit_test(reads_an_array),
        cmocka_unit_test(strange_attributes_keep_no_node_from_being_read),
        cmocka_unit_test(lists_by_consolidated_metadata),
        cmocka_unit_test(refuses_changes),
        cmocka_unit_test(bounds_documents),
        cmocka_unit_test(verifies_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
