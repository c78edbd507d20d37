/* SPDX-License-Identifier: MIT */
/*
 * A writer that goes on after its array has grown: chunks wait that would have to be stored
 * otherwise, and the array reads as if they had been.
 */
#include <pthread.h>

#include "support/arrays.h"
#include "support/store.h"
#include "support/wrappers.h"
#include "write/writer.h"
#include "zarrbridge/encoded.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

/* An array of int16 [10, 20] in chunks of [4, 5], fill 7. */
typedef struct written {
    zb_hierarchy *mem, *store; /* the second one counts, and fails when told to */
    zb_node *node;
    zb_writer *writer;
} written;

static void begin(written *w, zb_hierarchy *(*around)(zb_hierarchy *inner)) {
    zb_error err;
    w->mem = store_new();
    zb_node_release(store_group(w->mem, "", NULL));
    zb_node_release(store_array(w->mem, "a"));
    w->store = around(w->mem);
    ASSERT_OK(zb_node_open(w->store, "a", &w->node, &err), err);
    ASSERT_OK(zb_writer_open(w->node, NULL, &w->writer, &err), err);
}

static void end(written *w) {
    zb_writer_abandon(w->writer);
    zb_node_release(w->node);
    zb_hierarchy_release(w->store);
    zb_hierarchy_release(w->mem);
}

static zb_hierarchy *count(zb_hierarchy *inner) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(wrap(zb_store_new_count, inner, &hierarchy, &err), err);
    return hierarchy;
}

static zb_hierarchy *fault(zb_hierarchy *inner) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(wrap(zb_store_new_fault, inner, &hierarchy, &err), err);
    return hierarchy;
}

static enum zb_code write_row(zb_writer *writer, uint64_t row, int16_t value) {
    const uint64_t start[2] = {row, 0}, whole[2] = {1, 20};
    static const int64_t strides[2];
    const zb_write write = {.start = start,
                            .count = whole,
                            .data = &value,
                            .dtype = zb_node_array(writer->node)->dtype,
                            .strides = strides};
    zb_error err;
    return zb_writer_write(writer, &write, &err);
}

static void grow(written *w, uint64_t rows) {
    const uint64_t shape[2] = {rows, 20};
    zb_error err;
    assert_true(zb_writer_can_grow(w->writer, shape));
    w->node = store_resize(w->node, rows, 20);
    ASSERT_OK(zb_writer_grow(w->writer, w->node, &err), err);
}

/* Each row holds one value; 7 is the fill value. */
static void assert_rows(const zb_node *node, uint64_t rows, const int16_t *values) {
    int16_t *data = malloc((size_t)rows * 20 * sizeof *data);
    zb_error err;
    const zb_read read = {.node = node,
                          .view = {.data = data, .dtype = zb_node_array(node)->dtype}};
    assert_int_equal(zb_node_array(node)->shape[0], rows);
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (uint64_t i = 0; i < rows * 20; i++)
        assert_int_equal(data[i], values[i / 20]);
    free(data);
}

/* Once in a chunk, and when they are flushed, rows that are appended one by one are stored. */
static void rows_that_are_appended_wait(void **state) {
    (void)state;
    written w;
    zb_error err;
    begin(&w, count);
    for (uint64_t row = 10; row < 18; row++) {
        grow(&w, row + 1);
        (void)zb_store_count_take(zb_hierarchy_store(w.store));
        assert_int_equal(write_row(w.writer, row, (int16_t)row), ZB_OK);
        const zb_store_counts calls = zb_store_count_take(zb_hierarchy_store(w.store));
        assert_int_equal(calls.puts,
                         row % 4 == 0 ? 4 : 0); /* the first row of a chunk is all of it */
        if (row % 4 != 0)
            assert_int_equal(calls.opens + calls.reads + calls.stats + calls.locks, 0);
    }
    ASSERT_OK(zb_writer_flush(w.writer, &err), err);
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(w.store)).puts, 12);
    assert_rows(w.node, 18,
                (int16_t[]){7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 10, 11, 12, 13, 14, 15, 16, 17});
    end(&w);
}

/* A chunk on the edge that was complete and could not be put lacks its new elements. */
static void complete_chunks_that_wait_get_an_edge(void **state) {
    (void)state;
    written w;
    zb_error err;
    begin(&w, fault);
    assert_int_equal(write_row(w.writer, 8, 8), ZB_OK);
    zb_store_fault_from(zb_hierarchy_store(w.store), 1);
    assert_int_equal(write_row(w.writer, 9, 9), ZB_EIO);
    zb_store_fault_set(zb_hierarchy_store(w.store), 0);
    grow(&w, 12);
    zb_node *other;
    zb_writer *writer;
    ASSERT_OK(zb_node_open(w.mem, "a", &other, &err), err);
    ASSERT_OK(zb_writer_open(other, NULL, &writer, &err), err);
    assert_int_equal(write_row(writer, 11, 11), ZB_OK);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    zb_node_release(other);
    ASSERT_OK(zb_writer_flush(w.writer, &err), err);
    assert_rows(w.node, 12, (int16_t[]){7, 7, 7, 7, 7, 7, 7, 7, 8, 9, 7, 11});
    end(&w);
}

/* The array as another program has made it. */
static zb_node *resize_elsewhere(const written *w, uint64_t rows) {
    zb_error err;
    zb_node *other;
    ASSERT_OK(zb_node_open(w->store, "a", &other, &err), err);
    return store_resize(other, rows, 20);
}

/* What waits for the edge is merged with what a program has written that has made the array larger.
   The program of the writer, which does not know of that, writes no more than the array had. */
static void a_writer_follows_another_programs_resize(void **state) {
    (void)state;
    written w;
    zb_error err;
    begin(&w, count);
    assert_int_equal(write_row(w.writer, 9, 9), ZB_OK);
    zb_node *other = resize_elsewhere(&w, 11);
    store_write_all(other, 5);
    ASSERT_OK(zb_writer_flush(w.writer, &err), err);
    assert_rows(other, 11, (int16_t[]){5, 5, 5, 5, 5, 5, 5, 5, 5, 9, 5});
    assert_int_equal(write_row(w.writer, 10, 10), ZB_EINVAL);
    ASSERT_OK(zb_writer_grow(w.writer, other, &err), err);
    assert_int_equal(write_row(w.writer, 10, 10), ZB_OK);
    ASSERT_OK(zb_writer_flush(w.writer, &err), err);
    assert_rows(other, 11, (int16_t[]){5, 5, 5, 5, 5, 5, 5, 5, 5, 9, 10});
    zb_node_release(other);
    end(&w);
}

/* Rows that are the whole chunk of the old edge are no longer that. */
static void whole_chunks_become_parts(void **state) {
    (void)state;
    written w;
    zb_error err;
    begin(&w, count);
    zb_node *other = resize_elsewhere(&w, 12);
    store_write_all(other, 5);
    const int16_t value = 9;
    const uint64_t start[2] = {8, 0}, rows[2] = {2, 20};
    static const int64_t strides[2];
    const zb_write write = {.start = start,
                            .count = rows,
                            .data = &value,
                            .dtype = zb_node_array(other)->dtype,
                            .strides = strides};
    ASSERT_OK(zb_writer_write(w.writer, &write, &err), err);
    ASSERT_OK(zb_writer_store_box(w.writer, start, rows, &err), err);
    assert_rows(other, 12, (int16_t[]){5, 5, 5, 5, 5, 5, 5, 5, 9, 9, 5, 5});
    zb_node_release(other);
    end(&w);
}

/* Encoded chunks, of which those on the old edge have to be merged. */
static void encoded_chunks_follow(void **state) {
    (void)state;
    written w;
    zb_error err;
    begin(&w, count);
    zb_node *other = resize_elsewhere(&w, 12);
    store_write_all(other, 5);
    const uint64_t across = zb_array_chunk_count(other, ZB_GRID_INNER, 1);
    uint64_t index[2][64][2];
    zb_encoded chunks[2][64];
    assert_true(across <= 64);
    for (uint64_t i = 0; i < across; i++) {
        memcpy(index[0][i], (uint64_t[]){0, i}, sizeof index[0][i]);
        memcpy(index[1][i], (uint64_t[]){zb_array_chunk_of(other, ZB_GRID_INNER, 0, 9).index, i},
               sizeof index[1][i]);
        for (int edge = 0; edge < 2; edge++)
            chunks[edge][i] = (zb_encoded){.index = index[edge][i]};
    }
    const zb_chunk_span first = zb_array_chunk_at(other, ZB_GRID_INNER, 0, 0);
    for (int edge = 0; edge < 2; edge++)
        ASSERT_OK(zb_array_get_encoded(other, NULL, chunks[edge], across, &err), err);
    store_write_all(other, 6);
    for (int i = 0; i < 2; i++)
        assert_int_equal(zb_writer_put_encoded(w.writer, chunks[1], across, &err), ZB_ECONFLICT);
    ASSERT_OK(zb_writer_put_encoded(w.writer, chunks[0], across, &err), err);
    ASSERT_OK(zb_writer_flush(w.writer, &err), err);
    int16_t rows[12];
    for (uint64_t i = 0; i < 12; i++)
        rows[i] = i < first.extent ? 5 : 6;
    assert_rows(other, 12, rows);
    for (int edge = 0; edge < 2; edge++)
        zb_encoded_clear(chunks[edge], across);
    zb_node_release(other);
    end(&w);
}

/* An array that has become larger and then smaller again, but not too small for the writer. */
static void a_writer_follows_back(void **state) {
    (void)state;
    written w;
    zb_error err;
    begin(&w, count);
    zb_node *other;
    ASSERT_OK(zb_node_open(w.store, "a", &other, &err), err);
    static const uint64_t rows[] = {12, 11, 10, 13};
    for (int16_t i = 0; i < 4; i++) {
        assert_int_equal(write_row(w.writer, 9, i), ZB_OK);
        other = store_resize(other, rows[i], 20);
        ASSERT_OK(zb_writer_flush(w.writer, &err), err);
    }
    assert_rows(other, 13, (int16_t[]){7, 7, 7, 7, 7, 7, 7, 7, 7, 3, 7, 7, 7});
    assert_int_equal(write_row(w.writer, 9, 9), ZB_OK);
    assert_int_equal(write_row(w.writer, 7, 9), ZB_OK);
    other = store_resize(other, 9, 20);
    ASSERT_FAILS(zb_writer_flush(w.writer, &err), ZB_ECONFLICT, err, "shape");
    assert_rows(other, 9, (int16_t[]){7, 7, 7, 7, 7, 7, 7, 9, 7});
    ASSERT_OK(zb_node_delete(w.store, "a", &err), err);
    ASSERT_FAILS(zb_writer_flush(w.writer, &err), ZB_ECONFLICT, err, "deleted");
    zb_node_release(other);
    end(&w);
}

static void other_changes_are_refused(void **state) {
    (void)state;
    static const uint64_t smaller[2] = {9, 20}, mixed[2] = {11, 19}, same[2] = {10, 20};
    written w;
    zb_error err;
    begin(&w, count);
    assert_false(zb_writer_can_grow(w.writer, smaller));
    assert_false(zb_writer_can_grow(w.writer, mixed));
    assert_true(zb_writer_can_grow(w.writer, same));
    assert_int_equal(write_row(w.writer, 9, 9), ZB_OK);
    zb_node *other = store_array(w.store, "b");
    ASSERT_FAILS(zb_writer_grow(w.writer, other, &err), ZB_ECONFLICT, err, "/b");
    zb_node_release(other);
    other = resize_elsewhere(&w, 9);
    ASSERT_FAILS(zb_writer_grow(w.writer, other, &err), ZB_EINVAL, err, "shape");
    zb_node_release(other);
    ASSERT_OK(zb_node_delete(w.store, "a", &err), err);
    zb_array_spec spec = store_spec;
    spec.fill_value = NULL;
    ASSERT_OK(zb_array_create(w.store, "a", &spec, &other, &err), err);
    ASSERT_FAILS(zb_writer_grow(w.writer, other, &err), ZB_ECONFLICT, err, "not the array");
    zb_node_release(other);
    assert_int_equal(write_row(w.writer, 8, 8), ZB_ECONFLICT); /* which completes the chunks */
    end(&w);
}

/* ---- Beside a thread that flushes ---- */

enum { ROUNDS = 30 };

typedef struct flusher {
    zb_hierarchy *store;
    pthread_barrier_t begins, ends;
} flusher;

static void *flush_each_round(void *context) {
    flusher *f = context;
    for (int i = 0; i < ROUNDS; i++) {
        zb_error err;
        pthread_barrier_wait(&f->begins);
        ASSERT_OK(zb_hierarchy_flush(f->store, &err), err);
        pthread_barrier_wait(&f->ends);
    }
    return NULL;
}

/* The flush of a store asks each object that waits whether it still may be stored, which the
   writer's node tells, while that writer gets another node. */
static void another_threads_flush_meets_a_writer_that_grows(void **state) {
    (void)state;
    char *root = check_new_directory();
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(zb_hierarchy_create(root, NULL, &hierarchy, &err), err);
    zb_node *node = store_array(hierarchy, "a");
    zb_writer *writer;
    const zb_write_options options = {.sync = ZB_SYNC_CLOSE};
    ASSERT_OK(zb_writer_open(node, &options, &writer, &err), err);
    flusher f = {.store = hierarchy};
    pthread_t thread;
    pthread_barrier_init(&f.begins, NULL, 2);
    pthread_barrier_init(&f.ends, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, flush_each_round, &f), 0);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        node = store_resize(node, 16 + i, 20);
        for (uint64_t row = 0; row < 8; row++)
            assert_int_equal(write_row(writer, row, (int16_t)(i + row)), ZB_OK);
        pthread_barrier_wait(&f.begins);
        ASSERT_OK(zb_writer_grow(writer, node, &err), err);
        pthread_barrier_wait(&f.ends);
    }
    pthread_join(thread, NULL);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    int16_t first = 0;
    const zb_read read = {.node = node,
                          .start = (uint64_t[]){0, 0},
                          .count = (uint64_t[]){1, 1},
                          .view = {.data = &first, .dtype = zb_node_array(node)->dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    assert_int_equal(first, ROUNDS - 1);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    pthread_barrier_destroy(&f.begins);
    pthread_barrier_destroy(&f.ends);
    check_remove_directory(root);
}

/* ---- Against a writer that stores everything before its array grows ---- */

typedef struct pair {
    zb_hierarchy *store;
    zb_node *node;
    zb_writer *writer;
} pair;

static void pair_begin(pair *p, const arrays_spec *spec, check_random *random,
                       arrays_sample *sample) {
    zb_error err;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &p->store, &err), err);
    *sample = arrays_write(spec, random, p->store, "a");
    ASSERT_OK(zb_node_open(p->store, "a", &p->node, &err), err);
    ASSERT_OK(zb_writer_open(p->node, NULL, &p->writer, &err), err);
}

static void pair_end(pair *p) {
    zb_writer_abandon(p->writer);
    zb_node_release(p->node);
    zb_hierarchy_release(p->store);
}

static void pair_grow(pair *p, const uint64_t *shape, bool goes_on) {
    zb_error err;
    zb_node *grown;
    const bool waits = goes_on && zb_writer_can_grow(p->writer, shape);
    if (!waits) {
        ASSERT_OK(zb_writer_close(p->writer, &err), err);
        p->writer = NULL;
    }
    ASSERT_OK(zb_array_resize(p->node, shape, &grown, &err), err);
    zb_node_release(p->node);
    p->node = grown;
    if (waits)
        ASSERT_OK(zb_writer_grow(p->writer, grown, &err), err);
    else
        ASSERT_OK(zb_writer_open(p->node, NULL, &p->writer, &err), err);
}

/* Elements of the sample, in any order, go to a box of both. */
static void write_box(pair pairs[2], const arrays_sample *sample, check_random *random) {
    const uint64_t *shape = zb_node_array(pairs[0].node)->shape;
    const size_t size = sample->dtype.size;
    uint64_t start[ARRAYS_NDIM], counts[ARRAYS_NDIM], elements = 1;
    for (uint32_t d = 0; d < sample->spec.ndim; d++) {
        if (shape[d] == 0)
            return;
        start[d] = check_random_in(random, 0, shape[d] - 1);
        counts[d] = check_random_in(random, 1, shape[d] - start[d]);
        elements *= counts[d];
    }
    unsigned char *data = malloc((size_t)elements * size);
    for (uint64_t i = 0; i < elements; i++)
        memcpy(data + i * size,
               sample->values + check_random_in(random, 0, sample->elements - 1) * size, size);
    const zb_write write = {.start = start, .count = counts, .data = data, .dtype = sample->dtype};
    zb_error err;
    for (int i = 0; i < 2; i++)
        ASSERT_OK(zb_writer_write(pairs[i].writer, &write, &err), err);
    free(data);
}

static void grow_pair(pair pairs[2], const arrays_spec *spec, check_random *random) {
    uint64_t shape[ARRAYS_NDIM];
    for (uint32_t d = 0; d < spec->ndim; d++)
        shape[d] = zb_node_array(pairs[0].node)->shape[d] + check_random_in(random, 0, 2);
    pair_grow(&pairs[0], shape, false);
    pair_grow(&pairs[1], shape, true);
}

static void *read_all(const pair *p, size_t *bytes) {
    const zb_array_info *info = zb_node_array(p->node);
    *bytes = info->dtype.size;
    for (uint32_t d = 0; d < info->ndim; d++)
        *bytes *= (size_t)info->shape[d];
    void *data = malloc(*bytes + 1);
    const zb_read read = {.node = p->node, .view = {.data = data, .dtype = info->dtype}};
    zb_error err;
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    return data;
}

static void assert_same(const pair pairs[2]) {
    size_t bytes, others;
    zb_error err;
    for (int i = 0; i < 2; i++)
        ASSERT_OK(zb_writer_flush(pairs[i].writer, &err), err);
    void *a = read_all(&pairs[0], &bytes), *b = read_all(&pairs[1], &others);
    assert_int_equal(bytes, others);
    assert_memory_equal(a, b, bytes);
    free(a);
    free(b);
}

static void random_arrays_read_the_same(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int round = 0; round < 150; round++) {
        const arrays_spec spec = arrays_random_spec(&random);
        check_random again = random;
        arrays_sample samples[2];
        pair pairs[2];
        pair_begin(&pairs[0], &spec, &again, &samples[0]);
        pair_begin(&pairs[1], &spec, &random, &samples[1]);
        for (int i = 0; i < 10 && samples[0].elements > 0; i++) {
            write_box(pairs, &samples[0], &random);
            if (check_random_in(&random, 0, 2) > 0)
                grow_pair(pairs, &spec, &random);
            if (check_random_in(&random, 0, 5) == 0)
                assert_same(pairs);
        }
        assert_same(pairs);
        for (int i = 0; i < 2; i++) {
            pair_end(&pairs[i]);
            arrays_free(&samples[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_are_appended_wait),
        cmocka_unit_test(complete_chunks_that_wait_get_an_edge),
        cmocka_unit_test(a_writer_follows_another_programs_resize),
        cmocka_unit_test(whole_chunks_become_parts),
        cmocka_unit_test(encoded_chunks_follow),
        cmocka_unit_test(a_writer_follows_back),
        cmocka_unit_test(other_changes_are_refused),
        cmocka_unit_test(another_threads_flush_meets_a_writer_that_grows),
        cmocka_unit_test(random_arrays_read_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
