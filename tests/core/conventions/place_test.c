/* SPDX-License-Identifier: MIT */
/* Places that may be filled, places that may be replaced, and places that are left alone. */
#include "support/store.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/sys/wrappers.h"

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
};

static void test_places(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        zb_store *store = store_new();
        zb_error err;
        enum zb_place place;
        if (rows[i].key)
            store_set(store, rows[i].key, rows[i].text);
        assert_int_equal(zb_place_look(store, rows[i].path, &place, &err), ZB_OK);
        if (place != rows[i].place)
            fail_msg("row %zu: place %d", i, (int)place);
        if (zb_place_claims_v3(store, rows[i].path) != rows[i].claims)
            fail_msg("row %zu: the claim", i);
        zb_store_release(store);
    }
}

/* A place that cannot be read or listed is an error, or taken; never empty. */
static void test_errors_are_told(void **state) {
    (void)state;
    zb_store *mem = store_new(), *fault;
    zb_error err;
    enum zb_place place;
    store_set(mem, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    ASSERT_OK(zb_store_new_fault(mem, &fault, &err), err);
    for (uint64_t nth = 1; nth < 8; nth++) {
        zb_store_fault_set(fault, nth);
        if (zb_place_look(fault, "", &place, &err) == ZB_OK)
            assert_true(place != ZB_PLACE_EMPTY);
    }
    zb_store_fault_from(fault, 1);
    assert_int_equal(zb_place_look(fault, "", &place, &err), ZB_EIO);
    zb_store_release(fault);
    zb_store_release(mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_errors_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
