/* SPDX-License-Identifier: MIT */
/* Two arrays that caches take for one: the second gets its own error, and nothing of the first. And
   what is worth a place in the cache. */
#include "read/cache.h"
#include "util/crc32c.h"
#include "node/node.h"
#include "support/arrays.h"
#include "support/stores.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"

#define HEAD                                                                                       \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"chunk_key_encoding\":{\"name\":\"default\"},"
#define GRID(n)                                                                                    \
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[" #n "]}},"
#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}"
#define SHARDS(inner)                                                                              \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[" #inner                   \
    "],\"codecs\":[" BYTES "],\"index_codecs\":[" BYTES "]}}"

/* A store of an array and its only chunk; the versions of two such chunks are the same. */
static zb_node *make(const char *document, const void *chunk, size_t size) {
    zb_hierarchy *hierarchy = stores_new_mem();
    assert_int_equal(zb_store_mem_set(zb_hierarchy_store(hierarchy), "zarr.json", document,
                                      strlen(document), NULL),
                     ZB_OK);
    assert_int_equal(zb_store_mem_set(zb_hierarchy_store(hierarchy), "c/0", chunk, size, NULL),
                     ZB_OK);
    zb_node *node = stores_open_node(hierarchy, "");
    zb_hierarchy_release(hierarchy);
    return node;
}

static void take_for_the_same(zb_node *node, const zb_node *other) {
    node->array->cache_id = other->array->cache_id;
}

static enum zb_code read_first(const zb_node *node, void *out, zb_values *values, zb_error *err) {
    const uint64_t start[1] = {0}, count[1] = {1};
    const zb_read read = {
        .node = node,
        .start = start,
        .count = count,
        .view = {.data = out, .dtype = zb_node_array(node)->dtype, .values = values}};
    return zb_array_read(&read, 1, err);
}

static void set_checksum(uint8_t *data, size_t size) {
    const uint32_t sum = zb__crc32c(data, size);
    memcpy(data + size, &sum, sizeof sum);
}

/* Numbers of the first would be addresses and lengths of the second. */
static void numbers_are_no_pointers(void **state) {
    (void)state;
    enum { COUNT = 64 };
    uint64_t chunk[COUNT * 2 + 1];
    for (size_t i = 0; i < COUNT; i++) {
        chunk[2 * i] = 0x10; /* no address */
        chunk[2 * i + 1] = 0x7fff;
    }
    set_checksum((uint8_t *)chunk, COUNT * 16);
    zb_node *numbers = make(HEAD "\"shape\":[1024],\"data_type\":\"uint8\",\"fill_value\":0," GRID(
                                1024) "\"codecs\":[" BYTES "]}",
                            chunk, COUNT * 16 + 4);
    zb_node *texts = make(HEAD "\"shape\":[64],\"data_type\":\"string\",\"fill_value\":\"\"," GRID(
                              64) "\"codecs\":[{\"name\":\"vlen-utf8\"},{\"name\":\"crc32c\"}]}",
                          chunk, COUNT * 16 + 4);
    take_for_the_same(texts, numbers);
    uint8_t byte;
    zb_slice text;
    zb_values *values;
    zb_error err;
    ASSERT_OK(zb_values_new(&values, &err), err);
    ASSERT_OK(read_first(numbers, &byte, NULL, &err), err); /* which keeps the whole chunk */
    assert_int_equal(byte, 0x10);
    ASSERT_FAILS(read_first(texts, &text, values, &err), ZB_EFORMAT, err, "16 elements");
    zb_values_free(values);
    zb_node_release(numbers);
    zb_node_release(texts);
}

/* The cached chunk has 64 bytes, where the second array has 4096. */
static void small_chunks_are_no_large_ones(void **state) {
    (void)state;
    uint8_t chunk[68] = {7};
    set_checksum(chunk, 64);
    zb_node *small = make(HEAD "\"shape\":[64],\"data_type\":\"uint8\",\"fill_value\":0," GRID(
                              64) "\"codecs\":[" BYTES "]}",
                          chunk, sizeof chunk);
    zb_node *large = make(HEAD "\"shape\":[4096],\"data_type\":\"uint8\",\"fill_value\":0," GRID(
                              4096) "\"codecs\":[" BYTES "]}",
                          chunk, sizeof chunk);
    take_for_the_same(large, small);
    uint8_t byte;
    zb_error err;
    ASSERT_OK(read_first(small, &byte, NULL, &err), err);
    assert_int_equal(byte, 7);
    ASSERT_FAILS(read_first(large, &byte, NULL, &err), ZB_EFORMAT, err, "68 bytes");
    zb_node_release(small);
    zb_node_release(large);
}

/* An index of 2 inner chunks, where the second array has 64. */
static void small_indexes_are_no_large_ones(void **state) {
    (void)state;
    enum { DATA = 1100 };
    uint8_t shard[DATA + 36] = {0};
    const uint64_t entries[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    memcpy(shard + DATA, entries, sizeof entries);
    set_checksum(shard + DATA, sizeof entries);
    zb_node *few = make(HEAD "\"shape\":[64],\"data_type\":\"uint8\",\"fill_value\":5," GRID(
                            64) "\"codecs\":[" SHARDS(32) "]}",
                        shard, sizeof shard);
    zb_node *many = make(HEAD "\"shape\":[64],\"data_type\":\"uint8\",\"fill_value\":5," GRID(
                             64) "\"codecs\":[" SHARDS(1) "]}",
                         shard, sizeof shard);
    take_for_the_same(many, few);
    uint8_t byte;
    zb_error err;
    ASSERT_OK(read_first(few, &byte, NULL, &err), err);
    assert_int_equal(byte, 5);
    ASSERT_FAILS(read_first(many, &byte, NULL, &err), ZB_ECHECKSUM, err, "index");
    zb_node_release(few);
    zb_node_release(many);
}

/* The number of chunks that reads of boxes of this size, side by side, leave in the cache. */
static size_t kept_by(const arrays_sample *sample, const zb_node *node, const uint64_t *size) {
    const size_t before = zb__chunk_cache()->table.count;
    const uint64_t *shape = sample->spec.shape;
    uint64_t start[2], count[2];
    for (start[0] = 0; start[0] < shape[0]; start[0] += size[0]) {
        for (start[1] = 0; start[1] < shape[1]; start[1] += size[1]) {
            int16_t out[64];
            zb_error err;
            for (int d = 0; d < 2; d++)
                count[d] = size[d] < shape[d] - start[d] ? size[d] : shape[d] - start[d];
            const zb_read read = {.node = node,
                                  .start = start,
                                  .count = count,
                                  .view = {.data = out, .dtype = sample->dtype}};
            ASSERT_OK(zb_array_read(&read, 1, &err), err);
            assert_memory_equal(out, arrays_at(sample, start), sizeof *out);
        }
    }
    return zb__chunk_cache()->table.count - before;
}

/* A chunk at the array's edge is read as a whole when all is that lies in the array. */
static void edges_are_no_parts(void **state) {
    (void)state;
    static const arrays_spec specs[] = {
        {.ndim = 2, .shape = {10, 7}, .chunk = {{4, 2}}},
        {.ndim = 2, .shape = {10, 7}, .chunk = {{8, 4}, {4, 2}}, .depth = 1},
        {.ndim = 2,
         .shape = {10, 7},
         .chunk = {{8, 4}, {2, 4}},
         .depth = 1,
         .order = {{1, 0}},
         .transposed = {true}},
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        arrays_spec spec = specs[i];
        spec.type = "int16";
        spec.codec = ARRAYS_GZIP;
        check_random random = {.state = 1};
        zb_hierarchy *mem = stores_new_mem();
        arrays_sample sample = arrays_write(&spec, &random, mem, "");
        zb_node *node = stores_open_node(mem, "");
        assert_int_equal(kept_by(&sample, node, (const uint64_t[]){4, 2}), 0);
        assert_int_equal(kept_by(&sample, node, (const uint64_t[]){1, 2}), 12);
        zb_node_release(node);
        arrays_free(&sample);
        zb_hierarchy_release(mem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_no_pointers),
        cmocka_unit_test(small_chunks_are_no_large_ones),
        cmocka_unit_test(small_indexes_are_no_large_ones),
        cmocka_unit_test(edges_are_no_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
