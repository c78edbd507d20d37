/* SPDX-License-Identifier: MIT */
/* What is no store of Zarr version 3 says what it is, when it is opened as one. */
#include "store/fixture.h"
#include "zarrbridge/node.h"

static void files_say_what_they_are(void **state) {
    fixture *f = *state;
    static const char *const rows[][3] = {
        {"a.zip", "PK\3\4rest", "is a zip file"},
        {"empty.zip", "PK\5\6", "is a zip file"},
        {"a.h5", "\x89HDF\r\n\x1a\n", "is an HDF5 file"},
        {"r.json", " {\"version\": 1, \"refs\": {}}", "is a kerchunk reference file"},
        {"old.json", "{\".zgroup\": \"{}\"}", "is a kerchunk reference file"},
        {"d/zarr.json", "{}", "name the directory"},
        {"other.json", "{\"a\": 1}", "Not a directory"},
        {"nothing", "", "Not a directory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[600];
        zb_store *store;
        zb_error err;
        fixture_must_put(f->store, rows[i][0], rows[i][1], PUT_LATER);
        snprintf(path, sizeof path, "%s/%s", f->root, rows[i][0]);
        assert_true(zb_store_open_fs(path, &store, &err) != ZB_OK);
        if (!strstr(err.message, rows[i][2]) || !strstr(err.message, path))
            fail_msg("%s: %s", path, err.message);
    }
}

static void urls_are_named(void **state) {
    (void)state;
    static const char *const urls[] = {"https://example.org/x.zarr", "s3://bucket/x.zarr",
                                       "file:///x.zarr", "icechunk+s3://a"};
    zb_store *store;
    zb_error err;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        ASSERT_FAILS(zb_store_open_fs(urls[i], &store, &err), ZB_EUNSUPPORTED, err, "is a URL");
    ASSERT_FAILS(zb_store_open_fs("c://x", &store, &err), ZB_ENOTFOUND, err, "cannot open");
    ASSERT_FAILS(zb_store_open_fs("://x", &store, &err), ZB_ENOTFOUND, err, "cannot open");
}

/* One key is enough; a store of version 3 beside it is that. */
static void directories_say_what_they_are(void **state) {
    fixture *f = *state;
    static const char *const rows[][3] = {
        {".zmetadata", "{\"zarr_consolidated_format\": 1}", "without the documents"},
        {".zmetadata", "{\"record_size\": 10}", "kerchunk reference directory"},
        {"attributes.json", "{\"n5\": \"2.5.0\"}", "this is N5"},
        {"attributes.json", "{\"n\": 5}", "this is not a Zarr store"},
        {"notes.txt", "", "this is not a Zarr store"},
    };
    zb_node *node;
    zb_error err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_must_put(f->store, rows[i][0], rows[i][1], PUT_LATER);
        assert_true(zb_node_open(f->hierarchy, "", &node, &err) != ZB_OK);
        if (!strstr(err.message, rows[i][2]) || !strstr(err.message, f->root))
            fail_msg("%s: %s", rows[i][0], err.message);
        ASSERT_OK(zb_store_erase(f->store, rows[i][0], &err), err);
    }
    static const char *const icechunk[] = {"snapshots/A", "manifests/B",
                                           "refs/branch.main/ref.json"};
    for (size_t i = 0; i < 3; i++)
        fixture_must_put(f->store, icechunk[i], "x", PUT_LATER);
    ASSERT_FAILS(zb_node_open(f->hierarchy, "", &node, &err), ZB_EUNSUPPORTED, err, "Icechunk");
    fixture_must_put(f->store, ".zgroup", "{}", PUT_LATER);
    fixture_must_put(f->store, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}",
                     PUT_LATER);
    ASSERT_OK(zb_node_open(f->hierarchy, "", &node, &err), err);
    zb_node_release(node);
    /* Below the root a name without a document is no node, whatever else it holds. */
    fixture_must_put(f->store, "g/attributes.json", "{\"n5\": \"2.5.0\"}", PUT_LATER);
    ASSERT_FAILS(zb_node_open(f->hierarchy, "g", &node, &err), ZB_ENOTFOUND, err, "/g");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(files_say_what_they_are),
        cmocka_unit_test(urls_are_named),
        FIXTURE_TEST(directories_say_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
