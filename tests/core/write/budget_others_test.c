/* SPDX-License-Identifier: MIT */
/*
 * The budget is that of the process: other threads fill and free it while a writer looks at it. The
 * program is linked with --wrap for the sum, so that it changes between two given looks.
 */
#include "support/check.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

enum { CHUNK = 8, LENGTH = 4 * CHUNK };

/* More looks than one write of the test takes. */
#define MOST_LOOKS 16

static const zb_dtype byte_type = {.kind = ZB_KIND_UINT, .size = 1};

static int looks;           /* at the sum, in the write of the test */
static int first_full = -1; /* the look at which another thread has filled the budget; the next one
                               finds it free, the one after that full, and all others free */

uint64_t __real_zb__waiting_bytes(int64_t change);
uint64_t __wrap_zb__waiting_bytes(int64_t change);

uint64_t __wrap_zb__waiting_bytes(int64_t change) {
    const uint64_t sum = __real_zb__waiting_bytes(change);
    if (change != 0 || first_full < 0)
        return sum;
    const int look = looks++ - first_full;
    return look == 0 || look == 2 ? sum + zb_limits_get()->write_cache_bytes : sum;
}

static zb_node *create(zb_hierarchy *hierarchy) {
    const uint64_t shape[1] = {LENGTH}, inner[1] = {CHUNK};
    zb_array_spec spec = {.ndim = 1, .shape = shape, .inner_shape = inner, .dtype = byte_type};
    zb_error err;
    zb_node *node = NULL;
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    return node;
}

static void write_bytes(zb_writer *writer, uint64_t start, uint64_t count) {
    unsigned char bytes[LENGTH];
    zb_error err;
    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (unsigned char)(start + i + 1);
    zb_write write = {.start = &start, .count = &count, .data = bytes, .dtype = byte_type};
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
}

static void assert_stored(const zb_node *node, size_t count) {
    unsigned char back[LENGTH];
    zb_read read = {.node = node, .view = {.data = back, .dtype = byte_type}};
    zb_error err;
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (size_t i = 0; i < LENGTH; i++)
        assert_int_equal(back[i], i < count ? i + 1 : 0);
}

/* A call completes a buffered chunk, covers the next one, and begins a third: the first two are in
   its plan when it makes room for the third. Each of them is stored once. */
static void complete_chunks_are_stored_once(void **state) {
    (void)state;
    zb_error err;
    for (int first = 0; first < MOST_LOOKS; first++) {
        zb_hierarchy *mem, *count;
        zb_writer *writer;
        ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
        ASSERT_OK(wrap(zb_store_new_count, mem, &count, &err), err);
        zb_node *node = create(count);
        ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
        write_bytes(writer, 0, CHUNK / 2);
        zb_store_count_take(zb_hierarchy_store(count));
        first_full = first;
        looks = 0;
        write_bytes(writer, CHUNK / 2, 2 * CHUNK);
        first_full = -1;
        assert_true(looks > 0 && looks < MOST_LOOKS);
        assert_int_equal(zb_store_count_take(zb_hierarchy_store(count)).puts, 2);
        ASSERT_OK(zb_writer_close(writer, &err), err);
        assert_stored(node, CHUNK / 2 + 2 * CHUNK);
        zb_node_release(node);
        zb_hierarchy_release(count);
        zb_hierarchy_release(mem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(complete_chunks_are_stored_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
