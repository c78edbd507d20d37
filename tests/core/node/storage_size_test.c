/* SPDX-License-Identifier: MIT */
/* The room that an array takes: the objects below it, not the size that its shape gives. */
#include "support/arrays.h"
#include "support/wrappers.h"
#include "zarrbridge/sys/store.h"

static void sums_the_objects(void **state) {
    (void)state;
    check_random random = {.state = 1};
    zb_error err;
    zb_hierarchy *mem, *count;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
    ASSERT_OK(wrap(zb_store_new_count, mem, &count, &err), err);
    arrays_spec spec = {
        .ndim = 2, .shape = {10, 7}, .chunk = {{4, 4}}, .type = "int16", .codec = ARRAYS_CRC32C};
    arrays_sample a = arrays_write(&spec, &random, mem, "g/a");
    arrays_sample b = arrays_write(&spec, &random, mem, "g/ab"); /* a neighbour, not below it */
    zb_node *node;
    uint64_t bytes;
    ASSERT_OK(zb_node_open(count, "g/a", &node, &err), err);
    ASSERT_OK(zb_array_storage_size(node, &bytes, &err), err);
    assert_int_equal(bytes, 6 * (4 * 4 * 2 + 4)); /* without zarr.json */
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), "g/a/c/.tmp-1", "unfinished", 10, &err),
              err);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), "g/a/c/0/0", "x", 1, &err), err);
    ASSERT_OK(zb_array_storage_size(node, &bytes, &err), err);
    assert_int_equal(bytes, 5 * 36 + 1);
    zb_stored stored;
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), "g/a/c/3/0", "beyond", 6, &err), err);
    ASSERT_OK(zb_array_stored(node, &stored, &err), err);
    assert_int_equal(stored.bytes, 5 * 36 + 1 + 6);
    assert_int_equal(stored.chunks, 6);                /* 3 times 2: the grid has no chunk 3 */
    zb_hierarchy_store(count)->hints.can_list = false; /* as over plain HTTP */
    ASSERT_FAILS(zb_array_storage_size(node, &bytes, &err), ZB_EUNSUPPORTED, err, "listed");
    zb_node_release(node);
    arrays_free(&a);
    arrays_free(&b);
    zb_hierarchy_release(count);
    zb_hierarchy_release(mem);
}

static void every_failing_call_is_an_error(void **state) {
    (void)state;
    check_random random = {.state = 1};
    zb_error err;
    zb_hierarchy *mem, *fault;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
    ASSERT_OK(wrap(zb_store_new_fault, mem, &fault, &err), err);
    arrays_spec spec = {.ndim = 2, .shape = {8, 8}, .chunk = {{4, 4}}, .type = "int16"};
    arrays_sample a = arrays_write(&spec, &random, mem, "");
    zb_node *node;
    uint64_t bytes, n = 1;
    ASSERT_OK(zb_node_open(fault, "", &node, &err), err);
    for (;; n++) {
        zb_store_fault_set(zb_hierarchy_store(fault), n);
        enum zb_code code = zb_array_storage_size(node, &bytes, &err);
        zb_store_fault_set(zb_hierarchy_store(fault), 0);
        if (code == ZB_OK)
            break;
        assert_int_equal(code, ZB_EIO);
        assert_non_null(strstr(err.message, "injected fault"));
    }
    assert_int_equal(n, 1 + 4 + 4); /* lists of "", c, c/0, c/1 and a stat for each chunk */
    zb_node_release(node);
    arrays_free(&a);
    zb_hierarchy_release(fault);
    zb_hierarchy_release(mem);
}

static void groups_have_no_size(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem;
    zb_node *node;
    uint64_t bytes;
    const char group[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";
    ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), "zarr.json", group, sizeof group - 1, &err),
              err);
    ASSERT_OK(zb_node_open(mem, "", &node, &err), err);
    ASSERT_FAILS(zb_array_storage_size(node, &bytes, &err), ZB_EINVAL, err, "group");
    zb_node_release(node);
    zb_hierarchy_release(mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_the_objects),
        cmocka_unit_test(every_failing_call_is_an_error),
        cmocka_unit_test(groups_have_no_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
