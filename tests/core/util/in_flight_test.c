/* SPDX-License-Identifier: MIT */
/* Requests in flight: what several want at once is asked for once, by the next one where the leader
   leaves without it. */
#include "util/in_flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "util/latch.h"

#define THREADS 8
#define ROUNDS 200

typedef struct text {
    zb__answer base;
    unsigned number; /* of the request */
} text;

static atomic_int texts; /* that were not freed */

static void free_text(zb__answer *answer) {
    atomic_fetch_sub(&texts, 1);
    free(answer);
}

typedef struct seeker {
    zb__in_flight base;
    unsigned what;
    enum zb_code fails; /* the request, where this one leads */
    zb__latch *begun;   /* counted down when it asks; or NULL */
    zb__latch *goes_on; /* waited for while it asks, as the thread may; or NULL */
    zb__latch *waits;   /* counted down when it is asked whether it may wait; or NULL */
    atomic_bool stops;
    atomic_int calls; /* of its wake */
    pthread_t thread;
    enum zb_code code;
    zb_error error;
    zb__answer *answer;
} seeker;

static atomic_uint requests;

static bool is_same(const zb__in_flight *one, const zb__in_flight *other) {
    return ((const seeker *)one)->what == ((const seeker *)other)->what;
}

static enum zb_code ask(zb__in_flight *own, zb__answer **out, zb_error *err) {
    seeker *s = (seeker *)own;
    const unsigned number = atomic_fetch_add(&requests, 1) + 1;
    if (s->begun)
        zb__latch_count_down(s->begun);
    if (s->goes_on && !zb__latch_wait(s->goes_on, zb__stopper_mine()))
        return zb__fail_stopped(err);
    if (s->fails)
        return zb_fail(err, s->fails, "request %u", number);
    text *t = malloc(sizeof *t);
    assert_non_null(t);
    *t = (text){.base.free = free_text, .number = number};
    atomic_fetch_add(&texts, 1);
    *out = &t->base;
    return ZB_OK;
}

static int may_wait(void *context) {
    seeker *s = context;
    if (s->waits)
        zb__latch_count_down(s->waits);
    s->waits = NULL;
    return atomic_load(&s->stops);
}

static void *seek(void *context) {
    seeker *s = context;
    s->base.is_same = is_same;
    zb_thread_may_stop((zb_stop){may_wait, s});
    s->code = zb__in_flight_ask(&s->base, zb__stopper_mine(), ask, &s->answer, &s->error);
    return NULL;
}

static void start(seeker *s) {
    assert_int_equal(pthread_create(&s->thread, NULL, seek, s), 0);
}

/* The number of the request that it got its answer from. */
static unsigned got(seeker *s) {
    pthread_join(s->thread, NULL);
    assert_int_equal(s->code, ZB_OK);
    const unsigned number = ((text *)s->answer)->number;
    zb__answer_drop(s->answer);
    return number;
}

static void await(zb__latch *latch) {
    zb__stopper none = {.is_stopped = false};
    assert_true(zb__latch_wait(latch, &none));
}

/* A leader that asks until `answers` is counted down, and others that wait for it. */
typedef struct scene {
    seeker all[THREADS];
    zb__latch begun, waiting, answers;
} scene;

static void begin(scene *s) {
    *s = (scene){.all[0].what = 1};
    atomic_store(&requests, 0);
    zb__latch_begin(&s->begun, 1);
    zb__latch_begin(&s->waiting, THREADS - 1);
    zb__latch_begin(&s->answers, 1);
    s->all[0].begun = &s->begun;
    s->all[0].goes_on = &s->answers;
    for (size_t i = 0; i < THREADS; i++)
        s->all[i].what = 1;
}

static void start_all(scene *s) {
    start(&s->all[0]);
    await(&s->begun);
    for (size_t i = 1; i < THREADS; i++) {
        s->all[i].waits = &s->waiting;
        start(&s->all[i]);
    }
    await(&s->waiting);
}

static void end(scene *s) {
    zb__latch_end(&s->begun);
    zb__latch_end(&s->waiting);
    zb__latch_end(&s->answers);
    assert_int_equal(atomic_load(&texts), 0);
}

static void all_share_one_answer(void **state) {
    (void)state;
    scene s;
    begin(&s);
    start_all(&s);
    seeker other = {.what = 2};
    start(&other); /* something else is asked for beside it */
    assert_int_equal(got(&other), 2);
    zb__latch_count_down(&s.answers);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(got(&s.all[i]), 1);
    assert_int_equal(atomic_load(&requests), 2);
    end(&s);
}

static void all_share_one_error(void **state) {
    (void)state;
    scene s;
    begin(&s);
    s.all[0].fails = ZB_EIO;
    start_all(&s);
    zb__latch_count_down(&s.answers);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(s.all[i].thread, NULL);
        assert_int_equal(s.all[i].code, ZB_EIO);
        assert_string_equal(s.all[i].error.message, "request 1");
    }
    assert_int_equal(atomic_load(&requests), 1);
    end(&s);
}

/* One of the others asks then, once, and the rest shares what it gets. */
static void the_next_one_leads(void **state) {
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        scene s;
        begin(&s);
        s.all[0].fails = fails ? ZB_ENOMEM : ZB_OK;
        start_all(&s);
        if (fails)
            zb__latch_count_down(&s.answers);
        else
            atomic_store(&s.all[0].stops, true);
        for (size_t i = 1; i < THREADS; i++)
            assert_int_equal(got(&s.all[i]), 2);
        pthread_join(s.all[0].thread, NULL);
        assert_int_equal(s.all[0].code, fails ? ZB_ENOMEM : ZB_ECANCELLED);
        assert_int_equal(atomic_load(&requests), 2);
        end(&s);
    }
}

static void one_that_waits_is_stopped(void **state) {
    (void)state;
    scene s;
    begin(&s);
    start_all(&s);
    atomic_store(&s.all[3].stops, true);
    pthread_join(s.all[3].thread, NULL);
    assert_int_equal(s.all[3].code, ZB_ECANCELLED);
    zb__latch_count_down(&s.answers);
    for (size_t i = 0; i < THREADS; i++)
        assert_true(i == 3 || got(&s.all[i]) == 1);
    assert_int_equal(atomic_load(&requests), 1);
    end(&s);
}

static void note_call(zb__in_flight *own) {
    atomic_fetch_add(&((seeker *)own)->calls, 1);
}

static void join(seeker *s, bool leads) {
    s->base.is_same = is_same;
    s->base.wake = note_call;
    assert_int_equal(zb__in_flight_join(&s->base), leads);
}

/* Those that are called stand in one row with those that sleep. */
static void some_are_called(void **state) {
    (void)state;
    zb__latch waiting;
    zb__latch_begin(&waiting, 1);
    seeker first = {.what = 1}, second = {.what = 1}, gone = {.what = 1}, last = {.what = 1},
           sleeper = {.what = 1, .waits = &waiting};
    join(&first, true);
    join(&gone, false);
    join(&second, false);
    start(&sleeper);
    await(&waiting);
    join(&last, false);
    zb__in_flight_leave(&gone.base);
    assert_int_equal(atomic_load(&second.calls), 0);
    zb__in_flight_leave(&first.base);
    assert_int_equal(atomic_load(&second.calls), 1);
    assert_int_equal(second.base.state, ZB__LEADS);
    assert_int_equal(atomic_load(&last.calls), 0);
    atomic_store(&requests, 0);
    zb__answer *answer = NULL;
    assert_int_equal(ask(&second.base, &answer, NULL), ZB_OK);
    zb__in_flight_share(&second.base, answer, ZB_OK, NULL);
    assert_int_equal(atomic_load(&last.calls), 1);
    assert_int_equal(last.base.state, ZB__SHARES);
    assert_ptr_equal(last.base.answer, answer);
    zb__in_flight_leave(&last.base);
    assert_int_equal(got(&sleeper), 1);
    zb__answer_drop(answer);
    assert_int_equal(atomic_load(&gone.calls) + atomic_load(&first.calls), 0);
    assert_int_equal(atomic_load(&texts), 0);
    zb__latch_end(&waiting);
}

static void *seek_often(void *context) {
    const unsigned own = (unsigned)(uintptr_t)context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        seeker s = {.what = (own + i) % 3,
                    .fails = (own + i) % 5 == 0   ? ZB_ENOMEM
                             : (own + i) % 7 == 0 ? ZB_EIO
                                                  : ZB_OK};
        seek(&s);
        assert_true(s.code || ((text *)s.answer)->number > 0);
        zb__answer_drop(s.answer);
    }
    return NULL;
}

/* For the sanitizers. */
static void many_threads(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, seek_often, (void *)(uintptr_t)i), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&texts), 0);
}

/* What the parent asks for is none of the child's; a request that was begun before ends in it. */
static void after_a_fork(void **state) {
    (void)state;
    int status = 1;
    seeker before = {.what = 1}, after = {.what = 1};
    join(&before, true);
    const pid_t child = fork();
    if (child == 0) {
        seek(&after);
        zb__in_flight_share(&before.base, NULL, ZB_OK, NULL);
        _exit(after.code != ZB_OK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    zb__in_flight_leave(&before.base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_share_one_answer), cmocka_unit_test(all_share_one_error),
        cmocka_unit_test(the_next_one_leads),   cmocka_unit_test(one_that_waits_is_stopped),
        cmocka_unit_test(some_are_called),      cmocka_unit_test(many_threads),
        cmocka_unit_test(after_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
