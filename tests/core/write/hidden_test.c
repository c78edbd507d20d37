/* SPDX-License-Identifier: MIT */
/* Whole chunks that come together: what is seen of them, and when; programs that are in the way;
   what a kill leaves. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/fixture.h"
#include "zarrbridge/change.h"
#include "zarrbridge/hidden_chunks.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

enum { CHUNKS = 6, SIDE = 10, ALL = CHUNKS * SIDE };

static const zb_dtype byte_type = {.kind = ZB_KIND_UINT, .size = 1};

static zb_node *create(const fixture *f, const char *path, uint64_t shard) {
    const uint64_t shape[1] = {ALL}, inner[1] = {SIDE};
    const zb_array_spec spec = {.ndim = 1,
                                .shape = shape,
                                .inner_shape = inner,
                                .shard_shape = shard ? &shard : NULL,
                                .dtype = byte_type,
                                .codecs = "[]"};
    zb_error err;
    zb_node *node = NULL;
    ASSERT_OK(zb_array_create(f->hierarchy, path, &spec, &node, &err), err);
    return node;
}

static zb_writer *open_hidden(const zb_node *node, enum zb_sync sync) {
    const zb_write_options options = {.sync = sync};
    zb_writer *writer = NULL;
    zb_error err;
    ASSERT_OK(zb_writer_open(node, &options, &writer, &err), err);
    zb_writer_hide(writer);
    return writer;
}

static void put(zb_writer *writer, uint64_t start, uint64_t count, unsigned char value) {
    unsigned char bytes[ALL];
    zb_error err;
    memset(bytes, value, sizeof bytes);
    const zb_write write = {.start = &start, .count = &count, .data = bytes, .dtype = byte_type};
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
}

static void expect(const zb_node *node, uint64_t start, uint64_t count, unsigned char value) {
    unsigned char bytes[ALL];
    zb_error err;
    const zb_read read = {.node = node,
                          .start = &start,
                          .count = &count,
                          .view = {.data = bytes, .dtype = byte_type}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(bytes[i], value);
}

static bool is_stored(const fixture *f, const char *key) {
    zb_object_info info;
    return zb_store_stat(f->store, key, &info, NULL) == ZB_OK;
}

/* Nothing of ours stays on the disk; the file of the hierarchy's lock goes with the flush. */
static void expect_no_rest(const fixture *f) {
    int ours;
    zb_error err;
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    fixture_files(f->root, &ours);
    assert_int_equal(ours, 0);
}

static void all_come_in_one_step(void **state) {
    static const enum zb_sync syncs[] = {ZB_SYNC_NONE, ZB_SYNC_CLOSE, ZB_SYNC_ALWAYS};
    const fixture *f = *state;
    zb_error err;
    for (int i = 0; i < 6; i++) {
        char path[] = "a0", key[] = "a0/c/1";
        path[1] = key[1] = (char)('0' + i);
        zb_node *node = create(f, path, i < 3 ? 0 : (uint64_t)2 * SIDE);
        zb_writer *writer = open_hidden(node, syncs[i % 3]);
        put(writer, 0, ALL, 5);
        assert_false(is_stored(f, key));
        expect(node, 0, ALL, 0);
        ASSERT_OK(zb_writer_show(writer, &err), err);
        assert_true(is_stored(f, key));
        expect(node, 0, ALL, 5);
        put(writer, 0, ALL, 6); /* as always from now on */
        ASSERT_OK(zb_writer_close(writer, &err), err);
        expect(node, 0, ALL, 6);
        zb_node_release(node);
    }
    expect_no_rest(f);
}

/* The last of several writes counts, fill values too. */
static void chunks_are_written_again(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_node *node = create(f, "a", 0);
    zb_writer *writer = open_hidden(node, ZB_SYNC_NONE);
    put(writer, 0, ALL, 5);
    put(writer, SIDE, SIDE, 6);
    put(writer, 2 * SIDE, SIDE, 0);
    ASSERT_OK(zb_writer_close(writer, &err), err); /* shows them */
    expect(node, 0, SIDE, 5);
    expect(node, SIDE, SIDE, 6);
    expect(node, 2 * SIDE, SIDE, 0);
    assert_false(is_stored(f, "a/c/2"));
    zb_node_release(node);
    expect_no_rest(f);
}

/* Who merges, and who reads, has all chunks. */
static void parts_show_the_others(void **state) {
    const fixture *f = *state;
    const uint64_t start = 0, count = 1;
    zb_error err;
    zb_node *node = create(f, "a", 0);
    zb_writer *writer = open_hidden(node, ZB_SYNC_NONE);
    put(writer, 0, ALL, 5);
    put(writer, 0, SIDE / 2, 7);
    assert_true(zb_writer_waits(writer, &start, &count));
    ASSERT_OK(zb_writer_store_box(writer, &start, &count, &err), err);
    expect(node, 0, SIDE / 2, 7);
    expect(node, SIDE / 2, ALL - SIDE / 2, 5);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    zb_node_release(node);
    expect_no_rest(f);
}

static void others_are_not_overwritten(void **state) {
    const fixture *f = *state;
    zb_error err;
    for (int way = 0; way < 3; way++) {
        const char *path = way == 0 ? "a" : way == 1 ? "b" : "d";
        zb_node *node = create(f, path, 0), *resized = NULL;
        zb_writer *writer = open_hidden(node, ZB_SYNC_NONE);
        put(writer, 0, ALL, 5);
        const uint64_t shape[1] = {ALL - SIDE};
        if (way == 0)
            fixture_must_put(f->store, "a/c/3", "0123456789", PUT_LATER);
        else if (way == 1)
            ASSERT_OK(zb_array_resize(node, shape, &resized, &err), err);
        else
            ASSERT_OK(zb_node_delete(f->hierarchy, path, &err), err);
        assert_int_equal(zb_writer_show(writer, &err), ZB_ECONFLICT);
        ASSERT_FAILS(zb_writer_flush(writer, &err), ZB_EIO, err, "an earlier flush failed");
        zb_writer_abandon(writer);
        if (way == 0)
            assert_holds(f->store, "a/c/3", "0123456789");
        assert_false(is_stored(f, way == 0 ? "a/c/1" : "b/c/1"));
        zb_node_release(node);
        zb_node_release(resized);
    }
    expect_no_rest(f);
}

/* An array that has chunks, or keys without a directory: all is seen at once. */
static void nothing_is_hidden_where_chunks_are(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_node *node = create(f, "a", 0);
    zb_writer *writer = open_hidden(node, ZB_SYNC_NONE);
    put(writer, 0, SIDE, 5);
    ASSERT_OK(zb_writer_show(writer, &err), err);
    zb_writer_hide(writer);
    put(writer, SIDE, SIDE, 6);
    assert_true(is_stored(f, "a/c/1"));
    zb_writer_abandon(writer);
    zb_node_release(node);
    expect_no_rest(f);
}

static void what_is_abandoned_goes(void **state) {
    const fixture *f = *state;
    zb_node *node = create(f, "a", 0);
    zb_writer *writer = open_hidden(node, ZB_SYNC_NONE);
    put(writer, 0, ALL, 5);
    zb_writer_abandon(writer);
    expect(node, 0, ALL, 0);
    zb_node_release(node);
    expect_no_rest(f);
}

/* What a killed writer has left is no chunk, and goes with the next one; that of a writer at work
   does not. */
static void what_a_kill_leaves_goes(void **state) {
    fixture *f = *state;
    zb_error err;
    int ours, ready[2];
    zb_node_release(create(f, "a", 0));
    zb_hierarchy_release(f->hierarchy);
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        fixture_open(f);
        zb_node *own;
        if (zb_node_open(f->hierarchy, "a", &own, &err) != ZB_OK)
            _exit(1);
        put(open_hidden(own, ZB_SYNC_NONE), 0, ALL, 5);
        (void)!write(ready[1], "x", 1);
        pause();
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    fixture_open(f);
    zb_node *node;
    ASSERT_OK(zb_node_open(f->hierarchy, "a", &node, &err), err);
    zb_writer_abandon(open_hidden(node, ZB_SYNC_NONE));
    fixture_files(f->root, &ours);
    assert_true(ours > 0); /* it is at work */
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    expect(node, 0, ALL, 0);
    zb_node_release(node);
    zb_hierarchy_release(f->hierarchy); /* a store sweeps a directory once */
    fixture_open(f);
    ASSERT_OK(zb_node_open(f->hierarchy, "a", &node, &err), err);
    zb_writer *writer = open_hidden(node, ZB_SYNC_NONE);
    put(writer, 0, ALL, 6);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    expect(node, 0, ALL, 6);
    zb_node_release(node);
    expect_no_rest(f);
    close(ready[0]);
    close(ready[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(all_come_in_one_step),
        FIXTURE_TEST(chunks_are_written_again),
        FIXTURE_TEST(parts_show_the_others),
        FIXTURE_TEST(others_are_not_overwritten),
        FIXTURE_TEST(nothing_is_hidden_where_chunks_are),
        FIXTURE_TEST(what_is_abandoned_goes),
        FIXTURE_TEST(what_a_kill_leaves_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
