/* SPDX-License-Identifier: MIT */
/*
 * Many threads on one node: mixed windows, forks in between, objects replaced under the readers.
 * The thread sanitizer must stay silent here.
 */
#include <pthread.h>
#include <unistd.h>

#include "support/arrays.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"

#define THREADS 8

typedef struct shared {
    zb_hierarchy *mem;
    zb_node *node;
    arrays_sample sample;
    int rounds;
} shared;

typedef struct worker {
    pthread_t thread;
    const shared *all;
    uint64_t seed;
    int failures, wrong;
    zb_error error; /* of the last failure */
} worker;

/* Sharded, compressed, with chunks of all kinds; decoding the whole takes more than one thread. */
static const arrays_spec spec = {.ndim = 2,
                                 .shape = {500, 430},
                                 .chunk = {{256, 128}, {32, 32}},
                                 .depth = 1,
                                 .type = "int64",
                                 .codec = ARRAYS_ZSTD_CRC32C,
                                 .scrambled = true,
                                 .fill_boxes = 2};

static shared begin(const arrays_spec *of) {
    shared s = {.rounds = 60};
    check_random random = {.state = 3};
    zb_error err;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &s.mem, &err), err);
    s.sample = arrays_write(of, &random, s.mem, "a");
    ASSERT_OK(zb_node_open(s.mem, "a", &s.node, &err), err);
    zb_cache_clear();
    return s;
}

static void end(shared *s) {
    zb_node_release(s->node);
    zb_hierarchy_release(s->mem);
    arrays_free(&s->sample);
}

/* Reads a box and returns the number of wrong elements, or -1 when the read fails. */
static int read_box(const shared *s, const uint64_t *start, const uint64_t *count, zb_error *err) {
    int64_t *values = malloc((size_t)(count[0] * count[1] + 1) * sizeof *values);
    zb_read read = {.node = s->node,
                    .start = start,
                    .count = count,
                    .view = {.data = values, .dtype = s->sample.dtype}};
    int wrong = values && zb_array_read(&read, 1, err) == ZB_OK ? 0 : -1;
    for (uint64_t y = 0; y < count[0] && wrong >= 0; y++)
        wrong += memcmp(values + y * count[1],
                        arrays_at(&s->sample, (uint64_t[]){start[0] + y, start[1]}),
                        (size_t)count[1] * sizeof *values) != 0;
    free(values);
    return wrong;
}

static int read_points(const shared *s, check_random *random, zb_error *err) {
    uint64_t coords[100];
    int64_t values[50];
    for (size_t i = 0; i < 100; i++)
        coords[i] = check_random_in(random, 0, s->sample.spec.shape[i % 2] - 1);
    const zb_points points = {.node = s->node,
                              .coords = coords,
                              .count = 50,
                              .view = {.data = values, .dtype = s->sample.dtype}};
    if (zb_array_read_points(&points, err) != ZB_OK)
        return -1;
    int wrong = 0;
    for (size_t i = 0; i < 50; i++)
        wrong += memcmp(&values[i], arrays_at(&s->sample, coords + 2 * i), 8) != 0;
    return wrong;
}

/* Small windows, rows, whole arrays and points; now and then the caches are dropped. */
static void *read_windows(void *argument) {
    worker *w = argument;
    check_random random = {.state = w->seed};
    for (int round = 0; round < w->all->rounds; round++) {
        uint64_t start[2], count[2];
        uint64_t kind = check_random_in(&random, 0, 9);
        for (size_t d = 0; d < 2; d++) {
            uint64_t extent = w->all->sample.spec.shape[d];
            uint64_t most = kind == 0 ? extent : kind < 4 && d == 0 ? 1 : 70;
            start[d] = kind == 0 ? 0 : check_random_in(&random, 0, extent - 1);
            count[d] = most < extent - start[d] ? most : extent - start[d];
        }
        int wrong = kind == 9 ? read_points(w->all, &random, &w->error)
                              : read_box(w->all, start, count, &w->error);
        w->failures += wrong < 0;
        w->wrong += wrong > 0;
        if (w->seed == 0 && round % 20 == 19)
            zb_cache_clear();
    }
    return NULL;
}

static void start(worker *workers, const shared *s, void *(*fn)(void *)) {
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.all = s, .seed = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, fn, &workers[i]), 0);
    }
}

static void finish(worker *workers) {
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].failures)
            fail_msg("a read failed: %s", workers[i].error.message);
        assert_int_equal(workers[i].wrong, 0);
    }
}

static void mixed_windows_at_once(void **state) {
    (void)state;
    shared s = begin(&spec);
    worker workers[THREADS];
    start(workers, &s, read_windows);
    finish(workers);
    end(&s);
}

static void read_in_child(void *context) {
    const shared *s = context;
    zb_error err = {.code = ZB_OK};
    for (int i = 0; i < 3; i++) {
        int wrong = read_box(s, (uint64_t[]){0, 0}, s->sample.spec.shape, &err);
        CHILD_CHECK(wrong == 0, "%d wrong rows, %s", wrong, err.message);
    }
}

/* A child of a program whose threads are in the middle of reading has caches, scratches and a pool
   of its own, and reads on. */
static void forks_in_between(void **state) {
    (void)state;
    shared s = begin(&spec);
    worker workers[THREADS];
    start(workers, &s, read_windows);
    if (!CHECK_FORKS_WHILE_BUSY) {
        print_message("sanitizer: forking while the pool is idle only\n");
        finish(workers);
    }
    for (int i = 0; i < 6; i++)
        assert_true(check_in_child(read_in_child, &s, NULL, NULL));
    if (CHECK_FORKS_WHILE_BUSY)
        finish(workers);
    zb_error err;
    assert_int_equal(read_box(&s, (uint64_t[]){0, 0}, spec.shape, &err), 0);
    end(&s);
}

/* ---- Replacing objects under the readers ---- */

/* One chunk, all of one value; a version of it is never mixed with another. */
static const arrays_spec uniform = {.ndim = 2,
                                    .shape = {64, 64},
                                    .chunk = {{64, 64}, {16, 16}},
                                    .depth = 1,
                                    .type = "int64",
                                    .codec = ARRAYS_CRC32C};

static void *read_versions(void *argument) {
    worker *w = argument;
    check_random random = {.state = w->seed};
    int64_t last = 0;
    for (int round = 0; round < 400; round++) {
        uint64_t from[2] = {check_random_in(&random, 0, 40), check_random_in(&random, 0, 40)};
        uint64_t count[2] = {20, 20};
        int64_t values[400];
        zb_read read = {.node = w->all->node,
                        .start = from,
                        .count = count,
                        .view = {.data = values, .dtype = w->all->sample.dtype}};
        w->failures += zb_array_read(&read, 1, &w->error) != ZB_OK;
        for (size_t i = 1; i < 400; i++)
            w->wrong += values[i] != values[0]; /* of one version */
        w->wrong += values[0] < last;           /* and not of an earlier one */
        last = values[0];
    }
    return NULL;
}

static void readers_see_whole_versions(void **state) {
    (void)state;
    zb_error err;
    shared s = begin(&uniform);
    shared writer = begin(&uniform); /* its store makes the versions */
    char *versions[50];
    size_t sizes[50];
    for (size_t v = 0; v < 50; v++) {
        arrays_set_all(&writer.sample, (int64_t)v + 100, writer.mem, "a");
        ASSERT_OK(zb_store_get(zb_hierarchy_store(writer.mem), "a/c/0/0", 1 << 20, "chunk_bytes",
                               &versions[v], &sizes[v], NULL, &err),
                  err);
    }
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(s.mem), "a/c/0/0", versions[0], sizes[0], &err),
              err);
    worker workers[THREADS];
    start(workers, &s, read_versions);
    for (size_t v = 0; v < 50; v++) {
        ASSERT_OK(
            zb_store_mem_set(zb_hierarchy_store(s.mem), "a/c/0/0", versions[v], sizes[v], &err),
            err);
        usleep(500);
        free(versions[v]);
    }
    finish(workers);
    end(&writer);
    end(&s);
}

int main(void) {
    setenv("ZARRBRIDGE_NUM_THREADS", "4", 1); /* also where there are fewer processors */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_windows_at_once),
        cmocka_unit_test(forks_in_between),
        cmocka_unit_test(readers_see_whole_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
