/* SPDX-License-Identifier: MIT */
/* Locks of keys: one holder at a time among threads and processes, none left behind by a killed
   process. */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/calls.h"
#include "store/fixture.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/store.h"

/* Adds one to the number that the key holds as text, `times` times, each under the lock. */
static bool add(zb_store *store, const char *key, int times, enum fixture_way way) {
    for (int i = 0; i < times; i++) {
        zb_error err = {.code = ZB_OK};
        zb_lock *lock;
        char *data = NULL, text[20];
        if (zb_store_lock(store, key, &lock, &err) != ZB_OK ||
            (fixture_get(store, key, &data, &err) != ZB_OK && err.code != ZB_ENOTFOUND))
            return false;
        snprintf(text, sizeof text, "%d", (data ? atoi(data) : 0) + 1);
        free(data);
        enum zb_code code = fixture_put(store, key, text, way, &err);
        zb_store_unlock(lock);
        if (code != ZB_OK) {
            fprintf(stderr, "%s\n", err.message);
            return false;
        }
    }
    return true;
}

static void *add_in_thread(void *store) {
    return add(store, "a/k", 500, PUT_LATER) ? NULL : store;
}

static void add_with_threads(zb_store *store, zb_store *other) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_in_thread, i % 2 ? store : other),
                         0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

static void threads_take_turns(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_store *other; /* two stores on one directory are as two programs */
    ASSERT_OK(zb_store_open_fs(f->root, &other, &err), err);
    add_with_threads(f->store, other);
    assert_holds(f->store, "a/k", "2000");
    zb_store_release(other);
    int ours;
    assert_int_equal(fixture_files(f->root, &ours), 1);
    assert_int_equal(ours, 0);
}

static pid_t start(void (*fn)(const fixture *), const fixture *f) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fn(f);
        _exit(0);
    }
    return child;
}

static int end_of(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    return status;
}

static void add_in_process(const fixture *f) {
    zb_store *store;
    zb_error err;
    /* Waiting for a flush must not hide the object from the next holder. */
    CHILD_CHECK(zb_store_open_fs(f->root, &store, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(add(store, "a/k", 100, PUT_HELD), "add");
    CHILD_CHECK(zb_store_flush(store, &err) == ZB_OK, "%s", err.message);
    zb_store_release(store);
}

static void processes_take_turns(void **state) {
    fixture *f = *state;
    pid_t children[6];
    for (int i = 0; i < 6; i++)
        children[i] = start(add_in_process, f);
    for (int i = 0; i < 6; i++)
        assert_int_equal(end_of(children[i]), 0);
    assert_holds(f->store, "a/k", "600");
    int ours;
    assert_int_equal(fixture_files(f->root, &ours), 1);
    assert_int_equal(ours, 0);
}

static void hold_until_killed(const fixture *f) {
    zb_lock *lock;
    zb_error err;
    CHILD_CHECK(zb_store_lock(f->store, "k", &lock, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(fixture_put(f->store, "held", "1", PUT_LATER, &err) == ZB_OK, "put");
    pause();
}

static void killed_holders_leave_no_lock(void **state) {
    fixture *f = *state;
    zb_error err;
    for (int i = 0; i < 20; i++) {
        ASSERT_OK(zb_store_erase(f->store, "held", &err), err);
        pid_t child = start(hold_until_killed, f);
        zb_object_info info;
        alarm(300);
        while (zb_store_stat(f->store, "held", &info, &err) != ZB_OK)
            usleep(500);
        int ours;
        fixture_files(f->root, &ours);
        assert_int_equal(ours, 1); /* the lock's file */
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_true(WIFSIGNALED(end_of(child)));
        assert_true(add(f->store, "k", 1, PUT_NOW)); /* does not wait for the dead */
        alarm(0);
        fixture_files(f->root, &ours);
        assert_int_equal(ours, 0); /* and tidies up */
    }
    assert_holds(f->store, "k", "20");
}

static void locks_are_apart(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_lock *a, *b, *c;
    char first[300], second[300];
    memset(first, 'n', sizeof first);
    first[250] = '\0';
    memcpy(second, first, sizeof first);
    second[249] = 'm'; /* too long for names of ours, which are made of a hash then */
    int descriptors = check_descriptors();
    ASSERT_OK(zb_store_lock(f->store, first, &a, &err), err);
    ASSERT_OK(zb_store_lock(f->store, second, &b, &err), err);
    ASSERT_OK(zb_store_lock(f->store, "deep/k", &c, &err), err);
    /* The node is erased and made anew under the lock: it is not the new one's. */
    ASSERT_OK(zb_store_erase_below(f->store, "deep", &err), err);
    zb_lock *again;
    ASSERT_OK(zb_store_lock(f->store, "deep/k", &again, &err), err);
    zb_store_unlock(c);
    int ours;
    fixture_files(f->root, &ours);
    assert_int_equal(ours, 3); /* that of the new one is still there */
    zb_store_unlock(again);
    zb_store_unlock(b);
    zb_store_unlock(a);
    assert_int_equal(check_descriptors(), descriptors);
    assert_int_equal(fixture_files(f->root, &ours), 0);
}

/* The caller learns whether locks can never be had here, or something failed this once. */
static void what_cannot_be_locked_says_so(void **state) {
    fixture *f = *state;
    static const struct {
        enum call call;
        int error;
        enum zb_code code;
    } rows[] = {{CALL_FCNTL, ENOLCK, ZB_EUNSUPPORTED}, {CALL_FCNTL, EOPNOTSUPP, ZB_EUNSUPPORTED},
                {CALL_FCNTL, ENOSYS, ZB_EUNSUPPORTED}, {CALL_FCNTL, EINVAL, ZB_EUNSUPPORTED},
                {CALL_OPENAT, EROFS, ZB_EUNSUPPORTED}, {CALL_FCNTL, EIO, ZB_EIO},
                {CALL_OPENAT, EMFILE, ZB_EIO},         {CALL_FCNTL, 524, ZB_EUNSUPPORTED}};
    int descriptors = check_descriptors();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_error err;
        zb_lock *lock = NULL;
        calls_fail(rows[i].call, 1, rows[i].error);
        ASSERT_FAILS(zb_store_lock(f->store, "k", &lock, &err), rows[i].code, err, "'k'");
        assert_int_equal(err.sys_errno, rows[i].error);
        assert_null(lock);
        assert_int_equal(check_descriptors(), descriptors);
        calls_fail(CALL_FCNTL, 1, EINTR); /* a signal does not end the wait */
        ASSERT_OK(zb_store_lock(f->store, "k", &lock, &err), err);
        zb_store_unlock(lock);
    }
    int ours;
    assert_int_equal(fixture_files(f->root, &ours), 0);
}

/* ---- Rights ---- */

static mode_t mode_of(const fixture *f, const char *name) {
    char path[600];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", f->root, name);
    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* Every user that may write in the directory may wait for the lock. */
static void lock_files_have_the_rights_of_their_directory(void **state) {
    const fixture *f = *state;
    static const mode_t rows[][2] = {{0700, 0600}, {0755, 0644}, {0775, 0664}, {0777, 0666}};
    zb_error err;
    mode_t mask = umask(077);
    for (int i = 0; i < 4; i++) {
        zb_lock *lock;
        assert_int_equal(chmod(f->root, rows[i][0]), 0);
        ASSERT_OK(zb_store_lock(f->store, "k", &lock, &err), err);
        assert_int_equal(mode_of(f, ".k.zb-lock"), rows[i][1]);
        zb_store_unlock(lock);
    }
    umask(mask);
    assert_int_equal(chmod(f->root, 0755), 0);
}

/* Becomes another user of the same group, as far as this one may. */
static bool become_other(const fixture *f) {
    (void)f;
    return setgroups(0, NULL) == 0 && setgid(4711) == 0 && setuid(4712) == 0;
}

static void add_as_other(const fixture *f) {
    CHILD_CHECK(become_other(f), "setuid");
    umask(022);
    zb_store *store;
    zb_error err;
    CHILD_CHECK(zb_store_open_fs(f->root, &store, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(add(store, "k", 200, PUT_LATER), "other");
}

static void add_as_owner(const fixture *f) {
    umask(022);
    CHILD_CHECK(add(f->store, "k", 200, PUT_LATER), "owner");
}

/* Two people of one group, each with a umask that lets the other read only. */
static void two_users_take_turns(void **state) {
    fixture *f = *state;
    if (geteuid() != 0) {
        print_message("two users can be tried by root only\n");
        skip();
    }
    assert_int_equal(chown(f->root, 0, 4711), 0);
    assert_int_equal(chmod(f->root, 02775), 0);
    pid_t owner = start(add_as_owner, f), other = start(add_as_other, f);
    int status = end_of(owner);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    status = end_of(other);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_holds(f->store, "k", "400");
    int ours;
    fixture_files(f->root, &ours);
    assert_int_equal(ours, 0);
}

/* ---- Promises ---- */

static void lock_nothing(void *context) {
    const char *root = context;
    zb_error err = {.code = ZB_OK};
    zb_store *store;
    zb_lock *first, *second;
    calls_refuse_locks(ENOLCK);
    CHILD_CHECK(zb_store_open_fs(root, &store, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_store_lock(store, "k", &first, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_store_lock(store, "k", &second, &err) == ZB_OK, "%s", err.message);
    int ours;
    fixture_files(root, &ours);
    CHILD_CHECK(ours == 0, "%d files", ours);
    zb_store_unlock(first);
    zb_store_unlock(second);
    zb_store_release(store);
}

/* The caller promises to be alone, where the file system gives no locks. */
static void a_promise_needs_no_locks(void **state) {
    (void)state;
    char *root = check_new_directory();
    assert_true(check_in_child(lock_nothing, root, "ZARRBRIDGE_LOCKS", "none"));
    check_remove_directory(root);
}

static void documents_need_a_lock(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node, *changed;
    ASSERT_OK(zb_group_create(f->hierarchy, "", NULL, &node, &err), err);
    calls_refuse_locks(ENOLCK);
    ASSERT_FAILS(zb_node_set_attribute(node, "k", "1", &changed, &err), ZB_EUNSUPPORTED, err,
                 "ZARRBRIDGE_LOCKS=none");
    ASSERT_FAILS(zb_group_create(f->hierarchy, "g", NULL, &changed, &err), ZB_EUNSUPPORTED, err,
                 "cannot be changed safely");
    calls_refuse_locks(0);
    ASSERT_OK(zb_node_set_attribute(node, "k", "1", &changed, &err), err);
    zb_node_release(changed);
    zb_node_release(node);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_promise_needs_no_locks), /* before this process reads the environment */
        FIXTURE_TEST(threads_take_turns),
        FIXTURE_TEST(processes_take_turns),
        FIXTURE_TEST(killed_holders_leave_no_lock),
        FIXTURE_TEST(locks_are_apart),
        FIXTURE_TEST(what_cannot_be_locked_says_so),
        FIXTURE_TEST(lock_files_have_the_rights_of_their_directory),
        FIXTURE_TEST(two_users_take_turns),
        FIXTURE_TEST(documents_need_a_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
