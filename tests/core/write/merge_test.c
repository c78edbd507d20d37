/* SPDX-License-Identifier: MIT */
/*
 * Many chunks open at once: found again, stored in batches, and not held back by one that cannot be
 * stored.
 */
#include "support/check.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

enum { CHUNKS = 500, SIDE = 8 }; /* a row of chunks of 8 x 8 bytes */

static const zb_dtype byte_type = {.kind = ZB_KIND_UINT, .size = 1};

typedef struct scene {
    zb_hierarchy *mem, *count;
    zb_node *node;
    zb_writer *writer;
    unsigned char values[SIDE][CHUNKS * SIDE];
} scene;

static scene *new_scene(const char *codecs) {
    const uint64_t shape[2] = {SIDE, CHUNKS * SIDE}, inner[2] = {SIDE, SIDE};
    zb_array_spec spec = {
        .ndim = 2, .shape = shape, .inner_shape = inner, .dtype = byte_type, .codecs = codecs};
    scene *s = calloc(1, sizeof *s);
    check_random random = check_random_new();
    zb_error err;
    for (size_t row = 0; row < SIDE; row++) {
        for (size_t i = 0; i < CHUNKS * SIDE; i++)
            s->values[row][i] = (unsigned char)check_random_next(&random);
    }
    ASSERT_OK(zb_hierarchy_new_mem("mem", &s->mem, &err), err);
    ASSERT_OK(wrap(zb_store_new_count, s->mem, &s->count, &err), err);
    ASSERT_OK(zb_array_create(s->count, "a", &spec, &s->node, &err), err);
    ASSERT_OK(zb_writer_open(s->node, NULL, &s->writer, &err), err);
    zb_store_count_take(zb_hierarchy_store(s->count));
    return s;
}

static void free_scene(scene *s) {
    zb_writer_abandon(s->writer);
    zb_node_release(s->node);
    zb_hierarchy_release(s->count);
    zb_hierarchy_release(s->mem);
    free(s);
}

static void write_rows(scene *s, uint64_t from, uint64_t to) {
    for (uint64_t row = from; row < to; row++) {
        uint64_t start[2] = {row, 0}, count[2] = {1, CHUNKS * SIDE};
        zb_error err;
        zb_write write = {
            .start = start, .count = count, .data = s->values[row], .dtype = byte_type};
        ASSERT_OK(zb_writer_write(s->writer, &write, &err), err);
    }
}

/* The first rows are as written, the others zeros. */
static void assert_rows(const scene *s, uint64_t rows) {
    static unsigned char back[SIDE][CHUNKS * SIDE], zeros[CHUNKS * SIDE];
    zb_read read = {.node = s->node, .view = {.data = back, .dtype = byte_type}};
    zb_error err;
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (uint64_t row = 0; row < SIDE; row++)
        assert_memory_equal(back[row], row < rows ? s->values[row] : zeros, sizeof zeros);
}

static void rows_complete_all_chunks_together(void **state) {
    (void)state;
    scene *s = new_scene(NULL);
    write_rows(s, 0, SIDE - 1);
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(s->count)).puts, 0);
    write_rows(s, SIDE - 1, SIDE);
    zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(s->count));
    assert_int_equal(counts.puts, CHUNKS);
    assert_int_equal(counts.reads, 0);
    assert_rows(s, SIDE);
    free_scene(s);
}

static void parts_are_merged_in_batches(void **state) {
    (void)state;
    static const char *const codecs[] = {"[]", "[{\"name\":\"crc32c\"}]", NULL};
    for (int i = 0; i < 3; i++) {
        scene *s = new_scene(codecs[i]);
        zb_error err;
        for (uint64_t row = 0; row < SIDE; row += 2) {
            write_rows(s, row, row + 2);
            zb_store_count_take(zb_hierarchy_store(s->count));
            ASSERT_OK(zb_writer_flush(s->writer, &err), err);
            assert_int_equal(zb_store_count_take(zb_hierarchy_store(s->count)).puts, CHUNKS);
            assert_rows(s, row + 2);
        }
        free_scene(s);
    }
}

/* A stored chunk that cannot be read keeps its part waiting; all others are stored. */
static void one_bad_chunk_keeps_none_waiting(void **state) {
    (void)state;
    scene *s = new_scene(NULL);
    zb_error err;
    write_rows(s, 0, 4);
    ASSERT_OK(zb_writer_flush(s->writer, &err), err);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(s->mem), "a/c/0/70", "bad", 3, &err), err);
    write_rows(s, 4, 5);
    zb_store_count_take(zb_hierarchy_store(s->count));
    ASSERT_FAILS(zb_writer_flush(s->writer, &err), ZB_EFORMAT, err, "chunk c/0/70");
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(s->count)).puts, CHUNKS - 1);
    ASSERT_FAILS(zb_writer_flush(s->writer, &err), ZB_EFORMAT, err, "chunk c/0/70");
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(s->count)).puts, 0);
    write_rows(s, 0, 4); /* the missing part comes from elsewhere: */
    write_rows(s, 5, SIDE);
    ASSERT_OK(zb_writer_flush(s->writer, &err), err);
    assert_rows(s, SIDE);
    free_scene(s);
}

/* ---- Locks that others hold ---- */

static const zb_store_ops *mem_ops;
static const char *held_key;
static int asked; /* for its lock */

/* As the store's own, after lock_seconds. */
static enum zb_code lock_unless_held(zb_store *store, const zb_locking *locking, zb_lock **out,
                                     zb_error *err) {
    if (!held_key || strcmp(locking->key, held_key) != 0)
        return mem_ops->lock(store, locking, out, err);
    asked++;
    return zb_fail(err, ZB_ECONFLICT, "'%s' is locked", locking->key);
}

/* A lock is waited for once in a flush, in a batch and alone, and keeps no other chunk waiting. */
static void locks_are_waited_for_once(void **state) {
    (void)state;
    scene *s = new_scene(NULL);
    zb_store_ops ops = *zb_hierarchy_store(s->mem)->ops;
    zb_error err;
    mem_ops = zb_hierarchy_store(s->mem)->ops;
    ops.lock = lock_unless_held;
    zb_hierarchy_store(s->mem)->ops = &ops;
    write_rows(s, 0, 4);
    held_key = "a/c/0/70";
    for (int flushes = 0; flushes < 2; flushes++) { /* the second one has this chunk alone */
        asked = 0;
        zb_store_count_take(zb_hierarchy_store(s->count));
        ASSERT_FAILS(zb_writer_flush(s->writer, &err), ZB_ECONFLICT, err, "chunk c/0/70");
        assert_non_null(strstr(err.message, "is locked"));
        assert_int_equal(asked, 1);
        assert_int_equal(zb_store_count_take(zb_hierarchy_store(s->count)).puts,
                         flushes == 0 ? CHUNKS - 1 : 0);
    }
    held_key = NULL;
    ASSERT_OK(zb_writer_flush(s->writer, &err), err);
    assert_rows(s, 4);
    zb_hierarchy_store(s->mem)->ops = mem_ops;
    free_scene(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_complete_all_chunks_together),
        cmocka_unit_test(parts_are_merged_in_batches),
        cmocka_unit_test(one_bad_chunk_keeps_none_waiting),
        cmocka_unit_test(locks_are_waited_for_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
