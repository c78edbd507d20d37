/* SPDX-License-Identifier: MIT */
/*
 * Locks that are held for longer than any process waits: a program of its own, since the limit is
 * read once.
 */
#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/fixture.h"
#include "store/fs_store.h"
#include "util/clock.h"
#include "zarrbridge/sys/store.h"

/* A holder that never lets go does not hold up others for ever. */
static void waiting_has_an_end(void **state) {
    fixture *f = *state;
    zb_store *mem;
    zb_error err;
    zb_lock *first, *second;
    ASSERT_OK(zb_store_new_mem("mem", &mem, &err), err);
    for (int i = 0; i < 2; i++) {
        zb_store *store = i ? mem : f->store;
        ASSERT_OK(zb_store_lock(store, "k", &first, &err), err);
        const int64_t start = zb__now();
        ASSERT_FAILS(zb_store_lock(store, "k", &second, &err), ZB_ECONFLICT, err, "lock_seconds");
        assert_true(zb__now() - start >= ZB__SECOND);
        zb_store_unlock(first);
        ASSERT_OK(zb_store_lock(store, "k", &second, &err), err);
        zb_store_unlock(second);
    }
    zb_store_release(mem);
}

static zb_store *open_level(const fixture *f, const char *level) {
    char path[600];
    zb_store *store;
    zb_error err;
    snprintf(path, sizeof path, "%s%s", f->root, level);
    ASSERT_OK(zb_store_open_fs(path, &store, &err), err);
    return store;
}

/* Stores that were opened at different levels of a hierarchy share one lock of its documents. */
static void a_hierarchy_has_one_lock(void **state) {
    const fixture *f = *state;
    static const char *const documents[] = {"zarr.json", "g/zarr.json", "g/h/zarr.json",
                                            "g/h/a/zarr.json", "plain/z/zarr.json"};
    static const char *const levels[] = {"", "/g", "/g/h", "/g/h/a"};
    zb_error err;
    zb_lock *held, *other;
    for (int i = 0; i < 5; i++)
        check_write_file(f->root, documents[i], "{}", 2);
    for (int i = 0; i < 4; i++) {
        zb_store *a = open_level(f, levels[i]), *b = open_level(f, levels[3 - i]);
        ASSERT_OK(zb_store_lock(a, "zarr.json", &held, &err), err);
        ASSERT_FAILS(zb_store_lock(b, "zarr.json", &other, &err), ZB_ECONFLICT, err, "zarr.json");
        zb_store_unlock(held);
        zb_store_release(a);
        zb_store_release(b);
    }
    /* Another hierarchy, though it lies below. */
    zb_store *a = open_level(f, ""), *b = open_level(f, "/plain/z");
    ASSERT_OK(zb_store_lock(a, "zarr.json", &held, &err), err);
    ASSERT_OK(zb_store_lock(b, "zarr.json", &other, &err), err);
    zb_store_unlock(other);
    zb_store_unlock(held);
    zb_store_release(a);
    zb_store_release(b);
    assert_int_equal(fixture_files(f->root, NULL), 5);
}

static void lock_as_other(const fixture *f, enum zb_code expected) {
    zb_store *store;
    zb_lock *lock = NULL;
    zb_error err = {.code = ZB_OK};
    CHILD_CHECK(setgroups(0, NULL) == 0 && setgid(4711) == 0 && setuid(4712) == 0, "setuid");
    CHILD_CHECK(zb_store_open_fs(f->root, &store, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_store_lock(store, "k", &lock, &err) == expected, "%s", err.message);
    zb_store_unlock(lock);
    zb_store_release(store);
}

static void wait_in_vain(void *context) {
    lock_as_other(context, ZB_ECONFLICT);
}

static void get_the_lock(void *context) {
    lock_as_other(context, ZB_OK);
}

/* A lock file of another user that a kill left between making it and giving it its rights. */
static void left_files_of_others(void **state) {
    fixture *f = *state;
    if (geteuid() != 0) {
        print_message("two users can be tried by root only\n");
        skip();
    }
    char path[600];
    snprintf(path, sizeof path, "%s/.k.zb-lock", f->root);
    assert_int_equal(chown(f->root, 0, 4711), 0);
    assert_int_equal(chmod(f->root, 02775), 0);
    check_write_file(f->root, ".k.zb-lock", "", 0);
    /* It may not even be read: no other user can tell whether it is held. */
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(check_in_child(wait_in_vain, f, NULL, NULL));
    assert_int_equal(chmod(path, 0644), 0);
    assert_true(check_in_child(get_the_lock, f, NULL, NULL));
    assert_int_equal(fixture_files(f->root, NULL), 0);
}

/* Asks for the lock that the parent has by then: the exit code tells of a conflict. */
static void ask_for_lock(zb_store *store, int told) {
    char byte;
    zb_lock *lock;
    const bool good = read(told, &byte, 1) == 1;
    _exit(good && zb_store_lock(store, "zarr.json", &lock, NULL) == ZB_ECONFLICT ? 0 : 1);
}

/* A store keeps the file of the hierarchy's lock open between two holders. A child inherits the
   description, which excludes nobody from itself. */
static void children_have_no_part_in_the_lock(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_lock *lock;
    int told[2], status;
    ASSERT_OK(zb_store_lock(f->store, "zarr.json", &lock, &err), err);
    zb_store_unlock(lock);
    assert_int_equal(pipe(told), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        ask_for_lock(f->store, told[0]);
    ASSERT_OK(zb_store_lock(f->store, "zarr.json", &lock, &err), err);
    assert_int_equal(write(told[1], "", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    zb_store_unlock(lock);
    close(told[0]);
    close(told[1]);
}

/* A child that lives on has its copy of the description; on a network's file system nothing stays
   open that the next holder could use. */
static void a_child_that_lives_on_keeps_no_lock(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_lock *lock;
    int status;
    for (int is_remote = 0; is_remote < 2; is_remote++) {
        ((zb__fs *)f->store)->is_remote = is_remote;
        ASSERT_OK(zb_store_lock(f->store, "zarr.json", &lock, &err), err);
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        while (child == 0)
            pause();
        zb_store_unlock(lock);
        enum zb_code code = zb_store_lock(f->store, "zarr.json", &lock, &err);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        ASSERT_OK(code, err);
        zb_store_unlock(lock);
    }
}

/* The file that is there is removed, whether the one that stayed open is that one or not. */
static void no_file_of_the_lock_stays(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_lock *lock;
    char path[600];
    snprintf(path, sizeof path, "%s/.zarr.json.zb-lock", f->root);
    ASSERT_OK(zb_store_lock(f->store, "zarr.json", &lock, &err), err);
    zb_store_unlock(lock);
    assert_int_equal(unlink(path), 0);
    check_write_file(f->root, ".zarr.json.zb-lock", "", 0);
    ASSERT_OK(zb_store_flush(f->store, &err), err);
    assert_int_equal(fixture_files(f->root, NULL), 0);
}

/* What another program has removed or replaced is nobody's lock. */
static void a_file_that_was_left_may_go(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_lock *lock, *other;
    char path[600];
    zb_store *second = open_level(f, "");
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(zb_store_lock(f->store, "zarr.json", &lock, &err), err);
        zb_store_unlock(lock);
        snprintf(path, sizeof path, "%s/.zarr.json.zb-lock", f->root);
        assert_int_equal(unlink(path), 0);
        if (i == 1)
            check_write_file(f->root, ".zarr.json.zb-lock", "", 0);
        ASSERT_OK(zb_store_lock(f->store, "zarr.json", &lock, &err), err);
        ASSERT_FAILS(zb_store_lock(second, "zarr.json", &other, &err), ZB_ECONFLICT, err, "locked");
        zb_store_unlock(lock);
    }
    zb_store_release(second);
}

int main(void) {
    setenv("ZARRBRIDGE_LOCK_SECONDS", "1", 1);
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(waiting_has_an_end),
        FIXTURE_TEST(children_have_no_part_in_the_lock),
        FIXTURE_TEST(a_file_that_was_left_may_go),
        FIXTURE_TEST(a_hierarchy_has_one_lock),
        FIXTURE_TEST(left_files_of_others),
        FIXTURE_TEST(no_file_of_the_lock_stays),
        FIXTURE_TEST(a_child_that_lives_on_keeps_no_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
