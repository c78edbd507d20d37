/* SPDX-License-Identifier: MIT */
/* Trees that are erased under the hierarchy's lock: they are out of sight at once, and taken apart
   when the lock has gone, by one process at a time, or by the next one when that was killed. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/calls.h"
#include "store/fixture.h"
#include "store/fs_path.h"

enum { CHUNKS = 20 };

static void make_tree(zb_store *store, const char *root) {
    char key[200];
    for (int i = 0; i < CHUNKS; i++) {
        snprintf(key, sizeof key, "%s/a/c/%d", root, i);
        fixture_must_put(store, key, "chunk", PUT_LATER);
    }
    snprintf(key, sizeof key, "%s/zarr.json", root);
    fixture_must_put(store, key, "{}", PUT_LATER);
}

static zb_lock *lock_hierarchy(zb_store *store) {
    zb_error err;
    zb_lock *lock;
    ASSERT_OK(zb_store_lock(store, "zarr.json", &lock, &err), err);
    return lock;
}

static void erase(zb_store *store, const char *prefix) {
    zb_error err;
    ASSERT_OK(zb_store_erase_below(store, prefix, &err), err);
}

static void finish(zb_store *store) {
    zb_error err;
    ASSERT_OK(zb_store_sweep(store, "", ZB_SWEEP_ERASED, NULL, NULL, &err), err);
}

static void set_up_trees(zb_store *store) {
    make_tree(store, "g/x");
    make_tree(store, "g/y");
    make_tree(store, "h");
    fixture_must_put(store, "g/zarr.json", "{}", PUT_LATER);
}

/* Files that are there but the lock's. */
static int files_in(const fixture *f) {
    char lock[PATH_MAX];
    snprintf(lock, sizeof lock, "%s/.zarr.json.zb-lock", f->root);
    return fixture_files(f->root, NULL) - (access(lock, F_OK) == 0);
}

static int count(void *context, const zb_list_entry *entry) {
    (void)entry;
    ++*(int *)context;
    return 0;
}

static int left_overs(zb_store *store, bool remove) {
    zb_error err;
    int found = 0;
    ASSERT_OK(
        zb_store_sweep(store, "g", remove ? ZB_SWEEP_REMOVE : ZB_SWEEP_TELL, count, &found, &err),
        err);
    return found;
}

static void trees_wait_for_the_lock(void **state) {
    const fixture *f = *state;
    set_up_trees(f->store);
    const int descriptors = check_descriptors();
    zb_lock *lock = lock_hierarchy(f->store);
    erase(f->store, "g/x");
    erase(f->store, "g/y");
    erase(f->store, "h"); /* from another directory */
    assert_holds(f->store, "g/x/a/c/0", NULL);
    assert_holds(f->store, "h/zarr.json", NULL);
    /* One of them has lost its document, which no other library may find. */
    assert_int_equal(files_in(f), 3 * CHUNKS + 2 + 1);
    zb_store_unlock(lock);
    assert_int_equal(files_in(f), 3 * CHUNKS + 2 + 1);
    finish(f->store);
    assert_int_equal(files_in(f), 1);
    finish(f->store); /* nothing is left to do */
    make_tree(f->store, "h");
    erase(f->store, "h"); /* nobody holds the lock */
    assert_int_equal(files_in(f), 1);
    zb_hierarchy_release(f->hierarchy); /* with the descriptor of the lock's file */
    assert_in_range(check_descriptors(), 0, descriptors);
    fixture_open(*state);
}

/* Neither another writer, which may hold the lock itself, nor a check of the store touches what is
   waiting, and neither does anything in a child. */
static void others_leave_trees_alone(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_store *other;
    set_up_trees(f->store);
    zb_lock *lock = lock_hierarchy(f->store);
    erase(f->store, "g/x");
    zb_store_unlock(lock);
    const int files = files_in(f);
    ASSERT_OK(zb_store_open_fs(f->root, &other, &err), err);
    lock = lock_hierarchy(other);
    fixture_must_put(other, "g/zarr.json", "{}", PUT_LATER);
    zb_store_unlock(lock);
    finish(other);
    assert_int_equal(left_overs(other, false), 0);
    assert_int_equal(left_overs(other, true), 0);
    zb_store_release(other);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        CHILD_CHECK(zb_store_sweep(f->store, "", ZB_SWEEP_ERASED, NULL, NULL, &err) == ZB_OK, "%s",
                    err.message);
        zb_hierarchy_release(f->hierarchy);
        _Exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(files_in(f), files);
    finish(f->store);
    assert_int_equal(files_in(f), CHUNKS + 1 + CHUNKS + 1 + 1);
}

static void erase_and_die(const fixture *f) {
    zb_error err;
    zb_lock *lock;
    CHILD_CHECK(zb_store_lock(f->store, "zarr.json", &lock, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_store_erase_below(f->store, "g/x", &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_store_erase_below(f->store, "g/y", &err) == ZB_OK, "%s", err.message);
    kill(getpid(), SIGKILL);
}

/* What a killed process has left waits as well where its finder holds the lock. */
static void the_next_writer_goes_on(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_store *next;
    set_up_trees(f->store);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        erase_and_die(f);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    const int files = files_in(f);
    assert_int_equal(files, 3 * CHUNKS + 1 + 1 + 1);
    ASSERT_OK(zb_store_open_fs(f->root, &next, &err), err);
    assert_int_equal(left_overs(next, false), 1);
    zb_lock *lock = lock_hierarchy(next);
    fixture_must_put(next, "g/zarr.json", "{}", PUT_LATER);
    assert_int_equal(files_in(f), files);
    zb_store_unlock(lock);
    finish(next);
    assert_int_equal(files_in(f), CHUNKS + 1 + 1);
    zb_store_release(next);
}

/* Trees that cannot wait are taken apart at once, and those that cannot be moved stay as they
   are. */
static void every_tree_goes_or_stays_whole(void **state) {
    const fixture *f = *state;
    zb_error err;
    set_up_trees(f->store);
    const int files = files_in(f);
    zb_lock *lock = lock_hierarchy(f->store);
    calls_fail(CALL_RENAMEAT, 1, EBUSY); /* as that of a mount point */
    ASSERT_FAILS(zb_store_erase_below(f->store, "g/x", &err), ZB_EIO, err, "g/x");
    calls_fail(CALL_RENAMEAT, 1, EXDEV);
    ASSERT_FAILS(zb_store_erase_below(f->store, "g/x", &err), ZB_EUNSUPPORTED, err, "overlay");
    assert_int_equal(files_in(f), files);
    assert_holds(f->store, "g/x/a/c/0", "chunk");
    erase(f->store, "g/x");
    calls_fail(CALL_RENAMEAT, 1, EXDEV); /* the first tree is on another file system */
    erase(f->store, "g/y");
    assert_true(calls_failed());
    assert_int_equal(files_in(f), CHUNKS + CHUNKS + 1 + 1);
    zb_store_unlock(lock);
    finish(f->store);
    lock = lock_hierarchy(f->store);
    calls_fail(CALL_OPENAT, 1, EMFILE);
    erase(f->store, "h");
    assert_true(calls_failed());
    assert_int_equal(files_in(f), 1);
    fixture_must_put(f->store, "h/zarr.json", "{}", PUT_LATER);
    fixture_link(f, "../h", "g/link");
    erase(f->store, "g/link");
    erase(f->store, "g"); /* the directory of a tree that waits */
    erase(f->store, "h");
    zb_store_unlock(lock);
    finish(f->store);
    assert_int_equal(files_in(f), 0);
}

/* The group that holds the tree, and the tree itself, may have gone meanwhile. */
static void trees_are_found_where_they_are(void **state) {
    const fixture *f = *state;
    zb_error err;
    set_up_trees(f->store);
    zb_lock *lock = lock_hierarchy(f->store);
    erase(f->store, "g/x");
    ASSERT_OK(zb_store_rename(f->store, "g", "k", &err), err);
    zb_store_unlock(lock);
    finish(f->store);
    assert_int_equal(files_in(f), 2 * (CHUNKS + 1) + 1);
    lock = lock_hierarchy(f->store);
    erase(f->store, "k/y");
    erase(f->store, "k"); /* which cannot be moved into a tree that it holds, and waits with it */
    assert_int_equal(files_in(f), 2 * CHUNKS + 1);
    zb_store_unlock(lock);
    finish(f->store);
    assert_int_equal(files_in(f), CHUNKS + 1);
}

static void failures_are_told(void **state) {
    const fixture *f = *state;
    zb_error err;
    set_up_trees(f->store);
    const int descriptors = check_descriptors();
    zb_lock *lock = lock_hierarchy(f->store);
    erase(f->store, "g/x");
    zb_store_unlock(lock);
    calls_fail(CALL_UNLINKAT, 10, EACCES);
    ASSERT_FAILS(zb_store_sweep(f->store, "", ZB_SWEEP_ERASED, NULL, NULL, &err), ZB_EIO, err,
                 "repair");
    assert_non_null(strstr(err.message, "'g/x' is deleted"));
    assert_non_null(strstr(err.message, "'g/.x."));
    assert_true(calls_failed());
    assert_in_range(check_descriptors(), 0, descriptors + 1); /* that of the lock's file */
    assert_holds(f->store, "g/x/zarr.json", NULL);
    int found = 0;
    calls_fail(CALL_UNLINKAT, 8, EACCES);
    ASSERT_FAILS(zb_store_sweep(f->store, "g", ZB_SWEEP_REMOVE, count, &found, &err), ZB_EIO, err,
                 "cannot be removed");
    assert_true(calls_failed());
    assert_int_equal(found, 0);
    assert_int_equal(left_overs(f->store, true), 1);
    assert_int_equal(files_in(f), 2 * (CHUNKS + 1) + 1);
}

/* A directory that holds files of ours alone gives way to a tree that is moved there. */
static void erased_trees_are_nothing_to_a_move(void **state) {
    const fixture *f = *state;
    zb_error err;
    set_up_trees(f->store);
    fixture_must_put(f->store, "t/x/zarr.json", "{}", PUT_LATER);
    zb_lock *lock = lock_hierarchy(f->store);
    erase(f->store, "t/x");
    ASSERT_OK(zb_store_rename(f->store, "h", "t", &err), err);
    zb_store_unlock(lock);
    finish(f->store);
    assert_holds(f->store, "t/zarr.json", "{}");
    assert_holds(f->store, "h/zarr.json", NULL);
}

/* What another user owns stays where it is: out of sight it would stay for ever. */
static void what_cannot_be_emptied_stays(void **state) {
    const fixture *f = *state;
    zb_error err;
    char path[PATH_MAX];
    set_up_trees(f->store);
    snprintf(path, sizeof path, "%s/g", f->root);
    assert_int_equal(chmod(f->root, 0777), 0);
    assert_int_equal(chmod(path, 0777), 0);
    snprintf(path, sizeof path, "%s/g/x", f->root);
    assert_int_equal(chmod(path, 0555), 0);
    const bool is_root = geteuid() == 0;
    if (is_root)
        assert_int_equal(seteuid(65534), 0);
    const enum zb_code code = zb_store_erase_below(f->store, "g/x", &err);
    if (is_root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(code, ZB_EIO);
    assert_holds(f->store, "g/x/a/c/0", "chunk");
}

static void *erase_in_a_thread(void *context) {
    zb_store *store = context;
    zb_lock *lock = lock_hierarchy(store);
    erase(store, "g/y");
    zb_store_unlock(lock);
    finish(store);
    return NULL;
}

/* Who has deleted a node waits for its own files, and for nobody else's. */
static void each_thread_takes_apart_its_own(void **state) {
    const fixture *f = *state;
    pthread_t thread;
    set_up_trees(f->store);
    zb_lock *lock = lock_hierarchy(f->store);
    erase(f->store, "g/x");
    zb_store_unlock(lock);
    assert_int_equal(pthread_create(&thread, NULL, erase_in_a_thread, f->store), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(files_in(f), CHUNKS + CHUNKS + 1 + 1);
    finish(f->store);
    assert_int_equal(files_in(f), CHUNKS + 1 + 1);
}

static int alive[2]; /* a pipe: who reads from it lives until its other end is closed */

/* Leaves a child that lives on, and is killed when that has begun. */
static void fork_and_die(void) {
    int begun[2];
    char byte = 0;
    CHILD_CHECK(pipe(begun) == 0, "no pipe");
    if (fork() == 0) {
        close(alive[1]);
        CHILD_CHECK(write(begun[1], &byte, 1) == 1, "no write");
        _Exit(read(alive[0], &byte, 1) != 0);
    }
    CHILD_CHECK(read(begun[0], &byte, 1) == 1, "no read");
    kill(getpid(), SIGKILL);
}

static void finish_half(const fixture *f) {
    zb_error err;
    zb_lock *lock;
    CHILD_CHECK(zb_store_lock(f->store, "zarr.json", &lock, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_store_erase_below(f->store, "g/x", &err) == ZB_OK, "%s", err.message);
    zb_store_unlock(lock);
    calls_interrupt(CALL_UNLINKAT, 8, fork_and_die);
    (void)zb_store_sweep(f->store, "", ZB_SWEEP_ERASED, NULL, NULL, &err);
    _Exit(1);
}

/* A child that was forked while its parent took a tree apart has no part in that. */
static void children_hold_no_trees(void **state) {
    const fixture *f = *state;
    int status;
    set_up_trees(f->store);
    assert_int_equal(pipe(alive), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        finish_half(f);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(left_overs(f->store, false), 1);
    assert_int_equal(left_overs(f->store, true), 1);
    close(alive[1]);
    close(alive[0]);
    assert_int_equal(left_overs(f->store, false), 0);
}

/* What killed processes have left does not keep the directory of a store that is deleted; files of
   the user do. */
static void directories_go_with_left_overs(void **state) {
    const fixture *f = *state;
    char path[PATH_MAX];
    zb_error err;
    int status;
    set_up_trees(f->store);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        erase_and_die(f);
    assert_int_equal(waitpid(child, &status, 0), child);
    check_write_file(f->root, "notes.txt", "mine", 4);
    snprintf(path, sizeof path, "%s/g", f->root);
    assert_false(zb_store_remove_directory(path)); /* it has nodes */
    ASSERT_OK(zb_store_erase(f->store, "g/zarr.json", &err), err);
    assert_int_equal(left_overs(f->store, false), 1);
    assert_true(zb_store_remove_directory(path));
    assert_int_equal(access(path, F_OK), -1);
    assert_false(zb_store_remove_directory(f->root));
    assert_int_equal(access(f->root, F_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(trees_wait_for_the_lock),
        FIXTURE_TEST(others_leave_trees_alone),
        FIXTURE_TEST(the_next_writer_goes_on),
        FIXTURE_TEST(every_tree_goes_or_stays_whole),
        FIXTURE_TEST(trees_are_found_where_they_are),
        FIXTURE_TEST(failures_are_told),
        FIXTURE_TEST(erased_trees_are_nothing_to_a_move),
        FIXTURE_TEST(what_cannot_be_emptied_stays),
        FIXTURE_TEST(each_thread_takes_apart_its_own),
        FIXTURE_TEST(children_hold_no_trees),
        FIXTURE_TEST(directories_go_with_left_overs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
