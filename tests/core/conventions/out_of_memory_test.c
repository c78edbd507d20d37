/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out at each allocation in turn: the calls say so, nothing leaks (the address
 * sanitizer tells) and nothing crashes.
 */
#include "support/check.h"
#include "support/starve.h"
#include "zarrbridge/conventions.h"

/* Runs fn until no allocation is refused; fn is false each time but the last. */
static void starve(bool (*fn)(void *context), void *context) {
    size_t places = 0;
    for (;; places++) {
        starve_begin(places);
        const bool good = fn(context);
        if (starve_end() == 0) {
            assert_true(good);
            break;
        }
        assert_false(good);
    }
    assert_true(places > 0);
}

static bool parse(void *json) {
    zb_value value;
    const bool good = zb_value_parse(json, &value);
    assert_true(good || (!value.data && value.count == 0));
    zb_value_clear(&value);
    return good;
}

static bool print(void *value) {
    char *text = zb_value_print(value);
    free(text);
    return text != NULL;
}

static void values(void **state) {
    (void)state;
    static const char *const texts[] = {"[[\"a\",\"b\"],[\"c\",\"d\"]]", "[1,[2],{\"a\":[3]}]",
                                        "[1.5,\"NaN\"]"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        zb_json *json;
        zb_value value;
        assert_int_equal(zb_json_parse(texts[i], strlen(texts[i]), &json, NULL), ZB_OK);
        starve(parse, json);
        assert_true(zb_value_parse(json, &value));
        starve(print, &value);
        zb_value_clear(&value);
        zb_json_free(json);
    }
}

static bool print_fill(void *element) {
    char *text = zb_fill_attribute_print(element, (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 8});
    free(text);
    return text != NULL;
}

static bool holds(void *context, const char *directory) {
    (void)context;
    return strcmp(directory, "/a") != 0;
}

static bool split(void *path) {
    char *root, *node;
    zb_error err;
    enum zb_code code = zb_path_split(path, holds, NULL, &root, &node, &err);
    assert_true(code == ZB_OK || (code == ZB_ENOMEM && !root && !node));
    free(root);
    free(node);
    return code == ZB_OK;
}

static void fills(void **state) {
    (void)state;
    double element = 0.1;
    starve(print_fill, &element);
}

/* A node must not be taken for a root when memory for the directory above runs out. */
static void paths(void **state) {
    (void)state;
    char path[] = "/a/b/c/d";
    starve(split, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(fills),
                                       cmocka_unit_test(paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
