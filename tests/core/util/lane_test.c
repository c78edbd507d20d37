/* SPDX-License-Identifier: MIT */
/* Lanes: every item is worked on once, no more at a time than the width, and a failure ends the
   work. Reading waits as its caller may, and changes are made to their end. */
#include "util/lane.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/check.h"
#include "util/latch.h"

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

static void test_each_is_done_once(void **state) {
    (void)state;
    tally t = {.fails = ITEMS, .patience = 100000};
    zb_error err;
    zb__lane lane;
    zb__lane_begin(&lane, count, &t, THREADS);
    for (size_t i = 0; i < ITEMS; i++)
        assert_int_equal(zb__lane_give(&lane, i, &err), ZB_OK);
    assert_int_equal(zb__lane_end(&lane, ZB_OK, &err), ZB_OK);
    for (size_t i = 0; i < ITEMS; i++)
        assert_int_equal(atomic_load(&t.sent[i]), 1);
    assert_true(t.most > 1 && t.most <= THREADS);
}

static void test_a_failure_ends_it(void **state) {
    (void)state;
    tally t = {.fails = 20};
    zb_error err = {.code = ZB_OK};
    enum zb_code code = ZB_OK;
    zb__lane lane;
    zb__lane_begin(&lane, count, &t, THREADS);
    size_t given = 0;
    while (given < ITEMS && !code)
        code = zb__lane_give(&lane, given++, &err);
    assert_int_equal(code, ZB_EIO);
    assert_string_equal(err.message, "item 20");
    err = (zb_error){.code = ZB_OK};
    assert_int_equal(zb__lane_end(&lane, ZB_OK, &err), ZB_EIO);
    assert_string_equal(err.message, "item 20");
    assert_int_equal(atomic_load(&t.sent[given - 1]), 0); /* the item that met the error */
    assert_true(sum(&t) < (int)given);
}

/* A failure after the last item was given. */
static void test_close_tells_it(void **state) {
    (void)state;
    tally t = {.fails = 2};
    zb_error err = {.code = ZB_OK};
    zb__lane lane;
    zb__lane_begin(&lane, count, &t, THREADS);
    for (size_t i = 0; i <= t.fails; i++)
        assert_int_equal(zb__lane_give(&lane, i, &err), ZB_OK);
    assert_int_equal(zb__lane_end(&lane, ZB_OK, &err), ZB_EIO);
    assert_string_equal(err.message, "item 2");
}

/* An error that the caller has met itself comes first. */
static void test_the_callers_error_comes_first(void **state) {
    (void)state;
    tally t = {.fails = 0};
    zb_error err = {.code = ZB_OK};
    zb__lane lane;
    zb__lane_begin(&lane, count, &t, THREADS);
    zb__lane_give(&lane, 0, NULL);
    assert_int_equal(zb__lane_end(&lane, ZB_ELIMIT, &err), ZB_ELIMIT);
    assert_int_equal(err.code, ZB_OK);
}

static void test_without_width_the_caller_works(void **state) {
    (void)state;
    tally t = {.fails = 1};
    zb_error err = {.code = ZB_OK};
    zb__lane lane;
    zb__lane_begin(&lane, count, &t, 0);
    assert_int_equal(zb__lane_give(&lane, 0, &err), ZB_OK);
    assert_int_equal(atomic_load(&t.sent[0]), 1);
    assert_int_equal(zb__lane_give(&lane, 1, &err), ZB_EIO);
    assert_int_equal(zb__lane_give(&lane, 2, &err), ZB_EIO);
    assert_int_equal(atomic_load(&t.sent[2]), 0);
    assert_int_equal(zb__lane_end(&lane, ZB_OK, &err), ZB_EIO);
}

typedef struct keys {
    atomic_int seen[ITEMS];
    bool fails;
} keys;

static enum zb_code note_key(void *context, const char *key, zb_error *err) {
    keys *k = context;
    atomic_fetch_add(&k->seen[atoi(key)], 1);
    return k->fails ? zb_fail(err, ZB_EIO, "key %s", key) : ZB_OK;
}

/* Keys are copied: the caller's text may change at once. Those behind a failure are freed, which
   the address sanitizer checks. */
static void test_keys(void **state) {
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        keys k = {.fails = fails};
        zb_error err;
        char key[16];
        zb__lane lane;
        zb__lane_begin_keys(&lane, note_key, &k, THREADS);
        for (int i = 0; i < ITEMS; i++) {
            snprintf(key, sizeof key, "%d", i);
            zb__lane_give_key(&lane, key, NULL);
        }
        assert_int_equal(zb__lane_end(&lane, ZB_OK, &err), fails ? ZB_EIO : ZB_OK);
        for (int i = 0; i < ITEMS && !fails; i++)
            assert_int_equal(atomic_load(&k.seen[i]), 1);
    }
}

/* Work of one lane may wait for that of another, however many there are: no call waits for a
   thread. */
static enum zb_code nest(void *context, size_t item, zb__scratch *scratch, zb_error *err) {
    atomic_int *count_of = context;
    (void)scratch;
    atomic_fetch_add(count_of, 1);
    if (item == 0)
        return ZB_OK;
    zb__lane lane;
    zb__lane_begin(&lane, nest, count_of, ZB__LANE_WIDTH_MOST);
    enum zb_code code = ZB_OK;
    for (int i = 0; i < 4 && !code; i++)
        code = zb__lane_give(&lane, item - 1, err);
    return zb__lane_end(&lane, code, err);
}

static void test_lanes_within_lanes(void **state) {
    (void)state;
    atomic_int calls = 0;
    zb_error err;
    zb__lane lane;
    zb__lane_begin(&lane, nest, &calls, ZB__LANE_WIDTH_MOST);
    for (int i = 0; i < 4; i++)
        assert_int_equal(zb__lane_give(&lane, 3, &err), ZB_OK);
    assert_int_equal(zb__lane_end(&lane, ZB_OK, &err), ZB_OK);
    assert_int_equal(atomic_load(&calls), 4 + 16 + 64 + 256);
}

typedef struct patient {
    zb__latch never, waiting;
    atomic_int asked, answer, ended;
} patient;

static int may_wait(void *context) {
    patient *p = context;
    atomic_fetch_add(&p->asked, 1);
    return atomic_load(&p->answer);
}

static enum zb_code wait_for_ever(void *context, size_t item, zb__scratch *scratch, zb_error *err) {
    patient *p = context;
    (void)item;
    (void)scratch;
    zb__latch_count_down(&p->waiting);
    if (zb__latch_wait(&p->never, zb__stopper_mine()))
        return ZB_OK;
    atomic_fetch_add(&p->ended, 1);
    return zb__fail_stopped(err);
}

static patient *new_patient(size_t waiting) {
    patient *p = calloc(1, sizeof *p);
    assert_non_null(p);
    zb__latch_begin(&p->never, 1);
    zb__latch_begin(&p->waiting, waiting);
    zb_thread_may_stop((zb_stop){may_wait, p});
    return p;
}

static void free_patient(patient *p) {
    zb__latch_end(&p->never);
    zb__latch_end(&p->waiting);
    free(p);
    zb_thread_may_stop((zb_stop){.fn = NULL});
}

/* The work waits as the caller may, in whatever thread, and the caller is not asked again. */
static void test_reading_is_stopped(void **state) {
    (void)state;
    for (size_t width = 0; width <= THREADS; width += THREADS) {
        patient *p = new_patient(width ? THREADS : 1);
        zb_error err;
        zb__lane lane;
        atomic_store(&p->answer, width == 0);
        zb__lane_begin_reading(&lane, wait_for_ever, p, width);
        for (size_t i = 0; i < (width ? THREADS : 1); i++)
            assert_int_equal(zb__lane_give(&lane, i, NULL), width ? ZB_OK : ZB_ECANCELLED);
        zb__stopper none = {.is_stopped = false};
        assert_true(zb__latch_wait(&p->waiting, &none));
        atomic_store(&p->answer, 1);
        assert_int_equal(zb__lane_end(&lane, ZB_OK, &err), ZB_ECANCELLED);
        assert_int_equal(atomic_load(&p->ended), width ? THREADS : 1);
        const int asked = atomic_load(&p->asked);
        assert_false(zb__latch_wait(&p->never, zb__stopper_mine()));
        assert_int_equal(atomic_load(&p->asked), asked);
        free_patient(p);
    }
}

/* What was read in time ends nothing, and asks on. */
static void test_reading_leaves_the_caller_its_right(void **state) {
    (void)state;
    patient *p = new_patient(1);
    tally t = {.fails = ITEMS};
    zb__lane lane;
    zb__lane_begin_reading(&lane, count, &t, THREADS);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(zb__lane_give(&lane, i, NULL), ZB_OK);
    assert_int_equal(zb__lane_end(&lane, ZB_OK, NULL), ZB_OK);
    atomic_store(&p->answer, 1);
    assert_false(zb__latch_wait(&p->never, zb__stopper_mine()));
    assert_int_equal(atomic_load(&p->asked), 1);
    free_patient(p);
}

static enum zb_code wait_a_little(void *context, size_t item, zb__scratch *scratch, zb_error *err) {
    patient *p = context;
    (void)err;
    (void)scratch;
    assert_int_equal(item, 0);
    assert_false(zb__is_stopped(zb__stopper_mine()));
    zb__latch_count_down(&p->waiting);
    return ZB_OK;
}

/* A change is not ended, nor one begun after the caller was told to stop. */
static void test_changes_are_not_stopped(void **state) {
    (void)state;
    for (size_t width = 0; width <= THREADS; width += THREADS) {
        patient *p = new_patient(1);
        zb__lane lane;
        atomic_store(&p->answer, 1);
        zb__lane_begin(&lane, wait_a_little, p, width);
        assert_int_equal(zb__lane_give(&lane, 0, NULL), ZB_OK);
        assert_int_equal(zb__lane_end(&lane, ZB_OK, NULL), ZB_OK);
        assert_true(zb__latch_wait(&p->waiting, zb__stopper_mine()));
        assert_int_equal(atomic_load(&p->asked), 0);
        zb_thread_may_stop((zb_stop){may_wait, p});
        assert_true(zb__is_stopped(zb__stopper_mine()));
        zb__lane_begin(&lane, wait_a_little, p, width);
        assert_int_equal(zb__lane_give(&lane, 1, NULL), ZB_ECANCELLED);
        assert_int_equal(zb__lane_end(&lane, ZB_OK, NULL), ZB_ECANCELLED);
        free_patient(p);
    }
}

/* The child has none of its parent's threads. */
static void test_after_a_fork(void **state) {
    (void)state;
    tally t = {.fails = ITEMS};
    zb_error err;
    zb__lane lane;
    int status = 1;
    zb__lane_begin(&lane, count, &t, THREADS); /* its threads stay */
    for (size_t i = 0; i < 20; i++)
        zb__lane_give(&lane, i, NULL);
    assert_int_equal(zb__lane_end(&lane, ZB_OK, &err), ZB_OK);
    const pid_t child = fork();
    if (child == 0) {
        zb__lane_begin(&lane, count, &t, THREADS);
        for (size_t i = 20; i < 40; i++)
            zb__lane_give(&lane, i, NULL);
        _exit(zb__lane_end(&lane, ZB_OK, &err) != ZB_OK || sum(&t) != 40);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_is_done_once),
        cmocka_unit_test(test_a_failure_ends_it),
        cmocka_unit_test(test_close_tells_it),
        cmocka_unit_test(test_the_callers_error_comes_first),
        cmocka_unit_test(test_without_width_the_caller_works),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_lanes_within_lanes),
        cmocka_unit_test(test_reading_is_stopped),
        cmocka_unit_test(test_reading_leaves_the_caller_its_right),
        cmocka_unit_test(test_changes_are_not_stopped),
        cmocka_unit_test(test_after_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
