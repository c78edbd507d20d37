/* SPDX-License-Identifier: MIT */
/* The pool: every task runs once, the first error wins, callers do not disturb each other, forks
 * work. */
#include "util/scratch.h"
#include "util/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "support/check.h"

#define TASKS 1000

typedef struct tally {
    atomic_int runs[TASKS];
    atomic_int inside, most_inside;
    atomic_size_t begun;
    size_t fail_at; /* this task and all later ones fail; TASKS for none */
    const char *name;
} tally;

static void tally_clear(tally *t, size_t fail_at) {
    memset(t, 0, sizeof *t);
    t->fail_at = fail_at;
    t->name = "task";
}

static enum zb_code count_task(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    tally *t = context;
    int inside = atomic_fetch_add(&t->inside, 1) + 1;
    int most = atomic_load(&t->most_inside);
    while (inside > most && !atomic_compare_exchange_weak(&t->most_inside, &most, inside)) {
    }
    atomic_fetch_add(&t->begun, 1);
    atomic_fetch_add(&t->runs[i], 1);
    /* The scratch is ours alone: two tasks with the same one would see each other's mark. */
    enum zb_code code = zb__buffer_reserve(&scratch->block, sizeof(size_t), err);
    assert_int_equal(code, ZB_OK);
    memcpy(scratch->block.data, &i, sizeof i);
    if (i % 16 == 0)
        sched_yield();
    size_t mark;
    memcpy(&mark, scratch->block.data, sizeof mark);
    if (mark != i)
        code = zb_fail(err, ZB_ECONFLICT, "task %zu shares its scratch with %zu", i, mark);
    else if (i >= t->fail_at)
        code = zb_fail(err, ZB_EFORMAT, "%s %zu failed", t->name, i);
    atomic_fetch_sub(&t->inside, 1);
    return code;
}

static void assert_all_ran_once(const tally *t, size_t count) {
    for (size_t i = 0; i < TASKS; i++)
        assert_int_equal(t->runs[i], i < count);
}

static void runs_every_task_once(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 17, TASKS};
    static const size_t widths[] = {0, 1, 2, 4, 100000};
    static tally t;
    zb_error err;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            tally_clear(&t, TASKS);
            ASSERT_OK(zb__pool_run(count_task, &t, counts[c], widths[w], &err), err);
            assert_all_ran_once(&t, counts[c]);
            size_t most = widths[w] && widths[w] < zb__pool_width() ? widths[w] : zb__pool_width();
            assert_true((size_t)t.most_inside <= most);
        }
    }
}

static void stops_at_the_first_error(void **state) {
    (void)state;
    static tally t;
    zb_error err;
    tally_clear(&t, 10);
    ASSERT_FAILS(zb__pool_run(count_task, &t, TASKS, 1, &err), ZB_EFORMAT, err, "task 10 failed");
    assert_int_equal(t.begun, 11); /* one thread: nothing after the failure */

    tally_clear(&t, 10);
    ASSERT_FAILS(zb__pool_run(count_task, &t, TASKS, 0, &err), ZB_EFORMAT, err, "failed");
    assert_true(t.begun >= 11 && t.begun <= 10 + 2 * zb__pool_width());
    for (size_t i = 0; i < TASKS; i++)
        assert_true(t.runs[i] <= 1);
    assert_int_equal(t.inside, 0); /* no task is left inside when the run returns */
    assert_int_equal(zb__pool_run(count_task, &t, TASKS, 0, NULL), ZB_EFORMAT);
}

typedef struct turns {
    atomic_int quick; /* the thread whose task has failed */
} turns;

/* A slow task fails after a quick one, whose thread has nothing left to do but to report it: the
   quick one's error is the run's. */
static enum zb_code fail_in_turn(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    turns *t = context;
    (void)scratch;
    if (i == 1) {
        atomic_store(&t->quick, gettid());
        return zb_fail(err, ZB_ECHECKSUM, "the quick one");
    }
    (void)check_await_sleep(&t->quick);
    return zb_fail(err, ZB_EFORMAT, "the slow one");
}

static void first_error_by_time_wins(void **state) {
    (void)state;
    zb_error err;
    turns t = {.quick = 0};
    if (zb__pool_width() < 2) {
        print_message("one usable processor: tasks cannot fail at the same time\n");
        skip();
    }
    ASSERT_FAILS(zb__pool_run(fail_in_turn, &t, 2, 2, &err), ZB_ECHECKSUM, err, "the quick one");
}

typedef struct caller {
    pthread_t thread;
    int number, wrong;
} caller;

static void *call_many(void *argument) {
    caller *c = argument;
    tally *t = malloc(sizeof *t);
    for (int round = 0; round < 40 && t; round++) {
        bool fails = (round + c->number) % 3 == 0;
        char name[32], expected[64];
        snprintf(name, sizeof name, "caller %d round %d", c->number, round);
        snprintf(expected, sizeof expected, "%s 50 failed", name);
        tally_clear(t, fails ? 50 : TASKS);
        t->name = name;
        zb_error err = {.message = ""};
        size_t count = fails ? 51 : 200;
        enum zb_code code = zb__pool_run(count_task, t, count, 0, &err);
        c->wrong += code != (fails ? ZB_EFORMAT : ZB_OK);
        c->wrong += fails && strcmp(err.message, expected) != 0;
        c->wrong += t->inside != 0;
        for (size_t i = 0; i < TASKS; i++)
            c->wrong += t->runs[i] > 1 || (!fails && t->runs[i] != (i < count));
    }
    c->wrong += !t;
    free(t);
    return NULL;
}

static void many_callers_at_once(void **state) {
    (void)state;
    caller callers[12];
    for (int i = 0; i < 12; i++) {
        callers[i] = (caller){.number = i};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_many, &callers[i]), 0);
    }
    for (int i = 0; i < 12; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].wrong, 0);
    }
}

static void run_in_child(void *context) {
    tally *t = context;
    zb_error err;
    for (int round = 0; round < 20; round++) {
        tally_clear(t, TASKS);
        CHILD_CHECK(zb__pool_run(count_task, t, TASKS, 0, &err) == ZB_OK, "%s", err.message);
        for (size_t i = 0; i < TASKS; i++)
            CHILD_CHECK(t->runs[i] == 1, "task %zu ran %d times", i, t->runs[i]);
    }
}

/* Forks while other threads are in the middle of runs: the child starts its own workers. */
static void works_after_fork(void **state) {
    (void)state;
    static tally t;
    caller callers[4];
    size_t count = CHECK_FORKS_WHILE_BUSY ? 4 : 0;
    if (count == 0)
        print_message("sanitizer: forking while the pool is idle only\n");
    for (size_t i = 0; i < count; i++) {
        callers[i] = (caller){.number = (int)i};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_many, &callers[i]), 0);
    }
    for (int i = 0; i < 8; i++)
        assert_true(check_in_child(run_in_child, &t, NULL, NULL));
    for (size_t i = 0; i < count; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].wrong, 0);
    }
    tally_clear(&t, TASKS);
    assert_int_equal(zb__pool_run(count_task, &t, TASKS, 0, NULL), ZB_OK); /* the parent goes on */
    assert_all_ran_once(&t, TASKS);
}

/* Work that comes bit by bit: units that any thread may take, the caller's too. */
typedef struct units {
    atomic_int left, done;
} units;

static bool take_unit(units *u) {
    int left = atomic_load(&u->left);
    while (left > 0 && !atomic_compare_exchange_weak(&u->left, &left, left - 1))
        ;
    if (left > 0)
        atomic_fetch_add(&u->done, 1);
    return left > 0;
}

static enum zb_code take_units(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    (void)err;
    assert_int_equal(i, 0);
    assert_non_null(scratch);
    while (take_unit(context))
        ;
    return ZB_OK;
}

static void helpers_come_as_often_as_they_are_called(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        units u = {0};
        zb__pool_job *job = zb__pool_open(take_units, &u);
        assert_non_null(job);
        int added = 0;
        for (int n = 1; n < 20; n++) {
            atomic_fetch_add(&u.left, n);
            added += n;
            zb__pool_call(job, (size_t)n % 4);
            if (n % 3 == 0)
                take_unit(&u);
        }
        while (take_unit(&u))
            ;
        zb__pool_close(job); /* nobody is inside any more: what was taken is done */
        assert_int_equal(atomic_load(&u.done), added);
    }
    zb__pool_close(NULL);
}

/* A worker comes though the caller does nothing but wait. */
static void a_helper_works_alone(void **state) {
    (void)state;
    if (zb__pool_width() < 2)
        skip();
    units u = {.left = 3};
    zb__pool_job *job = zb__pool_open(take_units, &u);
    zb__pool_call(job, 1);
    while (atomic_load(&u.done) < 3)
        sched_yield();
    zb__pool_close(job);
}

int main(void) {
    setenv("ZARRBRIDGE_NUM_THREADS", "4", 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(helpers_come_as_often_as_they_are_called),
        cmocka_unit_test(a_helper_works_alone),
        cmocka_unit_test(runs_every_task_once),
        cmocka_unit_test(stops_at_the_first_error),
        cmocka_unit_test(first_error_by_time_wins),
        cmocka_unit_test(many_callers_at_once),
        cmocka_unit_test(works_after_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
