/* SPDX-License-Identifier: MIT */
/* Walks over stored chunks tell the same as questions about each chunk of the grid do, and take the
   time of what is stored. */
#include "support/arrays.h"
#include "support/stores.h"
#include "support/wrappers.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"

#include <string.h>

#define MOST 300 /* chunks of one array of these tests */

typedef struct seen {
    const zb_node *node;
    enum zb_grid_level level;
    uint64_t number[MOST], bytes[MOST]; /* in C order of the grid; in the order of the walk */
    size_t count, stop;                 /* stop: the count at which the walk is ended */
} seen;

static uint64_t number_of(const zb_node *node, enum zb_grid_level level, const uint64_t *index) {
    uint64_t number = 0;
    for (uint32_t d = 0; d < zb_node_array(node)->ndim; d++) {
        assert_true(index[d] < zb_array_chunk_count(node, level, d));
        number = number * zb_array_chunk_count(node, level, d) + index[d];
    }
    return number;
}

static int take(void *context, const uint64_t *index, uint64_t bytes) {
    seen *s = context;
    assert_true(s->count < MOST);
    s->number[s->count] = number_of(s->node, s->level, index);
    s->bytes[s->count++] = bytes;
    return s->count == s->stop;
}

static uint64_t bytes_of(const seen *s, uint64_t number) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->number[i] == number) {
            assert_int_equal(bytes, 0); /* each comes once */
            bytes = s->bytes[i];
        }
    }
    return bytes;
}

static seen walk(const zb_node *node, enum zb_grid_level level, size_t stop) {
    seen s = {.node = node, .level = level, .stop = stop};
    zb_error err;
    ASSERT_OK(zb_array_stored_each(node, level, take, &s, &err), err);
    return s;
}

/* All inner chunks of the grid, each asked for. */
static size_t check_inner(const zb_node *node, const seen *s) {
    const zb_array_info *info = zb_node_array(node);
    uint64_t index[ARRAYS_NDIM] = {0}, chunks = 1, bytes;
    size_t stored = 0;
    zb_error err;
    for (uint32_t d = 0; d < info->ndim; d++)
        chunks *= zb_array_chunk_count(node, ZB_GRID_INNER, d);
    for (uint64_t i = 0; i < chunks; i++) {
        ASSERT_OK(zb_array_chunk_stored(node, index, &bytes, &err), err);
        assert_int_equal(bytes_of(s, i), bytes);
        stored += bytes > 0;
        for (uint32_t d = info->ndim;
             d-- > 0 && ++index[d] == zb_array_chunk_count(node, ZB_GRID_INNER, d);)
            index[d] = 0;
    }
    return stored;
}

/* A random box, of the chunks that hold elements of which the walk over it tells the same. */
static void check_box(const zb_node *node, const seen *all, check_random *random) {
    const zb_array_info *info = zb_node_array(node);
    uint64_t start[ARRAYS_NDIM], count[ARRAYS_NDIM];
    seen in = {.node = node, .level = ZB_GRID_INNER};
    zb_error err;
    for (uint32_t d = 0; d < info->ndim; d++) {
        start[d] = check_random_in(random, 0, info->shape[d]);
        count[d] = check_random_in(random, 0, info->shape[d] - start[d]);
    }
    ASSERT_OK(zb_array_stored_in(node, start, count, take, &in, &err), err);
    size_t expected = 0;
    for (size_t i = 0; i < all->count; i++) {
        uint64_t rest = all->number[i];
        bool inside = true;
        for (uint32_t d = info->ndim; d-- > 0;) {
            const uint64_t chunks = zb_array_chunk_count(node, ZB_GRID_INNER, d);
            const zb_chunk_span span = zb_array_chunk_at(node, ZB_GRID_INNER, d, rest % chunks);
            inside = inside && count[d] > 0 && span.start < start[d] + count[d] &&
                     start[d] < span.start + span.extent;
            rest /= chunks;
        }
        expected += inside;
        assert_int_equal(bytes_of(&in, all->number[i]), inside ? all->bytes[i] : 0);
    }
    assert_int_equal(in.count, expected);
}

static bool is_small(const zb_node *node) {
    uint64_t chunks = 1;
    for (uint32_t d = 0; d < zb_node_array(node)->ndim; d++)
        chunks *= zb_array_chunk_count(node, ZB_GRID_INNER, d);
    return chunks <= MOST;
}

static void tells_what_is_stored(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int round = 0; round < 200; round++) {
        zb_hierarchy *mem = stores_new_mem(), *blind;
        zb_error err;
        arrays_spec spec = arrays_random_spec(&random);
        spec.around = ARRAYS_RAW;
        arrays_sample a = arrays_write(&spec, &random, mem, "a");
        ASSERT_OK(wrap(zb_store_new_count, mem, &blind, &err), err);
        zb_hierarchy_store(blind)->hints.can_list = false; /* as over plain HTTP */
        zb_node *node = stores_open_node(mem, "a"), *asked = stores_open_node(blind, "a");
        if (is_small(node)) {
            const seen inner = walk(node, ZB_GRID_INNER, 0), again = walk(asked, ZB_GRID_INNER, 0);
            assert_int_equal(inner.count, check_inner(node, &inner));
            assert_int_equal(again.count, check_inner(asked, &again));
            for (int i = 0; i < 5; i++)
                check_box(i % 2 ? node : asked, &inner, &random);
            assert_int_equal(walk(node, ZB_GRID_CHUNKS, 0).count,
                             walk(asked, ZB_GRID_CHUNKS, 0).count);
        }
        zb_node_release(node);
        zb_node_release(asked);
        zb_hierarchy_release(blind);
        zb_hierarchy_release(mem);
        arrays_free(&a);
    }
}

static void set(zb_hierarchy *mem, const char *key, const char *text) {
    zb_error err;
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), key, text, strlen(text), &err), err);
}

#define HUGE_ARRAY                                                                                 \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[1000000,1000000],"                      \
    "\"data_type\":\"uint8\",\"fill_value\":0,\"chunk_grid\":{\"name\":\"regular\","               \
    "\"configuration\":{\"chunk_shape\":[1,1]}},\"chunk_key_encoding\":{\"name\":\"default\"},"    \
    "\"codecs\":[\"bytes\"]}"

/* 10^12 chunks, of which five are stored, one of them behind the edge. */
static void content_decides_the_time(void **state) {
    (void)state;
    static const char *const keys[] = {"a/c/0/0", "a/c/7/999999", "a/c/500000/3",
                                       "a/c/999999/999999", "a/c/1000000/0"};
    zb_hierarchy *mem = stores_new_mem(), *count;
    zb_error err;
    set(mem, "a/zarr.json", HUGE_ARRAY);
    for (size_t i = 0; i < 5; i++)
        set(mem, keys[i], "1");
    set(mem, "a/c/3/x", "no chunk");
    ASSERT_OK(wrap(zb_store_new_count, mem, &count, &err), err);
    zb_node *node = stores_open_node(count, "a");
    (void)zb_store_count_take(zb_hierarchy_store(count));
    const seen s = walk(node, ZB_GRID_CHUNKS, 0);
    assert_int_equal(s.count, 4);
    zb_store_counts calls = zb_store_count_take(zb_hierarchy_store(count));
    assert_int_equal(calls.opens, 0);
    assert_true(calls.lists <= 8);
    assert_int_equal(bytes_of(&s, 7999999), 0); /* told by its name */
    const seen inner = walk(node, ZB_GRID_INNER, 0);
    assert_int_equal(inner.count, 4);
    assert_int_equal(bytes_of(&inner, 7999999), 1);
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(count)).opens, 4);
    assert_int_equal(walk(node, ZB_GRID_INNER, 2).count, 2);
    assert_int_equal(walk(node, ZB_GRID_CHUNKS, 1).count, 1);
    const uint64_t start[2] = {7, 999980}, row[2] = {1, 20}, most[2] = {999993, 20};
    seen box = {.node = node, .level = ZB_GRID_INNER};
    (void)zb_store_count_take(zb_hierarchy_store(count));
    ASSERT_OK(zb_array_stored_in(node, start, row, take, &box, &err), err);
    assert_int_equal(box.count, 1);
    calls = zb_store_count_take(zb_hierarchy_store(count));
    assert_int_equal(calls.opens, 20);
    assert_int_equal(calls.lists, 0);
    ASSERT_OK(zb_array_stored_in(node, start, most, take, &box, &err), err);
    assert_int_equal(box.count, 3); /* the first one again */
    ASSERT_FAILS(zb_array_stored_in(node, start, (const uint64_t[]){1, 21}, take, &box, &err),
                 ZB_EINVAL, err, "the box leaves dimension 1");
    zb_hierarchy_store(count)->hints.can_list = false;
    seen none = {.node = node};
    ASSERT_FAILS(zb_array_stored_each(node, ZB_GRID_CHUNKS, take, &none, &err), ZB_EUNSUPPORTED,
                 err, "more than 16777216 chunks to ask for");
    zb_node_release(node);
    zb_hierarchy_release(count);
    zb_hierarchy_release(mem);
}

static void others_are_refused(void **state) {
    (void)state;
    check_random random = check_random_new();
    zb_hierarchy *mem = stores_new_mem();
    arrays_sample a = arrays_write(&arrays_wrapped, &random, mem, "a");
    set(mem, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    zb_node *node = stores_open_node(mem, "a"), *group = stores_open_node(mem, "");
    seen s = {.node = node};
    zb_error err;
    ASSERT_FAILS(zb_array_stored_each(node, ZB_GRID_INNER, take, &s, &err), ZB_EUNSUPPORTED, err,
                 "array /a, shard c/0/0: codecs lie around its inner chunks");
    ASSERT_FAILS(zb_array_stored_each(group, ZB_GRID_INNER, take, &s, &err), ZB_EINVAL, err,
                 "is a group");
    zb_node_release(group);
    zb_node_release(node);
    zb_hierarchy_release(mem);
    arrays_free(&a);
}

static void every_failing_call_is_an_error(void **state) {
    (void)state;
    check_random random = {.state = 1};
    zb_error err;
    zb_hierarchy *mem = stores_new_mem(), *fault;
    ASSERT_OK(wrap(zb_store_new_fault, mem, &fault, &err), err);
    arrays_spec spec = {
        .ndim = 2, .shape = {8, 8}, .chunk = {{4, 8}, {4, 4}}, .depth = 1, .type = "int16"};
    arrays_sample a = arrays_write(&spec, &random, mem, "a");
    zb_node *node = stores_open_node(fault, "a");
    uint64_t n = 1;
    for (;; n++) {
        seen s = {.node = node, .level = ZB_GRID_INNER};
        zb_store_fault_set(zb_hierarchy_store(fault), n);
        enum zb_code code = zb_array_stored_each(node, ZB_GRID_INNER, take, &s, &err);
        zb_store_fault_set(zb_hierarchy_store(fault), 0);
        if (code == ZB_OK)
            break;
        assert_int_equal(code, ZB_EIO);
        assert_non_null(strstr(err.message, "injected fault"));
        assert_non_null(strstr(err.message, "array /a"));
    }
    assert_true(n > 4);
    zb_node_release(node);
    arrays_free(&a);
    zb_hierarchy_release(fault);
    zb_hierarchy_release(mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_is_stored),
        cmocka_unit_test(content_decides_the_time),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(every_failing_call_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
