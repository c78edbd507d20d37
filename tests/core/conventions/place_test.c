/* SPDX-License-Identifier: MIT */
/* Places that may be filled, places that may be replaced, and places that are left alone. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fixture.h"
#include "support/store.h"
#include "support/wrappers.h"
#include "zarrbridge/conventions.h"

static const struct {
    const char *key, *text; /* the one object of the store; NULL: none */
    const char *path;
    enum zb_place place;
    bool claims;
} rows[] = {
    {NULL, NULL, "", ZB_PLACE_EMPTY, false},
    {NULL, NULL, "g", ZB_PLACE_EMPTY, false},
    {"zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}", "", ZB_PLACE_NODE, true},
    {"g/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}", "g", ZB_PLACE_NODE, true},
    {"g/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}", "", ZB_PLACE_OTHER, false},
    {"g/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}", "h", ZB_PLACE_EMPTY, false},
    {"zarr.json", "{\"zarr_format\" : \n 3, \"node_type\": \"tomorrow\"}", "", ZB_PLACE_NODE, true},
    {"zarr.json", "{\"zarr_format\": 3", "", ZB_PLACE_NODE, true}, /* cut off */
    {"zarr.json", "{\"zarr_format\": 2}", "", ZB_PLACE_OTHER, false},
    {"zarr.json", "{\"zarr_format\": 31}", "", ZB_PLACE_OTHER, false},
    {"zarr.json", "{\"zarr_format\": 3.5}", "", ZB_PLACE_OTHER, false},
    {"zarr.json", "{\"a\": \"zarr_format\", \"b\": 3}", "", ZB_PLACE_OTHER, false},
    {"zarr.json", "", "", ZB_PLACE_OTHER, false},
    {".zgroup", "{\"zarr_format\": 2}", "", ZB_PLACE_OTHER, false},
    {".hidden", "mine", "", ZB_PLACE_OTHER, false},
    {"thesis.txt", "mine", "", ZB_PLACE_OTHER, false},
    {"thesis", "mine", "thesis", ZB_PLACE_OTHER, false}, /* in the way of a directory */
};

static void test_places(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        zb_hierarchy *hierarchy = store_new();
        zb_error err;
        enum zb_place place;
        if (rows[i].key)
            store_set(hierarchy, rows[i].key, rows[i].text);
        assert_int_equal(zb_place_look(hierarchy, rows[i].path, &place, &err), ZB_OK);
        if (place != rows[i].place)
            fail_msg("row %zu: place %d", i, (int)place);
        if (zb_place_claims_v3(hierarchy, rows[i].path) != rows[i].claims)
            fail_msg("row %zu: the claim", i);
        zb_hierarchy_release(hierarchy);
    }
}

/* A place that cannot be read or listed is an error, or taken; never empty. */
static void test_errors_are_told(void **state) {
    (void)state;
    zb_hierarchy *mem = store_new(), *fault;
    zb_error err;
    enum zb_place place;
    store_set(mem, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    ASSERT_OK(wrap(zb_store_new_fault, mem, &fault, &err), err);
    for (uint64_t nth = 1; nth < 8; nth++) {
        zb_store_fault_set(zb_hierarchy_store(fault), nth);
        if (zb_place_look(fault, "", &place, &err) == ZB_OK)
            assert_true(place != ZB_PLACE_EMPTY);
    }
    zb_store_fault_from(zb_hierarchy_store(fault), 1);
    assert_int_equal(zb_place_look(fault, "", &place, &err), ZB_EIO);
    zb_hierarchy_release(fault);
    zb_hierarchy_release(mem);
}

/* What the names lead to, below the fixture's directory. */
static void make_names(const fixture *f) {
    const char *const directories[] = {"empty", "foreign", "two", "x.zip.zarr", "folder.zip"};
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        char path[600];
        assert_true(snprintf(path, sizeof path, "%s/%s", f->root, directories[i]) > 0);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    fixture_must_put(f->store, "foreign/thesis.txt", "mine", PUT_LATER);
    fixture_must_put(f->store, "foreign/g/zarr.json", "{\"zarr_format\":3}", PUT_LATER);
    fixture_must_put(f->store, "two/.zgroup", "{\"zarr_format\":2}", PUT_LATER);
    fixture_must_put(f->store, "x.zarr/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}",
                     PUT_LATER);
    fixture_must_put(f->store, "x.zarr/g/zarr.json", "{\"zarr_format\":3,", PUT_LATER);
    fixture_must_put(f->store, "x.zarr/letter", "mine", PUT_LATER);
    fixture_must_put(f->store, "x.zarr/blank", "", PUT_LATER);
    fixture_must_put(f->store, "blank.zarr", "", PUT_LATER);
    fixture_must_put(f->store, "blank.zip", "", PUT_LATER);
    fixture_must_put(f->store, "file.zarr", "mine", PUT_LATER);
    fixture_must_put(f->store, "file.zip", "PK\3\4, mine", PUT_LATER);
    fixture_link(f, "nowhere", "dangling.zarr");
    fixture_link(f, "x.zarr", "link.zarr");
    fixture_link(f, "blank.zarr", "link-to-blank.zarr");
}

/* One verdict for local names of all kinds; both plugins ask for it. */
static void test_destinations(void **state) {
    static const struct {
        const char *name, *path;
        enum zb_place place;
    } names[] = {
        {"new.zarr", "", ZB_PLACE_EMPTY},      {"new.zarr", "g", ZB_PLACE_EMPTY},
        {"new.zip", "", ZB_PLACE_EMPTY},       {"empty", "", ZB_PLACE_EMPTY},
        {"empty", "g", ZB_PLACE_EMPTY},        {"blank.zarr", "", ZB_PLACE_EMPTY},
        {"blank.zip", "", ZB_PLACE_EMPTY},     {"folder.zip", "", ZB_PLACE_EMPTY},
        {"x.zarr", "", ZB_PLACE_NODE},         {"link.zarr", "", ZB_PLACE_NODE},
        {"x.zarr", "g", ZB_PLACE_NODE},        {"x.zarr", "h", ZB_PLACE_EMPTY},
        {"x.zarr", "letter", ZB_PLACE_OTHER},  {"x.zarr", "blank", ZB_PLACE_OTHER},
        {"foreign", "", ZB_PLACE_OTHER},       {"foreign", "new", ZB_PLACE_OTHER},
        {"foreign", "g", ZB_PLACE_OTHER},      {"two", "", ZB_PLACE_OTHER},
        {"two", "g", ZB_PLACE_OTHER},          {"file.zarr", "", ZB_PLACE_OTHER},
        {"file.zip", "", ZB_PLACE_OTHER},      {"file.zip", "g", ZB_PLACE_OTHER},
        {"dangling.zarr", "", ZB_PLACE_OTHER}, {"link-to-blank.zarr", "", ZB_PLACE_OTHER},
    };
    fixture *f = *state;
    make_names(f);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[600];
        zb_error err;
        enum zb_place place;
        assert_true(snprintf(path, sizeof path, "%s/%s", f->root, names[i].name) > 0);
        ASSERT_OK(zb_destination_look(path, names[i].path, NULL, &place, &err), err);
        if (place != names[i].place)
            fail_msg("%s, /%s: place %d", names[i].name, names[i].path, (int)place);
    }
}

/* A name that cannot be looked at is an error, and no free place. */
static void test_destinations_that_cannot_be_told(void **state) {
    fixture *f = *state;
    char path[600];
    zb_error err;
    enum zb_place place;
    fixture_must_put(f->store, "file", "mine", PUT_LATER);
    assert_true(snprintf(path, sizeof path, "%s/file/x.zarr", f->root) > 0);
    assert_int_equal(zb_destination_look(path, "", NULL, &place, &err), ZB_ENOTFOUND);
    assert_int_equal(err.sys_errno, ENOTDIR);
    /* which error depends on whether the library for the network is there */
    assert_true(zb_destination_look("s3://", "", NULL, &place, &err) != ZB_OK);
}

/* An empty file is a name that a program has made for itself. */
static void test_an_empty_file_gives_way(void **state) {
    fixture *f = *state;
    char path[600];
    zb_error err;
    zb_hierarchy *hierarchy;
    fixture_must_put(f->store, "blank.zarr", "", PUT_LATER);
    fixture_must_put(f->store, "file.zarr", "mine", PUT_LATER);
    assert_true(snprintf(path, sizeof path, "%s/blank.zarr", f->root) > 0);
    ASSERT_OK(zb_hierarchy_create(path, NULL, &hierarchy, &err), err);
    zb_node_release(store_group(hierarchy, "", NULL));
    zb_hierarchy_release(hierarchy);
    assert_true(snprintf(path, sizeof path, "%s/file.zarr", f->root) > 0);
    assert_true(zb_hierarchy_create(path, NULL, &hierarchy, &err) != ZB_OK);
    assert_holds(f->store, "file.zarr", "mine");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_errors_are_told),
        FIXTURE_TEST(test_destinations),
        FIXTURE_TEST(test_destinations_that_cannot_be_told),
        FIXTURE_TEST(test_an_empty_file_gives_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
