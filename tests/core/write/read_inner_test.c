/* SPDX-License-Identifier: MIT */
/*
 * Inner chunks of stored shards that go into a new one as they are: they are read together,
 * whatever their order in the shard, and a shard that is too large to be compacted says so.
 */
#include "write/writer.h"

#include "codec/shard_index.h"
#include "support/check.h"
#include "support/shards.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"

enum { UNITS = 1000, LONGEST = 40 };

typedef struct scene {
    zb_hierarchy *mem, *count;
    zb_object *object;
    unsigned char bytes[UNITS * LONGEST]; /* of the object */
    size_t size;
    uint64_t entries[2 * UNITS];
    zb__encoded inner_chunks[UNITS];
} scene;

static scene *new_scene(void) {
    scene *s = calloc(1, sizeof *s);
    zb_error err;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &s->mem, &err), err);
    ASSERT_OK(wrap(zb_store_new_count, s->mem, &s->count, &err), err);
    return s;
}

/* Puts the object, of numbers that differ in each place. */
static void put(scene *s, size_t size) {
    zb_object_info info;
    zb_error err;
    s->size = size;
    for (size_t i = 0; i < size; i++)
        s->bytes[i] = (unsigned char)(i * 131 >> 3);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(s->mem), "k", s->bytes, size, &err), err);
    zb_object_close(s->object);
    ASSERT_OK(zb_object_open(zb_hierarchy_store(s->count), "k", &s->object, &info, &err), err);
    zb_store_count_take(zb_hierarchy_store(s->count));
}

static void free_scene(scene *s) {
    zb_object_close(s->object);
    zb_hierarchy_release(s->count);
    zb_hierarchy_release(s->mem);
    free(s);
}

static void set_unit(scene *s, size_t i, uint64_t offset, size_t size) {
    s->entries[2 * i] = size ? offset : ZB__INDEX_EMPTY;
    s->entries[2 * i + 1] = size ? size : ZB__INDEX_EMPTY;
    s->inner_chunks[i] = (zb__encoded){.size = size};
}

/* Reads all inner chunks and compares them; returns the cost. */
static zb_store_counts read_all(scene *s) {
    size_t sum = 0;
    zb_error err;
    for (size_t i = 0; i < UNITS; i++)
        sum += s->inner_chunks[i].size;
    uint8_t *bytes = malloc(sum + 1);
    ASSERT_OK(zb__inner_chunks_read(s->object, s->entries, s->inner_chunks, UNITS, bytes, &err),
              err);
    for (size_t i = 0; i < UNITS; i++) {
        if (s->inner_chunks[i].size)
            assert_memory_equal(s->inner_chunks[i].data, s->bytes + s->entries[2 * i],
                                s->inner_chunks[i].size);
    }
    free(bytes);
    return zb_store_count_take(zb_hierarchy_store(s->count));
}

static void units_in_any_order_come_together(void **state) {
    (void)state;
    scene *s = new_scene();
    put(s, (size_t)UNITS * LONGEST);
    for (size_t i = 0; i < UNITS; i++) /* 7 and 1000 have no common divisor */
        set_unit(s, i, i * 7 % UNITS * LONGEST, LONGEST);
    zb_store_counts counts = read_all(s);
    assert_int_equal(counts.reads, 1);
    assert_int_equal(counts.ranges, 1);
    set_unit(s, 500, 0, 0); /* is not wanted, or not stored */
    counts = read_all(s);
    assert_int_equal(counts.ranges, 2);
    assert_int_equal(counts.bytes, (UNITS - 1) * LONGEST);
    for (size_t i = 0; i < UNITS; i++)
        set_unit(s, i, 0, 0);
    assert_int_equal(read_all(s).reads, 0);
    free_scene(s);
}

/* A range that inner chunks share has the length of a good request. */
static void ranges_are_bounded(void **state) {
    (void)state;
    scene *s = new_scene();
    put(s, (size_t)UNITS * LONGEST);
    for (size_t i = 0; i < UNITS; i++)
        set_unit(s, i, i * LONGEST, LONGEST);
    zb_hierarchy_store(s->count)->hints.part = 10 * LONGEST + 1;
    assert_int_equal(read_all(s).ranges, UNITS / 10);
    zb_hierarchy_store(s->count)->hints.part = 1;
    assert_int_equal(read_all(s).ranges, UNITS);
    free_scene(s);
}

/* Also inner chunks that share bytes, as only foreign writers make them. */
static void units_of_any_size_and_place(void **state) {
    (void)state;
    check_random random = check_random_new();
    scene *s = new_scene();
    for (int round = 0; round < 50; round++) {
        put(s, check_random_in(&random, LONGEST, sizeof s->bytes));
        for (size_t i = 0; i < UNITS; i++) {
            const size_t size = check_random_in(&random, 0, LONGEST);
            set_unit(s, i, check_random_in(&random, 0, s->size - size), size);
        }
        const zb_store_counts counts = read_all(s);
        assert_true(counts.reads <= (counts.ranges + 255) / 256);
    }
    free_scene(s);
}

static void short_objects_are_an_error(void **state) {
    (void)state;
    scene *s = new_scene();
    zb_error err;
    uint8_t bytes[2 * LONGEST];
    put(s, 2 * LONGEST - 1);
    set_unit(s, 0, 0, LONGEST);
    set_unit(s, 1, LONGEST, LONGEST);
    ASSERT_FAILS(zb__inner_chunks_read(s->object, s->entries, s->inner_chunks, 2, bytes, &err),
                 ZB_EIO, err, "ended early");
    free_scene(s);
}

/* ---- The two that read them ---- */

enum { SIDE = 16, INNER = SIDE * SIDE }; /* of a shard of 16 x 16 inner chunks */

/* One element of a shard that is stored by appending: the shard keeps all inner chunks but one, and
   then has garbage. */
static void shards_are_read_by_few_ranges(void **state) {
    (void)state;
    const uint64_t shape[2] = {2 * SIDE, 2 * SIDE}, inner[2] = {2, 2}, at[2] = {9, 17};
    const uint64_t all[2] = {0, 0}, one[2] = {1, 1};
    zb_array_spec spec = {.ndim = 2,
                          .shape = shape,
                          .inner_shape = inner,
                          .shard_shape = shape,
                          .dtype = shards_type};
    int32_t values[4 * INNER], seen[4 * INNER], value = -7;
    scene *s = new_scene();
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_array_create(s->count, "a", &spec, &node, &err), err);
    for (int i = 0; i < 4 * INNER; i++)
        values[i] = i + 1;
    for (enum zb_strategy strategy = ZB_REWRITE; strategy <= ZB_APPEND; strategy++) {
        zb_writer *writer = shards_open_writer(node, strategy, ZB_SYNC_NONE);
        ASSERT_OK(shards_write(writer, all, shape, values, &err), err);
        zb_store_count_take(zb_hierarchy_store(s->count));
        ASSERT_OK(shards_write(writer, at, one, &value, &err), err);
        if (strategy == ZB_APPEND) {
            uint64_t reclaimed;
            zb_store_count_take(zb_hierarchy_store(s->count));
            ASSERT_OK(zb_array_compact(node, ZB_SYNC_NONE, &reclaimed, &err), err);
            assert_true(reclaimed > 0);
        }
        const zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(s->count));
        assert_true(counts.reads <= 5 && counts.ranges <= 8); /* documents and the index besides */
        ASSERT_OK(zb_writer_close(writer, &err), err);
        zb_read read = {.node = node, .view = {.data = seen, .dtype = shards_type}};
        ASSERT_OK(zb_array_read(&read, 1, &err), err);
        values[at[0] * 2 * SIDE + at[1]] = value;
        assert_memory_equal(seen, values, sizeof seen);
    }
    zb_node_release(node);
    free_scene(s);
}

/* ---- A shard that is larger than the limit ---- */

static void compact_large(void *unused) {
    (void)unused;
    const uint64_t start[2] = {0, 0}, all[2] = {SHARDS_ROWS, SHARDS_COLUMNS}, one[2] = {1, 1};
    int32_t values[SHARDS_ELEMENTS];
    uint64_t reclaimed;
    zb_hierarchy *mem;
    zb_error err = {.code = ZB_OK};
    zb_writer *writer = NULL;
    CHILD_CHECK(zb_hierarchy_new_mem("mem", &mem, &err) == ZB_OK, "%s", err.message);
    zb_node *node = shards_create(mem, ZB_APPEND);
    for (int i = 0; i < SHARDS_ELEMENTS; i++)
        values[i] = i * 7919;
    writer = shards_open_writer(node, ZB_APPEND, ZB_SYNC_NONE);
    CHILD_CHECK(shards_write(writer, start, all, values, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(shards_write(writer, start, one, values + 1, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_writer_close(writer, &err) == ZB_OK, "%s", err.message);
    const enum zb_code code = zb_array_compact(node, ZB_SYNC_NONE, &reclaimed, &err);
    CHILD_CHECK(code == ZB_ELIMIT && strstr(err.message, "limit shard_bytes is 300") &&
                    strstr(err.message, "ZARRBRIDGE_SHARD_BYTES"),
                "%s: %s", zb_code_name(code), err.message);
    zb_node_release(node);
    zb_hierarchy_release(mem);
}

static void shards_above_the_limit_say_so(void **state) {
    (void)state;
    assert_true(check_in_child(compact_large, NULL, "ZARRBRIDGE_SHARD_BYTES", "300"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_above_the_limit_say_so), /* before this process reads the limits */
        cmocka_unit_test(units_in_any_order_come_together),
        cmocka_unit_test(ranges_are_bounded),
        cmocka_unit_test(units_of_any_size_and_place),
        cmocka_unit_test(short_objects_are_an_error),
        cmocka_unit_test(shards_are_read_by_few_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
