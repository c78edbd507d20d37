/* SPDX-License-Identifier: MIT */
/*
 * Changes of stored shards that are cut short: every call of the store failing once, every call
 * being the last one of a killed writer, and kills at any instant.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/shards.h"
#include "support/wrappers.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* ---- Kills and errors ---- */

/* Kills a writer at each of its calls; returns how often the shards could not be read until the
   next writer had undone its change. */
static int cut_short(enum zb_strategy strategy, enum zb_strategy next, uint64_t rows,
                     uint64_t columns) {
    int damaged = 0;
    enum zb_code code = ZB_EIO;
    for (uint64_t nth = 1; code != ZB_OK; nth++) {
        shards_scene s = shards_new_scene(strategy, rows, columns);
        zb_error err;
        zb_writer *writer = shards_open_writer(s.node, strategy, ZB_SYNC_NONE);
        zb_cache_clear();
        zb_store_fault_from(zb_hierarchy_store(s.fault), nth);
        code = shards_write(writer, s.start, s.count, s.values, &err);
        zb_writer_abandon(writer);
        damaged += shards_damaged(&s) > 0;
        shards_assert_healed(&s, next);
        shards_free_scene(&s);
    }
    return damaged;
}

static void every_call_may_be_the_last(void **state) {
    (void)state;
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        for (enum zb_strategy next = ZB_REWRITE; next <= strategy; next += strategy) {
            cut_short(strategy, next, 10, 20); /* several shards, in any order */
            /* One shard, so that the order of the calls is known: an extended shard has no index
               until the next call. Calls are atomic in memory, so no inner chunk is torn. */
            assert_int_equal(cut_short(strategy, next, 3, 10), strategy == ZB_APPEND);
        }
    }
}

/* Until the new index takes its place, the old one stands at the shard's new end: readers go on
   while the appended bytes are synced. */
static void appended_shards_can_be_read_while_they_wait(void **state) {
    (void)state;
    int waiting = 0;
    enum zb_code code = ZB_EIO;
    for (uint64_t nth = 1; code != ZB_OK; nth++) {
        shards_scene s = shards_new_scene(ZB_APPEND, 3, 10);
        size_t before, after;
        zb_error err;
        free(stores_get(s.mem, "a/c/0/0", &before));
        zb_writer *writer = shards_open_writer(s.node, ZB_APPEND, ZB_SYNC_NONE);
        zb_store_fault_from(zb_hierarchy_store(s.fault), nth);
        code = shards_write(writer, s.start, s.count, s.values, &err);
        zb_writer_abandon(writer);
        free(stores_get(s.mem, "a/c/0/0", &after));
        waiting += code != ZB_OK && after > before && shards_damaged(&s) == 0;
        shards_free_scene(&s);
    }
    assert_int_equal(waiting, 2); /* before the new index is written, and before the journal goes */
}

static void every_error_leaves_the_old_shard(void **state) {
    (void)state;
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        enum zb_code code = ZB_EIO;
        for (uint64_t nth = 1; code != ZB_OK; nth++) {
            shards_scene s = shards_new_scene(strategy, 10, 20);
            zb_error err;
            zb_writer *writer = shards_open_writer(s.node, strategy, ZB_SYNC_CLOSE);
            zb_cache_clear();
            zb_store_fault_set(zb_hierarchy_store(s.fault), nth);
            code = shards_write(writer, s.start, s.count, s.values, &err);
            assert_true(code == ZB_OK || code == ZB_EIO);
            assert_int_equal(shards_damaged(&s), 0);
            zb_store_fault_set(zb_hierarchy_store(s.fault), 0);
            ASSERT_OK(shards_write(writer, s.start, s.count, s.values, &err), err);
            ASSERT_OK(zb_writer_close(writer, &err), err);
            shards_assert_holds(s.direct, s.changed);
            shards_free_scene(&s);
        }
    }
}

/* A store was copied, with a journal, to where objects are only replaced: a shard that was made
   anew there would lose what the journal can bring back. */
static void copied_journals_keep_shards_from_being_replaced(void **state) {
    (void)state;
    int kept = 0;
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        enum zb_code code = ZB_EIO;
        for (uint64_t nth = 1; code != ZB_OK; nth++) {
            shards_scene s = shards_new_scene(strategy, 3, 10);
            zb_error err;
            zb_writer *writer = shards_open_writer(s.node, strategy, ZB_SYNC_NONE);
            zb_store_fault_from(zb_hierarchy_store(s.fault), nth);
            code = shards_write(writer, s.start, s.count, s.values, &err);
            zb_writer_abandon(writer);
            if (shards_journals(s.mem) > 0) {
                const zb_store_ops *all = zb_hierarchy_store(s.mem)->ops;
                zb_store_ops fewer = *all;
                fewer.change = NULL;
                zb_hierarchy_store(s.mem)->ops = &fewer;
                writer = shards_open_writer(s.direct, ZB_REWRITE, ZB_SYNC_NONE);
                ASSERT_FAILS(shards_write(writer, s.start, s.count, s.values, &err),
                             ZB_EUNSUPPORTED, err, "undoing by its journal");
                zb_writer_abandon(writer);
                assert_int_equal(shards_journals(s.mem), 1);
                zb_hierarchy_store(s.mem)->ops = all;
                shards_assert_healed(&s, ZB_REWRITE);
                kept++;
            }
            shards_free_scene(&s);
        }
    }
    assert_true(kept > 4);
}

/* ---- Kills at any instant ---- */

/* Overwrites inner chunks with ever new numbers until it is killed. */
static void write_on(const char *root, enum zb_strategy strategy) {
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_writer *writer;
    zb_error err = {.code = ZB_OK};
    zb_write_options options = {.strategy = strategy};
    CHILD_CHECK(zb_hierarchy_open(root, &hierarchy, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_node_open(hierarchy, "a", &node, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_writer_open(node, &options, &writer, &err) == ZB_OK, "%s", err.message);
    for (int32_t i = 1;; i++) {
        int32_t values[16 * 16];
        uint64_t start[2] = {(uint64_t)(i % 2) * 4, 4}, count[2] = {8, 16};
        for (int j = 0; j < 16 * 16; j++)
            values[j] = i;
        CHILD_CHECK(shards_write(writer, start, count, values, &err) == ZB_OK, "%s", err.message);
    }
}

/* Each inner chunk holds one number, or is damaged; returns the number of damaged ones. */
static int count_damaged(const zb_node *node) {
    int damaged = 0;
    for (uint64_t r = 0; r < SHARDS_ROWS; r += 4) {
        for (uint64_t c = 0; c < SHARDS_COLUMNS; c += 4) {
            int32_t inner[16];
            uint64_t start[2] = {r, c},
                     count[2] = {4, SHARDS_COLUMNS - c < 4 ? SHARDS_COLUMNS - c : 4};
            zb_read read = {.node = node,
                            .start = start,
                            .count = count,
                            .view = {.data = inner, .dtype = shards_type}};
            zb_error err;
            enum zb_code code = zb_array_read(&read, 1, &err);
            assert_true(code == ZB_OK || code == ZB_ECHECKSUM || code == ZB_EFORMAT);
            for (uint64_t i = 1; i < 4 * count[1] && code == ZB_OK; i++)
                assert_int_equal(inner[i], inner[0]);
            damaged += code != ZB_OK;
        }
    }
    return damaged;
}

static void killed_writers_are_undone(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        char *root = check_new_directory();
        zb_hierarchy *hierarchy = NULL;
        zb_error err;
        int damaged = 0;
        ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
        zb_node *node = shards_create(hierarchy, strategy);
        for (int round = 0; round < 60; round++) {
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                write_on(root, strategy);
                _Exit(1);
            }
            usleep((useconds_t)check_random_in(&random, 1000, 8000));
            int status;
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_true(WIFSIGNALED(status)); /* it had not failed by itself */
            damaged += count_damaged(node) > 0;
            zb_writer *writer = shards_open_writer(node, ZB_REWRITE, ZB_SYNC_NONE);
            for (uint64_t shard = 0; shard < 6; shard++) { /* a whole inner chunk of each */
                uint64_t start[2] = {shard / 2 * 8, shard % 2 * 16}, count[2] = {4, 4};
                int32_t values[16] = {0};
                ASSERT_OK(shards_write(writer, start, count, values, &err), err);
            }
            ASSERT_OK(zb_writer_close(writer, &err), err);
            assert_int_equal(count_damaged(node), 0);
            assert_int_equal(shards_journals(hierarchy), 0);
        }
        print_message("%d of 60 kills left a damaged shard\n", damaged);
        zb_node_release(node);
        zb_hierarchy_release(hierarchy);
        check_remove_directory(root);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_may_be_the_last),
        cmocka_unit_test(appended_shards_can_be_read_while_they_wait),
        cmocka_unit_test(every_error_leaves_the_old_shard),
        cmocka_unit_test(copied_journals_keep_shards_from_being_replaced),
        cmocka_unit_test(killed_writers_are_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
