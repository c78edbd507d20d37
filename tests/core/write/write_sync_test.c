/* SPDX-License-Identifier: MIT */
/*
 * The syncs of a writer, seen below the directory store: none, all in batches at the flush, or one
 * for each object; and writing where no locks can be had.
 */
#include <errno.h>

#include "store/calls.h"
#include "store/fixture.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

enum { CHUNKS = 40, SIDE = 10 };

static const zb_dtype byte_type = {.kind = ZB_KIND_UINT, .size = 1};

/* 400 bytes in 40 chunks, or in 4 shards of 10 inner chunks. */
static zb_node *create(const fixture *f, bool sharded) {
    const uint64_t shape[1] = {CHUNKS * SIDE}, inner[1] = {SIDE}, shard[1] = {SIDE * SIDE};
    zb_array_spec spec = {.ndim = 1,
                          .shape = shape,
                          .inner_shape = inner,
                          .shard_shape = sharded ? shard : NULL,
                          .dtype = byte_type,
                          .codecs = "[]"};
    zb_error err;
    zb_node *node = NULL;
    ASSERT_OK(zb_array_create(f->hierarchy, "a", &spec, &node, &err), err);
    return node;
}

static enum zb_code write_value(zb_writer *writer, uint64_t start, uint64_t count,
                                unsigned char value, zb_error *err) {
    static unsigned char bytes[CHUNKS * SIDE];
    memset(bytes, value, sizeof bytes);
    zb_write write = {.start = &start, .count = &count, .data = bytes, .dtype = byte_type};
    return zb_writer_write(writer, &write, err);
}

static enum zb_code write_bytes(zb_writer *writer, uint64_t start, uint64_t count, zb_error *err) {
    return write_value(writer, start, count, 7, err);
}

/* The number of times that the letter is in the log of calls. */
static int logged(char letter) {
    int count = 0;
    for (const char *c = calls_log; *c; c++)
        count += *c == letter;
    return count;
}

static zb_writer *open_writer(const zb_node *node, enum zb_sync sync, bool without_lock) {
    zb_write_options options = {.sync = sync, .without_lock = without_lock};
    zb_writer *writer = NULL;
    zb_error err;
    ASSERT_OK(zb_writer_open(node, &options, &writer, &err), err);
    return writer;
}

/* Whole chunks wait for the flush: then all are synced, all renamed, and their directory once. */
static void whole_chunks_are_synced_in_batches(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node = create(f, false);
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    zb_writer *writer = open_writer(node, ZB_SYNC_CLOSE, false);
    calls_clear();
    ASSERT_OK(write_bytes(writer, 0, CHUNKS * SIDE, &err), err);
    assert_int_equal(logged('s') + logged('r') + logged('d'), 0);
    ASSERT_OK(zb_writer_flush(writer, &err), err);
    assert_int_equal(logged('s'), CHUNKS);
    assert_int_equal(logged('r'), CHUNKS);
    assert_true(strstr(calls_log, "rs") == NULL); /* no rename before the last sync */
    assert_int_equal(logged('d'), 2);             /* of the chunks, and where theirs is new */
    ASSERT_OK(zb_writer_close(writer, &err), err);
    zb_node_release(node);
}

static void each_object_is_synced_or_none(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node = create(f, false);
    zb_writer *writer = open_writer(node, ZB_SYNC_ALWAYS, false);
    calls_clear();
    ASSERT_OK(write_bytes(writer, 0, 3 * SIDE, &err), err);
    assert_int_equal(logged('s'), 3);
    assert_true(logged('d') >= 3);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    writer = open_writer(node, ZB_SYNC_NONE, false);
    calls_clear();
    ASSERT_OK(write_bytes(writer, 0, 3 * SIDE + 5, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    assert_int_equal(logged('r'), 4);
    assert_int_equal(logged('s') + logged('d') + logged('a'), 0);
    zb_node_release(node);
}

/* A part is merged under the lock and visible at once; its name is synced with the others'. */
static void parts_are_synced_before_they_are_seen(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node = create(f, true);
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    zb_writer *writer = open_writer(node, ZB_SYNC_CLOSE, false);
    ASSERT_OK(write_bytes(writer, 5, 20, &err), err);
    calls_clear();
    ASSERT_OK(zb_writer_flush(writer, &err), err);
    assert_int_equal(logged('s'), 1);
    assert_int_equal(logged('r'), 1);
    assert_true(logged('d') >= 1);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    zb_node_release(node);
}

/* A chunk waits, another writer merges a part into it meanwhile: both are there in the end. */
static void what_waits_is_not_lost(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node = create(f, true);
    zb_writer *waits = open_writer(node, ZB_SYNC_CLOSE, false);
    ASSERT_OK(write_bytes(waits, 0, SIDE * SIDE, &err), err);
    zb_writer *other = open_writer(node, ZB_SYNC_NONE, false);
    unsigned char part = 9, back[SIDE * SIDE];
    uint64_t start = 3, one = 1, zero = 0, count = SIDE * SIDE;
    zb_write write = {.start = &start, .count = &one, .data = &part, .dtype = byte_type};
    ASSERT_OK(zb_writer_write(other, &write, &err), err);
    ASSERT_OK(zb_writer_close(other, &err), err);
    ASSERT_OK(zb_writer_close(waits, &err), err);
    zb_read read = {
        .node = node, .start = &zero, .count = &count, .view = {.data = back, .dtype = byte_type}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_int_equal(back[i], i == 3 ? 9 : 7);
    zb_node_release(node);
}

/* Whole chunks need no lock; a part is refused, unless the caller is the only writer. */
static void parts_need_locks(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node = create(f, true);
    zb_writer *writer = open_writer(node, ZB_SYNC_NONE, false);
    calls_refuse_locks(ENOLCK);
    ASSERT_OK(write_bytes(writer, 0, SIDE * SIDE, &err), err);
    ASSERT_OK(write_bytes(writer, SIDE * SIDE, 5, &err), err);
    ASSERT_FAILS(zb_writer_flush(writer, &err), ZB_ECONFLICT, err, "no lock");
    zb_writer_abandon(writer);
    writer = open_writer(node, ZB_SYNC_NONE, true);
    ASSERT_OK(write_bytes(writer, SIDE * SIDE, 5, &err), err);
    enum zb_code code = zb_writer_close(writer, &err);
    calls_refuse_locks(0);
    ASSERT_OK(code, err);
    zb_node_release(node);
}

/* A part that cannot be stored for the moment keeps nothing else from being stored, and is stored
   by the next flush; closing stores the rest, too. */
static void parts_that_fail_lose_nothing(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node = create(f, true);
    for (int closes = 0; closes < 2; closes++) {
        zb_writer *writer = open_writer(node, ZB_SYNC_CLOSE, false);
        zb_hierarchy *other;
        ASSERT_OK(zb_hierarchy_open(f->root, &other, &err), err);
        ASSERT_OK(write_bytes(writer, 0, SIDE * SIDE, &err), err);
        ASSERT_OK(write_bytes(writer, SIDE * SIDE, 5, &err), err);
        assert_holds(zb_hierarchy_store(other), "a/c/0", NULL);
        calls_refuse_locks(ENOLCK);
        if (closes)
            ASSERT_FAILS(zb_writer_close(writer, &err), ZB_ECONFLICT, err, "no lock");
        else
            ASSERT_FAILS(zb_writer_flush(writer, &err), ZB_ECONFLICT, err, "no lock");
        calls_refuse_locks(0);
        zb_object_info info;
        ASSERT_OK(zb_store_stat(zb_hierarchy_store(other), "a/c/0", &info, &err),
                  err); /* it does not wait any more */
        if (!closes) {
            ASSERT_OK(zb_writer_flush(writer, &err), err);
            ASSERT_OK(zb_store_stat(zb_hierarchy_store(other), "a/c/1", &info, &err), err);
            ASSERT_OK(zb_writer_close(writer, &err), err);
        }
        ASSERT_OK(zb_store_erase(zb_hierarchy_store(other), "a/c/0", &err), err);
        zb_hierarchy_release(other);
    }
    zb_node_release(node);
}

/* What was lost is told by all flushes, also when a part fails besides. */
static void losses_are_told_by_all_flushes(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node = create(f, true);
    zb_writer *writer = open_writer(node, ZB_SYNC_CLOSE, false);
    ASSERT_OK(write_bytes(writer, 0, SIDE * SIDE, &err), err);
    ASSERT_OK(write_bytes(writer, SIDE * SIDE, 5, &err), err);
    calls_refuse_locks(ENOLCK);
    calls_fail(CALL_FDATASYNC, 1, EIO);
    ASSERT_FAILS(zb_writer_flush(writer, &err), ZB_ECONFLICT, err, "no lock");
    assert_true(calls_failed());
    calls_refuse_locks(0);
    for (int i = 0; i < 2; i++)
        ASSERT_FAILS(zb_writer_flush(writer, &err), ZB_EIO, err, "an earlier flush failed");
    ASSERT_FAILS(zb_writer_close(writer, &err), ZB_EIO, err, "an earlier flush failed");
    zb_node_release(node);
}

/* A chunk or shard that becomes all fill is erased: as safely as others are put, and a failure is
   told to its writer. */
static void erased_chunks_are_as_safe_as_others(void **state) {
    fixture *f = *state;
    zb_error err;
    for (int sharded = 0; sharded < 2; sharded++) {
        zb_node *node = create(f, sharded);
        const uint64_t count = sharded ? SIDE * SIDE : SIDE;
        zb_writer *writer = open_writer(node, ZB_SYNC_ALWAYS, false);
        ASSERT_OK(write_bytes(writer, 0, 2 * count, &err), err);
        ASSERT_OK(zb_writer_flush(writer, &err), err);
        calls_clear();
        ASSERT_OK(write_value(writer, 0, count, 0, &err), err);
        assert_holds(f->store, "a/c/0", NULL);
        assert_string_equal(calls_log, "d");
        calls_fail(CALL_FSYNC, 1, EIO);
        ASSERT_FAILS(write_value(writer, count, count, 0, &err), ZB_EIO, err, "sync the directory");
        zb_writer_abandon(writer);

        writer = open_writer(node, ZB_SYNC_CLOSE, false);
        ASSERT_OK(write_bytes(writer, 0, 2 * count, &err), err);
        ASSERT_OK(zb_writer_flush(writer, &err), err);
        calls_clear();
        ASSERT_OK(write_value(writer, 0, 2 * count, 0, &err), err);
        assert_holds(f->store, "a/c/0", NULL);
        assert_string_equal(calls_log, "");
        calls_fail(CALL_FSYNC, 1, EIO);
        (void)zb_store_flush_batch(f->store, NULL, NULL); /* somebody else's */
        ASSERT_FAILS(zb_writer_flush(writer, &err), ZB_EIO, err, "sync the directory");
        ASSERT_OK(zb_writer_close(writer, &err), err);
        assert_int_equal(logged('d'), 2);
        zb_node_release(node);
        ASSERT_OK(zb_node_delete(f->hierarchy, "a", &err), err);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(whole_chunks_are_synced_in_batches),
        FIXTURE_TEST(each_object_is_synced_or_none),
        FIXTURE_TEST(parts_are_synced_before_they_are_seen),
        FIXTURE_TEST(what_waits_is_not_lost),
        FIXTURE_TEST(parts_need_locks),
        FIXTURE_TEST(parts_that_fail_lose_nothing),
        FIXTURE_TEST(losses_are_told_by_all_flushes),
        FIXTURE_TEST(erased_chunks_are_as_safe_as_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
