/* SPDX-License-Identifier: MIT */
/* URLs of stores, by their words. */
#include <stdlib.h>

#include "support/check.h"
#include "zarrbridge/conventions.h"

static const struct {
    const char *url, *root, *node;
    bool is_zarr;
} rows[] = {
    {"https://h/x.zarr", "https://h/x.zarr", "", true},
    {"https://h:8080/d/x.zarr/", "https://h:8080/d/x.zarr", "", true},
    {"http://h/x.zarr/g/a", "http://h/x.zarr", "g/a", true},
    {"http://h/x.zarr//g//a//", "http://h/x.zarr", "g/a", true},
    {"https://h/x.ZARR/a", "https://h/x.ZARR", "a", true},
    {"https://h/x.zarr/zarr.json", "https://h/x.zarr", "", true},
    {"https://h/x.zarr/g/zarr.json", "https://h/x.zarr", "g", true},
    {"https://h/x.zarr/.zgroup", "https://h/x.zarr", "", true},
    {"https://h/data/zarr.json", "https://h/data", "", true},
    {"https://h/zarr.json", "https://h", "", true},
    {"https://h/x.zarr.zip", "https://h/x.zarr.zip", "", true},
    {"https://h/x.zarr.zip/g", "https://h/x.zarr.zip", "g", true},
    {"https://h/x.ozx", "https://h/x.ozx", "", true},
    {"https://h/x.ozx/s0?sig=1", "https://h/x.ozx?sig=1", "s0", true},
    {"https://h/x.zarr/in.zarr/a", "https://h/x.zarr/in.zarr", "a", true},
    {"https://h/x.zarr?sig=a/b.zarr#region=r", "https://h/x.zarr?sig=a/b.zarr#region=r", "", true},
    {"https://h/x.zarr/g?sig=1", "https://h/x.zarr?sig=1", "g", true},
    {"https://h/x.zarr/g/zarr.json?sig=1#a=1", "https://h/x.zarr?sig=1#a=1", "g", true},
    {"https://h/x.zarr/my%20node", "https://h/x.zarr", "my node", true},
    {"https://h/x.zarr/100%/%zz/%00", "https://h/x.zarr", "100%/%zz/%00", true},
    {"s3://b/x.zarr/my%20node", "s3://b/x.zarr", "my%20node", true},
    {"s3://b/d/x.zarr", "s3://b/d/x.zarr", "", true},
    {"s3://b/x.zarr/why?/#1#anon=1", "s3://b/x.zarr#anon=1", "why?/#1", true},
    {"s3://b#anon=1", "s3://b#anon=1", "", false},
    {"s3://b.zarr/d", "s3://b.zarr/d", "", false},
    {"https://x.zarr", "https://x.zarr", "", false},
    {"https://h/x.nc", "https://h/x.nc", "", false},
    {"https://h/x.nc?file=x.zarr", "https://h/x.nc?file=x.zarr", "", false},
    {"https://h/x.nc#x.zarr", "https://h/x.nc#x.zarr", "", false},
    {"https://h", "https://h", "", false},
    {"https://h/", "https://h", "", false},
    {"https://", "https://", "", false},
};

static bool holds_nothing(void *context, const char *directory) {
    (void)context;
    fail_msg("%s is no directory to be asked", directory);
    return false;
}

static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *root, *node;
        assert_int_equal(zb_path_split(rows[i].url, holds_nothing, NULL, &root, &node, NULL),
                         ZB_OK);
        if (strcmp(root, rows[i].root) != 0 || strcmp(node, rows[i].node) != 0)
            fail_msg("%s: root \"%s\", node \"%s\"", rows[i].url, root, node);
        if (zb_url_is_zarr(rows[i].url) != rows[i].is_zarr)
            fail_msg("%s: not told rightly", rows[i].url);
        free(root);
        free(node);
    }
}

static void test_paths_are_no_urls(void **state) {
    (void)state;
    assert_false(zb_url_is_zarr("/d/x.zarr"));
    assert_false(zb_url_is_zarr("x.zarr"));
    assert_false(zb_url_is_zarr("https:/h/x.zarr"));
    assert_false(zb_url_is_zarr(""));
}

static void test_documents_end_paths(void **state) {
    static const struct {
        const char *path;
        size_t start;
    } ends[] = {{"zarr.json", 0}, {"/d/.zgroup", 3}, {"a/.zarray", 2},     {"a/.zmetadata", 2},
                {"", 0},          {"a/.zattrs", 9},  {"a/zarr.json/", 12}, {"a/xzarr.json", 12}};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        assert_int_equal(zb_document_start(ends[i].path, strlen(ends[i].path)), ends[i].start);
    assert_string_equal(zb_document_name(0), "zarr.json");
    assert_null(zb_document_name(4));
}

static void test_messages_hold_no_secrets(void **state) {
    static const char *const names[][2] = {
        {"https://h/x.zarr?sig=secret#key=secret", "https://h/x.zarr"},
        {"https://me:secret@h/x@y.zarr", "https://h/x@y.zarr"},
        {"https://me:sec@ret@h", "https://h"},
        {"https://h/x.zarr#secret", "https://h/x.zarr"},
        {"s3://b/x.zarr", "s3://b/x.zarr"},
        {"/d/what?.zarr", "/d/what?.zarr"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *shown = zb_name_without_secrets(names[i][0]);
        assert_string_equal(shown, names[i][1]);
        free(shown);
    }
}

static void test_roots_have_names(void **state) {
    (void)state;
    static const char *const names[][2] = {{"x.zarr", "x"},
                                           {"/a/b.c.zarr/", "b.c"},
                                           {"a/x", "x"},
                                           {"x.zarr.zip", "x"},
                                           {"x.zip", "x"},
                                           {"a/.zarr", "data"},
                                           {".zarr.zip", "data"},
                                           {"/", "data"},
                                           {".", "data"},
                                           {"a/..", "data"},
                                           {"https://u:p@host/a/x.zarr?key=y.z", "x"},
                                           {"s3://bucket/x.zarr#anon=1", "x"},
                                           {"/vsicurl/https://host/x.zarr", "x"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *name = zb_name_of_root(names[i][0]);
        assert_string_equal(name, names[i][1]);
        free(name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots_have_names),

        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_paths_are_no_urls),
        cmocka_unit_test(test_documents_end_paths),
        cmocka_unit_test(test_messages_hold_no_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
