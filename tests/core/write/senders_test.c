/* SPDX-License-Identifier: MIT */
/* Senders: every item is sent once, no more at a time than threads, and a failure ends the work. */
#include "write/senders.h"

#include <stdatomic.h>
#include <time.h>

#include "support/check.h"

#define ITEMS 200
#define THREADS 5

typedef struct tally {
    atomic_int sent[ITEMS];
    atomic_int inside, most;
    size_t fails;        /* this item; ITEMS: none */
    atomic_int patience; /* milliseconds, of all items together */
} tally;

static enum zb_code count(void *context, size_t item, zb__scratch *scratch, zb_error *err) {
    tally *t = context;
    const struct timespec moment = {.tv_nsec = 1000000};
    const int inside = atomic_fetch_add(&t->inside, 1) + 1;
    int most = atomic_load(&t->most);
    while (inside > most && !atomic_compare_exchange_weak(&t->most, &most, inside)) {
    }
    assert_non_null(scratch);
    /* Until a second thread has come: a busy machine may start it late. */
    while (atomic_load(&t->most) < 2 && atomic_fetch_sub(&t->patience, 1) > 0)
        nanosleep(&moment, NULL);
    atomic_fetch_add(&t->sent[item], 1);
    atomic_fetch_sub(&t->inside, 1);
    return item == t->fails ? zb_fail(err, ZB_EIO, "item %zu", item) : ZB_OK;
}

static int sum(tally *t) {
    int all = 0;
    for (size_t i = 0; i < ITEMS; i++)
        all += atomic_load(&t->sent[i]);
    return all;
}

static void test_each_is_sent_once(void **state) {
    (void)state;
    tally t = {.fails = ITEMS, .patience = 100000};
    zb_error err;
    zb__senders *senders = zb__senders_open(count, &t, THREADS);
    assert_non_null(senders);
    for (size_t i = 0; i < ITEMS; i++)
        assert_int_equal(zb__senders_give(senders, i, &err), ZB_OK);
    assert_int_equal(zb__senders_close(senders, &err), ZB_OK);
    for (size_t i = 0; i < ITEMS; i++)
        assert_int_equal(atomic_load(&t.sent[i]), 1);
    assert_true(t.most > 1 && t.most <= THREADS);
}

static void test_a_failure_ends_it(void **state) {
    (void)state;
    tally t = {.fails = 20};
    zb_error err = {.code = ZB_OK};
    enum zb_code code = ZB_OK;
    zb__senders *senders = zb__senders_open(count, &t, THREADS);
    assert_non_null(senders);
    size_t given = 0;
    while (given < ITEMS && !code)
        code = zb__senders_give(senders, given++, &err);
    assert_int_equal(code, ZB_EIO);
    assert_string_equal(err.message, "item 20");
    err = (zb_error){.code = ZB_OK};
    assert_int_equal(zb__senders_close(senders, &err), ZB_EIO);
    assert_string_equal(err.message, "item 20");
    assert_int_equal(atomic_load(&t.sent[given - 1]), 0); /* the item that met the error */
    assert_true(sum(&t) < (int)given);
}

/* A failure after the last item was given. */
static void test_close_tells_it(void **state) {
    (void)state;
    tally t = {.fails = 2};
    zb_error err = {.code = ZB_OK};
    zb__senders *senders = zb__senders_open(count, &t, THREADS);
    assert_non_null(senders);
    for (size_t i = 0; i <= t.fails; i++)
        assert_int_equal(zb__senders_give(senders, i, &err), ZB_OK);
    assert_int_equal(zb__senders_close(senders, &err), ZB_EIO);
    assert_string_equal(err.message, "item 2");
}

static void test_a_local_store_has_none(void **state) {
    (void)state;
    zb_store *store;
    zb_error err;
    assert_int_equal(zb_store_new_mem("test", &store, &err), ZB_OK);
    assert_int_equal(zb__sender_count(store, 1 << 20), 0);
    assert_null(zb__senders_open(count, NULL, 0));
    assert_int_equal(zb__senders_close(NULL, &err), ZB_OK);
    zb_store_release(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_is_sent_once),
        cmocka_unit_test(test_a_failure_ends_it),
        cmocka_unit_test(test_close_tells_it),
        cmocka_unit_test(test_a_local_store_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
