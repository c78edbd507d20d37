/* SPDX-License-Identifier: MIT */
/* The chunks that long calls tell of: each that is stored, once. */
#include <stdatomic.h>
#include <stdio.h>

#include "store/fixture.h"
#include "support/arrays.h"
#include "support/store.h"
#include "zarrbridge/check.h"

/* 2 by 3 shards of 2 by 2 chunks. */
static const arrays_spec sharded = {.ndim = 2,
                                    .shape = {8, 10},
                                    .chunk = {{4, 4}, {2, 2}},
                                    .depth = 1,
                                    .type = "int16",
                                    .codec = ARRAYS_CRC32C};
enum { SHARDS = 6 };

static atomic_int told;

static void count(void *context) {
    assert_ptr_equal(context, &told);
    atomic_fetch_add(&told, 1);
}

static int take_told(void) {
    return atomic_exchange(&told, 0);
}

static zb_hierarchy *new_store(void) {
    check_random random = {.state = 1};
    zb_hierarchy *hierarchy = store_new();
    arrays_sample sample = arrays_write(&sharded, &random, hierarchy, "a");
    arrays_free(&sample);
    store_set(hierarchy, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    zb_hierarchy_tell_chunks(hierarchy, count, &told);
    return hierarchy;
}

static int no_finding(void *context, const zb_finding *finding) {
    (void)context;
    fail_msg("%s: %s", finding->key, finding->message);
    return 1;
}

static void verify_and_compact_tell(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store();
    zb_error err;
    zb_node *array;
    ASSERT_OK(zb_hierarchy_verify(hierarchy, no_finding, NULL, NULL, &err), err);
    assert_int_equal(take_told(), SHARDS);
    ASSERT_OK(zb_node_open(hierarchy, "a", &array, &err), err);
    ASSERT_OK(zb_array_compact(array, ZB_SYNC_NONE, NULL, &err), err);
    assert_int_equal(take_told(), SHARDS);
    zb_node_release(array);
    zb_hierarchy_tell_chunks(hierarchy, NULL, NULL);
    ASSERT_OK(zb_hierarchy_verify(hierarchy, no_finding, NULL, NULL, &err), err);
    assert_int_equal(take_told(), 0);
    zb_hierarchy_release(hierarchy);
}

static void copy_tells(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store(), *to = store_new();
    zb_error err;
    store_set(hierarchy, "README", "a file besides");
    ASSERT_OK(zb_node_copy(hierarchy, "", to, "b", &err), err);
    assert_int_equal(take_told(), SHARDS + 1);
    store_set(hierarchy, "old/.zarray",
              "{\"zarr_format\":2,\"shape\":[5],\"chunks\":[2],\"dtype\":\"<i2\",\"compressor\":"
              "null,\"fill_value\":7,\"order\":\"C\",\"filters\":null}");
    store_set(hierarchy, "old/0", "abcd");
    store_set(hierarchy, "old/2", "abcd");
    ASSERT_OK(zb_node_copy(hierarchy, "old", to, "c", &err), err);
    assert_int_equal(take_told(), 2);
    zb_hierarchy_release(to);
    zb_hierarchy_release(hierarchy);
}

static void pack_tells(void **state) {
    fixture *f = *state;
    zb_hierarchy *hierarchy = new_store();
    zb_error err;
    char *path;
    assert_true(asprintf(&path, "%s/x.zip", f->outside) > 0);
    ASSERT_OK(zb_hierarchy_pack(hierarchy, path, &err), err);
    assert_int_equal(take_told(), SHARDS + 2); /* and two documents */
    free(path);
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify_and_compact_tell),
        cmocka_unit_test(copy_tells),
        FIXTURE_TEST(pack_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
