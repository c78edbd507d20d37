/* SPDX-License-Identifier: MIT */
/* Several changes as one lock scope (zb_lock_scope_begin): no other store changes the hierarchy
   meanwhile. The limit lock_seconds is short, so that others fail soon. */
#include <pthread.h>

#include "store/fixture.h"
#include "support/store.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"

static void expect_group(zb_hierarchy *hierarchy, const char *path) {
    zb_error err;
    zb_node *node;
    ASSERT_OK(zb_group_create(hierarchy, path, NULL, &node, &err), err);
    zb_node_release(node);
}

static void expect_refused(zb_hierarchy *hierarchy, const char *path) {
    zb_error err;
    zb_node *node;
    ASSERT_FAILS(zb_group_create(hierarchy, path, NULL, &node, &err), ZB_ECONFLICT, err,
                 "lock_seconds");
}

static void others_wait(void **state) {
    const fixture *f = *state;
    zb_hierarchy *other;
    zb_lock_scope lock_scope, inner;
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(f->root, &other, &err), err);
    expect_group(other, "before");
    ASSERT_OK(zb_lock_scope_begin(f->hierarchy, &lock_scope, &err), err);
    expect_group(f->hierarchy, "a");
    expect_refused(other, "b");
    ASSERT_OK(zb_lock_scope_begin(f->hierarchy, &inner, &err), err);
    expect_group(f->hierarchy, "c");
    ASSERT_OK(zb_lock_scope_end(f->hierarchy, &inner, ZB_OK, &err), err);
    expect_refused(other, "b"); /* the lock scope goes on */
    expect_group(f->hierarchy, "d");
    ASSERT_OK(zb_node_delete(f->hierarchy, "d", &err), err);
    ASSERT_OK(zb_node_move(f->hierarchy, "c", "e", &err), err);
    ASSERT_OK(zb_hierarchy_write_back(f->hierarchy, &err), err);
    ASSERT_OK(zb_lock_scope_end(f->hierarchy, &lock_scope, ZB_OK, &err), err);
    expect_group(other, "b");
    expect_group(f->hierarchy, "g");
    zb_hierarchy_release(other);
}

static void *try_in_a_thread(void *store) {
    zb_node *node;
    zb_error err;
    return zb_group_create(store, "thread", NULL, &node, &err) == ZB_ECONFLICT ? store : NULL;
}

/* Through the same store, too. */
static void other_threads_wait(void **state) {
    const fixture *f = *state;
    pthread_t thread;
    zb_lock_scope lock_scope;
    zb_error err;
    void *was_refused;
    ASSERT_OK(zb_lock_scope_begin(f->hierarchy, &lock_scope, &err), err);
    assert_int_equal(pthread_create(&thread, NULL, try_in_a_thread, f->hierarchy), 0);
    assert_int_equal(pthread_join(thread, &was_refused), 0);
    assert_ptr_equal(was_refused, f->hierarchy);
    ASSERT_OK(zb_lock_scope_end(f->hierarchy, &lock_scope, ZB_OK, &err), err);
    expect_group(f->hierarchy, "thread");
}

typedef struct long_turn {
    zb_hierarchy *store;
    pthread_barrier_t steps; /* begun, and to be ended */
    bool failed;
} long_turn;

static void *hold_a_turn(void *context) {
    long_turn *t = context;
    zb_lock_scope lock_scope;
    t->failed = zb_lock_scope_begin(t->store, &lock_scope, NULL) != ZB_OK;
    pthread_barrier_wait(&t->steps);
    pthread_barrier_wait(&t->steps);
    t->failed = t->failed || zb_lock_scope_end(t->store, &lock_scope, ZB_OK, NULL) != ZB_OK;
    return NULL;
}

/* The C library gives a new thread the memory of one that is gone, and with it the same
   pthread_self(). */
static void try_in_threads_of_the_child(void *context) {
    const long_turn *t = context;
    void *was_refused;
    pthread_t thread;
    CHILD_CHECK(pthread_create(&thread, NULL, try_in_a_thread, t->store) == 0, "a thread");
    pthread_join(thread, &was_refused);
    CHILD_CHECK(was_refused == t->store, "a thread of the child has the turn of a thread that is "
                                         "not there");
}

static void children_have_no_turns_of_other_threads(void **state) {
    const fixture *f = *state;
    long_turn t = {.store = f->hierarchy};
    pthread_t thread;
    pthread_barrier_init(&t.steps, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, hold_a_turn, &t), 0);
    pthread_barrier_wait(&t.steps);
    assert_true(check_in_child(try_in_threads_of_the_child, &t, NULL, NULL));
    pthread_barrier_wait(&t.steps);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&t.steps);
    assert_false(t.failed);
    expect_group(f->hierarchy, "after");
}

/* The lock is that of the store within, whose own hierarchy has no turn. */
static void stores_around_others_have_turns(void **state) {
    const fixture *f = *state;
    zb_hierarchy *outer;
    zb_node *node;
    zb_lock_scope lock_scope;
    zb_error err;
    ASSERT_OK(wrap(zb_store_new_fault, f->hierarchy, &outer, &err), err);
    ASSERT_OK(zb_lock_scope_begin(outer, &lock_scope, &err), err);
    expect_group(outer, "a");
    ASSERT_FAILS(zb_group_create(f->hierarchy, "b", NULL, &node, &err), ZB_ECONFLICT, err,
                 "is locked");
    ASSERT_OK(zb_lock_scope_end(outer, &lock_scope, ZB_OK, &err), err);
    zb_hierarchy_release(outer);
}

static void stores_in_memory_have_turns(void **state) {
    (void)state;
    zb_hierarchy *hierarchy;
    zb_lock_scope lock_scope;
    zb_error err;
    ASSERT_OK(zb_hierarchy_new_mem("memory", &hierarchy, &err), err);
    ASSERT_OK(zb_lock_scope_begin(hierarchy, &lock_scope, &err), err);
    expect_group(hierarchy, "a");
    ASSERT_OK(zb_lock_scope_end(hierarchy, &lock_scope, ZB_OK, &err), err);
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    setenv("ZARRBRIDGE_LOCK_SECONDS", "1", 1); /* before the limits are read */
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(others_wait),
        FIXTURE_TEST(other_threads_wait),
        FIXTURE_TEST(children_have_no_turns_of_other_threads),
        FIXTURE_TEST(stores_around_others_have_turns),
        cmocka_unit_test(stores_in_memory_have_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
