/* SPDX-License-Identifier: MIT */
/*
 * Encoded chunks that go from one array to another: between all chains, whatever the shards, edges
 * and fills are, the elements stay the same. What need not be encoded is not, and what is damaged
 * passes nowhere.
 */
#include "support/check.h"
#include "support/stores.h"
#include "zarrbridge/encoded.h"

#define ROWS 23
#define COLUMNS 37
#define ELEMENTS (ROWS * COLUMNS)

static const zb_dtype type = {.kind = ZB_KIND_INT, .size = 4};
static const uint64_t shape[] = {ROWS, COLUMNS}, inner[] = {4, 8};

#define SHUFFLE "{\"name\":\"numcodecs.shuffle\",\"configuration\":{\"elementsize\":4}}"
#define ZLIB "{\"name\":\"numcodecs.zlib\",\"configuration\":{\"level\":6}}"
#define GZIP "{\"name\":\"gzip\",\"configuration\":{\"level\":6}}"
#define ZSTD "{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":false}}"
#define ZSTD_SUM "{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":true}}"
#define CRC32C "{\"name\":\"crc32c\"}"
#define CRC32 "{\"name\":\"numcodecs.crc32\"}"
#define FLETCHER32 "{\"name\":\"numcodecs.fletcher32\"}"
#define TRANSPOSE "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}"
#define BIG "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}"
#define DELTA "{\"name\":\"numcodecs.delta\",\"configuration\":{\"dtype\":\"<i4\"}}"
#define BLOSC(compressor, size)                                                                    \
    "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"" compressor                               \
    "\",\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":" #size ",\"blocksize\":0}}"

/* has_sum: a checksum of all that counts. */
static const struct {
    const char *codecs;
    bool has_sum;
} chains[] = {
    {"[]", false},
    {"[" GZIP "]", true},
    {"[" ZLIB "]", true},
    {"[" ZSTD "]", false},
    {"[" ZSTD_SUM "]", true},
    {"[" CRC32C "]", true},
    {"[" ZSTD "," CRC32C "]", true},
    {"[" ZSTD "," CRC32 "," FLETCHER32 "]", true},
    {"[" ZLIB "," FLETCHER32 "]", true},
    {"[" SHUFFLE "," ZLIB "]", true},
    {"[" SHUFFLE "," GZIP "]", true},
    {"[" SHUFFLE "," ZSTD "]", false},
    {"[" SHUFFLE "," ZLIB "," FLETCHER32 "]", true},
    {"[" SHUFFLE "]", false},
    {"[" BLOSC("zlib", 4) "]", true},
    {"[" BLOSC("zlib", 4) "," CRC32C "]", true},
    {"[" BLOSC("zstd", 4) "]", false},
    {"[" BLOSC("lz4", 4) "]", false},
    {"[" TRANSPOSE "," ZSTD "]", false},
    {"[" BIG "," GZIP "]", true},
    {"[" DELTA "," ZSTD_SUM "]", true},
};
#define CHAINS (sizeof chains / sizeof *chains)

static const uint64_t shards[][2] = {{0, 0}, {8, 16}, {4, 8}, {24, 40}};
#define SHARDS (sizeof shards / sizeof *shards)

static bool is_whole(const char *codecs) {
    return strstr(codecs, "\"bytes\"") != NULL;
}

static zb_node *new_array_of(zb_hierarchy *mem, const char *path, const uint64_t *extents,
                             const char *codecs, const uint64_t *shard) {
    const int32_t fill = 7;
    const zb_array_spec spec = {.ndim = 2,
                                .shape = extents,
                                .inner_shape = inner,
                                .shard_shape = shard[0] && !is_whole(codecs) ? shard : NULL,
                                .dtype = type,
                                .fill_value = &fill,
                                .codecs = codecs};
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_array_create(mem, path, &spec, &node, &err), err);
    return node;
}

static zb_node *new_array(zb_hierarchy *mem, const char *path, const char *codecs,
                          const uint64_t *shard) {
    return new_array_of(mem, path, shape, codecs, shard);
}

/* Smooth, noisy or fill, chunk by chunk. */
static void make_values(check_random *random, int32_t *values) {
    for (uint64_t row = 0; row < ROWS; row += inner[0]) {
        for (uint64_t column = 0; column < COLUMNS; column += inner[1]) {
            const uint64_t kind = check_random_in(random, 0, 3);
            for (uint64_t r = row; r < row + inner[0] && r < ROWS; r++) {
                for (uint64_t c = column; c < column + inner[1] && c < COLUMNS; c++)
                    values[r * COLUMNS + c] = kind == 0   ? 7
                                              : kind == 1 ? (int32_t)check_random_next(random)
                                              : kind == 2 ? 1000
                                                          : (int32_t)(r + c);
            }
        }
    }
}

static void write_all(const zb_node *node, const int32_t *values) {
    const zb_write all = {.data = values, .dtype = type};
    zb_writer *writer;
    zb_error err;
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    ASSERT_OK(zb_writer_write(writer, &all, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
}

static void assert_holds(const zb_node *node, const int32_t *values) {
    static int32_t read[ELEMENTS];
    const zb_read all = {.node = node, .view = {.data = read, .dtype = type}};
    zb_error err;
    ASSERT_OK(zb_array_read(&all, 1, &err), err);
    assert_memory_equal(read, values, sizeof read);
}

/* All innermost chunks of the arrays, in an order of chance. */
#define CHUNKS (6 * 5)
static void list_chunks(check_random *random, uint64_t (*index)[2], zb_encoded *chunks) {
    for (size_t i = 0; i < CHUNKS; i++) {
        const size_t j = (size_t)check_random_in(random, 0, i);
        memcpy(index[i], index[j], sizeof index[i]);
        index[j][0] = i / 5;
        index[j][1] = i % 5;
    }
    for (size_t i = 0; i < CHUNKS; i++)
        chunks[i] = (zb_encoded){.index = index[i]};
}

/* The chunks are changed while they are written, or while they are read. */
static enum zb_code move(check_random *random, const zb_node *from, const zb_node *to, bool early,
                         zb_error *err) {
    uint64_t index[CHUNKS][2];
    zb_encoded chunks[CHUNKS];
    zb_chain *own, *other;
    zb_writer *writer;
    ASSERT_OK(zb_chain_of(from, &own, err), *err);
    ASSERT_OK(zb_chain_of(to, &other, err), *err);
    ASSERT_OK(zb_writer_open(to, NULL, &writer, err), *err);
    list_chunks(random, index, chunks);
    enum zb_code code = zb_array_get_encoded(from, early ? other : NULL, chunks, CHUNKS, err);
    for (size_t i = 0; i < CHUNKS && !early; i++)
        chunks[i].chain = own;
    if (!code)
        code = zb_writer_put_encoded(writer, chunks, CHUNKS, err);
    zb_encoded_clear(chunks, CHUNKS);
    zb_writer_abandon(writer);
    zb_chain_free(own);
    zb_chain_free(other);
    return code;
}

static void test_all_chains(void **state) {
    check_random random = check_random_new();
    int32_t *values = malloc(ELEMENTS * sizeof *values);
    zb_error err;
    (void)state;
    for (size_t a = 0; a < CHAINS; a++) {
        for (size_t b = 0; b < CHAINS; b++) {
            zb_hierarchy *mem;
            ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
            make_values(&random, values);
            zb_node *from = new_array(mem, "from", chains[a].codecs,
                                      shards[check_random_in(&random, 0, SHARDS - 1)]);
            zb_node *to = new_array(mem, "to", chains[b].codecs,
                                    shards[check_random_in(&random, 0, SHARDS - 1)]);
            write_all(from, values);
            ASSERT_OK(move(&random, from, to, check_random_in(&random, 0, 1), &err), err);
            assert_holds(to, values);
            zb_node_release(from);
            zb_node_release(to);
            zb_hierarchy_release(mem);
        }
    }
    free(values);
}

static enum zb_chain_way way_of(const char *from, const char *to) {
    zb_hierarchy *mem;
    zb_error err;
    zb_chain *a, *b;
    const char *reason;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
    zb_node *x = new_array(mem, "x", from, shards[0]), *y = new_array(mem, "y", to, shards[1]);
    ASSERT_OK(zb_chain_of(x, &a, &err), err);
    ASSERT_OK(zb_chain_of(y, &b, &err), err);
    const enum zb_chain_way way = zb_chain_compare(a, b, &reason);
    assert_true((way == ZB_CHAIN_SAME) == (reason == NULL));
    zb_chain_free(a);
    zb_chain_free(b);
    zb_node_release(x);
    zb_node_release(y);
    zb_hierarchy_release(mem);
    return way;
}

static void test_ways(void **state) {
    (void)state;
    assert_int_equal(way_of("[" ZSTD "]", "[" ZSTD "]"), ZB_CHAIN_SAME);
    assert_int_equal(way_of("[" ZSTD "]", "[" ZSTD_SUM "]"), ZB_CHAIN_SAME);
    assert_int_equal(way_of("[" ZLIB "]", "[" GZIP "]"), ZB_CHAIN_REWRAPPED);
    assert_int_equal(way_of("[" SHUFFLE "," ZLIB "]", "[" SHUFFLE "," GZIP "]"),
                     ZB_CHAIN_REWRAPPED);
    assert_int_equal(way_of("[" ZSTD "," FLETCHER32 "]", "[" ZSTD "," CRC32C "]"),
                     ZB_CHAIN_REWRAPPED);
    assert_int_equal(way_of("[" SHUFFLE "," ZLIB "]", "[" BLOSC("zlib", 4) "]"),
                     ZB_CHAIN_REWRAPPED);
    assert_int_equal(way_of("[" BLOSC("zstd", 4) "]", "[" SHUFFLE "," ZSTD "]"),
                     ZB_CHAIN_REWRAPPED);
    assert_int_equal(way_of("[" SHUFFLE "," ZLIB "]", "[" BLOSC("zlib", 2) "]"), ZB_CHAIN_ANEW);
    assert_int_equal(way_of("[" SHUFFLE "," ZLIB "]", "[" BLOSC("zstd", 4) "]"), ZB_CHAIN_ANEW);
    assert_int_equal(way_of("[" ZSTD "]", "[" GZIP "]"), ZB_CHAIN_ANEW);
    assert_int_equal(way_of("[" TRANSPOSE "," ZSTD "]", "[" ZSTD "]"), ZB_CHAIN_ANEW);
}

/* Encoded at a level at which nothing is encoded otherwise: deflate's streams stay. */
static void test_deflate_stays(void **state) {
    check_random random = check_random_new();
    int32_t *values = malloc(ELEMENTS * sizeof *values);
    static const uint64_t first[2];
    zb_hierarchy *mem;
    zb_error err;
    (void)state;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
    for (size_t i = 0; i < ELEMENTS; i++)
        values[i] = (int32_t)i / 3;
    zb_node *from = new_array(
        mem, "from", "[{\"name\":\"numcodecs.zlib\",\"configuration\":{\"level\":1}}]", shards[0]);
    zb_node *to =
        new_array(mem, "to", "[{\"name\":\"gzip\",\"configuration\":{\"level\":9}}]", shards[1]);
    write_all(from, values);
    ASSERT_OK(move(&random, from, to, false, &err), err);
    zb_encoded old = {.index = first}, new = {.index = first};
    ASSERT_OK(zb_array_get_encoded(from, NULL, &old, 1, &err), err);
    ASSERT_OK(zb_array_get_encoded(to, NULL, &new, 1, &err), err);
    assert_int_equal(old.size - 6, new.size - 18);
    assert_memory_equal((const char *)old.data + 2, (const char *)new.data + 10, old.size - 6);
    zb_encoded_clear(&old, 1);
    zb_encoded_clear(&new, 1);
    zb_node_release(from);
    zb_node_release(to);
    zb_hierarchy_release(mem);
    free(values);
}

/* The bytes of one chunk are damaged, in the middle, where all that is there counts. */
static void test_damage(void **state) {
    int32_t *values = malloc(ELEMENTS * sizeof *values);
    static const uint64_t first[2];
    zb_error err;
    (void)state;
    for (size_t a = 0; a < CHAINS; a++) {
        for (size_t b = 0; b < CHAINS && chains[a].has_sum; b++) {
            zb_hierarchy *mem;
            ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
            for (size_t i = 0; i < ELEMENTS; i++)
                values[i] = (int32_t)i * 11;
            zb_node *from = new_array(mem, "from", chains[a].codecs, shards[0]);
            zb_node *to = new_array(mem, "to", chains[b].codecs, shards[b % SHARDS]);
            write_all(from, values);
            zb_encoded chunk = {.index = first};
            zb_chain *own, *other;
            ASSERT_OK(zb_array_get_encoded(from, NULL, &chunk, 1, &err), err);
            ASSERT_OK(zb_chain_of(from, &own, &err), err);
            ASSERT_OK(zb_chain_of(to, &other, &err), err);
            unsigned char *bytes = malloc(chunk.size);
            memcpy(bytes, chunk.data, chunk.size);
            bytes[chunk.size / 2] ^= 0x10;
            const zb_encoded damaged = {
                .index = first, .chain = own, .data = bytes, .size = chunk.size};
            zb_writer *writer;
            ASSERT_OK(zb_writer_open(to, NULL, &writer, &err), err);
            const enum zb_code code = zb_writer_put_encoded(writer, &damaged, 1, &err);
            if (code == ZB_OK)
                fail_msg("%s to %s takes damage", chains[a].codecs, chains[b].codecs);
            assert_non_null(strstr(err.message, "array /to, "));
            assert_true(!zb_node_array(to)->shard_depth ||
                        strstr(err.message, "c/0/0: inner chunk (0,0): "));
            zb_writer_abandon(writer);
            /* The same where it is read. */
            bool exists;
            zb_encoded none = {.index = first};
            ASSERT_OK(zb_array_get_encoded(to, NULL, &none, 1, &err), err);
            exists = none.size > 0;
            zb_encoded_clear(&none, 1);
            assert_false(exists);
            free(bytes);
            zb_encoded_clear(&chunk, 1);
            zb_chain_free(own);
            zb_chain_free(other);
            zb_node_release(from);
            zb_node_release(to);
            zb_hierarchy_release(mem);
        }
    }
    free(values);
}

/* What lies outside an array that has become smaller is not brought along: chunks have the fill
   value there. */
static void test_outside_is_fill(void **state) {
    static const uint64_t large[] = {24, 40}, corner[] = {5, 4};
    static const char *const codecs[] = {"[]", "[" GZIP "]", "[" ZSTD "]", "[" BIG "," GZIP "]"};
    int32_t *values = malloc(24 * 40 * sizeof *values);
    zb_error err;
    (void)state;
    for (size_t i = 0; i < 24 * 40; i++)
        values[i] = 99;
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        zb_hierarchy *mem;
        zb_chain *chain;
        zb_writer *writer;
        ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
        zb_node *from = new_array_of(mem, "from", large, codecs[i], shards[0]);
        zb_node *to = new_array_of(mem, "to", shape, "[]", shards[0]);
        write_all(from, values);
        zb_encoded chunk = {.index = corner}, moved = {.index = corner};
        ASSERT_OK(zb_chain_of(from, &chain, &err), err);
        ASSERT_OK(zb_array_get_encoded(from, NULL, &chunk, 1, &err), err);
        chunk.chain = chain;
        ASSERT_OK(zb_writer_open(to, NULL, &writer, &err), err);
        ASSERT_OK(zb_writer_put_encoded(writer, &chunk, 1, &err), err);
        ASSERT_OK(zb_writer_close(writer, &err), err);
        ASSERT_OK(zb_array_get_encoded(to, NULL, &moved, 1, &err), err);
        assert_int_equal(moved.size, 4 * 8 * sizeof *values);
        for (size_t r = 0; r < 4; r++) {
            for (size_t c = 0; c < 8; c++) {
                int32_t value;
                memcpy(&value, (const char *)moved.data + (r * 8 + c) * 4, 4);
                assert_int_equal(value, 20 + r < ROWS && 32 + c < COLUMNS ? 99 : 7);
            }
        }
        zb_encoded_clear(&chunk, 1);
        zb_encoded_clear(&moved, 1);
        zb_chain_free(chain);
        zb_node_release(from);
        zb_node_release(to);
        zb_hierarchy_release(mem);
    }
    free(values);
}

/* A source that stores them has chunks of nothing but fill values; the target stores none. */
static void test_fill_is_left_out(void **state) {
    static const char *const codecs[] = {"[]", "[" ZSTD "]", "[" ZLIB "]", "[" BIG "," ZSTD "]"};
    static int32_t values[ELEMENTS];
    check_random random = check_random_new();
    zb_error err;
    (void)state;
    for (size_t i = 0; i < ELEMENTS; i++)
        values[i] = i % COLUMNS < 8 ? (int32_t)i : 7;
    for (size_t k = 0; k < sizeof codecs / sizeof *codecs; k++) {
        zb_hierarchy *mem;
        zb_writer *writer;
        zb_stored stored;
        ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
        zb_node *from = new_array(mem, "from", codecs[k], shards[0]);
        zb_node *to = new_array(mem, "to", k == 2 ? "[" GZIP "]" : codecs[k], shards[0]);
        const zb_write_options options = {.store_empty = true};
        const zb_write all = {.data = values, .dtype = type};
        ASSERT_OK(zb_writer_open(from, &options, &writer, &err), err);
        ASSERT_OK(zb_writer_write(writer, &all, &err), err);
        ASSERT_OK(zb_writer_close(writer, &err), err);
        ASSERT_OK(zb_array_stored(from, &stored, &err), err);
        assert_int_equal(stored.chunks, CHUNKS);
        ASSERT_OK(move(&random, from, to, false, &err), err);
        assert_holds(to, values);
        ASSERT_OK(zb_array_stored(to, &stored, &err), err);
        assert_int_equal(stored.chunks, 6);
        zb_node_release(from);
        zb_node_release(to);
        zb_hierarchy_release(mem);
    }
}

static void test_refused(void **state) {
    static const uint64_t outside[] = {6, 0}, first[] = {0, 0};
    zb_hierarchy *mem;
    zb_error err;
    (void)state;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
    zb_node *node = new_array(mem, "a", "[]", shards[0]);
    zb_encoded chunk = {.index = outside}, twice[] = {{.index = first}, {.index = first}};
    assert_int_equal(zb_array_get_encoded(node, NULL, &chunk, 1, &err), ZB_EINVAL);
    assert_int_equal(zb_array_get_encoded(node, NULL, twice, 2, &err), ZB_EINVAL);
    zb_node *group;
    zb_chain *chain;
    ASSERT_OK(zb_node_open(mem, "", &group, &err), err);
    assert_int_equal(zb_chain_of(group, &chain, &err), ZB_EINVAL);
    assert_int_equal(
        zb_chain_new(node, "[{\"name\":\"bytes\"},{\"name\":\"unheard\"}]", &chain, &err),
        ZB_EUNSUPPORTED);
    zb_node_release(group);
    zb_node_release(node);
    zb_hierarchy_release(mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_chains),      cmocka_unit_test(test_ways),
        cmocka_unit_test(test_deflate_stays),   cmocka_unit_test(test_damage),
        cmocka_unit_test(test_outside_is_fill), cmocka_unit_test(test_fill_is_left_out),
        cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
