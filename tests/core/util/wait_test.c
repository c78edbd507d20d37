/* SPDX-License-Identifier: MIT */
/* Waits that a thread may end. */
#include <pthread.h>

#include "support/check.h"
#include "util/clock.h"
#include "util/latch.h"
#include "util/wait.h"
#include "zarrbridge/sys/store.h"

typedef struct asked {
    unsigned count, stops_at;
} asked;

static int ask(void *context) {
    asked *a = context;
    return ++a->count >= a->stops_at;
}

static void test_wait_is_ended(void **state) {
    (void)state;
    zb__latch latch;
    asked a = {.stops_at = 3};
    zb__latch_begin(&latch, 1);
    const zb_stop none = zb_thread_may_stop((zb_stop){ask, &a});
    assert_null(none.fn);
    assert_false(zb__latch_wait(&latch, zb__stopper_mine()));
    assert_int_equal(a.count, 3);
    assert_false(zb__latch_wait(&latch, zb__stopper_mine())); /* it is not asked again */
    assert_int_equal(a.count, 3);
    assert_ptr_equal(zb_thread_may_stop(none).context, &a);
    zb__latch_count_down(&latch);
    assert_true(zb__latch_wait(&latch, zb__stopper_mine()));
    zb__latch_end(&latch);
}

/* A thread that has nothing to wait for is not asked. */
static void test_asks_nothing_without_a_wait(void **state) {
    (void)state;
    zb__latch latch;
    asked a = {.stops_at = 1};
    zb__latch_begin(&latch, 0);
    const zb_stop before = zb_thread_may_stop((zb_stop){ask, &a});
    assert_true(zb__latch_wait(&latch, zb__stopper_mine()));
    assert_int_equal(a.count, 0);
    zb_thread_may_stop(before);
    zb__latch_end(&latch);
}

static void test_end_comes(void **state) {
    (void)state;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    asked a = {.stops_at = UINT32_MAX};
    enum zb__waited waited = ZB__WOKEN;
    const int64_t end = zb__now() + ZB__ASK_NS + ZB__ASK_NS / 2;
    const zb_stop before = zb_thread_may_stop((zb_stop){ask, &a});
    pthread_mutex_lock(&mutex);
    while (waited == ZB__WOKEN)
        waited = zb__wait(zb__stopper_mine(), &never, &mutex, end);
    pthread_mutex_unlock(&mutex);
    zb_thread_may_stop(before);
    assert_int_equal(waited, ZB__LATE);
    assert_true(zb__now() >= end && a.count >= 1);
}

static const zb_part content = {.data = "x", .size = 1};

static zb_store *new_store(void) {
    zb_error err;
    zb_store *store;
    ASSERT_OK(zb_store_new_mem("m", &store, &err), err);
    return store;
}

typedef struct other {
    zb_store *store;
    zb__latch has, goes;
} other;

static void *hold_lock(void *context) {
    other *o = context;
    zb_error err;
    zb_lock *lock;
    ASSERT_OK(zb_store_lock(o->store, "k", &lock, &err), err);
    zb__latch_count_down(&o->has);
    zb__latch_wait(&o->goes, zb__stopper_mine());
    zb_store_unlock(lock);
    return NULL;
}

/* Of a store in memory, whose locks are threads' alone. And no change is begun after that. */
static void test_lock_and_change(void **state) {
    (void)state;
    other o = {.store = new_store()};
    asked a = {.stops_at = 1};
    zb_error err;
    zb_lock *lock;
    pthread_t thread;
    zb__latch_begin(&o.has, 1);
    zb__latch_begin(&o.goes, 1);
    assert_int_equal(pthread_create(&thread, NULL, hold_lock, &o), 0);
    zb__latch_wait(&o.has, zb__stopper_mine());
    const zb_stop before = zb_thread_may_stop((zb_stop){ask, &a});
    ASSERT_FAILS(zb_store_lock(o.store, "k", &lock, &err), ZB_ECANCELLED, err, "interrupted");
    ASSERT_FAILS(zb_store_put(o.store, "k", &content, 1, ZB_SYNC_NONE, &err), ZB_ECANCELLED, err,
                 "interrupted");
    ASSERT_FAILS(zb_store_erase(o.store, "k", &err), ZB_ECANCELLED, err, "interrupted");
    zb_thread_may_stop(before);
    ASSERT_OK(zb_store_put(o.store, "k", &content, 1, ZB_SYNC_NONE, &err), err);
    zb__latch_count_down(&o.goes);
    pthread_join(thread, NULL);
    zb__latch_end(&o.has);
    zb__latch_end(&o.goes);
    zb_store_release(o.store);
}

/* What has been begun to change is changed to its end. */
static void test_change_is_not_ended(void **state) {
    (void)state;
    zb_store *store = new_store();
    asked a = {.stops_at = 1};
    zb_error err;
    zb_thread_may_stop((zb_stop){ask, &a});
    ASSERT_OK(zb_store_put(store, "k", &content, 1, ZB_SYNC_NONE, &err), err);
    assert_null(zb__stopper_mine()->ask.fn);
    zb_thread_may_stop((zb_stop){ask, &a});
    ASSERT_OK(zb_store_flush(store, &err), err);
    assert_null(zb_thread_may_stop((zb_stop){.fn = NULL}).fn);
    assert_int_equal(a.count, 0);
    zb_store_release(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_is_ended),
        cmocka_unit_test(test_asks_nothing_without_a_wait),
        cmocka_unit_test(test_end_comes),
        cmocka_unit_test(test_lock_and_change),
        cmocka_unit_test(test_change_is_not_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
