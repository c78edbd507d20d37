/* SPDX-License-Identifier: MIT */
/*
 * Torn changes of stored shards, and journals that stayed behind: a part of the new bytes is
 * written, a change that was completed is not undone, the journal of a shard that was replaced is
 * not in the way.
 */
#include "support/shards.h"
#include "support/wrappers.h"
#include "zarrbridge/check.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* Writes with a kill at the nth call, for the state of the shard and its journal just before it. */
static void write_until(shards_scene *s, enum zb_strategy strategy, uint64_t nth) {
    zb_error err;
    zb_writer *writer = shards_open_writer(s->node, strategy, ZB_SYNC_NONE);
    zb_store_fault_from(zb_hierarchy_store(s->fault), nth);
    (void)shards_write(writer, s->start, s->count, s->values, &err);
    zb_writer_abandon(writer);
}

/* The shard before the change, with that many bytes of the one after it. */
static void tear(const shards_scene *s, const char *old, size_t old_size, const char *after,
                 size_t size, size_t from, size_t cut) {
    zb_error err;
    char *torn = calloc(1, size);
    memcpy(torn, old, old_size);
    memcpy(torn + from, after + from, cut);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(s->mem), "a/c/0/0", torn, size, &err), err);
    free(torn);
}

static int take_no_notice(void *context, const zb_finding *finding) {
    (void)context;
    (void)finding;
    return 0;
}

static void repair(const shards_scene *s) {
    zb_error err;
    ASSERT_OK(zb_hierarchy_repair(s->mem, take_no_notice, NULL, &err), err);
}

/* Any length of the new bytes may have been written: the change is detected and undone, or
   complete. */
static void torn_writes_are_detected(void **state) {
    (void)state;
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        shards_scene done = shards_new_scene(strategy, 3, 10);
        size_t size, old_size;
        char *old = stores_get(done.mem, "a/c/0/0", &old_size);
        write_until(&done, strategy, 0);
        char *after = stores_get(done.mem, "a/c/0/0", &size);
        size_t from = strategy == ZB_APPEND ? old_size : 0;
        int detected = 0;
        for (size_t cut = 0; cut <= size - from; cut += size - from - cut >= 20 ? 3 : 1) {
            shards_scene s = shards_new_scene(strategy, 3, 10);
            uint64_t nth = 1;
            while (shards_journals(s.mem) == 0) /* killed when it had put its journal */
                write_until(&s, strategy, nth++);
            tear(&s, old, old_size, after, size, from, cut);
            detected += shards_damaged(&s) > 0;
            shards_assert_healed(&s, ZB_REWRITE);
            shards_free_scene(&s);
        }
        assert_true(detected > 20);
        free(old);
        free(after);
        shards_free_scene(&done);
    }
}

/* A journal that stayed behind a change that had been completed: it must not undo damage that comes
   later, since it would bring back old elements in the place of new ones. */
static void finished_changes_are_not_undone(void **state) {
    (void)state;
    static const char name[] = "a/c/0/.0.zb-journal";
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        size_t size, journal_size = 0;
        zb_error err;
        char *journal = NULL;
        for (uint64_t nth = 1; !journal; nth++) {
            shards_scene s = shards_new_scene(strategy, 3, 10);
            write_until(&s, strategy, nth);
            if (zb_store_get(zb_hierarchy_store(s.mem), name, 1 << 20, "limit", &journal,
                             &journal_size, NULL, NULL))
                journal = NULL;
            shards_free_scene(&s);
        }
        for (int where = 0; where < 4; where++) {
            shards_scene s = shards_new_scene(strategy, 3, 10);
            size_t old_size;
            free(stores_get(s.mem, "a/c/0/0", &old_size));
            write_until(&s, strategy, 0);
            char *shard = stores_get(s.mem, "a/c/0/0", &size);
            size_t from = strategy == ZB_APPEND ? old_size : 0;
            size_t at = from + (size - from - 1) * (size_t)where / 3;
            shard[at] ^= 0x10;
            ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(s.mem), "a/c/0/0", shard, size, &err),
                      err);
            ASSERT_OK(
                zb_store_mem_set(zb_hierarchy_store(s.mem), name, journal, journal_size, &err),
                err);
            repair(&s);
            size_t now_size;
            char *now = stores_get(s.mem, "a/c/0/0", &now_size);
            assert_int_equal(now_size, size);
            assert_memory_equal(now, shard, size);
            assert_int_equal(shards_journals(s.mem), 0);
            free(now);
            free(shard);
            shards_free_scene(&s);
        }
        free(journal);
    }
}

/* Puts an object of one store in another. */
static void hand_over(zb_hierarchy *from, zb_hierarchy *to, const char *key) {
    size_t size;
    zb_error err;
    char *data = stores_get(from, key, &size);
    const zb_part part = {.data = data, .size = size};
    ASSERT_OK(zb_store_put(zb_hierarchy_store(to), key, &part, 1, ZB_SYNC_NONE, &err), err);
    free(data);
}

/* A killed append left a journal; a writer puts the whole shard anew, which waits for its flush,
   and then writes a part of it. */
static void journals_of_replaced_shards_are_in_nobodys_way(void **state) {
    (void)state;
    static const char *const keys[] = {"a/zarr.json", "a/c/0/0", "a/c/0/.0.zb-journal"};
    shards_scene s = shards_new_scene(ZB_APPEND, 3, 10);
    for (uint64_t nth = 1; shards_journals(s.mem) == 0; nth++)
        write_until(&s, ZB_APPEND, nth);
    char *root = check_new_directory();
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
    for (int i = 0; i < 3; i++)
        hand_over(s.mem, hierarchy, keys[i]);
    ASSERT_OK(zb_node_open(hierarchy, "a", &node, &err), err);
    zb_writer *writer = shards_open_writer(node, ZB_REWRITE, ZB_SYNC_CLOSE);
    const uint64_t start[2] = {0, 0}, whole[2] = {8, 16}, part[2] = {2, 2};
    int32_t values[8 * 16];
    for (int i = 0; i < 8 * 16; i++)
        values[i] = 1000 + i;
    const int32_t four[] = {1, 2, 3, 4};
    zb_write write = {.start = start, .count = whole, .data = values, .dtype = shards_type};
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(shards_write(writer, start, part, four, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    memcpy(values, four, 2 * sizeof *four);
    memcpy(values + 16, four + 2, 2 * sizeof *four);
    int32_t found[8 * 16];
    zb_read read = {.node = node, .count = whole, .view = {.data = found, .dtype = shards_type}};
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(zb_array_read(&read, 1, &err), err);
        assert_memory_equal(found, values, sizeof values);
        ASSERT_OK(zb_hierarchy_repair(hierarchy, take_no_notice, NULL, &err), err);
        assert_int_equal(shards_journals(hierarchy), 0);
    }
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    check_remove_directory(root);
    shards_free_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torn_writes_are_detected),
        cmocka_unit_test(finished_changes_are_not_undone),
        cmocka_unit_test(journals_of_replaced_shards_are_in_nobodys_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
