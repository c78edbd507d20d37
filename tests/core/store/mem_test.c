/* SPDX-License-Identifier: MIT */
/* The store in memory: what contract_test.c does not ask of all stores. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/wrappers.h"
#include "zarrbridge/sys/store.h"

static zb_store *new_store(void) {
    zb_error err;
    zb_store *store = NULL;
    ASSERT_OK(zb_store_new_mem("m", &store, &err), err);
    return store;
}

static void set(zb_store *store, const char *key, const char *text) {
    zb_error err;
    ASSERT_OK(zb_store_mem_set(store, key, text, strlen(text), &err), err);
}

static void assert_holds(zb_store *store, const char *key, const char *expected) {
    zb_error err;
    char *data;
    size_t size;
    zb_object_info info;
    ASSERT_OK(zb_store_get(store, key, 100, "children", &data, &size, &info, &err), err);
    assert_string_equal(data, expected);
    assert_int_equal(size, strlen(expected));
    assert_int_equal(info.size, size);
    free(data);
}

static void keeps_objects(void **state) {
    (void)state;
    zb_error err;
    zb_store *store = new_store();
    char key[20], text[20];
    for (int i = 0; i < 500; i++) { /* in no order */
        snprintf(key, sizeof key, "k/%d", i * 7919 % 500);
        snprintf(text, sizeof text, "text %d", i * 7919 % 500);
        set(store, key, text);
    }
    set(store, "k/3", "again");
    set(store, "empty", "");
    assert_holds(store, "k/499", "text 499");
    assert_holds(store, "k/3", "again");
    assert_holds(store, "empty", "");
    zb_object *object;
    zb_object_info info;
    ASSERT_FAILS(zb_object_open(store, "k", &object, &info, &err), ZB_ENOTFOUND, err, "'k'");
    ASSERT_FAILS(zb_object_open(store, "k/500", &object, &info, &err), ZB_ENOTFOUND, err, "k/500");
    ASSERT_FAILS(zb_store_stat(store, "x", &info, &err), ZB_ENOTFOUND, err, "'x'");
    ASSERT_FAILS(zb_object_open(store, "../k", &object, &info, &err), ZB_EINVAL, err, "../k");
    zb_store_release(store);
}

static void handles_keep_their_version(void **state) {
    (void)state;
    zb_error err;
    zb_store *store = new_store();
    set(store, "k", "old");
    zb_object *object;
    zb_object_info before, after;
    ASSERT_OK(zb_object_open(store, "k", &object, &before, &err), err);
    set(store, "k", "newer");
    ASSERT_OK(zb_store_stat(store, "k", &after, &err), err);
    assert_true(before.validator.valid && after.validator.valid);
    assert_true(memcmp(before.validator.word, after.validator.word, sizeof after.validator.word));
    char buffer[8] = "", tail[8] = "";
    zb_range ranges[] = {{.offset = 0, .length = 7, .buffer = buffer},
                         {.offset = ZB_FROM_END, .length = 2, .buffer = tail},
                         {.offset = 5, .length = 1, .buffer = tail + 4},
                         {.offset = ZB_FROM_END, .length = 7, .buffer = buffer}};
    ASSERT_OK(zb_object_read(object, ranges, 4, &err), err);
    assert_int_equal(ranges[0].got, 3);
    assert_string_equal(buffer, "old");
    assert_string_equal(tail, "ld");
    assert_int_equal(ranges[2].got, 0);
    assert_int_equal(ranges[3].got, 3);
    zb_object_close(object);
    zb_object_close(NULL);
    zb_store_release(store);
}

static int add_name(void *context, const zb_list_entry *entry) {
    char *text = context;
    strcat(text, entry->name);
    strcat(text, entry->is_prefix ? "/ " : " ");
    return strcmp(entry->name, "stop") == 0;
}

static void lists_names(void **state) {
    (void)state;
    zb_error err;
    zb_store *store = new_store();
    static const char *const keys[] = {"zarr.json", "a/zarr.json", "a/b/c/0", "a/b/c/1",
                                       "a/b-x/c",   "a/b.c",       "a.b/x",   "ab/x",
                                       "a",         "a/s/stop",    "a/s/z",   "a/s/a"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        set(store, keys[i], "");
    static const struct {
        const char *prefix, *expected;
    } rows[] = {{"", "a a.b/ a/ ab/ zarr.json "},
                {"a", "b-x/ b.c b/ s/ zarr.json "},
                {"a/b", "c/ "},
                {"a/b/c", "0 1 "},
                {"a/b/c/0", ""},
                {"nothing", ""},
                {"a/s", "a stop "}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200] = "";
        ASSERT_OK(zb_store_list(store, rows[i].prefix, add_name, text, &err), err);
        assert_string_equal(text, rows[i].expected);
    }
    zb_store_release(store);
}

static void other_stores_are_refused(void **state) {
    (void)state;
    zb_error err;
    zb_store *store = new_store(), *count;
    ASSERT_OK(zb_store_new_count(store, &count, &err), err);
    ASSERT_FAILS(zb_store_mem_set(count, "k", "", 0, &err), ZB_EINVAL, err, "zb_store_mem_set");
    zb_store_ops future = *store->ops;
    future.version = ZB_STORE_OPS_VERSION + 1;
    zb_store own;
    ASSERT_FAILS(zb_store_init(&own, &future, store->hints, "own", &err), ZB_EINVAL, err,
                 "version");
    zb_store_release(count);
    zb_store_release(store);
    zb_store_release(NULL);
}

/* The copy stays when the source goes. */
static void copies(void **state) {
    (void)state;
    zb_error err;
    zb_store *store = new_store(), *other = new_store(), *count;
    set(store, "a/k", "text");
    set(other, "to", "old");
    ASSERT_OK(zb_store_copy(store, "b", store, "a/k", &err), err);
    ASSERT_OK(zb_store_copy(other, "to", store, "a/k", &err), err);
    set(store, "a/k", "changed");
    assert_holds(store, "b", "text");
    assert_holds(other, "to", "text");
    ASSERT_FAILS(zb_store_copy(store, "b", store, "none", &err), ZB_ENOTFOUND, err, "'none'");
    ASSERT_FAILS(zb_store_copy(store, "b//c", store, "b", &err), ZB_EINVAL, err, "b//c");
    ASSERT_FAILS(zb_store_copy(store, "b", store, "..", &err), ZB_EINVAL, err, "'..'");
    ASSERT_OK(zb_store_new_count(other, &count, &err), err);
    ASSERT_FAILS(zb_store_copy(store, "b", count, "to", &err), ZB_EUNSUPPORTED, err, "'to'");
    assert_holds(store, "b", "text");
    zb_store_release(count);
    zb_store_release(other);
    zb_store_release(store);
}

/* ---- Locks and forks ---- */

typedef struct holder {
    zb_store *store;
    pthread_barrier_t held, done;
} holder;

static void *hold_lock(void *context) {
    holder *h = context;
    zb_lock *lock;
    zb_error err;
    CHILD_CHECK(zb_store_lock(h->store, "theirs", &lock, &err) == ZB_OK, "%s", err.message);
    pthread_barrier_wait(&h->held);
    pthread_barrier_wait(&h->done);
    zb_store_unlock(lock);
    return NULL;
}

static void lock_in_child(zb_store *store, zb_lock *own) {
    zb_lock *lock;
    zb_error err = {.code = ZB_OK};
    CHILD_CHECK(zb_store_lock(store, "theirs", &lock, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_store_lock(store, "own", &lock, &err) == ZB_ECONFLICT, "it is not held");
    zb_store_unlock(own);
    CHILD_CHECK(zb_store_lock(store, "own", &lock, &err) == ZB_OK, "%s", err.message);
}

static void fork_while_locked(void *unused) {
    (void)unused;
    holder h = {.store = new_store()};
    pthread_t thread;
    zb_lock *own;
    zb_error err = {.code = ZB_OK};
    pthread_barrier_init(&h.held, NULL, 2);
    pthread_barrier_init(&h.done, NULL, 2);
    CHILD_CHECK(pthread_create(&thread, NULL, hold_lock, &h) == 0, "no thread");
    CHILD_CHECK(zb_store_lock(h.store, "own", &own, &err) == ZB_OK, "%s", err.message);
    pthread_barrier_wait(&h.held);
    const pid_t child = fork();
    if (child == 0) {
        lock_in_child(h.store, own);
        _exit(0);
    }
    int status;
    CHILD_CHECK(waitpid(child, &status, 0) == child && status == 0, "the child failed");
    zb_lock *lock;
    CHILD_CHECK(zb_store_lock(h.store, "theirs", &lock, &err) == ZB_ECONFLICT, "it is not held");
    pthread_barrier_wait(&h.done);
    pthread_join(thread, NULL);
    zb_store_unlock(own);
    zb_store_release(h.store);
}

/* A child has the locks of the thread that forked, and not those of others: nobody in it would ever
   let them go. */
static void children_have_no_locks_of_others(void **state) {
    (void)state;
    assert_true(check_in_child(fork_while_locked, NULL, "ZARRBRIDGE_LOCK_SECONDS", "0"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_have_no_locks_of_others), /* before the limits are read here */
        cmocka_unit_test(keeps_objects),
        cmocka_unit_test(handles_keep_their_version),
        cmocka_unit_test(lists_names),
        cmocka_unit_test(other_stores_are_refused),
        cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
