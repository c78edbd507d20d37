/* SPDX-License-Identifier: MIT */
/*
 * Changing stored shards: random boxes against a model, slices that stream into a shard, refused
 * arrays, and readers at the same time. Changes cut short by faults are in live_fault_test.c.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/clocks.h"
#include "support/shards.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

/* The bytes of all shards. */
static uint64_t stored_bytes(const zb_node *node) {
    uint64_t bytes = 0;
    zb_error err;
    ASSERT_OK(zb_array_storage_size(node, &bytes, &err), err);
    return bytes;
}

/* ---- Written elements are read ---- */

static void random_box(check_random *random, uint64_t *start, uint64_t *count, int32_t *values) {
    start[0] = check_random_in(random, 0, SHARDS_ROWS - 1);
    start[1] = check_random_in(random, 0, SHARDS_COLUMNS - 1);
    count[0] = check_random_in(random, 1, SHARDS_ROWS - start[0]);
    count[1] = check_random_in(random, 1, SHARDS_COLUMNS - start[1]);
    bool zero = check_random_in(random, 0, 4) == 0;
    for (uint64_t i = 0; i < count[0] * count[1]; i++)
        values[i] = zero ? 0 : (int32_t)check_random_next(random);
}

static void takes_random_boxes(zb_hierarchy *hierarchy, enum zb_strategy strategy,
                               enum zb_sync sync, int boxes, bool is_uneven, check_random *random) {
    int32_t model[SHARDS_ELEMENTS] = {0}, values[SHARDS_ELEMENTS];
    uint64_t start[2], count[2];
    zb_error err;
    zb_node *node =
        is_uneven ? shards_create_uneven(hierarchy, strategy) : shards_create(hierarchy, strategy);
    zb_writer *writer = shards_open_writer(node, strategy, sync);
    for (int i = 0; i < boxes; i++) {
        random_box(random, start, count, values);
        ASSERT_OK(shards_write(writer, start, count, values, &err), err);
        shards_set_model(model, start, count, values);
        shards_assert_holds(node, model);
    }
    ASSERT_OK(zb_writer_close(writer, &err), err);
    assert_int_equal(shards_journals(hierarchy), 0);
    uint64_t before = stored_bytes(node), reclaimed = 0;
    ASSERT_OK(zb_array_compact(node, sync, &reclaimed, &err), err);
    shards_assert_holds(node, model);
    assert_int_equal(stored_bytes(node), before - reclaimed);
    assert_true(strategy != ZB_APPEND || boxes < 60 || reclaimed > 0);
    ASSERT_OK(zb_array_compact(node, sync, &reclaimed, &err), err);
    assert_int_equal(reclaimed, 0);
    zb_node_release(node);
}

static void take_random_boxes(bool is_uneven) {
    check_random random = check_random_new();
    for (enum zb_strategy strategy = ZB_REWRITE; strategy <= ZB_INPLACE; strategy++) {
        for (enum zb_sync sync = ZB_SYNC_NONE; sync <= ZB_SYNC_CLOSE; sync++) {
            zb_hierarchy *mem = stores_new_mem(), *fs = NULL;
            zb_error err;
            char *root = check_new_directory();
            takes_random_boxes(mem, strategy, sync, 60, is_uneven, &random);
            ASSERT_OK(zb_hierarchy_open(root, &fs, &err), err);
            /* A busy disk takes long to sync. */
            takes_random_boxes(fs, strategy, sync, sync == ZB_SYNC_NONE ? 60 : 4, is_uneven,
                               &random);
            zb_hierarchy_release(mem);
            zb_hierarchy_release(fs);
            check_remove_directory(root);
        }
    }
}

static void strategies_take_random_boxes(void **state) {
    (void)state;
    take_random_boxes(false);
}

static void shards_of_several_extents_take_random_boxes(void **state) {
    (void)state;
    take_random_boxes(true);
}

/* ---- A shard that grows slice by slice ---- */

enum { STEPS = 16, SIDE = 64, SLICE = SIDE * SIDE, INDEX_BYTES = 16 * 4 * STEPS + 4 };

static void set_slice(int32_t *slice, uint64_t t) {
    for (int i = 0; i < SLICE; i++)
        slice[i] = (int32_t)t * 10000 + i + 1;
}

/* A reader with a handle of its own sees all elements of all slices so far. */
static void others_see_slices(zb_hierarchy *hierarchy, uint64_t count) {
    int32_t expected[SLICE], seen[SLICE];
    zb_node *node = stores_open_node(hierarchy, "a");
    assert_int_equal(zb_node_array(node)->shape[0], count);
    for (uint64_t t = 0; t < count; t++) {
        const uint64_t start[3] = {t, 0, 0}, one[3] = {1, SIDE, SIDE};
        zb_read read = {.node = node,
                        .start = start,
                        .count = one,
                        .view = {.data = seen, .dtype = shards_type}};
        zb_error err;
        ASSERT_OK(zb_array_read(&read, 1, &err), err);
        set_slice(expected, t);
        assert_memory_equal(seen, expected, sizeof seen);
    }
    zb_node_release(node);
}

/* An array of one slice in shards of STEPS slices, of one row of inner chunks each. */
static zb_node *create_growing(zb_hierarchy *hierarchy, enum zb_strategy strategy) {
    const uint64_t shape[3] = {1, SIDE, SIDE}, inner[3] = {1, 32, 32};
    const uint64_t shard[3] = {STEPS, SIDE, SIDE};
    zb_array_spec spec = {.ndim = 3,
                          .shape = shape,
                          .inner_shape = inner,
                          .shard_shape = shard,
                          .dtype = shards_type,
                          .codecs = strategy == ZB_APPEND ? "[]" : shards_codecs[strategy]};
    zb_error err;
    zb_node *node = NULL;
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    return node;
}

/* Writes and flushes slice t; returns the cost. Others see it while the writer is open. */
static zb_store_counts write_slice(zb_hierarchy *counter, const zb_node *node,
                                   enum zb_strategy strategy, uint64_t t) {
    const uint64_t start[3] = {t, 0, 0}, one[3] = {1, SIDE, SIDE};
    int32_t slice[SLICE];
    zb_error err;
    zb_writer *writer = shards_open_writer(node, strategy, ZB_SYNC_NONE);
    set_slice(slice, t);
    zb_store_count_take(zb_hierarchy_store(counter));
    ASSERT_OK(shards_write(writer, start, one, slice, &err), err);
    zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(counter));
    others_see_slices(counter, zb_node_array(node)->shape[0]);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    return counts;
}

/* Slices arrive one by one, and later once more: others read the slices that have been flushed.
   Appending, each flush writes the slice and an index, not the shard. In place that is so for
   slices that are stored already; a slice that the shard lacks replaces it. */
static void slices_stream_into_a_shard(void **state) {
    (void)state;
    const uint64_t slice = SLICE * sizeof(int32_t), sums = 4 * sizeof(uint32_t); /* of 4 chunks */
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        zb_hierarchy *mem = stores_new_mem(), *counter = NULL;
        bool append = strategy == ZB_APPEND;
        zb_error err;
        ASSERT_OK(wrap(zb_store_new_count, mem, &counter, &err), err);
        zb_node *node = create_growing(counter, strategy);
        for (uint64_t t = 0; t < STEPS; t++) {
            const uint64_t grown[3] = {t + 1, SIDE, SIDE};
            zb_node *now = NULL;
            ASSERT_OK(zb_array_resize(node, grown, &now, &err), err);
            zb_node_release(node);
            node = now;
            zb_store_counts counts = write_slice(counter, node, strategy, t);
            assert_int_equal(counts.puts, 1); /* the shard, or a journal */
            if (append && t > 0) {
                /* The slice, a copy of the old index, and the new one. */
                assert_int_equal(counts.change_bytes, slice + 2 * INDEX_BYTES);
                assert_true(counts.put_bytes < INDEX_BYTES);
            } else {
                assert_int_equal(counts.change_bytes, 0);
                assert_int_equal(counts.put_bytes,
                                 (t + 1) * (slice + (append ? 0 : sums)) + INDEX_BYTES);
            }
        }
        for (uint64_t t = 0; t < STEPS; t++) {
            zb_store_counts counts = write_slice(counter, node, strategy, t);
            assert_int_equal(counts.change_bytes, append ? slice + 2 * INDEX_BYTES : slice + sums);
            assert_int_equal(counts.puts, 1); /* a journal */
            if (append)
                assert_true(counts.put_bytes < INDEX_BYTES);
        }
        zb_node_release(node);
        zb_hierarchy_release(counter);
        zb_hierarchy_release(mem);
    }
}

/* ---- Refused arrays ---- */

static void assert_refused(const char *document, enum zb_strategy strategy, const char *why) {
    zb_hierarchy *mem = stores_new_mem();
    zb_error err;
    zb_node *node = NULL;
    zb_writer *writer = NULL;
    zb_write_options options = {.strategy = strategy};
    ASSERT_OK(
        zb_store_mem_set(zb_hierarchy_store(mem), "zarr.json", document, strlen(document), &err),
        err);
    ASSERT_OK(zb_node_open(mem, "", &node, &err), err);
    ASSERT_FAILS(zb_writer_open(node, &options, &writer, &err), ZB_EUNSUPPORTED, err, why);
    zb_node_release(node);
    zb_hierarchy_release(mem);
}

#define DOCUMENT(codecs)                                                                           \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[8],\"data_type\":\"int8\","             \
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[8]}},"               \
    "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":0,\"codecs\":[" codecs "]}"
#define SHARD(inner, index, location)                                                              \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[4],\"codecs\":["           \
    "{\"name\":\"bytes\"}" inner "],\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":"      \
    "{\"endian\":\"little\"}}" index "],\"index_location\":\"" location "\"}}"
#define CRC ",{\"name\":\"crc32c\"}"
#define ZSTD ",{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":true}}"

static void what_cannot_be_detected_is_refused(void **state) {
    (void)state;
    assert_refused(DOCUMENT("{\"name\":\"bytes\"}"), ZB_APPEND, "not sharded");
    assert_refused(DOCUMENT("{\"name\":\"bytes\"}"), ZB_INPLACE, "not sharded");
    assert_refused(DOCUMENT(SHARD("", CRC, "end") ZSTD), ZB_APPEND, "codecs lie around");
    assert_refused(DOCUMENT(SHARD("", "", "end")), ZB_APPEND, "no crc32c");
    assert_refused(DOCUMENT(SHARD(CRC, "", "end")), ZB_INPLACE, "no crc32c");
    assert_refused(DOCUMENT(SHARD("", CRC, "start")), ZB_APPEND, "at the start");
    assert_refused(DOCUMENT(SHARD("", CRC, "start")), ZB_INPLACE, "with a crc32c");
    assert_refused(DOCUMENT(SHARD(ZSTD CRC, CRC, "end")), ZB_INPLACE, "no compression");
}

/* ---- Readers at the same time ---- */

typedef struct race {
    const zb_node *node;
    atomic_bool stop;
    atomic_int reads;
    int mixed, errors;
} race;

/* All elements of an inner chunk were written together. A writer that the system holds up makes an
   error, on which a test cannot count. */
static void *read_on(void *context) {
    race *r = context;
    while (!atomic_load(&r->stop)) {
        int32_t values[SHARDS_ELEMENTS];
        zb_read read = {.node = r->node, .view = {.data = values, .dtype = shards_type}};
        enum zb_code code = zb_array_read(&read, 1, NULL);
        r->errors += code != ZB_OK && code != ZB_ECHECKSUM && code != ZB_EFORMAT;
        for (int i = 0; i < SHARDS_ELEMENTS && code == ZB_OK; i++) {
            int row = i / SHARDS_COLUMNS / 4 * 4, column = i % SHARDS_COLUMNS / 4 * 4;
            r->mixed += values[i] != values[row * SHARDS_COLUMNS + column];
        }
        atomic_fetch_add(&r->reads, 1);
    }
    return NULL;
}

static void readers_find_old_or_new(void **state) {
    (void)state;
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        char *root = check_new_directory();
        zb_hierarchy *hierarchy = NULL, *other = NULL;
        zb_error err;
        ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
        ASSERT_OK(zb_hierarchy_open(root, &other, &err), err);
        zb_node *node = shards_create(hierarchy, strategy), *seen = NULL;
        ASSERT_OK(zb_node_open(other, "a", &seen, &err), err);
        zb_writer *writer = shards_open_writer(node, strategy, ZB_SYNC_NONE);
        race r = {.node = seen};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, read_on, &r), 0);
        while (atomic_load(&r.reads) == 0)
            usleep(1000);
        for (int32_t i = 1; i <= 400; i++) {
            int32_t values[16 * 16];
            uint64_t start[2] = {(uint64_t)(i % 2) * 4, 4}, count[2] = {8, 16};
            for (int j = 0; j < 16 * 16; j++)
                values[j] = i;
            ASSERT_OK(shards_write(writer, start, count, values, &err), err);
        }
        atomic_store(&r.stop, true);
        pthread_join(thread, NULL);
        assert_int_equal(r.errors, 0);
        assert_int_equal(r.mixed, 0);
        ASSERT_OK(zb_writer_close(writer, &err), err);
        zb_node_release(node);
        zb_node_release(seen);
        zb_hierarchy_release(hierarchy);
        zb_hierarchy_release(other);
        check_remove_directory(root);
    }
}

/* ---- The time for which a reader tries ---- */

/* A damaged shard is read again while a writer may be changing it; not for ever because its time
   stamp lies in the future, nor because a killed writer's journal lies beside it. */
static void damage_is_told_soon(void **state) {
    (void)state;
    char *root = check_new_directory();
    zb_hierarchy *files, *count;
    zb_error err;
    ASSERT_OK(zb_hierarchy_create(root, NULL, &files, &err), err);
    zb_node_release(shards_create(files, ZB_APPEND));
    ASSERT_OK(wrap(zb_store_new_count, files, &count, &err), err);
    zb_node *node;
    ASSERT_OK(zb_node_open(count, "a", &node, &err), err);
    zb_writer *writer = shards_open_writer(node, ZB_REWRITE, ZB_SYNC_NONE);
    int32_t values[SHARDS_ELEMENTS] = {1, 2, 3};
    uint64_t start[2] = {0, 0}, box[2] = {SHARDS_ROWS, SHARDS_COLUMNS}, one[2] = {1, 1};
    ASSERT_OK(shards_write(writer, start, box, values, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    char shard[600], journal[600];
    snprintf(shard, sizeof shard, "%s/a/c/0/0", root);
    snprintf(journal, sizeof journal, "%s/a/c/0/.0.zb-journal", root);
    for (int kind = 0; kind < 3; kind++) {
        struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = kind == 1 ? 4000000000 : 1}};
        assert_int_equal(truncate(shard, 1000), 0);
        if (kind == 2)
            check_write_file(root, "a/c/0/.0.zb-journal", "left", 4);
        assert_int_equal(utimensat(AT_FDCWD, shard, times, 0), 0);
        if (kind != 1)
            clocks_let_files_age(); /* change times and journals are old by then */
        zb_store_count_take(zb_hierarchy_store(count));
        zb_read read = {.node = node, .count = one, .view = {.data = values, .dtype = shards_type}};
        enum zb_code code = zb_array_read(&read, 1, &err);
        assert_true(code == ZB_ECHECKSUM || code == ZB_EFORMAT);
        uint64_t opens = zb_store_count_take(zb_hierarchy_store(count)).opens;
        if (opens > (kind == 1 ? 300 : 5))
            fail_msg("kind %d: %d tries", kind, (int)opens);
    }
    clocks_reset();
    zb_node_release(node);
    zb_hierarchy_release(count);
    zb_hierarchy_release(files);
    check_remove_directory(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strategies_take_random_boxes),
        cmocka_unit_test(shards_of_several_extents_take_random_boxes),
        cmocka_unit_test(slices_stream_into_a_shard),
        cmocka_unit_test(what_cannot_be_detected_is_refused),
        cmocka_unit_test(damage_is_told_soon),
        cmocka_unit_test(readers_find_old_or_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
