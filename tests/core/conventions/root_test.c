/* SPDX-License-Identifier: MIT */
/* The root of a hierarchy, and the node that a path leads to. */
#include <stdlib.h>

#include "support/check.h"
#include "zarrbridge/conventions.h"

/* Directories with a document, NULL at the end. */
static bool holds(void *context, const char *directory) {
    for (const char *const *known = context; *known; known++)
        if (strcmp(*known, directory) == 0)
            return true;
    return false;
}

static const struct {
    const char *path, *root, *node;
    const char *documents[6];
} rows[] = {
    {"/d/x.zarr", "/d/x.zarr", "", {"/d/x.zarr"}},
    {"/d/x.zarr/g/a", "/d/x.zarr", "g/a", {"/d/x.zarr/g", "/d/x.zarr"}},
    {"/d/x.zarr/g/a/", "/d/x.zarr", "g/a", {"/d/x.zarr/g", "/d/x.zarr"}},
    {"/d/x.zarr//g//a//", "/d/x.zarr", "g/a", {"/d/x.zarr//g", "/d/x.zarr"}},
    {"/d/x.zarr/new", "/d/x.zarr", "new", {"/d/x.zarr"}},
    {"/d/x.zarr/gap/a", "/d/x.zarr/gap/a", "", {"/d/x.zarr"}}, /* a group without a document */
    {"/a", "/", "a", {"/"}},
    {"/a", "/a", "", {NULL}},
    {"/", "/", "", {"/"}},
    {"g/a", ".", "g/a", {"g", "."}},
    {"g/a", "g", "a", {"g"}},
    {"a", ".", "a", {"."}},
    {"a", "a", "", {"a"}},
    {"./a", ".", "a", {".", ".."}},
    {"../x/a", "../x", "a", {"../x"}},
    {"../x/a", "..", "x/a", {"../x", ".."}},
    {".", ".", "", {"."}},
    {"..", "..", "", {"."}},
    {"x/../a", "x/..", "a", {"x/..", "x"}},
    {"", "", "", {"."}},
};

static void test_paths(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *root, *node;
        assert_int_equal(zb_path_split(rows[i].path, holds, (void *)(uintptr_t)rows[i].documents,
                                       &root, &node, NULL),
                         ZB_OK);
        if (strcmp(root, rows[i].root) != 0 || strcmp(node, rows[i].node) != 0)
            fail_msg("%s: root \"%s\", node \"%s\"", rows[i].path, root, node);
        free(root);
        free(node);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
