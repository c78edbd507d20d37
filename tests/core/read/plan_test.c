/* SPDX-License-Identifier: MIT */
/*
 * The calls of a read to its store: nothing twice, no more than it must, each failure passed on
 * with the place where it happened. The store around the one in memory counts, or fails, every
 * call.
 */
#include "support/arrays.h"
#include "support/clocks.h"
#include "support/wrappers.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"

typedef struct setup {
    zb_hierarchy *mem, *around; /* around: count or fault, on mem */
    zb_node *node;              /* array "a" of around */
    arrays_sample sample;
    check_random random;
} setup;

static setup begin(const arrays_spec *spec, wrap_fn fn) {
    setup s = {.random = {.state = 7}};
    zb_error err;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &s.mem, &err), err);
    ASSERT_OK(wrap(fn, s.mem, &s.around, &err), err);
    s.sample = arrays_write(spec, &s.random, s.mem, "a");
    ASSERT_OK(zb_node_open(s.around, "a", &s.node, &err), err);
    zb_cache_clear();
    return s;
}

static void end(setup *s) {
    zb_node_release(s->node);
    zb_hierarchy_release(s->around);
    zb_hierarchy_release(s->mem);
    arrays_free(&s->sample);
}

static uint64_t object_size(const setup *s, const char *key) {
    zb_object_info info;
    zb_error err;
    ASSERT_OK(zb_store_stat(zb_hierarchy_store(s->mem), key, &info, &err), err);
    return info.size;
}

/* Reads a box of a two-dimensional array and compares. */
static enum zb_code try_box(const setup *s, const uint64_t *start, const uint64_t *count,
                            zb_error *err) {
    const arrays_sample *a = &s->sample;
    size_t item = a->dtype.size;
    unsigned char *values = malloc((size_t)(count[0] * count[1]) * item + 1);
    zb_read read = {.node = s->node,
                    .start = start,
                    .count = count,
                    .view = {.data = values, .dtype = a->dtype}};
    enum zb_code code = zb_array_read(&read, 1, err);
    for (uint64_t y = 0; y < count[0] && code == ZB_OK; y++)
        assert_memory_equal(values + y * count[1] * item,
                            arrays_at(a, (uint64_t[]){start[0] + y, start[1]}), count[1] * item);
    free(values);
    return code;
}

static void read_box(const setup *s, uint64_t y, uint64_t x, uint64_t rows, uint64_t columns) {
    zb_error err;
    ASSERT_OK(try_box(s, (uint64_t[]){y, x}, (uint64_t[]){rows, columns}, &err), err);
}

static const arrays_spec plain = {
    .ndim = 2, .shape = {64, 64}, .chunk = {{64, 64}}, .type = "int16", .codec = ARRAYS_ZSTD};
static const arrays_spec sharded = {.ndim = 2,
                                    .shape = {128, 128},
                                    .chunk = {{64, 64}, {16, 16}},
                                    .depth = 1,
                                    .type = "int16",
                                    .codec = ARRAYS_ZSTD};
#define INDEX_BYTES (16 * 16 + 4) /* of `sharded` */

/* ---- Nothing twice ---- */

static void boxes_of_one_call_share_chunks(void **state) {
    (void)state;
    for (int in_shards = 0; in_shards < 2; in_shards++) {
        setup s = begin(in_shards ? &sharded : &plain, zb_store_new_count);
        zb_store_count_take(zb_hierarchy_store(s.around));
        int16_t values[6][4];
        const uint64_t starts[6][2] = {{0, 0}, {5, 5}, {12, 12}, {0, 12}, {5, 5}, {7, 9}};
        const uint64_t count[2] = {2, 2};
        zb_read reads[6];
        for (size_t i = 0; i < 6; i++)
            reads[i] = (zb_read){.node = s.node,
                                 .start = starts[i],
                                 .count = count,
                                 .view = {.data = values[i], .dtype = s.sample.dtype}};
        zb_error err;
        ASSERT_OK(zb_array_read(reads, 6, &err), err);
        for (size_t i = 0; i < 6; i++)
            assert_memory_equal(&values[i][2],
                                arrays_at(&s.sample, (uint64_t[]){starts[i][0] + 1, starts[i][1]}),
                                4);
        zb_store_counts c = zb_store_count_take(zb_hierarchy_store(s.around));
        assert_int_equal(c.opens, 1);
        assert_int_equal(c.reads, in_shards ? 2 : 1); /* with the index */
        end(&s);
    }
}

/* The boxes of three bands that lie by pixel want all bytes of a chunk, and get them together.
   Those of parts that lie apart do not read what is between. */
static void boxes_that_interleave_read_uncompressed_chunks_once(void **state) {
    (void)state;
    const arrays_spec whole = {
        .ndim = 2, .shape = {300, 600}, .chunk = {{300, 600}}, .type = "int16"};
    const arrays_spec in_shards = {.ndim = 2,
                                   .shape = {300, 600},
                                   .chunk = {{300, 600}, {100, 300}},
                                   .depth = 1,
                                   .type = "int16"};
    for (int i = 0; i < 2; i++) {
        setup s = begin(i ? &in_shards : &whole, zb_store_new_count);
        static int16_t values[3][300][200];
        const uint64_t bands[3][2] = {{0, 0}, {0, 1}, {0, 2}}, all[2] = {300, 200};
        const uint64_t step[2] = {1, 3}, parts[2][2] = {{0, 0}, {90, 0}}, rows[2] = {100, 200};
        zb_read reads[3];
        zb_error err;
        for (size_t band = 0; band < 3; band++)
            reads[band] = (zb_read){.node = s.node,
                                    .start = bands[band],
                                    .count = all,
                                    .step = step,
                                    .view = {.data = values[band], .dtype = s.sample.dtype}};
        zb_store_count_take(zb_hierarchy_store(s.around));
        ASSERT_OK(zb_array_read(reads, 3, &err), err);
        zb_store_counts c = zb_store_count_take(zb_hierarchy_store(s.around));
        assert_true(c.bytes >= 360000 && c.bytes <= 361000);
        for (size_t band = 0; band < 3; band++)
            for (uint64_t y = 0; y < 300; y++)
                for (uint64_t x = 0; x < 200; x++)
                    assert_memory_equal(&values[band][y][x],
                                        arrays_at(&s.sample, (uint64_t[]){y, 3 * x + band}), 2);
        for (size_t part = 0; part < 2; part++) /* 100 rows each, of which 10 are wanted by both */
            reads[part] = (zb_read){.node = s.node,
                                    .start = parts[part],
                                    .count = rows,
                                    .view = {.data = values[part], .dtype = s.sample.dtype}};
        ASSERT_OK(zb_array_read(reads, 2, &err), err);
        for (size_t part = 0; part < 2; part++)
            for (uint64_t y = 0; y < 100; y++)
                assert_memory_equal(values[part][0] + y * 200,
                                    arrays_at(&s.sample, (uint64_t[]){part * 90 + y, 0}), 400);
        assert_true(zb_store_count_take(zb_hierarchy_store(s.around)).bytes < 100000);
        end(&s);
    }
}

static void points_of_one_chunk_come_together(void **state) {
    (void)state;
    setup s = begin(&sharded, zb_store_new_count);
    uint64_t coords[400];
    int16_t values[200];
    zb_error err;
    for (size_t i = 0; i < 200; i++) { /* two inner chunks of one shard, in turns */
        coords[2 * i] = check_random_in(&s.random, 0, 15) + (i % 2 ? 48 : 0);
        coords[2 * i + 1] = check_random_in(&s.random, 0, 15);
    }
    zb_store_count_take(zb_hierarchy_store(s.around));
    const zb_points points = {.node = s.node,
                              .coords = coords,
                              .count = 200,
                              .view = {.data = values, .dtype = s.sample.dtype}};
    ASSERT_OK(zb_array_read_points(&points, &err), err);
    for (size_t i = 0; i < 200; i++)
        assert_memory_equal(&values[i], arrays_at(&s.sample, coords + 2 * i), 2);
    zb_store_counts c = zb_store_count_take(zb_hierarchy_store(s.around));
    assert_int_equal(c.opens, 1);
    assert_true(c.reads <= 3);
    end(&s);
}

/* Row by row through a chunk: it is read, and so decoded, twice at the most. */
static void rows_of_a_chunk_decode_it_twice_at_most(void **state) {
    (void)state;
    static const enum arrays_codec codecs[] = {ARRAYS_GZIP, ARRAYS_ZSTD, ARRAYS_CRC32C,
                                               ARRAYS_ZSTD_CRC32C};
    for (size_t i = 0; i < 8; i++) {
        arrays_spec spec = i < 4 ? plain : sharded;
        spec.codec = codecs[i % 4];
        setup s = begin(&spec, zb_store_new_count);
        zb_store_count_take(zb_hierarchy_store(s.around));
        uint64_t rows = i < 4 ? 64 : 16;
        for (uint64_t y = 0; y < rows; y++)
            read_box(&s, y, 0, 1, rows);
        zb_store_counts c = zb_store_count_take(zb_hierarchy_store(s.around));
        /* Each read looks whether the object is still the same. It opens it where nothing is
           kept. */
        assert_int_equal(c.opens + c.stats,
                         rows + (zb_hierarchy_store(s.around)->hints.is_watched ? rows : 0));
        assert_true(c.opens <= (i < 4 ? 1 : rows));
        assert_true(c.reads <= 2 + (i >= 4));
        for (uint64_t y = rows; y-- > 0;)
            read_box(&s, y, 1, 1, rows - 2);
        c = zb_store_count_take(zb_hierarchy_store(s.around));
        assert_int_equal(c.reads, 0);
        zb_cache_clear();
        read_box(&s, 0, 0, 1, 16);
        assert_true(zb_store_count_take(zb_hierarchy_store(s.around)).reads > 0);
        end(&s);
    }
}

static void indexes_are_read_once(void **state) {
    (void)state;
    arrays_spec spec = sharded;
    spec.codec = ARRAYS_RAW;
    setup s = begin(&spec, zb_store_new_count);
    zb_store_count_take(zb_hierarchy_store(s.around));
    read_box(&s, 0, 0, 1, 1);
    zb_store_counts c = zb_store_count_take(zb_hierarchy_store(s.around));
    assert_int_equal(c.reads, 2);
    assert_int_equal(c.bytes, INDEX_BYTES + 2);
    for (uint64_t i = 1; i < 64; i++) {
        read_box(&s, i, 63 - i, 1, 1);
        c = zb_store_count_take(zb_hierarchy_store(s.around));
        assert_int_equal(c.reads, 1);
        assert_int_equal(c.bytes, 2);
    }
    read_box(&s, 64, 0, 1, 1); /* the next shard has its own */
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(s.around)).reads, 2);
    end(&s);
}

/* ---- No more than it must ---- */

static void small_windows_read_few_bytes(void **state) {
    (void)state;
    setup s = begin(&sharded, zb_store_new_count);
    uint64_t whole = object_size(&s, "a/c/0/0");
    zb_store_count_take(zb_hierarchy_store(s.around));
    read_box(&s, 20, 20, 8, 8); /* inside one of 16 inner chunks */
    zb_store_counts c = zb_store_count_take(zb_hierarchy_store(s.around));
    assert_true(c.bytes - INDEX_BYTES < whole / 8);
    end(&s);

    arrays_spec raw = {.ndim = 2, .shape = {600, 500}, .chunk = {{600, 500}}, .type = "int16"};
    s = begin(&raw, zb_store_new_count); /* 600 000 bytes in one chunk */
    zb_store_count_take(zb_hierarchy_store(s.around));
    read_box(&s, 17, 99, 1, 1);
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(s.around)).bytes, 2);
    read_box(&s, 17, 0, 3, 500);
    c = zb_store_count_take(zb_hierarchy_store(s.around));
    assert_int_equal(c.bytes, 3000);
    assert_int_equal(c.reads, 1);
    read_box(&s, 10, 100, 5, 50);
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(s.around)).bytes,
                     500); /* rows apart: one by one */
    end(&s);
}

static void missing_chunks_cost_one_open(void **state) {
    (void)state;
    zb_error err;
    setup s = begin(&sharded, zb_store_new_count);
    char *text;
    size_t size;
    ASSERT_OK(zb_store_get(zb_hierarchy_store(s.mem), "a/zarr.json", 10000, "document_bytes", &text,
                           &size, NULL, &err),
              err);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(s.mem), "empty/zarr.json", text, size, &err),
              err);
    free(text);
    zb_node *empty;
    ASSERT_OK(zb_node_open(s.around, "empty", &empty, &err), err);
    zb_store_count_take(zb_hierarchy_store(s.around));
    static int16_t values[128 * 128];
    zb_read read = {.node = empty, .view = {.data = values, .dtype = s.sample.dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (size_t i = 0; i < 128 * 128; i++)
        assert_int_equal(values[i], 7); /* the fill value */
    zb_store_counts c = zb_store_count_take(zb_hierarchy_store(s.around));
    assert_int_equal(c.opens, 4);
    assert_int_equal(c.reads + c.lists, 0);
    assert_int_equal(c.stats, 1); /* of the document: the array has not been deleted meanwhile */
    zb_node_release(empty);
    end(&s);
}

/* Inner chunks that lie side by side come in few requests: an eighth of the work each for two
   threads, or half of that where the sizes do not add up. */
static void neighbours_share_requests(void **state) {
    (void)state;
    arrays_spec spec = sharded;
    spec.chunk[0][0] = spec.chunk[0][1] = 128;
    setup s = begin(&spec, zb_store_new_count);
    zb_store_count_take(zb_hierarchy_store(s.around));
    read_box(&s, 0, 0, 128, 128); /* 64 inner chunks */
    zb_store_counts c = zb_store_count_take(zb_hierarchy_store(s.around));
    assert_int_equal(c.opens, 1);
    assert_true(c.reads <= 1 + 16);
    assert_int_equal(c.bytes, object_size(&s, "a/c/0/0"));
    end(&s);
}

/* What costs a way to a server and back is not cut for the sake of threads, nor left to one of
   them. */
static void requests_to_distant_stores_are_few(void **state) {
    (void)state;
    arrays_spec spec = sharded;
    spec.chunk[0][0] = spec.chunk[0][1] = 128;
    spec.codec = ARRAYS_CRC32C;
    setup s = begin(&spec, zb_store_new_count);
    zb_hierarchy_store(s.around)->hints.is_local = false;
    zb_store_count_take(zb_hierarchy_store(s.around));
    read_box(&s, 0, 0, 128, 128); /* 64 inner chunks, side by side */
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(s.around)).reads, 2);
    end(&s);
}

/* ---- Changes of the store ---- */

static void rewritten_objects_are_seen_at_once(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        arrays_spec spec = i < 5 ? plain : sharded;
        spec.codec = (enum arrays_codec)(i % 5);
        setup s = begin(&spec, zb_store_new_count);
        for (int round = 0; round < 5; round++) {
            for (uint64_t y = 0; y < 10; y++) /* now it is cached */
                read_box(&s, y, 3, 1, 9);
            read_box(&s, 0, 0, 64, 64);
            zb_node *node = s.node;
            arrays_free(&s.sample);
            s.random.state += 1;
            s.sample = arrays_write(&spec, &s.random, s.mem, "a"); /* same metadata, other values */
            s.node = node;
        }
        end(&s);
    }
}

/* The same where versions are time stamps: in place, a moment later, with the same size. In some
   rounds the file is old enough to be kept when it is read. */
static void files_rewritten_in_place_are_seen_at_once(void **state) {
    (void)state;
    zb_error err;
    setup s = begin(&plain, zb_store_new_count);
    char *root = check_new_directory(), *text;
    size_t size;
    ASSERT_OK(zb_store_get(zb_hierarchy_store(s.mem), "a/zarr.json", 10000, "document_bytes", &text,
                           &size, NULL, &err),
              err);
    char *raw = strstr(text, ",{\"name\":\"zstd\"");
    assert_non_null(raw);
    strcpy(raw, ",{\"name\":\"crc32c\"}]}"); /* cacheable, and of one size */
    check_write_file(root, "a/zarr.json", text, strlen(text));
    free(text);
    zb_hierarchy *fs;
    zb_node *node;
    ASSERT_OK(zb_hierarchy_open(root, &fs, &err), err);
    ASSERT_OK(zb_node_open(fs, "a", &node, &err), err);
    arrays_spec spec = plain;
    spec.codec = ARRAYS_CRC32C;
    for (int round = 0; round < 60; round++) {
        arrays_free(&s.sample);
        s.random.state += 1;
        s.sample = arrays_write(&spec, &s.random, s.mem, "a");
        ASSERT_OK(zb_store_get(zb_hierarchy_store(s.mem), "a/c/0/0", 10000, "chunk_bytes", &text,
                               &size, NULL, &err),
                  err);
        check_write_file(root, "a/c/0/0", text, size);
        free(text);
        setup on_disk = s;
        on_disk.node = node;
        if (round % 20 == 7)
            clocks_let_files_age(); /* its version is valid while it is read */
        for (uint64_t y = 0; y < 4; y++)
            read_box(&on_disk, y, 0, 1, 64);
        clocks_reset();
    }
    zb_node_release(node);
    zb_hierarchy_release(fs);
    check_remove_directory(root);
    end(&s);
}

/* ---- Failures ---- */

/* Every call of a read fails once: an error each time, no wrong data, and the next read is
   right. */
static void every_failing_call_is_an_error(void **state) {
    (void)state;
    arrays_spec specs[] = {plain, sharded, arrays_nested, sharded, plain};
    specs[3].codec = ARRAYS_RAW;
    specs[4].codec = ARRAYS_RAW;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        setup s = begin(&specs[i], zb_store_new_fault);
        const uint64_t start[2] = {3, 2}, count[2] = {specs[i].shape[0] - 4, specs[i].shape[1] - 3};
        zb_error err;
        uint64_t n = 1;
        for (;; n++) {
            zb_cache_clear();
            zb_store_fault_set(zb_hierarchy_store(s.around), n);
            enum zb_code code = try_box(&s, start, count, &err);
            zb_store_fault_set(zb_hierarchy_store(s.around), 0);
            if (code == ZB_OK)
                break;
            assert_int_equal(code, ZB_EIO);
            assert_int_equal(err.code, ZB_EIO);
            assert_non_null(strstr(err.message, "injected fault"));
            assert_non_null(strstr(err.message, "store mem, array /a"));
            if (!strstr(err.message, "array /a: ")) /* else it was the look at the document */
                assert_non_null(strstr(err.message, specs[i].depth ? "shard c/" : "chunk c/"));
            ASSERT_OK(try_box(&s, start, count, &err), err); /* with the chunks cached by now */
        }
        assert_true(n > (specs[i].depth ? 8 : 2)); /* it failed as often as there were calls */
        zb_store_fault_set(zb_hierarchy_store(s.around), 1);
        zb_node *node = NULL;
        ASSERT_FAILS(zb_node_open(s.around, "a", &node, &err), ZB_EIO, err, "injected fault");
        zb_store_fault_set(zb_hierarchy_store(s.around), 2);
        ASSERT_FAILS(zb_node_open(s.around, "a", &node, &err), ZB_EIO, err, "injected fault");
        assert_null(node);
        end(&s);
    }
}

/* Flips a bit of an object and reads the elements there: the message tells where. */
static void damage(setup *s, const char *key, size_t at) {
    char *data;
    size_t size;
    zb_error err;
    ASSERT_OK(zb_store_get(zb_hierarchy_store(s->mem), key, 1 << 20, "chunk_bytes", &data, &size,
                           NULL, &err),
              err);
    assert_true(at < size);
    data[size - 1 - at] ^= 1;
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(s->mem), key, data, size, &err), err);
    free(data);
}

/* Shards in shards: the place is told from the outside in. */
static void errors_name_the_nested_place(void **state) {
    (void)state;
    zb_error err;
    arrays_spec spec = arrays_nested;
    spec.shape[0] = spec.shape[1] = 128;
    spec.codec = ARRAYS_CRC32C;
    spec.index_at_start = spec.scrambled = false;
    const uint64_t start[2] = {0, 0}, count[2] = {128, 128};
    const size_t outer = 4 * 16 + 4, inner = 16 * 16 + 4; /* bytes of the indexes */
    setup s = begin(&spec, zb_store_new_count);
    damage(&s, "a/c/1/0", outer); /* the last byte of the last inner shard's index */
    ASSERT_FAILS(try_box(&s, start, count, &err), ZB_ECHECKSUM, err,
                 "store mem, array /a, shard c/1/0, inner chunk (1,1): ");
    end(&s);
    s = begin(&spec, zb_store_new_count);
    damage(&s, "a/c/1/0", outer + inner);
    ASSERT_FAILS(try_box(&s, start, count, &err), ZB_ECHECKSUM, err,
                 "store mem, array /a, shard c/1/0, inner chunk (1,1), inner chunk (3,3): ");
    end(&s);
}

static void errors_name_the_place(void **state) {
    (void)state;
    zb_error err;
    arrays_spec spec = sharded;
    spec.codec = ARRAYS_CRC32C;
    const uint64_t start[2] = {0, 0}, count[2] = {128, 128};
    setup s = begin(&spec, zb_store_new_count);
    damage(&s, "a/c/1/0", INDEX_BYTES); /* the last byte of the last inner chunk */
    ASSERT_FAILS(try_box(&s, start, count, &err), ZB_ECHECKSUM, err,
                 "store mem, array /a, shard c/1/0, inner chunk (3,3): ");
    read_box(&s, 0, 0, 64, 128); /* the rest still reads */
    read_box(&s, 64, 0, 64, 48);
    damage(&s, "a/c/0/1", 4); /* in the index */
    ASSERT_FAILS(try_box(&s, start, count, &err), ZB_ECHECKSUM, err,
                 "store mem, array /a, shard c/");
    end(&s);
    spec = plain;
    spec.codec = ARRAYS_CRC32C;
    s = begin(&spec, zb_store_new_count);
    damage(&s, "a/c/0/0", 100);
    const uint64_t small[2] = {1, 5};
    for (int i = 0; i < 3; i++) /* never cached: an error again and again */
        ASSERT_FAILS(try_box(&s, start, small, &err), ZB_ECHECKSUM, err,
                     "store mem, array /a, chunk c/0/0: ");
    end(&s);
}

int main(void) {
    setenv("ZARRBRIDGE_NUM_THREADS", "2", 1); /* requests are divided among the threads */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_of_one_call_share_chunks),
        cmocka_unit_test(boxes_that_interleave_read_uncompressed_chunks_once),
        cmocka_unit_test(points_of_one_chunk_come_together),
        cmocka_unit_test(rows_of_a_chunk_decode_it_twice_at_most),
        cmocka_unit_test(indexes_are_read_once),
        cmocka_unit_test(small_windows_read_few_bytes),
        cmocka_unit_test(missing_chunks_cost_one_open),
        cmocka_unit_test(neighbours_share_requests),
        cmocka_unit_test(requests_to_distant_stores_are_few),
        cmocka_unit_test(rewritten_objects_are_seen_at_once),
        cmocka_unit_test(files_rewritten_in_place_are_seen_at_once),
        cmocka_unit_test(every_failing_call_is_an_error),
        cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(errors_name_the_nested_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
