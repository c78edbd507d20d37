/* SPDX-License-Identifier: MIT */
/*
 * A box that is stored reads as it was written, whichever chunks wait elsewhere, and no chunk is
 * stored that the box does not touch.
 */
#include "write/writer.h"
#include "support/arrays.h"
#include "support/wrappers.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

/* 10 x 10 int16 in chunks of 4 x 4: the last ones are cut by the edge. */
typedef struct written {
    zb_hierarchy *mem, *store; /* the second one counts, and fails when told to */
    zb_node *node;
    zb_writer *writer;
    arrays_sample sample;
} written;

static void begin(written *w, const arrays_spec *spec, check_random *random) {
    zb_error err;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &w->mem, &err), err);
    w->sample = arrays_write(spec, random, w->mem, "a");
    ASSERT_OK(wrap(zb_store_new_fault, w->mem, &w->store, &err), err);
    ASSERT_OK(zb_node_open(w->store, "a", &w->node, &err), err);
    ASSERT_OK(zb_writer_open(w->node, NULL, &w->writer, &err), err);
    zb_store_count_take(zb_hierarchy_store(w->store));
}

static void end(written *w) {
    zb_writer_abandon(w->writer);
    zb_node_release(w->node);
    zb_hierarchy_release(w->store);
    zb_hierarchy_release(w->mem);
    arrays_free(&w->sample);
}

static const arrays_spec small = {
    .ndim = 2, .shape = {10, 10}, .chunk = {{4, 4}}, .type = "int16", .codec = ARRAYS_RAW};

/* One element of int16, in the array and in the sample. */
static void write_one(written *w, uint64_t row, uint64_t column, int16_t value) {
    const uint64_t start[2] = {row, column}, count[2] = {1, 1};
    const zb_write write = {
        .start = start, .count = count, .data = &value, .dtype = w->sample.dtype};
    zb_error err;
    ASSERT_OK(zb_writer_write(w->writer, &write, &err), err);
    memcpy((unsigned char *)(uintptr_t)arrays_at(&w->sample, start), &value, sizeof value);
}

static uint64_t puts_of_settling(written *w, uint64_t row, uint64_t column, uint64_t rows,
                                 uint64_t columns) {
    const uint64_t start[2] = {row, column}, count[2] = {rows, columns};
    zb_error err;
    zb_store_count_take(zb_hierarchy_store(w->store));
    ASSERT_OK(zb_writer_store_box(w->writer, start, count, &err), err);
    return zb_store_count_take(zb_hierarchy_store(w->store)).puts;
}

static void only_what_the_box_touches_is_stored(void **state) {
    (void)state;
    check_random random = check_random_new();
    written w;
    begin(&w, &small, &random);
    assert_int_equal(puts_of_settling(&w, 0, 0, 10, 10), 0); /* nothing waits */
    for (uint64_t row = 1; row < 10; row += 4)
        for (uint64_t column = 1; column < 10; column += 4)
            write_one(&w, row, column, (int16_t)(100 * row + column));
    assert_int_equal(puts_of_settling(&w, 5, 6, 1, 1), 1); /* another element of the chunk */
    assert_int_equal(puts_of_settling(&w, 5, 6, 1, 1), 0);
    assert_int_equal(puts_of_settling(&w, 3, 3, 2, 2), 3);  /* a corner of four, one was stored */
    assert_int_equal(puts_of_settling(&w, 0, 9, 0, 1), 0);  /* an empty box */
    assert_int_equal(puts_of_settling(&w, 10, 0, 5, 5), 0); /* outside */
    assert_int_equal(puts_of_settling(&w, 9, 9, UINT64_MAX, UINT64_MAX), 1);
    assert_int_equal(puts_of_settling(&w, 0, 0, 10, 10), 4);
    end(&w);
}

/* A box of the sample, read back. */
static void assert_reads(const written *w, const uint64_t *start, const uint64_t *count) {
    const size_t size = w->sample.dtype.size;
    uint64_t elements = 1, at[ARRAYS_NDIM] = {0}, index[ARRAYS_NDIM];
    for (uint32_t d = 0; d < w->sample.spec.ndim; d++)
        elements *= count[d];
    unsigned char *read = malloc((size_t)elements * size + 1);
    assert_non_null(read);
    zb_error err;
    const zb_read box = {.node = w->node,
                         .start = start,
                         .count = count,
                         .view = {.data = read, .dtype = w->sample.dtype}};
    ASSERT_OK(zb_array_read(&box, 1, &err), err);
    for (uint64_t n = 0; n < elements; n++) {
        for (uint32_t d = 0; d < w->sample.spec.ndim; d++)
            index[d] = start[d] + at[d];
        assert_memory_equal(read + n * size, arrays_at(&w->sample, index), size);
        for (uint32_t d = w->sample.spec.ndim; d-- > 0 && ++at[d] == count[d];)
            at[d] = 0;
    }
    free(read);
}

static bool waits(const written *w, uint64_t row, uint64_t column, uint64_t rows,
                  uint64_t columns) {
    const uint64_t start[2] = {row, column}, count[2] = {rows, columns};
    return zb_writer_waits(w->writer, start, count);
}

/* Boxes of few chunks and boxes of more than are open are looked through in different ways. */
static void a_question_tells_what_waits(void **state) {
    (void)state;
    check_random random = check_random_new();
    written w;
    zb_error err;
    begin(&w, &small, &random);
    assert_false(waits(&w, 0, 0, 10, 10));
    write_one(&w, 5, 6, 7);
    assert_true(waits(&w, 4, 4, 1, 1)); /* another element of the chunk */
    assert_true(waits(&w, 3, 3, 2, 2)); /* the last of four chunks */
    assert_true(waits(&w, 0, 0, 10, 10));
    assert_true(waits(&w, 7, 7, UINT64_MAX, UINT64_MAX));
    assert_false(waits(&w, 0, 0, 4, 10));
    assert_false(waits(&w, 8, 0, 2, 10));
    assert_false(waits(&w, 3, 3, 1, 1));
    assert_false(waits(&w, 5, 6, 0, 1));  /* an empty box */
    assert_false(waits(&w, 10, 0, 5, 5)); /* outside */
    for (uint64_t row = 8; row < 10; row++)
        for (uint64_t column = 8; column < 10; column++) {
            assert_true(row + column == 16 || waits(&w, 9, 9, 1, 1));
            write_one(&w, row, column, 1);
        }
    assert_false(waits(&w, 9, 9, 1, 1)); /* its parts have made the chunk complete */
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(w.store)).puts, 1);
    ASSERT_OK(zb_writer_flush(w.writer, &err), err);
    assert_false(waits(&w, 0, 0, 10, 10));
    end(&w);
}

static void choose_box(const arrays_spec *spec, check_random *random, uint64_t *start,
                       uint64_t *count) {
    for (uint32_t d = 0; d < spec->ndim; d++) {
        start[d] = check_random_in(random, 0, spec->shape[d] > 0 ? spec->shape[d] - 1 : 0);
        count[d] = check_random_in(random, 0, spec->shape[d] - start[d]);
    }
}

/* Makes the box's elements zeros, in the array and in the sample. */
static void write_zeros(written *w, const uint64_t *start, const uint64_t *count) {
    const size_t size = w->sample.dtype.size;
    uint64_t elements = 1, at[ARRAYS_NDIM] = {0}, index[ARRAYS_NDIM];
    for (uint32_t d = 0; d < w->sample.spec.ndim; d++)
        elements *= count[d];
    void *zeros = calloc((size_t)elements + 1, size);
    assert_non_null(zeros);
    const zb_write write = {
        .start = start, .count = count, .data = zeros, .dtype = w->sample.dtype};
    zb_error err;
    ASSERT_OK(zb_writer_write(w->writer, &write, &err), err);
    for (uint64_t n = 0; n < elements; n++) {
        for (uint32_t d = 0; d < w->sample.spec.ndim; d++)
            index[d] = start[d] + at[d];
        memset((unsigned char *)(uintptr_t)arrays_at(&w->sample, index), 0, size);
        for (uint32_t d = w->sample.spec.ndim; d-- > 0 && ++at[d] == count[d];)
            at[d] = 0;
    }
    free(zeros);
}

static void random_boxes_read_as_written(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int round = 0; round < 100; round++) {
        const arrays_spec spec = arrays_random_spec(&random);
        written w;
        begin(&w, &spec, &random);
        for (int i = 0; i < 8; i++) {
            uint64_t start[ARRAYS_NDIM], count[ARRAYS_NDIM];
            choose_box(&spec, &random, start, count);
            write_zeros(&w, start, count);
            choose_box(&spec, &random, start, count);
            zb_error err;
            ASSERT_OK(zb_writer_store_box(w.writer, start, count, &err), err);
            assert_false(zb_writer_waits(w.writer, start, count));
            assert_reads(&w, start, count);
        }
        end(&w);
    }
}

/* A chunk that could not be stored waits, for another try and for the flush. */
static void a_failure_loses_nothing(void **state) {
    (void)state;
    check_random random = check_random_new();
    const uint64_t start[2] = {1, 1}, count[2] = {1, 1};
    bool hit = true;
    for (uint64_t nth = 1; hit; nth++) {
        written w;
        zb_error err;
        begin(&w, &small, &random);
        write_one(&w, 1, 1, 7);
        zb_cache_clear();
        zb_store_fault_set(zb_hierarchy_store(w.store), nth);
        hit = zb_writer_store_box(w.writer, start, count, &err) != ZB_OK;
        zb_store_fault_set(zb_hierarchy_store(w.store), 0);
        ASSERT_OK(zb_writer_store_box(w.writer, start, count, &err), err);
        assert_reads(&w, start, count);
        assert_true(hit || nth > 2);
        end(&w);
    }
}

/* A writer that has lost something says so at each read until it is given up. */
static void a_loss_is_told(void **state) {
    (void)state;
    check_random random = check_random_new();
    const uint64_t start[2] = {0, 0}, count[2] = {1, 1};
    written w;
    zb_error err;
    begin(&w, &small, &random);
    w.writer->lost = true;
    assert_int_equal(zb_writer_store_box(w.writer, start, count, &err), ZB_EIO);
    assert_non_null(strstr(err.message, "written again"));
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_the_box_touches_is_stored),
        cmocka_unit_test(a_question_tells_what_waits),
        cmocka_unit_test(random_boxes_read_as_written),
        cmocka_unit_test(a_failure_loses_nothing),
        cmocka_unit_test(a_loss_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
