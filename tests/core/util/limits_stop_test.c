/* SPDX-License-Identifier: MIT */
/*
 * The operations that each limit stops. The limits are read once per process, so each case runs in
 * a child process with its variable set; this process itself never asks for them before.
 */
#include <dirent.h>
#include <inttypes.h>
#include <unistd.h>
#include <libdeflate.h>

#include "read/cache.h"
#include "write/budget.h"
#include "write/writer.h"
#include "util/pool.h"
#include "node/walk.h"
#include "support/arrays.h"
#include "support/wrappers.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

#define MIB (UINT64_C(1) << 20)

/* A store whose root document is this text. */
static zb_hierarchy *store_of(const char *text) {
    zb_hierarchy *mem = NULL;
    CHILD_CHECK(zb_hierarchy_new_mem("mem", &mem, NULL) == ZB_OK, "no store");
    CHILD_CHECK(zb_store_mem_set(zb_hierarchy_store(mem), "zarr.json", text, strlen(text), NULL) ==
                    ZB_OK,
                "no set");
    return mem;
}

static void expect_limit(enum zb_code code, const zb_error *err, const char *name) {
    CHILD_CHECK(code == ZB_ELIMIT, "%s: %s", zb_code_name(code), err->message);
    CHILD_CHECK(strstr(err->message, name), "%s", err->message);
}

static void expect_open(const char *text, const char *name) {
    zb_hierarchy *mem = store_of(text);
    zb_node *node = NULL;
    zb_error err = {.code = ZB_OK};
    enum zb_code code = zb_node_open(mem, "", &node, &err);
    if (name)
        expect_limit(code, &err, name);
    else
        CHILD_CHECK(code == ZB_OK, "%s", err.message);
    zb_node_release(node);
    zb_hierarchy_release(mem);
}

#define GROUP "{\"zarr_format\":3,\"node_type\":\"group\""
#define ARRAY(shape, codecs) ARRAY_OF(shape, shape, codecs)
#define ARRAY_OF(shape, chunk, codecs)                                                             \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[" shape                                 \
    "],\"data_type\":\"uint8\",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":"            \
    "{\"chunk_shape\":[" chunk "]}},\"chunk_key_encoding\":{\"name\":\"default\"},"                \
    "\"fill_value\":0,\"codecs\":[" codecs "]}"
#define BYTES "{\"name\":\"bytes\"}"
#define CRC ",{\"name\":\"crc32c\"}"
#define SHARD(inner, codecs)                                                                       \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[" inner                    \
    "],\"codecs\":[" codecs "],\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":"           \
    "{\"endian\":\"little\"}}]}}"

static void json_depth(void *unused) {
    (void)unused;
    expect_open(GROUP ",\"x\":{\"must_understand\":false,\"a\":[[1]]}}", NULL);
    expect_open(GROUP ",\"x\":{\"must_understand\":false,\"a\":[[[1]]]}}", "json_depth");
    /* Attributes are cut off there, and do not keep the node from being opened. */
    expect_open(GROUP ",\"attributes\":{\"a\":[[[1]]]}}", NULL);
}

static void json_values(void *unused) {
    (void)unused;
    expect_open(GROUP ",\"attributes\":{\"a\":[1,2,3,4]}}", NULL);
    expect_open(GROUP ",\"attributes\":{\"a\":[1,2,3,4,5,6,7,8]}}", "json_values");
}

static void document_bytes(void *unused) {
    (void)unused;
    expect_open(GROUP ",\"attributes\":{\"a\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}}", NULL);
    expect_open(GROUP ",\"attributes\":{\"a\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}}",
                "document_bytes");
}

static void consolidated_bytes(void *unused) {
    (void)unused;
    size_t size = (size_t)17 * MIB; /* more than document_bytes, and than consolidated_bytes here */
    char *text = malloc(size);
    int used =
        snprintf(text, size, GROUP ",\"consolidated_metadata\":null,\"attributes\":{\"a\":\"");
    memset(text + used, 'x', size - (size_t)used - 4);
    strcpy(text + size - 4, "\"}}");
    expect_open(text, "consolidated_bytes");
    free(text);
}

static void children(void *unused) {
    (void)unused;
    zb_hierarchy *mem = store_of(GROUP "}");
    zb_error err = {.code = ZB_OK};
    zb_node *group;
    zb_children list;
    for (char key[] = "a/zarr.json"; key[0] < 'e'; key[0]++) {
        CHILD_CHECK(zb_store_mem_set(zb_hierarchy_store(mem), key, GROUP "}", sizeof GROUP, NULL) ==
                        ZB_OK,
                    "no set");
        CHILD_CHECK(zb_node_open(mem, "", &group, &err) == ZB_OK, "%s", err.message);
        enum zb_code code = zb_group_children(group, &list, &err);
        if (key[0] < 'd') {
            CHILD_CHECK(code == ZB_OK && list.count == (size_t)(key[0] - 'a' + 1), "%s",
                        err.message);
            zb_children_free(&list);
        } else {
            expect_limit(code, &err, "children");
        }
        zb_node_release(group);
    }
    zb_hierarchy_release(mem);
}

/* Chunks are no children: an array has a size however many lie in one directory. */
static void children_are_no_chunks(void *unused) {
    (void)unused;
    zb_hierarchy *mem = store_of(ARRAY("10,10", BYTES));
    zb_error err = {.code = ZB_OK};
    zb_node *array;
    uint64_t bytes = 0;
    for (char key[] = "c/0/0"; key[4] < '9'; key[4]++)
        CHILD_CHECK(zb_store_mem_set(zb_hierarchy_store(mem), key, "x", 1, NULL) == ZB_OK,
                    "no set");
    CHILD_CHECK(zb_node_open(mem, "", &array, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_array_storage_size(array, &bytes, &err) == ZB_OK && bytes == 9, "%s",
                err.message);
    zb_node_release(array);
    zb_hierarchy_release(mem);
}

static void chunk_bytes(void *unused) {
    (void)unused;
    expect_open(ARRAY("100,10", BYTES), NULL);
    expect_open(ARRAY("100,11", BYTES), "chunk_bytes");
    expect_open(ARRAY("100,100", SHARD("50,20", BYTES)), NULL); /* of the innermost chunk */
    expect_open(ARRAY("100,100", SHARD("50,25", BYTES)), "chunk_bytes");
    expect_open(ARRAY("100,100", SHARD("10,10", BYTES)), NULL); /* an index of 1600 bytes */
}

static void index_bytes(void *unused) {
    (void)unused;
    expect_open(ARRAY("10,6", SHARD("1,1", BYTES)), NULL); /* 60 entries of 16 bytes */
    expect_open(ARRAY("10,7", SHARD("1,1", BYTES)), "index_bytes");
}

static void shard_depth(void *unused) {
    (void)unused;
    expect_open(ARRAY("8", SHARD("4", SHARD("2", BYTES))), NULL);
    expect_open(ARRAY("8", SHARD("4", SHARD("2", SHARD("1", BYTES)))), "shard_depth");
}

static void codecs(void *unused) {
    (void)unused;
    expect_open(ARRAY("8", BYTES CRC CRC), NULL);
    expect_open(ARRAY("8", BYTES CRC CRC CRC), "codecs");
    expect_open(ARRAY("8", SHARD("4", BYTES CRC CRC CRC)), "codecs");
}

/* Reads the whole array at the root. */
static enum zb_code read_all(zb_hierarchy *hierarchy, size_t size, zb_error *err) {
    zb_node *node = NULL;
    unsigned char *values = malloc(size);
    enum zb_code code = zb_node_open(hierarchy, "", &node, err);
    zb_read read = {.node = node,
                    .view = {.data = values, .dtype = {ZB_KIND_UINT, 1, false, NULL}}};
    if (code == ZB_OK)
        code = zb_array_read(&read, 1, err);
    zb_node_release(node);
    free(values);
    return code;
}

static void gzip_members(void *unused) {
    (void)unused;
    static const char gzip[] = ",{\"name\":\"gzip\",\"configuration\":{\"level\":1}}";
    char text[500], stored[400];
    size_t used = 0;
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
    for (int members = 1; members <= 4; members++) { /* of two bytes each */
        used += libdeflate_gzip_compress(compressor, "xy", 2, stored + used, sizeof stored - used);
        snprintf(text, sizeof text, ARRAY("%d", BYTES "%s"), 2 * members, 2 * members, gzip);
        zb_hierarchy *mem = store_of(text);
        zb_error err = {.code = ZB_OK};
        CHILD_CHECK(zb_store_mem_set(zb_hierarchy_store(mem), "c/0", stored, used, NULL) == ZB_OK,
                    "no set");
        enum zb_code code = read_all(mem, (size_t)(2 * members), &err);
        if (members <= 3)
            CHILD_CHECK(code == ZB_OK, "%s", err.message);
        else
            expect_limit(code, &err, "gzip_members");
        zb_hierarchy_release(mem);
    }
    libdeflate_free_compressor(compressor);
}

/* A shard behind a codec has to be decoded as a whole: 4000 bytes of chunks and an index. */
static void shard_bytes(void *unused) {
    (void)unused;
    arrays_spec spec = {.ndim = 1,
                        .shape = {4000},
                        .chunk = {{4000}, {100}},
                        .depth = 1,
                        .type = "uint8",
                        .around = ARRAYS_CRC32C};
    check_random random = {.state = 1};
    zb_hierarchy *mem;
    zb_error err = {.code = ZB_OK};
    CHILD_CHECK(zb_hierarchy_new_mem("mem", &mem, NULL) == ZB_OK, "no store");
    arrays_sample a = arrays_write(&spec, &random, mem, "");
    expect_limit(read_all(mem, 4000, &err), &err, "shard_bytes");
    arrays_free(&a);
    spec.shape[0] = spec.chunk[0][0] = 2000;
    a = arrays_write(&spec, &random, mem, "");
    CHILD_CHECK(read_all(mem, 2000, &err) == ZB_OK, "%s", err.message);
    arrays_free(&a);
    zb_hierarchy_release(mem);
}

/* Half of each of ten chunks of 1000 bytes: those that do not fit are merged before the flush. */
static void write_cache_bytes(void *unused) {
    (void)unused;
    zb_hierarchy *mem = store_of(ARRAY_OF("10000", "1000", BYTES));
    zb_error err = {.code = ZB_OK};
    zb_node *node;
    zb_writer *writer;
    char half[500];
    memset(half, 'x', sizeof half);
    CHILD_CHECK(zb_node_open(mem, "", &node, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_writer_open(node, NULL, &writer, &err) == ZB_OK, "%s", err.message);
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t start = 1000 * i, count = sizeof half;
        zb_write write = {.start = &start,
                          .count = &count,
                          .data = half,
                          .dtype = {ZB_KIND_UINT, 1, false, NULL}};
        CHILD_CHECK(zb_writer_write(writer, &write, &err) == ZB_OK, "%s", err.message);
        CHILD_CHECK(zb__waiting_bytes(0) <= 3000, "%" PRIu64, zb__waiting_bytes(0));
    }
    zb_object_info info;
    CHILD_CHECK(zb_store_stat(zb_hierarchy_store(mem), "c/0", &info, &err) == ZB_OK, "%s",
                err.message);
    CHILD_CHECK(zb_store_stat(zb_hierarchy_store(mem), "c/9", &info, &err) == ZB_ENOTFOUND,
                "all are stored");
    CHILD_CHECK(zb_writer_close(writer, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb__waiting_bytes(0) == 0, "%" PRIu64, zb__waiting_bytes(0));
    CHILD_CHECK(zb_store_stat(zb_hierarchy_store(mem), "c/9", &info, &err) == ZB_OK, "%s",
                err.message);
    zb_node_release(node);
    zb_hierarchy_release(mem);
}

/* ---- Caches and threads: their size is bounded, 0 switches a cache off ---- */

/* Reads one row of each of 64 inner chunks, twice; returns the calls that reached the store. */
static uint64_t read_rows(void) {
    static const arrays_spec spec = {.ndim = 2,
                                     .shape = {128, 128},
                                     .chunk = {{64, 64}, {16, 16}},
                                     .depth = 1,
                                     .type = "int16",
                                     .codec = ARRAYS_GZIP};
    check_random random = {.state = 1};
    zb_hierarchy *mem, *count;
    zb_node *node;
    zb_error err = {.code = ZB_OK};
    CHILD_CHECK(zb_hierarchy_new_mem("mem", &mem, NULL) == ZB_OK, "no store");
    CHILD_CHECK(wrap(zb_store_new_count, mem, &count, NULL) == ZB_OK, "no store");
    arrays_sample a = arrays_write(&spec, &random, mem, "");
    CHILD_CHECK(zb_node_open(count, "", &node, &err) == ZB_OK, "%s", err.message);
    zb_store_count_take(zb_hierarchy_store(count));
    for (uint64_t i = 0; i < 128; i++) {
        int16_t row[16];
        uint64_t start[2] = {i % 8 * 16 + i / 64, i / 8 % 8 * 16}, size[2] = {1, 16};
        zb_read read = {
            .node = node, .start = start, .count = size, .view = {.data = row, .dtype = a.dtype}};
        CHILD_CHECK(zb_array_read(&read, 1, &err) == ZB_OK, "%s", err.message);
        CHILD_CHECK(memcmp(row, arrays_at(&a, start), sizeof row) == 0, "wrong values");
        CHILD_CHECK(zb__chunk_cache()->bytes <= zb_limits_get()->cache_bytes, "%" PRIu64,
                    zb__chunk_cache()->bytes);
        CHILD_CHECK(zb__index_cache()->bytes <= zb_limits_get()->index_cache_bytes, "%" PRIu64,
                    zb__index_cache()->bytes);
    }
    uint64_t reads = zb_store_count_take(zb_hierarchy_store(count)).reads;
    zb_node_release(node);
    arrays_free(&a);
    zb_hierarchy_release(count);
    zb_hierarchy_release(mem);
    return reads;
}

static void roomy(void *unused) {
    (void)unused;
    uint64_t reads = read_rows();
    CHILD_CHECK(reads == 4 + 64, "%" PRIu64 " reads", reads); /* each index and chunk once */
    CHILD_CHECK(zb__chunk_cache()->table.count == 64, "%zu chunks", zb__chunk_cache()->table.count);
    CHILD_CHECK(zb__index_cache()->table.count == 4, "%zu indexes", zb__index_cache()->table.count);
}

static void small_cache(void *unused) {
    (void)unused;
    uint64_t reads = read_rows();
    CHILD_CHECK(reads == 4 + 128, "%" PRIu64 " reads", reads);
    CHILD_CHECK(zb__chunk_cache()->table.count > 0 && zb__chunk_cache()->table.count < 20,
                "%zu chunks", zb__chunk_cache()->table.count);
}

static void no_cache(void *unused) {
    (void)unused;
    uint64_t reads = read_rows();
    CHILD_CHECK(reads == 4 + 128, "%" PRIu64 " reads", reads);
    CHILD_CHECK(zb__chunk_cache()->bytes == 0, "not empty");
}

static void no_index_cache(void *unused) {
    (void)unused;
    uint64_t reads = read_rows();
    CHILD_CHECK(reads == 128 + 64, "%" PRIu64 " reads", reads); /* the index each time */
    CHILD_CHECK(zb__index_cache()->bytes == 0, "not empty");
}

/* Directories each of which has two links to the next: few of them, and 2^n paths. */
static void links(void *unused) {
    (void)unused;
    char *root = check_new_directory();
    zb_hierarchy *hierarchy;
    zb_error err = {.code = ZB_OK};
    zb__names nodes;
    for (int i = 0; i < 20; i++) {
        char path[600], target[20];
        snprintf(path, sizeof path, "d%d/zarr.json", i);
        check_write_file(root, path, GROUP "}", sizeof GROUP);
        snprintf(target, sizeof target, "../d%d", i + 1);
        for (int j = 0; j < 2; j++) {
            snprintf(path, sizeof path, "%s/d%d/%c", root, i, "pq"[j]);
            CHILD_CHECK(symlink(target, path) == 0, "no link");
        }
    }
    CHILD_CHECK(zb_hierarchy_open(root, &hierarchy, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb__nodes_at(hierarchy, "d18", &nodes, &err) == ZB_OK && nodes.count == 3, "%s",
                err.message);
    zb__names_free(&nodes);
    expect_limit(zb__nodes_at(hierarchy, "d0", &nodes, &err), &err, "links");
    zb_hierarchy_release(hierarchy);
    check_remove_directory(root);
}

static enum zb_code do_nothing(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    (void)context;
    (void)i;
    (void)scratch;
    (void)err;
    return ZB_OK;
}

static size_t threads_now(void) {
    DIR *dir = opendir("/proc/self/task");
    size_t count = 0;
    for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        count += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

/* The number of threads that work on a run, the caller included. Hundreds may be more than this
   machine grants a process; the pool then does with those that it gets. */
static void threads(void *context) {
    size_t expected = *(const size_t *)context, before = threads_now();
    CHILD_CHECK(zb__pool_width() == expected, "width %zu", zb__pool_width());
    if (expected > 3) {
        CHILD_CHECK(zb__pool_run(do_nothing, NULL, 1000, 0, NULL) == ZB_OK, "failed");
        CHILD_CHECK(threads_now() - before <= expected, "%zu threads", threads_now() - before);
        return;
    }
    CHILD_CHECK(zb__pool_run(do_nothing, NULL, 1000, 0, NULL) == ZB_OK, "failed");
    size_t started = threads_now() - before;
#ifdef __SANITIZE_THREAD__
    /* The sanitizer starts a thread of its own beside the first of a child. */
    CHILD_CHECK(started >= expected - 1 && started <= expected + 1, "%zu threads", started);
#else
    CHILD_CHECK(started == expected - 1, "%zu threads", started);
#endif
}

/* The program's number is the default of the variable. */
static void threads_of_program(void *context) {
    zb_threads_set(2);
    threads(context);
    zb_threads_set(5);
    CHILD_CHECK(zb_limits_get()->threads == *(const size_t *)context,
                "changed after the first use");
}

static void limits_stop(void **state) {
    (void)state;
    static const struct {
        void (*fn)(void *);
        const char *variable, *value;
    } rows[] = {{json_depth, "ZARRBRIDGE_JSON_DEPTH", "4"},
                {json_values, "ZARRBRIDGE_JSON_VALUES", "10"},
                {document_bytes, "ZARRBRIDGE_DOCUMENT_BYTES", "100"},
                {consolidated_bytes, "ZARRBRIDGE_CONSOLIDATED_BYTES", "17000000"},
                {children, "ZARRBRIDGE_CHILDREN", "3"},
                {children_are_no_chunks, "ZARRBRIDGE_CHILDREN", "3"},
                {links, "ZARRBRIDGE_LINKS", "100"},
                {chunk_bytes, "ZARRBRIDGE_CHUNK_BYTES", "1000"},
                {shard_bytes, "ZARRBRIDGE_SHARD_BYTES", "4000"},
                {index_bytes, "ZARRBRIDGE_INDEX_BYTES", "1000"},
                {shard_depth, "ZARRBRIDGE_SHARD_DEPTH", "2"},
                {codecs, "ZARRBRIDGE_CODECS", "3"},
                {gzip_members, "ZARRBRIDGE_GZIP_MEMBERS", "3"},
                {write_cache_bytes, "ZARRBRIDGE_WRITE_CACHE_BYTES", "3000"},
                {roomy, NULL, NULL},
                {small_cache, "ZARRBRIDGE_CACHE_BYTES", "8000"},
                {no_cache, "ZARRBRIDGE_CACHE_BYTES", "0"},
                {no_index_cache, "ZARRBRIDGE_INDEX_CACHE_BYTES", "0"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!check_in_child(rows[i].fn, NULL, rows[i].variable, rows[i].value))
            fail_msg("with %s=%s", rows[i].variable ? rows[i].variable : "no variable",
                     rows[i].value ? rows[i].value : "");
    }
    size_t one = 1, three = 3, most = 256;
    assert_true(check_in_child(threads, &one, "ZARRBRIDGE_NUM_THREADS", "1"));
    assert_true(check_in_child(threads, &three, "ZARRBRIDGE_NUM_THREADS", "3"));
    assert_true(check_in_child(threads, &most, "ZARRBRIDGE_NUM_THREADS", "1000000"));
    size_t two = 2;
    assert_true(check_in_child(threads_of_program, &two, NULL, NULL));
    assert_true(check_in_child(threads_of_program, &three, "ZARRBRIDGE_NUM_THREADS", "3"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
