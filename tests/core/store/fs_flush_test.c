/* SPDX-License-Identifier: MIT */
/*
 * Durability: the order of the system calls (data before names, one sync for each directory),
 * objects that wait for a flush and the handles that see them, and their state when something
 * fails.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "store/calls.h"
#include "store/fixture.h"
#include "zarrbridge/sys/store.h"

static void assert_log(const char *expected) {
    assert_string_equal(calls_log, expected);
    calls_clear();
}

static void must_flush(zb_store *store) {
    zb_error err;
    ASSERT_OK(zb_store_flush(store, &err), err);
}

static void data_come_before_names(void **state) {
    fixture *f = *state;
    zb_error err;
    calls_clear();
    fixture_must_put(f->store, "a", "1", PUT_LATER);
    assert_log("wr");
    fixture_must_put(f->store, "a", "2", PUT_NOW);
    assert_log("wsrd");
    fixture_must_put(f->store, "d/e/a", "1", PUT_NOW);
    assert_log("mmwsrddd"); /* d/e, and the new names of e in d and of d */
    fixture_must_put(f->store, "d/e/a", "2", PUT_NOW);
    assert_log("wsrd");
    fixture_must_put(f->store, "x/1", "1", PUT_LATER);
    fixture_must_put(f->store, "y/1", "1", PUT_LATER);
    assert_log("mwrmwr");
    fixture_must_put(f->store, "x/2", "1", PUT_NOW);
    assert_log("wsrdd"); /* the directory that an earlier put made was not durable yet */
    fixture_must_put(f->store, "b", "1", PUT_WAITS);
    fixture_must_put(f->store, "x/3", "1", PUT_WAITS);
    fixture_must_put(f->store, "c", "1", PUT_WAITS);
    assert_log("www");
    must_flush(f->store);
    assert_log("sssrrrdd");
    must_flush(f->store);
    assert_log("");
    ASSERT_OK(zb_store_erase(f->store, "x/1", &err), err);
    ASSERT_OK(zb_store_erase(f->store, "x/2", &err), err);
    ASSERT_OK(zb_store_erase(f->store, "x/none", &err), err);
    ASSERT_OK(zb_store_erase_below(f->store, "d", &err), err);
    calls_clear();
    must_flush(f->store);
    assert_log("dd");
    zb_lock *lock;
    ASSERT_OK(zb_store_lock(f->store, "a", &lock, &err), err);
    fixture_must_put(f->store, "a", "3", PUT_HELD);
    assert_log("wsr"); /* at once, for the next holder */
    zb_store_unlock(lock);
    must_flush(f->store);
    assert_log("d");
}

static int count_name(void *context, const zb_list_entry *entry) {
    *(int *)context += !entry->is_prefix;
    return 0;
}

static void what_waits_is_seen_by_its_store(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_store *other;
    zb_object_info info;
    ASSERT_OK(zb_store_open_fs(f->root, &other, &err), err);
    fixture_must_put(f->store, "d/k", "old", PUT_LATER);
    fixture_must_put(f->store, "d/k", "newer", PUT_WAITS);
    fixture_must_put(f->store, "fresh", "1", PUT_WAITS);
    assert_holds(f->store, "d/k", "newer");
    ASSERT_OK(zb_store_stat(f->store, "d/k", &info, &err), err);
    assert_int_equal(info.size, 5);
    assert_holds(f->store, "fresh", "1");
    assert_holds(other, "d/k", "old");
    assert_holds(other, "fresh", NULL);
    int names = 0;
    ASSERT_OK(zb_store_list(f->store, "", count_name, &names, &err), err);
    assert_int_equal(names, 0);
    fixture_must_put(f->store, "d/k", "newest", PUT_WAITS); /* takes the other's place */
    must_flush(f->store);
    assert_holds(other, "d/k", "newest");
    assert_holds(other, "fresh", "1");
    fixture_must_put(f->store, "d/k", "waits", PUT_WAITS);
    fixture_must_put(f->store, "d/k", "later", PUT_LATER); /* the last one counts */
    fixture_must_put(f->store, "fresh", "2", PUT_WAITS);
    ASSERT_OK(zb_store_erase(f->store, "fresh", &err), err);
    fixture_must_put(f->store, "e/x/1", "1", PUT_WAITS);
    ASSERT_OK(zb_store_erase_below(f->store, "e/x", &err), err);
    must_flush(f->store);
    assert_holds(f->store, "d/k", "later");
    assert_holds(f->store, "fresh", NULL);
    assert_holds(f->store, "e/x/1", NULL);
    int ours;
    assert_int_equal(fixture_files(f->root, &ours), 1);
    assert_int_equal(ours, 0);
    zb_store_release(other);
}

/* A directory that was made for an array which another program had moved away goes when the array
   comes back. What waits in it is lost, and no missing object, for which a merge would put fill
   values. */
static void what_has_gone_with_its_directory_is_not_missing(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_store *other;
    zb_object_info info;
    char *data;
    ASSERT_OK(zb_store_open_fs(f->root, &other, &err), err);
    fixture_must_put(f->store, "d/k", "1", PUT_WAITS);
    ASSERT_OK(zb_store_rename(other, "d", "e", &err), err);
    for (int round = 0; round < 2; round++) {
        ASSERT_FAILS(fixture_get(f->store, "d/k", &data, &err), ZB_ECONFLICT, err, "d/k");
        ASSERT_FAILS(zb_store_stat(f->store, "d/k", &info, &err), ZB_ECONFLICT, err, "moved");
        fixture_must_put(other, "d/x", "there again", PUT_LATER);
    }
    ASSERT_FAILS(zb_store_flush(f->store, &err), ZB_ECONFLICT, err, "d/k");
    assert_holds(f->store, "d/k", NULL);
    zb_store_release(other);
}

static void batches_go_out_by_themselves(void **state) {
    fixture *f = *state;
    int ours, descriptors = check_descriptors();
    for (int i = 0; i < 300; i++) {
        char key[40];
        snprintf(key, sizeof key, "c/%d/%d", i % 7, i);
        fixture_must_put(f->store, key, key, PUT_WAITS);
        assert_true(check_descriptors() < descriptors + 100);
    }
    assert_int_equal(fixture_files(f->root, &ours), 300);
    assert_true(ours > 0 && ours < 100);
    must_flush(f->store);
    assert_int_equal(fixture_files(f->root, &ours), 300);
    assert_int_equal(ours, 0);
    assert_int_equal(check_descriptors(), descriptors);
    assert_holds(f->store, "c/3/150", "c/3/150");
}

/* More directories than the store remembers: it syncs all, once. */
static void many_directories(void **state) {
    fixture *f = *state;
    zb_error err;
    for (int i = 0; i < 1500; i++) {
        char key[40];
        snprintf(key, sizeof key, "d%d/k", i);
        fixture_must_put(f->store, key, key, PUT_LATER);
    }
    fixture_must_put(f->store, "d0/x", "1", PUT_WAITS);
    for (int i = 0; i < 1100; i++) {
        char key[40];
        snprintf(key, sizeof key, "d%d/k", i);
        ASSERT_OK(zb_store_erase(f->store, key, &err), err);
    }
    calls_clear();
    calls_fail(CALL_SYNCFS, 1, EIO);
    ASSERT_FAILS(zb_store_flush(f->store, &err), ZB_EIO, err, f->root);
    assert_true(calls_failed());
    must_flush(f->store);                   /* still to be done */
    assert_string_equal(calls_log, "sraa"); /* the object went out with the first try */
    calls_clear();
    must_flush(f->store);
    assert_log("");
}

static void failures_are_told_by_the_flush(void **state) {
    fixture *f = *state;
    zb_error err;
    fixture_must_put(f->store, "a", "old", PUT_LATER);
    fixture_must_put(f->store, "b", "old", PUT_LATER);
    fixture_must_put(f->store, "c", "old", PUT_LATER);
    static const char *const keys[] = {"a", "b", "c"};
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < 3; i++)
            fixture_must_put(f->store, keys[i], "new", PUT_WAITS);
        calls_fail(kind ? CALL_RENAMEAT : CALL_FDATASYNC, 2, EIO);
        ASSERT_FAILS(zb_store_flush(f->store, &err), ZB_EIO, err, "'b'");
        assert_int_equal(err.sys_errno, EIO);
        assert_holds(f->store, "a", "new"); /* one does not keep the others back */
        assert_holds(f->store, "b", "old");
        assert_holds(f->store, "c", "new");
        must_flush(f->store); /* the objects that failed are forgotten */
        assert_holds(f->store, "b", "old");
        int ours;
        assert_int_equal(fixture_files(f->root, &ours), 3);
        assert_int_equal(ours, 0);
    }
    calls_fail(CALL_FSYNC, 1, EIO);
    fixture_must_put(f->store, "a", "newer", PUT_WAITS);
    ASSERT_FAILS(zb_store_flush(f->store, &err), ZB_EIO, err, "directory");
    calls_clear();
    must_flush(f->store);
    assert_log("d"); /* names are still to be made durable */
}

/* A batch that failed by itself: puts are refused until a flush has told. */
static void failed_batches_are_not_forgotten(void **state) {
    fixture *f = *state;
    zb_error err;
    calls_fail(CALL_FDATASYNC, 5, ENOSPC);
    int put = 0;
    enum zb_code code = ZB_OK;
    for (char key[20]; put < 300 && code == ZB_OK; put += code == ZB_OK) {
        snprintf(key, sizeof key, "k%d", put);
        code = fixture_put(f->store, key, key, PUT_WAITS, &err);
    }
    assert_true(put > 5 && put < 300);
    assert_int_equal(code, ZB_EIO);
    assert_non_null(strstr(err.message, "'k4'"));
    fixture_must_put(f->store, "other", "1", PUT_LATER);
    ASSERT_FAILS(zb_store_flush(f->store, &err), ZB_EIO, err, "'k4'");
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_holds(f->store, "k4", NULL);
    assert_holds(f->store, "k5", "k5");
    fixture_must_put(f->store, "k4", "again", PUT_WAITS);
    must_flush(f->store);
    assert_holds(f->store, "k4", "again");
}

/* Two writers on one store: a loss of one of them is not reported to the other in its place. */
static void each_batch_hears_of_its_own_losses(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_batch a, b;
    zb_batch_begin(&a, f->store, NULL, NULL);
    zb_batch_begin(&b, f->store, NULL, NULL);
    for (int whole = 0; whole < 2; whole++) {
        ASSERT_OK(fixture_put_as(f->store, &a, "a", "1", PUT_WAITS, &err), err);
        ASSERT_OK(fixture_put_as(f->store, &b, "b", "1", PUT_WAITS, &err), err);
        calls_fail(CALL_FDATASYNC, whole ? 2 : 1, EIO); /* b's, when both are flushed */
        if (whole) {
            ASSERT_FAILS(zb_store_flush(f->store, &err), ZB_EIO, err, "'b'");
            ASSERT_FAILS(zb_store_flush_batch(f->store, &b, &err), ZB_EIO, err, "'b'");
        } else {
            ASSERT_FAILS(zb_store_flush_batch(f->store, &a, &err), ZB_EIO, err, "'a'");
        }
        ASSERT_OK(zb_store_flush_batch(f->store, &a, &err), err); /* told, or had no loss */
        ASSERT_OK(zb_store_flush_batch(f->store, &b, &err), err);
        assert_holds(f->store, "a", whole ? "1" : NULL);
        assert_holds(f->store, "b", whole ? NULL : "1");
        ASSERT_OK(zb_store_erase(f->store, "b", &err), err);
    }
    zb_batch_end(&a);
    zb_batch_end(&b);
}

/* Too many objects wait, and go out while another writer puts: the one that fails is told to the
   writer that put it. */
static void losses_in_between_are_told_to_their_batch(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_batch a, b;
    zb_batch_begin(&a, f->store, NULL, NULL);
    zb_batch_begin(&b, f->store, NULL, NULL);
    ASSERT_OK(fixture_put_as(f->store, &a, "a", "1", PUT_WAITS, &err), err);
    calls_fail(CALL_FDATASYNC, 1, ENOSPC);
    for (int i = 0; i < 100; i++) {
        char key[20];
        snprintf(key, sizeof key, "b%d", i);
        ASSERT_OK(fixture_put_as(f->store, &b, key, key, PUT_WAITS, &err), err);
    }
    assert_true(calls_failed());
    ASSERT_OK(zb_store_flush_batch(f->store, &b, &err), err);
    ASSERT_FAILS(fixture_put_as(f->store, &a, "a2", "1", PUT_WAITS, &err), ZB_EIO, err, "'a'");
    ASSERT_FAILS(zb_store_flush_batch(f->store, &a, &err), ZB_EIO, err, "'a'");
    ASSERT_OK(zb_store_flush_batch(f->store, &a, &err), err);
    zb_batch_end(&a);
    zb_batch_end(&b);
}

/* Names, and objects that every reader sees, belong to no batch: all writers with something at
   stake are told, once each, and the others are not. */
static void lost_names_are_told_to_all(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_batch a, b, idle;
    zb_batch_begin(&a, f->store, NULL, NULL);
    zb_batch_begin(&b, f->store, NULL, NULL);
    zb_batch_begin(&idle, f->store, NULL, NULL);
    for (int file = 0; file < 2; file++) {
        ASSERT_OK(fixture_put_as(f->store, &a, "d/a", "1", PUT_HELD, &err), err);
        ASSERT_OK(fixture_put_as(f->store, &b, "d/b", "1", PUT_HELD, &err), err);
        fixture_must_put(f->store, "zarr.json", "{}", PUT_IN_ORDER);
        calls_fail(file ? CALL_FDATASYNC : CALL_FSYNC, 1, EIO);
        ASSERT_FAILS(zb_store_flush_batch(f->store, &a, &err), ZB_EIO, err,
                     file ? "zarr.json" : "directory");
        ASSERT_OK(zb_store_flush_batch(f->store, &a, &err), err);
        ASSERT_FAILS(zb_store_flush_batch(f->store, &b, &err), ZB_EIO, err, "cannot sync");
        ASSERT_OK(zb_store_flush_batch(f->store, &b, &err), err);
        ASSERT_OK(zb_store_flush_batch(f->store, &idle, &err), err);
        ASSERT_FAILS(zb_store_flush(f->store, &err), ZB_EIO, err, "cannot sync");
        ASSERT_OK(zb_store_flush(f->store, &err), err);
    }
    zb_batch_end(&a);
    zb_batch_end(&b);
    zb_batch_end(&idle);
}

/* Documents are seen at once, and synced by the flush: files before their directories. */
static void visible_objects_are_synced_by_the_flush(void **state) {
    fixture *f = *state;
    zb_error err;
    fixture_must_put(f->store, "g/zarr.json", "1", PUT_IN_ORDER);
    must_flush(f->store);
    calls_clear();
    fixture_must_put(f->store, "g/zarr.json", "2", PUT_IN_ORDER);
    fixture_must_put(f->store, "zarr.json", "1", PUT_IN_ORDER);
    fixture_must_put(f->store, "g/zarr.json", "3", PUT_IN_ORDER);
    assert_log("wrwrwr");
    assert_holds(f->store, "g/zarr.json", "3");
    must_flush(f->store);
    assert_log("ssdd");
    must_flush(f->store);
    assert_log("");
    fixture_must_put(f->store, "h/zarr.json", "1", PUT_IN_ORDER);
    ASSERT_OK(zb_store_rename(f->store, "h", "i", &err), err);
    calls_clear();
    must_flush(f->store);
    assert_true(strchr(calls_log, 'a') != NULL); /* found by its new name by syncing everything */
    fixture_must_put(f->store, "g/zarr.json", "4", PUT_IN_ORDER);
    ASSERT_OK(zb_store_erase_below(f->store, "g", &err), err);
    must_flush(f->store);
}

static size_t count_calls(char letter) {
    size_t count = 0;
    for (const char *at = calls_log; (at = strchr(at, letter)); at++)
        count++;
    return count;
}

static void put_documents(zb_store *store, int from, int count) {
    for (int i = from; i < from + count; i++) {
        char key[32];
        snprintf(key, sizeof key, "g%d/zarr.json", i);
        fixture_must_put(store, key, "{}", PUT_IN_ORDER);
    }
}

/* However many wait and however often they change: each file and each directory once. Those that a
   put makes durable go out of the midst of the others. */
static void each_change_is_synced_once(void **state) {
    fixture *f = *state;
    enum { COUNT = 100 };
    must_flush(f->store);
    put_documents(f->store, 0, COUNT);
    put_documents(f->store, 0, COUNT);
    fixture_must_put(f->store, "g7/k", "1", PUT_NOW); /* with g7 and the root */
    fixture_must_put(f->store, "g42/k", "1", PUT_NOW);
    put_documents(f->store, COUNT / 2, COUNT / 2);
    calls_clear();
    must_flush(f->store);
    assert_int_equal(count_calls('s'), COUNT);
    assert_int_equal(count_calls('d'), COUNT - 2);
    calls_clear();
    must_flush(f->store);
    assert_log("");
}

static enum zb_code refuse(void *context, const char *key, zb_error *err) {
    (*(int *)context)++;
    return strcmp(key, "bad") == 0 ? zb_fail(err, ZB_ECONFLICT, "not '%s'", key) : ZB_OK;
}

/* The check of a batch is asked when the object is about to take its place. */
static void checks_come_last(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_batch batch;
    int asked = 0;
    zb_batch_begin(&batch, f->store, refuse, &asked);
    ASSERT_OK(fixture_put_as(f->store, &batch, "good", "1", PUT_LATER, &err), err);
    ASSERT_FAILS(fixture_put_as(f->store, &batch, "bad", "1", PUT_NOW, &err), ZB_ECONFLICT, err,
                 "not 'bad'");
    assert_int_equal(asked, 2);
    ASSERT_OK(fixture_put_as(f->store, &batch, "bad", "1", PUT_WAITS, &err), err);
    ASSERT_OK(fixture_put_as(f->store, &batch, "good", "2", PUT_WAITS, &err), err);
    assert_int_equal(asked, 2);
    ASSERT_FAILS(zb_store_flush_batch(f->store, &batch, &err), ZB_ECONFLICT, err, "not 'bad'");
    assert_int_equal(asked, 4);
    assert_holds(f->store, "good", "2");
    assert_holds(f->store, "bad", NULL);
    ASSERT_OK(fixture_put_as(f->store, &batch, "good", "3", PUT_WAITS, &err), err);
    zb_batch_end(&batch); /* forgets the objects that wait */
    must_flush(f->store);
    assert_holds(f->store, "good", "2");
    assert_int_equal(fixture_files(f->root, NULL), 1);
}

static void unflushed_objects_go_with_the_store(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_store *other;
    int descriptors = check_descriptors();
    ASSERT_OK(zb_store_open_fs(f->root, &other, &err), err);
    fixture_must_put(other, "k", "old", PUT_LATER);
    fixture_must_put(other, "k", "new", PUT_WAITS);
    zb_store_release(other);
    assert_holds(f->store, "k", "old");
    assert_int_equal(fixture_files(f->root, NULL), 1);
    assert_int_equal(check_descriptors(), descriptors);
}

/* A forked child must neither publish nor remove objects that its parent has put. */
static void leave_the_parents_alone(void *context) {
    const fixture *f = context;
    zb_error err = {.code = ZB_OK};
    char *data;
    CHILD_CHECK(fixture_get(f->store, "k", &data, &err) == ZB_OK && strcmp(data, "old") == 0, "%s",
                err.message);
    CHILD_CHECK(fixture_put(f->store, "own", "1", PUT_WAITS, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_store_flush(f->store, &err) == ZB_OK, "%s", err.message);
    zb_hierarchy_release(f->hierarchy);
}

static void forks_leave_what_waits_alone(void **state) {
    fixture *f = *state;
    fixture_must_put(f->store, "k", "old", PUT_LATER);
    fixture_must_put(f->store, "k", "new", PUT_WAITS);
    assert_true(check_in_child(leave_the_parents_alone, f, NULL, NULL));
    assert_holds(f->store, "own", "1");
    assert_holds(f->store, "k", "new");
    must_flush(f->store);
    assert_holds(f->store, "k", "new");
}

/* ---- Forks while other threads are at work ---- */

typedef struct busy {
    const fixture *f;
    atomic_bool end;
} busy;

static void *put_on(void *context) {
    busy *b = context;
    for (int i = 0; !atomic_load(&b->end); i++) {
        char key[20];
        snprintf(key, sizeof key, "k%d", i % 50);
        fixture_must_put(b->f->store, key, key, i % 2 ? PUT_WAITS : PUT_IN_ORDER);
        if (i % 70 == 0)
            must_flush(b->f->store);
    }
    return NULL;
}

static void use_store(void *context) {
    const busy *b = context;
    zb_error err = {.code = ZB_OK};
    zb_object_info info;
    alarm(300); /* ends a child that waits for a lock that its parent's threads held */
    (void)zb_store_stat(b->f->store, "k1", &info, &err);
    CHILD_CHECK(fixture_put(b->f->store, "child", "1", PUT_WAITS, &err) == ZB_OK, "%s",
                err.message);
    CHILD_CHECK(zb_store_flush(b->f->store, &err) == ZB_OK, "%s", err.message);
}

/* The child of a fork has no other thread, and none of their locks. */
static void children_do_not_wait_for_their_parents_threads(void **state) {
    busy b = {.f = *state};
    pthread_t thread;
    if (!CHECK_FORKS_WHILE_BUSY) {
        print_message("this sanitizer's allocator does not survive forks of busy processes\n");
        skip();
    }
    assert_int_equal(pthread_create(&thread, NULL, put_on, &b), 0);
    for (int i = 0; i < 100; i++)
        assert_true(check_in_child(use_store, &b, NULL, NULL));
    atomic_store(&b.end, true);
    pthread_join(thread, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(data_come_before_names),
        FIXTURE_TEST(what_waits_is_seen_by_its_store),
        FIXTURE_TEST(what_has_gone_with_its_directory_is_not_missing),
        FIXTURE_TEST(batches_go_out_by_themselves),
        FIXTURE_TEST(many_directories),
        FIXTURE_TEST(failures_are_told_by_the_flush),
        FIXTURE_TEST(failed_batches_are_not_forgotten),
        FIXTURE_TEST(each_batch_hears_of_its_own_losses),
        FIXTURE_TEST(losses_in_between_are_told_to_their_batch),
        FIXTURE_TEST(lost_names_are_told_to_all),
        FIXTURE_TEST(each_change_is_synced_once),
        FIXTURE_TEST(visible_objects_are_synced_by_the_flush),
        FIXTURE_TEST(checks_come_last),
        FIXTURE_TEST(unflushed_objects_go_with_the_store),
        FIXTURE_TEST(forks_leave_what_waits_alone),
        FIXTURE_TEST(children_do_not_wait_for_their_parents_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
