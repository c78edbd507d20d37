/* SPDX-License-Identifier: MIT */
/*
 * Many at once: processes and threads that write disjoint inner chunks of one shard, by every
 * strategy; readers while a chunk is overwritten; changes of shapes. Nothing that was written may
 * be lost, and a reader sees one version or the other.
 *
 * Full tests (check.h) have five times the rounds.
 */
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parties.h"
#include "util/clock.h"
#include "world.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

#define STRIPS 80
#define READERS 2

static char *place;
static char root[256];

/* ---- One array ---------------------------------------------------------------------------- */

/* An int32 array of rows x 16 in one shard, or in chunks of `rows` when chunk is less. An inner
   chunk is one row. */
static void make_store(uint64_t rows, uint64_t shard_rows, const char *codecs) {
    static const int32_t fill = WORLD_FILL;
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_error err;
    world_remove(root);
    ASSERT_OK(zb_hierarchy_create(root, NULL, &hierarchy, &err), err);
    zb_array_spec spec = {.ndim = 2,
                          .shape = (uint64_t[]){rows, 16},
                          .inner_shape = (uint64_t[]){1, 16},
                          .shard_shape = (uint64_t[]){shard_rows, 16},
                          .dtype = {ZB_KIND_INT, 4, false, NULL},
                          .fill_value = &fill,
                          .codecs = codecs};
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static enum zb_strategy strategy;

static enum zb_code try_rows(const zb_node *node, uint64_t row, uint64_t rows, int32_t value,
                             zb_error *err) {
    static _Thread_local int32_t values[STRIPS * 16];
    zb_writer *writer;
    zb_write_options options = {.strategy = strategy};
    for (uint64_t i = 0; i < rows * 16; i++)
        values[i] = value;
    MUST(zb_writer_open(node, &options, &writer, err), *err);
    zb_write write = {.start = (uint64_t[]){row, 0},
                      .count = (uint64_t[]){rows, 16},
                      .data = values,
                      .dtype = {ZB_KIND_INT, 4, false, NULL}};
    enum zb_code code = zb_writer_write(writer, &write, err);
    if (code == ZB_OK)
        return zb_writer_close(writer, err);
    zb_writer_abandon(writer);
    return code;
}

static void write_rows(const zb_node *node, uint64_t row, uint64_t rows, int32_t value) {
    zb_error err;
    MUST(try_rows(node, row, rows, value, &err), err);
}

static enum zb_code read_rows(const zb_node *node, uint64_t rows, int32_t *values, zb_error *err) {
    zb_read read = {.node = node,
                    .start = (uint64_t[]){0, 0},
                    .count = (uint64_t[]){rows, 16},
                    .view = {.data = values, .dtype = {ZB_KIND_INT, 4, false, NULL}}};
    return zb_array_read(&read, 1, err);
}

/* How many of the first `rows` rows hold 100 + row, whole. */
static int count_strips(uint64_t rows) {
    static int32_t values[STRIPS * 16];
    zb_node *node = parties_open_node(root, "a");
    zb_error err;
    int good = 0;
    zb_cache_clear();
    ASSERT_OK(read_rows(node, rows, values, &err), err);
    for (uint64_t row = 0; row < rows; row++) {
        bool same = true;
        for (int i = 0; i < 16; i++)
            same = same && values[row * 16 + (uint64_t)i] == 100 + (int32_t)row;
        good += same;
    }
    zb_node_release(node);
    return good;
}

/* ---- Disjoint inner chunks of one shard --------------------------------------------------- */

static void write_strips(int party) {
    zb_node *node = parties_open_node(root, "a");
    for (uint64_t row = (uint64_t)party; row < STRIPS; row += PARTIES)
        write_rows(node, row, 1, 100 + (int32_t)row);
    zb_node_release(node);
}

#define ZSTD "[{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":false}}]"
#define CRC32C "[{\"name\":\"crc32c\"}]"

static void run_strips(void (*run)(int, party_fn), enum zb_strategy how, const char *codecs) {
    strategy = how;
    for (int i = 0; i < parties_rounds(20); i++) {
        make_store(STRIPS, STRIPS, codecs);
        run(PARTIES, write_strips);
        int good = count_strips(STRIPS);
        if (good != STRIPS)
            fail_msg("round %d: %d of %d strips are there", i, good, STRIPS);
        assert_int_equal(world_left_over(root, true), 0);
    }
    strategy = ZB_REWRITE;
}

static void test_processes(void **state) {
    (void)state;
    run_strips(parties_run_processes, ZB_REWRITE, ZSTD);
}

static void test_threads(void **state) {
    (void)state;
    run_strips(parties_run_threads, ZB_REWRITE, ZSTD);
}

static void test_append(void **state) {
    (void)state;
    run_strips(parties_run_processes, ZB_APPEND, ZSTD);
    run_strips(parties_run_threads, ZB_APPEND, ZSTD);
}

static void test_inplace(void **state) {
    (void)state;
    run_strips(parties_run_processes, ZB_INPLACE, CRC32C);
    run_strips(parties_run_threads, ZB_INPLACE, CRC32C);
}

/* ---- Readers while a shard is overwritten ------------------------------------------------- */

#define VERSION_ROWS 8
static int overwrites;
static atomic_int *reading; /* readers that have begun, of all processes */
static bool by_parts;       /* only the upper half is written, the stored rest is kept */

/* A chunk is changed in place by a writer that the system holds up: a reader tries again for a
   second, and tells of damage then. */
static bool is_held_up(enum zb_code code, int64_t begun) {
    return strategy != ZB_REWRITE && (code == ZB_ECHECKSUM || code == ZB_EFORMAT) &&
           zb__now() - begun >= ZB__SECOND;
}

/* Every row is of one version, later reads never see an earlier one; without parts all rows are of
   the same. */
static void read_versions(void) {
    zb_node *node = parties_open_node(root, "a");
    int32_t values[VERSION_ROWS * 16], seen[VERSION_ROWS] = {0};
    int reads = 0;
    for (bool last = false; !last;) {
        zb_error err = {.message = ""};
        const int64_t begun = zb__now();
        const enum zb_code code = read_rows(node, VERSION_ROWS, values, &err);
        if (is_held_up(code, begun))
            continue;
        MUST(code, err);
        if (reads++ == 0)
            atomic_fetch_add(reading, 1);
        last = values[0] == overwrites;
        for (int row = 0; row < VERSION_ROWS; row++) {
            int32_t version = values[row * 16];
            for (int i = 1; i < 16; i++)
                CHILD_CHECK(values[row * 16 + i] == version, "row %d: %d beside %d", row,
                            values[row * 16 + i], version);
            CHILD_CHECK(version >= seen[row] && version <= overwrites, "row %d: %d after %d", row,
                        version, seen[row]);
            CHILD_CHECK(by_parts || version == values[0], "rows of versions %d and %d", version,
                        values[0]);
            seen[row] = version;
        }
    }
    zb_node_release(node);
}

static void overwrite_or_read(int party) {
    if (party > 0) {
        read_versions();
        return;
    }
    zb_node *node = parties_open_node(root, "a");
    while (atomic_load(reading) < READERS)
        usleep(1000);
    for (int version = 2; version <= overwrites; version++)
        write_rows(node, 0, by_parts ? VERSION_ROWS / 2 : VERSION_ROWS, version);
    zb_node_release(node);
}

static void run_versions(enum zb_strategy how, const char *codecs, bool parts, int count) {
    make_store(VERSION_ROWS, VERSION_ROWS, codecs);
    zb_node *node = parties_open_node(root, "a");
    strategy = ZB_REWRITE;
    write_rows(node, 0, VERSION_ROWS, 1);
    zb_node_release(node);
    strategy = how;
    overwrites = parties_rounds(count);
    by_parts = parts;
    atomic_store(reading, 0);
    parties_run_processes(1 + READERS, overwrite_or_read);
    strategy = ZB_REWRITE;
}

static void test_readers(void **state) {
    (void)state;
    run_versions(ZB_REWRITE, ZSTD, false, 10000);
    run_versions(ZB_REWRITE, ZSTD, true, 2000);
}

static void test_readers_of_threads(void **state) {
    (void)state;
    make_store(VERSION_ROWS, VERSION_ROWS, ZSTD);
    zb_node *node = parties_open_node(root, "a");
    write_rows(node, 0, VERSION_ROWS, 1);
    zb_node_release(node);
    overwrites = parties_rounds(2000);
    by_parts = false;
    atomic_store(reading, 0);
    parties_run_threads(1 + READERS, overwrite_or_read);
}

static void test_readers_of_live(void **state) {
    (void)state;
    run_versions(ZB_APPEND,
                 "[{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":false}},"
                 "{\"name\":\"crc32c\"}]",
                 true, 1000);
    run_versions(ZB_INPLACE, CRC32C, true, 1000);
}

/* ---- Shapes ------------------------------------------------------------------------------- */

#define KEPT                                                                                       \
    40 /* rows that every shape has; no multiple of a shard's, so that edges are refilled */
#define SHARD_ROWS 16

/* The array shrinks and grows again and again, while others write rows that are always inside. Some
   of them hold a node of the short array, some one of the long. */
static void resize_or_write(int party) {
    zb_node *node = parties_open_node(root, "a"), *changed;
    zb_error err;
    if (party == 0) {
        for (int i = 0; i < 40; i++) {
            MUST(zb_array_resize(node, (uint64_t[]){i % 2 ? STRIPS : KEPT, 16}, &changed, &err),
                 err);
            zb_node_release(node);
            node = changed;
        }
    } else {
        for (uint64_t row = (uint64_t)party - 1; row < KEPT; row += PARTIES - 1) {
            enum zb_code code;
            do { /* on the edge, the shape that the writer knows has to be the true one */
                zb_node_release(node);
                node = parties_open_node(root, "a");
                code = try_rows(node, row, 1, 100 + (int32_t)row, &err);
            } while (code == ZB_ECONFLICT);
            MUST(code, err);
        }
    }
    zb_node_release(node);
}

static void test_resizing(void **state) {
    (void)state;
    for (int round = 0; round < parties_rounds(5); round++) {
        make_store(STRIPS, SHARD_ROWS, ZSTD);
        parties_run_processes(PARTIES, resize_or_write);
        assert_int_equal(count_strips(KEPT), KEPT);
        /* And nothing came from anywhere behind them. */
        static int32_t values[STRIPS * 16];
        zb_node *node = parties_open_node(root, "a");
        zb_error err;
        ASSERT_OK(read_rows(node, STRIPS, values, &err), err);
        for (int i = KEPT * 16; i < STRIPS * 16; i++)
            assert_int_equal(values[i], WORLD_FILL);
        zb_node_release(node);
    }
}

/* Somebody who opened the array before it grew must not take the elements behind the old edge for
   empty, however the edge's chunk is written. */
static void test_stale_shape(void **state) {
    (void)state;
    for (int partly = 0; partly < 2; partly++) {
        make_store(KEPT, SHARD_ROWS, ZSTD);
        zb_node *old = parties_open_node(root, "a"), *grown;
        zb_error err;
        ASSERT_OK(zb_array_resize(old, (uint64_t[]){STRIPS, 16}, &grown, &err), err);
        write_rows(grown, KEPT, 8, 7);
        zb_writer *writer;
        int32_t values[8 * 16] = {0};
        ASSERT_OK(zb_writer_open(old, NULL, &writer, &err), err);
        zb_write write = {.start = (uint64_t[]){KEPT - 8, 0},
                          .count = (uint64_t[]){partly ? 7 : 8, 16},
                          .data = values,
                          .dtype = {ZB_KIND_INT, 4, false, NULL}};
        enum zb_code code = zb_writer_write(writer, &write, &err);
        if (code == ZB_OK)
            code = zb_writer_flush(writer, &err);
        assert_int_equal(code, ZB_OK);
        zb_writer_abandon(writer);
        int32_t now[STRIPS * 16];
        ASSERT_OK(read_rows(grown, STRIPS, now, &err), err);
        for (int i = (KEPT - 8) * 16; i < (KEPT - partly) * 16; i++)
            assert_int_equal(now[i], 0);
        for (int i = KEPT * 16; i < (KEPT + 8) * 16; i++)
            assert_int_equal(now[i], 7);
        zb_node_release(old);
        zb_node_release(grown);
    }
}

int main(void) {
    place = world_new_place();
    snprintf(root, sizeof root, "%s/store", place);
    reading =
        mmap(NULL, sizeof *reading, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(reading != MAP_FAILED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processes),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_append),          cmocka_unit_test(test_inplace),
        cmocka_unit_test(test_readers),         cmocka_unit_test(test_readers_of_threads),
        cmocka_unit_test(test_readers_of_live), cmocka_unit_test(test_resizing),
        cmocka_unit_test(test_stale_shape),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        check_remove_directory(place);
    return failed;
}
