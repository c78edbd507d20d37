/* SPDX-License-Identifier: MIT */
/* Opening nodes: one small read, both size limits, errors that name the place once. */
#include "node/node.h"
#include "support/sample.h"
#include "support/wrappers.h"

#include <errno.h>

#include "array/array.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

static zb_hierarchy *new_store(void) {
    zb_hierarchy *hierarchy;
    assert_int_equal(zb_hierarchy_new_mem("test", &hierarchy, NULL), ZB_OK);
    return hierarchy;
}

static void set(zb_hierarchy *hierarchy, const char *key, const char *text) {
    assert_int_equal(zb_store_mem_set(zb_hierarchy_store(hierarchy), key, text, strlen(text), NULL),
                     ZB_OK);
}

static void opens_by_path(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store();
    char *group = sample_group("", NULL);
    char *array = sample_array("", NULL);
    set(hierarchy, "zarr.json", group);
    set(hierarchy, "a/zarr.json", group);
    set(hierarchy, "a/t/zarr.json", array);
    static const char *const rows[][2] = {{"", ""}, {"a", "a"}, {"a/t", "t"}};
    for (size_t i = 0; i < 3; i++) {
        zb_node *node;
        assert_int_equal(zb_node_open(hierarchy, rows[i][0], &node, NULL), ZB_OK);
        assert_ptr_equal(zb_node_hierarchy(node), hierarchy);
        assert_string_equal(zb_node_path(node), rows[i][0]);
        assert_string_equal(zb_node_name(node), rows[i][1]);
        assert_int_equal(zb_node_array(node) != NULL, i == 2);
        int64_t one = 0;
        assert_true(zb_json_int64(zb_json_get(zb_node_attributes(node), "a"), &one));
        assert_int_equal(one, 1);
        assert_ptr_equal(zb_json_get(zb_node_document(node), "attributes"),
                         zb_node_attributes(node));
        zb_node_release(node);
    }
    zb_hierarchy_release(hierarchy);
    free(group);
    free(array);
}

/* They may be most of a document. They are needed where they are the only index of the store. */
static void leaves_consolidated_entries_out(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store();
    set(hierarchy, "zarr.json",
        "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"a\":1},\"consolidated_"
        "metadata\":"
        "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{\"a\":{},\"b\":{}}}}");
    set(hierarchy, "a/zarr.json", "{}"); /* so that they are not all that there is
                                            (consolidated_cache_test.c) */
    for (int can_list = 0; can_list < 2; can_list++) {
        zb_node *node;
        zb_hierarchy_store(hierarchy)->hints.can_list = can_list;
        assert_int_equal(zb_node_open(hierarchy, "", &node, NULL), ZB_OK);
        const zb_json *map =
            zb_json_get(zb_json_get(zb_node_document(node), "consolidated_metadata"), "metadata");
        assert_int_equal(zb_json_kind_of(map), ZB_JSON_OBJECT);
        assert_int_equal(zb_json_first(map) != NULL, !can_list);
        assert_non_null(zb_json_get(zb_node_attributes(node), "a"));
        zb_node_release(node);
    }
    zb_hierarchy_release(hierarchy);
}

static void outlives_its_store(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store();
    char *array = sample_array("", NULL);
    set(hierarchy, "zarr.json", array);
    zb_node *node;
    assert_int_equal(zb_node_open(hierarchy, "", &node, NULL), ZB_OK);
    zb_hierarchy_release(hierarchy);
    assert_ptr_equal(zb_node_retain(node), node);
    zb_node_release(node);
    assert_string_equal(zb_hierarchy_store(zb_node_hierarchy(node))->label, "test");
    zb_node_release(node);
    zb_node_release(NULL);
    free(array);
}

static void names_the_place(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store();
    set(hierarchy, "bad/zarr.json", "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":1}");
    set(hierarchy, "group/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\",\"x\":1}");
    static const struct {
        const char *path;
        enum zb_code code;
        const char *message;
    } rows[] = {
        {"none", ZB_ENOTFOUND, "store test, node /none: "},
        {"", ZB_ENOTFOUND, "store test, node /: "},
        {"group/none", ZB_ENOTFOUND, "store test, node /group/none: "},
        {"../x", ZB_EINVAL, "store test: path \"../x\" has a part of dots only"},
        {"/bad", ZB_EINVAL, "store test: path \"/bad\" has an empty part"},
        {"bad", ZB_EFORMAT, "store test, array /bad: shape is 1, expected a list of integers"},
    };
    zb_node *node;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_error err = {0};
        assert_int_equal(zb_node_open(hierarchy, rows[i].path, &node, &err), rows[i].code);
        assert_int_equal(err.code, rows[i].code);
        if (strncmp(err.message, rows[i].message, strlen(rows[i].message)) != 0)
            fail_msg("%s", err.message);
        /* The text is not needed to get the code. */
        assert_int_equal(zb_node_open(hierarchy, rows[i].path, &node, NULL), rows[i].code);
    }
    zb_hierarchy_release(hierarchy);
}

/* A group document of `size` bytes with that member. */
static char *large_group(const char *member, size_t size) {
    char *text = malloc(size + 1);
    size_t used = (size_t)sprintf(text, "{\"zarr_format\":3,\"node_type\":\"group\",%s", member);
    memset(text + used, ' ', size - used);
    text[size - 1] = '}';
    text[size] = '\0';
    return text;
}

static void limits_the_size(void **state) {
    (void)state;
    const zb_limits *limits = zb_limits_get();
    size_t plain = (size_t)limits->document_bytes;
    size_t consolidated = (size_t)limits->consolidated_bytes;
    const struct {
        const char *member;
        size_t size;
        const char *message; /* NULL: opens */
    } rows[] = {
        {"\"attributes\":{}", plain, NULL},
        {"\"attributes\":{}", plain + 1, "the limit document_bytes is"},
        {"\"consolidated_metadata\":null", plain + 1, NULL},
        /* The word alone does not allow a larger document. */
        {"\"attributes\":{\"x\":\"consolidated_metadata\"}", plain + 1,
         "the limit document_bytes is"},
        {"\"consolidated_metadata\":null", consolidated + 1, "limit consolidated_bytes is"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = large_group(rows[i].member, rows[i].size);
        zb_node *node = NULL;
        zb_error err = {0};
        enum zb_code code = sample_open(text, &node, &err);
        assert_int_equal(code, rows[i].message ? ZB_ELIMIT : ZB_OK);
        if (rows[i].message && !strstr(err.message, rows[i].message))
            fail_msg("%s", err.message);
        zb_node_release(node);
        free(text);
    }
}

static void passes_store_errors_on(void **state) {
    (void)state;
    zb_hierarchy *inner = new_store();
    char *array = sample_array("", NULL);
    set(inner, "a/zarr.json", array);
    zb_hierarchy *fault;
    assert_int_equal(wrap(zb_store_new_fault, inner, &fault, NULL), ZB_OK);
    for (uint64_t nth = 1; nth <= 2; nth++) { /* the open, the read */
        zb_node *node;
        zb_error err;
        zb_store_fault_set(zb_hierarchy_store(fault), nth);
        assert_int_equal(zb_node_open(fault, "a", &node, &err), ZB_EIO);
        assert_int_equal(err.sys_errno, EIO);
        assert_non_null(strstr(err.message, "store test, node /a: injected fault"));
    }
    zb_hierarchy_release(fault);
    zb_hierarchy_release(inner);
    free(array);
}

static void costs_one_read(void **state) {
    (void)state;
    zb_hierarchy *inner = new_store();
    char *array = sample_array("", NULL);
    set(inner, "a/zarr.json", array);
    zb_hierarchy *count;
    assert_int_equal(wrap(zb_store_new_count, inner, &count, NULL), ZB_OK);
    zb_node *node;
    assert_int_equal(zb_node_open(count, "a", &node, NULL), ZB_OK);
    zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(count));
    assert_int_equal(counts.opens, 1);
    assert_int_equal(counts.reads, 1);
    assert_int_equal(counts.stats, 0);
    assert_int_equal(counts.lists, 0);
    zb_node_release(node);
    zb_hierarchy_release(count);
    zb_hierarchy_release(inner);
    free(array);
}

/* Caches may share an entry only when store, path and document are the same. */
static void has_its_cache_id(void **state) {
    (void)state;
    zb_hierarchy *stores[2] = {new_store(), new_store()};
    char *array = sample_array("", NULL);
    char *other = sample_array("fill_value", "8");
    uint64_t id[5];
    set(stores[0], "a/zarr.json", array);
    set(stores[0], "b/zarr.json", array);
    set(stores[1], "a/zarr.json", array);
    for (size_t i = 0; i < 5; i++) {
        zb_node *node;
        if (i == 4)
            set(stores[0], "a/zarr.json", other);
        const char *path = i == 2 ? "b" : "a";
        assert_int_equal(zb_node_open(stores[i == 3], path, &node, NULL), ZB_OK);
        id[i] = node->array->cache_id;
        zb_node_release(node);
    }
    assert_true(id[0] == id[1]);
    for (size_t i = 1; i < 5; i++) {
        for (size_t j = i + 1; j < 5; j++)
            assert_true(id[i] != id[j]);
    }
    zb_hierarchy_release(stores[0]);
    zb_hierarchy_release(stores[1]);
    free(array);
    free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_by_path),      cmocka_unit_test(leaves_consolidated_entries_out),
        cmocka_unit_test(outlives_its_store), cmocka_unit_test(names_the_place),
        cmocka_unit_test(limits_the_size),    cmocka_unit_test(passes_store_errors_on),
        cmocka_unit_test(costs_one_read),     cmocka_unit_test(has_its_cache_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
