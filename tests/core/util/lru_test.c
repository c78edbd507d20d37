/* SPDX-License-Identifier: MIT */
/* The cache of blocks: its budget holds, stale versions go, items in use survive their eviction. */
#include "util/lru.h"

#include <pthread.h>

#include "support/check.h"
#include "zarrbridge/sys/store.h"

static const uint64_t v1[ZB__LRU_VERSION_WORDS] = {1};
static const uint64_t v2[ZB__LRU_VERSION_WORDS] = {1, 0, 0, 1};

/* A block's share of the budget: its head counts too. */
static uint64_t weight(size_t size) {
    return sizeof(zb__lru_item) + size;
}

/* The core's two caches live as long as the process, so that it needs no such function. */
static void lru_end(zb__lru *lru) {
    zb__lru_clear(lru);
    pthread_mutex_destroy(&lru->lock);
}

static zb__lru_key key_of(uint64_t i) {
    return (zb__lru_key){.word = {i / 64, i / 16 % 4, i % 16 * 4096, i % 3}, .kind = 1};
}

/* Puts a block of this size filled with byte `mark`; the reference is given back at once. */
static bool put(zb__lru *lru, uint64_t i, const uint64_t *version, size_t size, int mark) {
    zb__lru_key key = key_of(i);
    zb__lru_item *item = zb__lru_new(lru, &key, version, size);
    if (!item)
        return false;
    assert_int_equal((uintptr_t)item->data % 64, 0);
    memset(item->data, mark, size);
    item->lo = 0;
    item->hi = size;
    zb__lru_put(lru, item);
    zb__lru_release(item);
    return true;
}

/* The mark of the cached block, or -1. */
static int get(zb__lru *lru, uint64_t i, const uint64_t *version) {
    zb__lru_key key = key_of(i);
    zb__lru_item *item = zb__lru_get(lru, &key, version);
    int mark = item ? item->data[item->size - 1] : -1;
    zb__lru_release(item);
    return mark;
}

static void finds_what_was_put(void **state) {
    (void)state;
    zb__lru lru;
    zb__lru_init(&lru, 1 << 20, 0);
    assert_int_equal(get(&lru, 0, v1), -1); /* empty, before the table exists */
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(put(&lru, i, v1, 100, (int)(i % 251)));
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(get(&lru, i, v1), (int)(i % 251));
    assert_int_equal(get(&lru, 1000, v1), -1);
    assert_true(put(&lru, 5, v1, 200, 99)); /* replaces */
    assert_int_equal(get(&lru, 5, v1), 99);
    assert_int_equal(lru.table.count, 1000);
    assert_int_equal(lru.bytes, 999 * weight(100) + weight(200));
    zb__lru_clear(&lru);
    assert_int_equal(get(&lru, 5, v1), -1);
    assert_int_equal(lru.bytes, 0);
    assert_true(put(&lru, 5, v1, 100, 7)); /* still usable */
    assert_int_equal(get(&lru, 5, v1), 7);
    lru_end(&lru);
}

static void evicts_the_least_recently_used(void **state) {
    (void)state;
    zb__lru lru;
    zb__lru_init(&lru, 10 * weight(100), 0);
    for (uint64_t i = 0; i < 10; i++)
        assert_true(put(&lru, i, v1, 100, (int)i));
    assert_int_equal(lru.bytes, lru.budget);
    assert_int_equal(get(&lru, 0, v1), 0); /* now the newest */
    assert_true(put(&lru, 10, v1, 100, 10));
    assert_int_equal(get(&lru, 1, v1), -1);
    assert_int_equal(get(&lru, 0, v1), 0);
    const size_t largest = lru.budget - weight(0);
    assert_true(put(&lru, 11, v1, largest, 11)); /* pushes out all others */
    assert_int_equal(lru.table.count, 1);
    assert_int_equal(get(&lru, 11, v1), 11);
    assert_false(put(&lru, 12, v1, largest + 1, 12)); /* never fits, and pushes no other block
                                                         out */
    assert_int_equal(get(&lru, 11, v1), 11);
    lru_end(&lru);
}

/* Items without data are marks: their number is bounded as well. */
static void empty_items_count(void **state) {
    (void)state;
    zb__lru lru;
    zb__lru_init(&lru, 5 * weight(0), 0);
    for (uint64_t i = 0; i < 100; i++) {
        zb__lru_key key = key_of(i);
        zb__lru_item *item = zb__lru_new(&lru, &key, v1, 0);
        assert_non_null(item);
        zb__lru_put(&lru, item);
        zb__lru_release(item);
    }
    assert_int_equal(lru.table.count, 5);
    lru_end(&lru);
}

static void budget_of_zero_switches_off(void **state) {
    (void)state;
    zb__lru lru;
    zb__lru_init(&lru, 0, 0);
    assert_false(put(&lru, 0, v1, 1, 1));
    assert_int_equal(get(&lru, 0, v1), -1);
    lru_end(&lru);
}

static void versions_are_told_apart(void **state) {
    (void)state;
    zb__lru lru;
    zb__lru_init(&lru, 1000, 0);
    assert_true(put(&lru, 0, v1, 100, 1));
    assert_int_equal(get(&lru, 0, NULL), -1); /* says nothing about cached blocks */
    assert_int_equal(get(&lru, 0, v1), 1);
    assert_int_equal(get(&lru, 0, v2), -1);
    assert_int_equal(get(&lru, 0, v1), -1); /* the stale one was dropped */
    assert_int_equal(lru.table.count, 0);
    assert_false(put(&lru, 0, NULL, 100, 1));
    lru_end(&lru);
}

/* The words of a key may be wrong: who finds an item can rely on its kind and size. */
static void kinds_and_sizes_are_told_apart(void **state) {
    (void)state;
    zb__lru lru;
    zb__lru_key key = key_of(0), other_kind = key, other_size = key, none = key;
    zb__lru_init(&lru, 1 << 20, 0);
    key.size = other_kind.size = 100;
    other_kind.kind = 2;
    other_size.size = 101;
    none.kind = 0;
    assert_null(zb__lru_new(&lru, &key, v1, 99));
    assert_null(zb__lru_new(&lru, &none, v1, 100));
    zb__lru_item *item = zb__lru_new(&lru, &key, v1, 100);
    assert_non_null(item);
    zb__lru_put(&lru, item);
    zb__lru_release(item);
    assert_null(zb__lru_get(&lru, &other_kind, v1));
    assert_null(zb__lru_get(&lru, &other_size, v1));
    item = zb__lru_get(&lru, &key, v1);
    assert_non_null(item);
    zb__lru_release(item);
    lru_end(&lru);
}

static void items_in_use_survive(void **state) {
    (void)state;
    zb__lru lru;
    zb__lru_init(&lru, 3 * weight(100), 0);
    assert_true(put(&lru, 0, v1, 100, 42));
    zb__lru_key key = key_of(0);
    zb__lru_item *held = zb__lru_get(&lru, &key, v1);
    assert_non_null(held);
    for (uint64_t i = 1; i < 10; i++) /* evicts it; its memory must not serve again meanwhile */
        assert_true(put(&lru, i, v1, 100, (int)i));
    assert_int_equal(get(&lru, 0, v1), -1);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(held->data[i], 42);
    zb__lru_clear(&lru);
    assert_int_equal(held->data[99], 42);
    zb__lru_release(held);
    zb__lru_release(NULL);
    lru_end(&lru);
}

static void memory_of_the_evicted_serves_again(void **state) {
    (void)state;
    zb__lru lru;
    zb__lru_init(&lru, 3 * weight(4096), 0);
    const void *seen[3];
    for (uint64_t i = 0; i < 3; i++) {
        assert_true(put(&lru, i, v1, 4096, 1));
        seen[i] = lru.newest;
    }
    for (uint64_t i = 3; i < 30; i++) {
        assert_true(put(&lru, i, v1, 4096, 1));
        assert_ptr_equal(lru.newest, seen[i % 3]);
    }
    lru_end(&lru);
}

/* Blocks prepared at the same time each made room for themselves only: putting holds the budget. */
static void budget_holds_when_many_are_prepared(void **state) {
    (void)state;
    zb__lru lru;
    zb__lru_init(&lru, 10 * weight(100), 0);
    zb__lru_item *prepared[30];
    for (uint64_t i = 0; i < 30; i++) {
        zb__lru_key key = key_of(i);
        prepared[i] = zb__lru_new(&lru, &key, v1, 100);
        assert_non_null(prepared[i]);
        memset(prepared[i]->data, 0, 100);
    }
    for (size_t i = 0; i < 30; i++) {
        zb__lru_put(&lru, prepared[i]);
        zb__lru_release(prepared[i]);
        assert_true(lru.bytes <= lru.budget);
    }
    assert_int_equal(lru.table.count, 10);
    lru_end(&lru);
}

typedef struct worker {
    pthread_t thread;
    zb__lru *lru;
    uint64_t seed;
    int wrong, hits;
} worker;

static void *work(void *argument) {
    worker *w = argument;
    check_random random = {.state = w->seed};
    for (int round = 0; round < 20000; round++) {
        uint64_t i = check_random_in(&random, 0, 63);
        const uint64_t *v = check_random_in(&random, 0, 50) == 0 ? v2 : v1;
        zb__lru_key key = key_of(i);
        zb__lru_item *item = zb__lru_get(w->lru, &key, v);
        w->hits += item != NULL;
        if (!item) {
            item = zb__lru_new(w->lru, &key, v, 512 + i % 3 * 64);
            if (!item) {
                w->wrong++;
                continue;
            }
            memset(item->data, (int)(i * 2 + (v == v2)), item->size);
            zb__lru_put(w->lru, item);
        }
        for (size_t n = 0; n < item->size; n += 37)
            w->wrong += item->data[n] != (unsigned char)(i * 2 + (v == v2));
        zb__lru_release(item);
        if (round % 5000 == 4999)
            zb__lru_clear(w->lru);
    }
    return NULL;
}

static void many_threads_see_only_whole_blocks(void **state) {
    (void)state;
    zb__lru lru;
    zb__lru_init(&lru, 40 * weight(600), 0);
    worker workers[4];
    for (size_t i = 0; i < 4; i++) {
        workers[i] = (worker){.lru = &lru, .seed = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].wrong, 0);
        assert_true(workers[i].hits > 0);
    }
    assert_true(lru.bytes <= lru.budget);
    lru_end(&lru);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_put),
        cmocka_unit_test(evicts_the_least_recently_used),
        cmocka_unit_test(empty_items_count),
        cmocka_unit_test(budget_of_zero_switches_off),
        cmocka_unit_test(versions_are_told_apart),
        cmocka_unit_test(kinds_and_sizes_are_told_apart),
        cmocka_unit_test(items_in_use_survive),
        cmocka_unit_test(memory_of_the_evicted_serves_again),
        cmocka_unit_test(budget_holds_when_many_are_prepared),
        cmocka_unit_test(many_threads_see_only_whole_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
