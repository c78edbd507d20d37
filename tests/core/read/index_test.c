/* SPDX-License-Identifier: MIT */
/* An index that is larger than the cache of indexes is read once, not once for each read. */
#include "support/arrays.h"
#include "support/wrappers.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"

enum { SIDE = 128, WINDOW = 64 };

/* One shard of inner chunks of one element: an index of 256 KiB. */
static const arrays_spec spec = {
    .ndim = 2, .shape = {SIDE, SIDE}, .chunk = {{SIDE, SIDE}, {1, 1}}, .depth = 1, .type = "int16"};

#define INDEX_BYTES ((uint64_t)SIDE * SIDE * 16)

static void read_by_rows(zb_node *node, const arrays_sample *a) {
    for (uint64_t i = 0; i < WINDOW; i++) {
        uint16_t row[WINDOW];
        uint64_t start[2] = {20 + i, 30}, count[2] = {1, WINDOW};
        zb_read read = {
            .node = node, .start = start, .count = count, .view = {.data = row, .dtype = a->dtype}};
        zb_error err;
        CHILD_CHECK(zb_array_read(&read, 1, &err) == ZB_OK, "%s", err.message);
        CHILD_CHECK(memcmp(row, arrays_at(a, start), sizeof row) == 0, "wrong values");
    }
}

static void check_large_index(void *unused) {
    (void)unused;
    check_random random = {.state = 1};
    zb_hierarchy *mem, *count;
    zb_node *node;
    zb_error err = {.code = ZB_OK};
    CHILD_CHECK(zb_limits_get()->index_cache_bytes < INDEX_BYTES, "the cache has room");
    CHILD_CHECK(zb_hierarchy_new_mem("mem", &mem, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(wrap(zb_store_new_count, mem, &count, &err) == ZB_OK, "%s", err.message);
    arrays_sample a = arrays_write(&spec, &random, mem, "");
    CHILD_CHECK(zb_node_open(count, "", &node, &err) == ZB_OK, "%s", err.message);
    zb_store_count_take(zb_hierarchy_store(count));
    read_by_rows(node, &a);
    zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(count));
    /* The index once, twice at the most, and each inner chunk. */
    CHILD_CHECK(counts.bytes >= INDEX_BYTES, "%llu bytes", (unsigned long long)counts.bytes);
    CHILD_CHECK(counts.bytes < 3 * INDEX_BYTES, "%llu bytes", (unsigned long long)counts.bytes);
    CHILD_CHECK(counts.reads <= WINDOW * WINDOW + 2, "%llu reads",
                (unsigned long long)counts.reads);
    zb_node_release(node);
    arrays_free(&a);
    zb_hierarchy_release(count);
    zb_hierarchy_release(mem);
}

static void a_large_index_is_read_once(void **state) {
    (void)state;
    assert_true(check_in_child(check_large_index, NULL, "ZARRBRIDGE_INDEX_CACHE_BYTES", "16384"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_large_index_is_read_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
