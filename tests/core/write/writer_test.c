/* SPDX-License-Identifier: MIT */
/*
 * Writing boxes: random arrays of every encoding are overwritten with random boxes, steps, strides
 * and types, in any order, and compared element by element with a model after each flush. Separate
 * tests count the reads and puts of objects.
 */
#include "types/scatter.h"
#include "support/arrays.h"
#include "support/stores.h"
#include "support/wrappers.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

static void random_bytes(unsigned char *bytes, size_t size, check_random *random) {
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)check_random_next(random);
}

/* A box, and memory that holds its elements in a random layout. */
typedef struct request {
    uint64_t start[ARRAYS_NDIM], count[ARRAYS_NDIM], step[ARRAYS_NDIM], elements;
    int64_t strides[ARRAYS_NDIM];
    unsigned char *memory;
    zb_write write;
} request;

/* Whole arrays, whole rows of chunks, and anything else. */
static void choose_box(request *r, const arrays_sample *a, check_random *random) {
    uint64_t kind = check_random_in(random, 0, 5);
    r->elements = 1;
    for (uint32_t d = 0; d < a->spec.ndim; d++) {
        uint64_t extent = a->spec.shape[d];
        r->step[d] = 1;
        if (kind == 0) {
            r->start[d] = 0;
            r->count[d] = extent;
        } else if (kind == 1 && extent > 0) {
            uint64_t cell = check_random_in(random, 0, arrays_cells(&a->spec, d) - 1);
            uint64_t chunk = arrays_edge(&a->spec, d, cell, &r->start[d]);
            uint64_t left = extent - r->start[d];
            r->count[d] = chunk < left ? chunk : left;
        } else {
            r->start[d] = check_random_in(random, 0, extent);
            r->step[d] = check_random_in(random, 0, 2) ? 1 : check_random_in(random, 1, 9);
            uint64_t most = r->start[d] < extent ? (extent - r->start[d] - 1) / r->step[d] + 1 : 0;
            r->count[d] = check_random_in(random, most > 0, most);
        }
        r->elements *= r->count[d];
    }
}

/* Random elements in C order, or with the dimensions' order reversed. */
static void choose_elements(request *r, const arrays_sample *a, check_random *random) {
    uint32_t ndim = a->spec.ndim;
    bool reversed = check_random_in(random, 0, 1) == 1;
    int64_t stride = a->dtype.size;
    for (uint32_t i = 0; i < ndim; i++) {
        uint32_t d = reversed ? i : ndim - 1 - i;
        r->strides[d] = stride;
        stride *= (int64_t)r->count[d];
    }
    r->memory = malloc((size_t)r->elements * a->dtype.size + 1);
    assert_non_null(r->memory);
    random_bytes(r->memory, (size_t)r->elements * a->dtype.size, random);
    for (size_t i = 0; a->dtype.kind == ZB_KIND_BOOL && i < r->elements; i++)
        r->memory[i] &= 1;
    if (check_random_in(random, 0, 4) == 0) /* whole chunks of fill values, often */
        memset(r->memory, 0, (size_t)r->elements * a->dtype.size);
    r->write = (zb_write){.start = r->start,
                          .count = r->count,
                          .step = r->step,
                          .data = r->memory,
                          .dtype = a->dtype,
                          .strides = reversed || check_random_in(random, 0, 1) ? r->strides : NULL};
}

/* Writes to the model as the writer does to the store. */
static void write_model(arrays_sample *a, const request *r) {
    uint32_t ndim = a->spec.ndim;
    uint64_t at[ARRAYS_NDIM] = {0}, index[ARRAYS_NDIM];
    for (uint64_t n = 0; n < r->elements; n++) {
        int64_t offset = 0;
        for (uint32_t d = 0; d < ndim; d++) {
            index[d] = r->start[d] + at[d] * r->step[d];
            offset += (int64_t)at[d] * r->strides[d];
        }
        memcpy((unsigned char *)arrays_at(a, index), r->memory + offset, a->dtype.size);
        for (uint32_t d = ndim; d-- > 0 && ++at[d] == r->count[d];)
            at[d] = 0;
    }
}

static void assert_equals_model(const zb_node *node, const arrays_sample *a, const char *what) {
    size_t bytes = (size_t)a->elements * a->dtype.size;
    unsigned char *read = malloc(bytes + 1);
    assert_non_null(read);
    zb_error err;
    zb_read whole = {.node = node, .view = {.data = read, .dtype = a->dtype}};
    ASSERT_OK(zb_array_read(&whole, 1, &err), err);
    if (memcmp(read, a->values, bytes) != 0) {
        char *text = arrays_describe(&a->spec);
        fail_msg("%s: the store differs from what was written: %s", what, text);
    }
    free(read);
}

static void random_arrays_take_random_boxes(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int round = 0; round < 250; round++) {
        zb_hierarchy *mem = stores_new_mem();
        arrays_spec spec = arrays_random_spec(&random);
        arrays_sample a = arrays_write(&spec, &random, mem, "a");
        zb_node *node = stores_open_node(mem, "a");
        zb_write_options options = {.store_empty = check_random_in(&random, 0, 3) == 0};
        zb_writer *writer = NULL;
        zb_error err;
        ASSERT_OK(zb_writer_open(node, &options, &writer, &err), err);
        for (int i = 0; i < 8; i++) {
            request r;
            choose_box(&r, &a, &random);
            choose_elements(&r, &a, &random);
            ASSERT_OK(zb_writer_write(writer, &r.write, &err), err);
            write_model(&a, &r);
            free(r.memory);
            if (check_random_in(&random, 0, 3) == 0) {
                ASSERT_OK(zb_writer_flush(writer, &err), err);
                assert_equals_model(node, &a, "after a flush");
            }
        }
        ASSERT_OK(zb_writer_close(writer, &err), err);
        assert_equals_model(node, &a, "after closing");
        zb_node_release(node);
        zb_hierarchy_release(mem);
        arrays_free(&a);
    }
}

/* ---- Counted: reads and puts ---- */

typedef struct counted {
    zb_hierarchy *mem, *count;
    zb_node *node;
    zb_writer *writer;
} counted;

/* 20 x 30 int16 in shards of 8 x 16 with inner chunks of 4 x 4: ragged on both sides. */
static counted new_counted(bool filled, check_random *random, arrays_sample *a) {
    arrays_spec spec = {.ndim = 2,
                        .shape = {20, 30},
                        .chunk = {{8, 16}, {4, 4}},
                        .depth = 1,
                        .type = "int16",
                        .codec = ARRAYS_ZSTD};
    counted c = {.mem = stores_new_mem()};
    zb_error err;
    *a = arrays_write(&spec, random, c.mem, "a");
    if (!filled)
        ASSERT_OK(zb_store_erase_below(zb_hierarchy_store(c.mem), "a/c", &err), err);
    ASSERT_OK(wrap(zb_store_new_count, c.mem, &c.count, &err), err);
    c.node = stores_open_node(c.count, "a");
    ASSERT_OK(zb_writer_open(c.node, NULL, &c.writer, &err), err);
    zb_store_count_take(zb_hierarchy_store(c.count));
    return c;
}

static void free_counted(counted *c) {
    zb_writer_abandon(c->writer);
    zb_node_release(c->node);
    zb_hierarchy_release(c->count);
    zb_hierarchy_release(c->mem);
}

static void a_whole_write_reads_nothing(void **state) {
    (void)state;
    check_random random = check_random_new();
    arrays_sample a;
    counted c = new_counted(true, &random, &a);
    random_bytes(a.values, (size_t)a.elements * 2, &random);
    zb_error err;
    zb_write write = {.data = a.values, .dtype = a.dtype};
    ASSERT_OK(zb_writer_write(c.writer, &write, &err), err);
    zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(c.count));
    assert_int_equal(counts.puts, 6);
    assert_int_equal(counts.opens, 0);
    assert_int_equal(counts.reads, 0);
    assert_int_equal(counts.stats, 6); /* of the document: the check that it is still the same
                                          array */
    assert_equals_model(c.node, &a, "after a whole write");
    free_counted(&c);
    arrays_free(&a);
}

/* Row by row, each shard is put once, when its last row has come, and no chunk is read. */
static void rows_gather_to_shards(void **state) {
    (void)state;
    check_random random = check_random_new();
    arrays_sample a;
    counted c = new_counted(true, &random, &a);
    random_bytes(a.values, (size_t)a.elements * 2, &random);
    zb_error err;
    for (uint64_t row = 0; row < 20; row++) {
        uint64_t start[2] = {row, 0}, count[2] = {1, 30};
        zb_write write = {
            .start = start, .count = count, .data = a.values + row * 60, .dtype = a.dtype};
        ASSERT_OK(zb_writer_write(c.writer, &write, &err), err);
    }
    zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(c.count));
    assert_int_equal(counts.puts, 6);
    assert_int_equal(counts.reads, 0);
    assert_equals_model(c.node, &a, "after the last row");
    free_counted(&c);
    arrays_free(&a);
}

/* A part of a shard: one lock, one put; inner chunks without a written element are taken over, not
   decoded. */
static void a_part_is_merged_once(void **state) {
    (void)state;
    check_random random = check_random_new();
    arrays_sample a;
    counted c = new_counted(true, &random, &a);
    uint64_t start[2] = {1, 2}, count[2] = {2, 3};
    int16_t values[6] = {1, 2, 3, 4, 5, 6};
    zb_error err;
    zb_write write = {.start = start, .count = count, .data = values, .dtype = a.dtype};
    ASSERT_OK(zb_writer_write(c.writer, &write, &err), err);
    zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(c.count));
    assert_int_equal(counts.puts, 0);
    ASSERT_OK(zb_writer_flush(c.writer, &err), err);
    counts = zb_store_count_take(zb_hierarchy_store(c.count));
    assert_int_equal(counts.puts, 1);
    assert_int_equal(counts.locks, 1);
    for (uint64_t i = 0; i < 6; i++) {
        uint64_t index[2] = {1 + i / 3, 2 + i % 3};
        memcpy((unsigned char *)arrays_at(&a, index), &values[i], 2);
    }
    assert_equals_model(c.node, &a, "after merging a part");
    ASSERT_OK(zb_writer_flush(c.writer, &err), err);
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(c.count)).puts,
                     0); /* nothing waits any more */
    free_counted(&c);
    arrays_free(&a);
}

/* A box over all six shards, which it covers in part, and a writer whose calls of the store
   fail. */
enum { ROW = 3, COLUMN = 3, HEIGHT = 14, WIDTH = 20, BOX = HEIGHT * WIDTH };

typedef struct faulty {
    counted c;
    arrays_sample a; /* the values before the write */
    zb_hierarchy *fault;
    zb_node *node; /* through the fault store; c.node goes past it */
    zb_writer *writer;
    int16_t values[BOX];
} faulty;

static void new_faulty(faulty *f, check_random *random) {
    zb_error err;
    f->c = new_counted(true, random, &f->a);
    ASSERT_OK(wrap(zb_store_new_fault, f->c.mem, &f->fault, &err), err);
    f->node = stores_open_node(f->fault, "a");
    ASSERT_OK(zb_writer_open(f->node, NULL, &f->writer, &err), err);
    random_bytes((unsigned char *)f->values, sizeof f->values, random);
    zb_cache_clear();
    zb_store_count_take(zb_hierarchy_store(f->fault));
}

static void free_faulty(faulty *f) {
    zb_writer_abandon(f->writer);
    zb_node_release(f->node);
    zb_hierarchy_release(f->fault);
    free_counted(&f->c);
    arrays_free(&f->a);
}

static enum zb_code write_faulty(const faulty *f, zb_error *err) {
    const uint64_t start[2] = {ROW, COLUMN}, count[2] = {HEIGHT, WIDTH};
    zb_write write = {.start = start, .count = count, .data = f->values, .dtype = f->a.dtype};
    return zb_writer_write(f->writer, &write, err);
}

/* The model takes the box over. */
static void set_faulty(faulty *f) {
    for (uint64_t i = 0; i < BOX; i++) {
        uint64_t index[2] = {ROW + i / WIDTH, COLUMN + i % WIDTH};
        memcpy((unsigned char *)arrays_at(&f->a, index), &f->values[i], 2);
    }
}

/* The number of shards that have the box's elements; each can be read, with all of them or none. */
static int shards_with_the_box(const faulty *f) {
    int with[6] = {0}, without[6] = {0}, count = 0;
    int16_t read[20 * 30], old;
    zb_error err;
    zb_read whole = {.node = f->c.node, .view = {.data = read, .dtype = f->a.dtype}};
    ASSERT_OK(zb_array_read(&whole, 1, &err), err);
    for (uint64_t i = 0; i < 20 * 30; i++) {
        uint64_t row = i / 30, column = i % 30, shard = row / 8 * 2 + column / 16;
        uint64_t y = row - ROW, x = column - COLUMN; /* of the box; beyond its size left of it */
        memcpy(&old, arrays_at(&f->a, (uint64_t[]){row, column}), sizeof old);
        if (y >= HEIGHT || x >= WIDTH) {
            assert_int_equal(read[i], old);
        } else if (f->values[y * WIDTH + x] != old) {
            assert_true(read[i] == old || read[i] == f->values[y * WIDTH + x]);
            without[shard] += read[i] == old;
            with[shard] += read[i] != old;
        }
    }
    for (int shard = 0; shard < 6; shard++) {
        assert_true(with[shard] == 0 || without[shard] == 0);
        count += with[shard] > 0;
    }
    return count;
}

typedef struct outcomes {
    int said, flushed_again, incomplete;
} outcomes;

/* A call of the store fails, or it and all that follow: the data stay readable, of each shard the
   old ones or the new ones, and flushing again completes a write that had been taken. False when
   there was no such call. */
static bool survives(uint64_t nth, bool for_good, check_random *random, outcomes *seen) {
    faulty f;
    zb_error err;
    new_faulty(&f, random);
    if (for_good)
        zb_store_fault_from(zb_hierarchy_store(f.fault), nth);
    else
        zb_store_fault_set(zb_hierarchy_store(f.fault), nth);
    bool taken = write_faulty(&f, &err) == ZB_OK;
    enum zb_code code = taken ? zb_writer_flush(f.writer, &err) : err.code;
    zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(f.fault));
    bool hit = nth <= counts.opens + counts.reads + counts.stats + counts.puts + counts.locks;
    int stored = shards_with_the_box(&f);
    if (code == ZB_OK) { /* chunks that failed in a batch may succeed one by one */
        assert_int_equal(stored, 6);
        assert_false(hit && for_good);
    } else {
        assert_true(hit);
        assert_int_equal(code, ZB_EIO);
        assert_non_null(strstr(err.message, "array /a"));
    }
    seen->said += code != ZB_OK;
    seen->flushed_again += taken && code != ZB_OK;
    seen->incomplete += stored < 6;
    zb_store_fault_set(zb_hierarchy_store(f.fault), 0);
    if (!taken)
        ASSERT_OK(write_faulty(&f, &err), err);
    ASSERT_OK(zb_writer_flush(f.writer, &err), err);
    set_faulty(&f);
    assert_equals_model(f.node, &f.a, "after a fault and another flush");
    free_faulty(&f);
    return hit;
}

/* Each call of the store fails once. */
static void every_fault_is_harmless(void **state) {
    (void)state;
    check_random random = check_random_new();
    outcomes seen = {0};
    uint64_t nth = 1;
    while (survives(nth, false, &random, &seen))
        nth++;
    assert_true(nth > 10); /* the write made at least that many calls */
    assert_true(seen.said > 0 && seen.said < (int)nth - 1);
}

/* The store fails from a call on: the write or the flush says so each time. */
static void every_failing_store_is_reported(void **state) {
    (void)state;
    check_random random = check_random_new();
    outcomes seen = {0};
    uint64_t nth = 1;
    while (survives(nth, true, &random, &seen))
        nth++;
    assert_true(nth > 10);
    assert_int_equal(seen.said, nth - 1);
    assert_true(seen.flushed_again > 10 && seen.incomplete > 10);
}

/* The last of some rows completes two shards at once. Whichever step of storing them fails, each is
   stored or goes on waiting: a flush, without writing anything again, brings the rest. */
static void what_could_not_be_stored_keeps_waiting(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (uint64_t nth = 1;; nth++) {
        arrays_sample a;
        counted c = new_counted(true, &random, &a);
        zb_hierarchy *fault = NULL;
        zb_error err;
        ASSERT_OK(wrap(zb_store_new_fault, c.mem, &fault, &err), err);
        zb_node *node = stores_open_node(fault, "a");
        zb_writer *writer = NULL;
        ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
        random_bytes(a.values, (size_t)a.elements * 2 / 20 * 8, &random);
        zb_store_fault_set(zb_hierarchy_store(fault), nth);
        bool hit = false;
        for (uint64_t row = 0; row < 8; row++) {
            uint64_t start[2] = {row, 0}, count[2] = {1, 30};
            zb_write write = {
                .start = start, .count = count, .data = a.values + row * 60, .dtype = a.dtype};
            hit = zb_writer_write(writer, &write, &err) != ZB_OK;
            assert_true(!hit || row == 7);
        }
        zb_store_fault_set(zb_hierarchy_store(fault), 0);
        ASSERT_OK(zb_writer_close(writer, &err), err);
        assert_equals_model(node, &a, "after a fault and a flush");
        zb_node_release(node);
        zb_hierarchy_release(fault);
        free_counted(&c);
        arrays_free(&a);
        if (!hit) {
            assert_true(nth > 4); /* two locks, two puts */
            return;
        }
    }
}

/* Inner chunks are big-endian, and 256 is the fill value 1 with its bytes swapped: neither may be
   taken for the other, nor one be padded with the other. */
static void fill_has_the_byte_order_of_units(void **state) {
    (void)state;
    static const char document[] =
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[6],\"data_type\":\"int16\","
        "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[8]}},"
        "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":1,\"codecs\":[{\"name\":"
        "\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[4],\"codecs\":[{\"name\":"
        "\"bytes\",\"configuration\":{\"endian\":\"big\"}}],\"index_codecs\":[{\"name\":\"bytes\","
        "\"configuration\":{\"endian\":\"little\"}},\"crc32c\"]}}]}";
    const int16_t values[6] = {256, 256, 256, 256, 1, 1};
    int16_t back[6];
    zb_error err;
    zb_hierarchy *mem = stores_new_mem();
    ASSERT_OK(
        zb_store_mem_set(zb_hierarchy_store(mem), "zarr.json", document, sizeof document - 1, &err),
        err);
    zb_node *node = stores_open_node(mem, "");
    zb_writer *writer = NULL;
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    zb_write write = {.data = values, .dtype = {.kind = ZB_KIND_INT, .size = 2}};
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    zb_read read = {.node = node, .view = {.data = back, .dtype = write.dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    assert_memory_equal(back, values, sizeof values);
    zb_object *object = NULL;
    zb_object_info info;
    ASSERT_OK(zb_object_open(zb_hierarchy_store(mem), "c/0", &object, &info, &err), err);
    assert_int_equal(info.size, 8 + 36); /* the second inner chunk is all fill */
    zb_object_close(object);
    zb_node_release(node);
    zb_hierarchy_release(mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_has_the_byte_order_of_units),
        cmocka_unit_test(random_arrays_take_random_boxes),
        cmocka_unit_test(a_whole_write_reads_nothing),
        cmocka_unit_test(rows_gather_to_shards),
        cmocka_unit_test(a_part_is_merged_once),
        cmocka_unit_test(every_fault_is_harmless),
        cmocka_unit_test(every_failing_store_is_reported),
        cmocka_unit_test(what_could_not_be_stored_keeps_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
