/* SPDX-License-Identifier: MIT */
/*
 * Putting and erasing in the directory store: the old object or the new one, whole, after every
 * failure and for every reader; nothing outside the root; nothing left over.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/calls.h"
#include "store/fixture.h"
#include "store/store.h"
#include "zarrbridge/sys/store.h"

static void assert_clean(const fixture *f, int files) {
    int ours;
    assert_int_equal(fixture_files(f->root, &ours), files);
    assert_int_equal(ours, 0);
}

static void puts_and_replaces(void **state) {
    fixture *f = *state;
    static const enum fixture_way all[] = {PUT_LATER, PUT_WAITS, PUT_NOW};
    for (int i = 0; i < 3; i++) {
        fixture_must_put(f->store, "zarr.json", "old", all[i]);
        assert_holds(f->store, "zarr.json", "old");
        fixture_must_put(f->store, "zarr.json", "newer", all[i]);
        fixture_must_put(f->store, "a/c/0/1", "deep", all[i]);
        fixture_must_put(f->store, "empty", "", all[i]);
        zb_error err;
        ASSERT_OK(zb_store_flush(f->store, &err), err);
        assert_holds(f->store, "zarr.json", "newer");
        assert_holds(f->store, "a/c/0/1", "deep");
        assert_holds(f->store, "empty", "");
        assert_clean(f, 3);
    }
    struct stat st;
    char path[512];
    snprintf(path, sizeof path, "%s/a/c/0/1", f->root);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask); /* as any program makes files */
}

/* A first object comes where nothing is, and touches nothing else. */
static void first_objects_find_nothing(void **state) {
    fixture *f = *state;
    static const char *const taken[] = {"a/zarr.json", "empty/zarr.json", "file/zarr.json",
                                        "dangling/zarr.json", "zarr.json"};
    const zb_part part = {.data = "new", .size = 3};
    zb_put put = {.key = "g/zarr.json", .parts = &part, .count = 1, .expected = ZB_EXPECT_NOTHING};
    char path[512];
    zb_error err;
    ASSERT_OK(zb_store_put_as(f->store, &put, &err), err);
    put.key = "g/below/zarr.json";
    ASSERT_OK(zb_store_put_as(f->store, &put, &err), err);
    assert_holds(f->store, "g/below/zarr.json", "new");
    fixture_must_put(f->store, "a/c/0", "old", PUT_NOW);
    fixture_must_put(f->store, "file", "old", PUT_NOW);
    snprintf(path, sizeof path, "%s/empty", f->root);
    assert_int_equal(mkdir(path, 0777), 0);
    fixture_link(f, "nowhere", "dangling");
    const uint64_t changes = zb_store_changes(f->store);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        put.key = taken[i];
        ASSERT_FAILS(zb_store_put_as(f->store, &put, &err), ZB_ECONFLICT, err, "something");
        assert_false(fixture_get(f->store, taken[i], &(char *){NULL}, &err) == ZB_OK);
    }
    assert_int_equal(zb_store_changes(f->store), changes);
    assert_clean(f, 5);
}

/* Reads the whole object and compares it with the parts. */
static void assert_is(zb_store *store, const char *key, const zb_part *parts, size_t count) {
    zb_error err;
    char *data;
    size_t size, at = 0;
    ASSERT_OK(zb_store_get(store, key, 1 << 30, "limit", &data, &size, NULL, &err), err);
    for (size_t i = 0; i < count; at += parts[i++].size) {
        assert_true(at + parts[i].size <= size);
        assert_true(parts[i].size == 0 || memcmp(data + at, parts[i].data, parts[i].size) == 0);
    }
    assert_int_equal(at, size);
    free(data);
}

static void joins_parts(void **state) {
    fixture *f = *state;
    zb_error err;
    enum { COUNT = 3000, SIZE = 100000 };
    check_random random = check_random_new();
    char *bytes = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)check_random_next(&random);
    zb_part parts[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        size_t size = check_random_in(&random, 0, 2) ? (size_t)check_random_in(&random, 0, 90) : 0;
        parts[i] = (zb_part){size ? bytes + check_random_in(&random, 0, SIZE - 90) : NULL, size};
    }
    ASSERT_OK(zb_store_put(f->store, "k", parts, COUNT, ZB_SYNC_NONE, &err), err);
    assert_is(f->store, "k", parts, COUNT);
    for (unsigned long most = 1; most <= 1000; most *= 10) { /* short and interrupted writes */
        size_t count = most == 1 ? 50 : COUNT;
        calls_write_at_most(most);
        enum zb_code code = zb_store_put(f->store, "k", parts, count, ZB_SYNC_NONE, &err);
        calls_write_at_most(0);
        ASSERT_OK(code, err);
        assert_is(f->store, "k", parts, count);
    }
    ASSERT_OK(zb_store_put(f->store, "k", NULL, 0, ZB_SYNC_NONE, &err), err);
    assert_is(f->store, "k", NULL, 0);
    for (size_t i = 0; i < COUNT; i++)
        parts[i] = (zb_part){bytes, SIZE}; /* 300 MB */
    ASSERT_OK(zb_store_put(f->store, "k", parts, COUNT, ZB_SYNC_NONE, &err), err);
    assert_is(f->store, "k", parts, COUNT);
    free(bytes);
    assert_clean(f, 1);
}

/* ---- Allowed keys ---- */

/* Rewriting an object neither opens it to others nor closes it to the group. */
static void replaced_objects_keep_their_rights(void **state) {
    fixture *f = *state;
    static const mode_t modes[] = {0600, 0640, 0664, 0666, 0444};
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/k", f->root);
    fixture_must_put(f->store, "k", "1", PUT_LATER);
    mode_t mask = umask(027);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        if (geteuid() == 0)
            assert_int_equal(chown(path, 4712, 4711), 0);
        fixture_must_put(f->store, "k", "2", i % 2 ? PUT_NOW : PUT_WAITS);
        zb_error err;
        ASSERT_OK(zb_store_flush(f->store, &err), err);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, modes[i]);
        if (geteuid() == 0)
            assert_true(st.st_uid == 4712 && st.st_gid == 4711);
    }
    umask(mask);
}

static void hostile_keys_are_refused(void **state) {
    fixture *f = *state;
    zb_error err;
    static const char *const keys[] = {
        "",   "/",  ".",         "..",         "../x",          "a/../b",        "a//b",
        "/a", "a/", ".a.zb-tmp", ".a.zb-lock", "a/.b.zb-tmp/c", ".zb-tmp.zb-tmp"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        zb_lock *lock = NULL;
        ASSERT_FAILS(fixture_put(f->store, keys[i], "x", PUT_LATER, &err), ZB_EINVAL, err, keys[i]);
        ASSERT_FAILS(zb_store_erase(f->store, keys[i], &err), ZB_EINVAL, err, keys[i]);
        ASSERT_FAILS(zb_store_lock(f->store, keys[i], &lock, &err), ZB_EINVAL, err, keys[i]);
        assert_null(lock);
    }
    char name[300];
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    ASSERT_FAILS(fixture_put(f->store, name, "x", PUT_LATER, &err), ZB_EIO, err, "write");
    name[255] = '\0'; /* the longest name that there is: ours for it must not be longer */
    fixture_must_put(f->store, name, "long", PUT_NOW);
    assert_holds(f->store, name, "long");
    fixture_must_put(f->store, "\xff\n ", "odd", PUT_WAITS);
    ASSERT_OK(zb_store_flush(f->store, &err), err);
    assert_holds(f->store, "\xff\n ", "odd");
    assert_clean(f, 2);
}

static void links_lead_nowhere_outside(void **state) {
    fixture *f = *state;
    zb_error err;
    char target[512];
    check_write_file(f->outside, "victim", "untouched", 9);
    snprintf(target, sizeof target, "%s/victim", f->outside);
    fixture_link(f, target, "file");
    fixture_link(f, f->outside, "dir");
    fixture_link(f, "nothing", "dangling");
    ASSERT_FAILS(fixture_put(f->store, "dir/new", "x", PUT_LATER, &err), ZB_EINVAL, err,
                 "symbolic link");
    ASSERT_FAILS(fixture_put(f->store, "dir/a/b", "x", PUT_LATER, &err), ZB_EINVAL, err,
                 "symbolic link");
    ASSERT_FAILS(fixture_put(f->store, "dir/victim", "x", PUT_LATER, &err), ZB_EINVAL, err,
                 "symbolic link");
    ASSERT_FAILS(zb_store_erase(f->store, "dir/victim", &err), ZB_EINVAL, err, "symbolic link");
    ASSERT_FAILS(zb_store_erase_below(f->store, "dir", &err), ZB_EINVAL, err, "symbolic link");
    ASSERT_FAILS(fixture_put(f->store, "dangling/x", "x", PUT_LATER, &err), ZB_EIO, err,
                 "dangling");
    fixture_must_put(f->store, "file", "ours", PUT_LATER); /* replaces the link itself */
    assert_holds(f->store, "file", "ours");
    fixture_link(f, target, "again");
    ASSERT_OK(zb_store_erase(f->store, "again", &err), err);
    assert_int_equal(fixture_files(f->outside, NULL), 1);
    struct stat st;
    assert_int_equal(stat(target, &st), 0);
    assert_int_equal(st.st_size, 9);
    /* Links inside are followed, as in reading. */
    fixture_must_put(f->store, "real/x", "1", PUT_LATER);
    fixture_link(f, "real", "alias");
    fixture_must_put(f->store, "alias/y/z", "2", PUT_NOW);
    assert_holds(f->store, "real/y/z", "2");
}

static void what_is_in_the_way_stays(void **state) {
    fixture *f = *state;
    zb_error err;
    fixture_must_put(f->store, "a/b", "x", PUT_LATER);
    ASSERT_FAILS(fixture_put(f->store, "a", "y", PUT_LATER, &err), ZB_EIO, err, "'a'");
    assert_int_equal(err.sys_errno, EISDIR);
    ASSERT_FAILS(fixture_put(f->store, "a/b/c", "y", PUT_LATER, &err), ZB_EIO, err, "a/b/c");
    assert_int_equal(err.sys_errno, ENOTDIR);
    fixture_must_put(f->store, "a", "y", PUT_WAITS);
    ASSERT_FAILS(zb_store_flush(f->store, &err), ZB_EIO, err, "'a'");
    ASSERT_OK(zb_store_flush(f->store, &err), err);
    ASSERT_OK(zb_store_erase(f->store, "a", &err), err); /* not an object */
    ASSERT_OK(zb_store_erase(f->store, "a/b/c", &err), err);
    ASSERT_OK(zb_store_erase(f->store, "none/at/all", &err), err);
    assert_holds(f->store, "a/b", "x");
    ASSERT_OK(zb_store_erase(f->store, "a/b", &err), err);
    assert_holds(f->store, "a/b", NULL);
    assert_clean(f, 0);
}

static void names_of_new_stores_are_made_durable(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_store *store;
    char path[512];
    snprintf(path, sizeof path, "%s/new.zarr", f->root);
    assert_int_equal(mkdir(path, 0777), 0);
    ASSERT_OK(zb_store_open_fs(path, &store, &err), err);
    zb__fs_note_new(store);
    calls_clear();
    fixture_must_put(store, "k", "1", PUT_NOW);
    assert_string_equal(calls_log, "wsrdd"); /* the store's own name, too */
    zb_store_release(store);
}

/* ---- Errors ---- */

/* Each call fails once in each place: an error or the new object, never a mixture; and then it
 * works. */
static void any_call_may_fail(void **state) {
    fixture *f = *state;
    zb_error err;
    static const enum fixture_way all[] = {PUT_LATER, PUT_WAITS, PUT_NOW};
    int failures[CALL_KINDS] = {0}, rounds = 0;
    int descriptors = check_descriptors();
    for (enum call kind = 0; kind < CALL_KINDS; kind++) {
        for (int nth = 1, d = 0; d < 3; rounds++) {
            char key[40], *data = NULL;
            snprintf(key, sizeof key, "new%d/deep/k", rounds);
            fixture_must_put(f->store, "k", "old", PUT_LATER);
            ASSERT_OK(zb_store_flush(f->store, &err), err);
            calls_fail(kind, nth, kind == CALL_WRITEV ? ENOSPC : EIO);
            enum zb_code code = fixture_put(f->store, "k", "new", all[d], &err);
            if (code == ZB_OK)
                code = fixture_put(f->store, key, "new", all[d], &err);
            if (code == ZB_OK && all[d] == PUT_WAITS)
                code = zb_store_flush(f->store, &err);
            bool was_reached = calls_failed();
            calls_fail(kind, 0, 0);
            failures[kind] += code != ZB_OK;
            if (code != ZB_OK)
                assert_true(err.code == ZB_EIO && err.sys_errno != 0 && *err.message);
            ASSERT_OK(fixture_get(f->store, "k", &data, &err), err);
            assert_true(strcmp(data, "new") == 0 || (code != ZB_OK && strcmp(data, "old") == 0));
            free(data);
            fixture_must_put(f->store, "k", "newest", all[d]);
            fixture_must_put(f->store, key, "newest", all[d]);
            ASSERT_OK(zb_store_flush(f->store, &err), err);
            assert_holds(f->store, "k", "newest");
            assert_holds(f->store, key, "newest");
            if (was_reached)
                nth++;
            else
                nth = 1, d++;
        }
    }
    /* Only many directories are synced by syncing everything, and what cannot be unlinked is not
       the object; all other failures must have been noticed. */
    for (enum call kind = 0; kind < CALL_SYNCFS; kind++) {
        if (failures[kind] == 0)
            fail_msg("no failure of call kind %d was noticed", (int)kind);
    }
    assert_int_equal(check_descriptors(), descriptors);
    assert_clean(f, rounds + 1);
}

/* The store on a file system of 1 MB. */
static void fill_the_disk(zb_store *store) {
    zb_error err = {.code = ZB_OK};
    size_t size = 800 << 10;
    char *data = calloc(1, size), *now;
    zb_part part = {data, size}, more[] = {part, part};
    CHILD_CHECK(zb_store_put(store, "k", &part, 1, ZB_SYNC_ALWAYS, &err) == ZB_OK, "%s",
                err.message);
    for (int d = ZB_SYNC_NONE; d <= ZB_SYNC_ALWAYS; d++) {
        enum zb_code code = zb_store_put(store, "k", more, 2, (enum zb_sync)d, &err);
        CHILD_CHECK(code == ZB_EIO && (err.sys_errno == ENOSPC || err.sys_errno == EFBIG), "%d %s",
                    code, err.message);
        CHILD_CHECK(zb_store_get(store, "k", 1 << 30, "l", &now, &size, NULL, &err) == ZB_OK &&
                        size == part.size,
                    "%s", err.message);
        free(now);
    }
    CHILD_CHECK(fixture_put(store, "k", "small", PUT_NOW, &err) == ZB_OK, "%s", err.message);
    free(data);
}

static void on_a_small_disk(void *context) {
    const fixture *f = context;
    zb_store *store;
    zb_error err;
    CHILD_CHECK(mount("none", f->outside, "tmpfs", 0, "size=1200k") == 0, "errno %d", errno);
    CHILD_CHECK(zb_store_open_fs(f->outside, &store, &err) == ZB_OK, "%s", err.message);
    fill_the_disk(store);
    zb_store_release(store);
    CHILD_CHECK(umount(f->outside) == 0, "errno %d", errno);
}

static void with_a_file_size_limit(void *context) {
    const fixture *f = context;
    struct rlimit limit = {1000 << 10, 1000 << 10};
    signal(SIGXFSZ, SIG_IGN);
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "errno %d", errno);
    fill_the_disk(f->store);
}

static void full_disks_keep_the_old_object(void **state) {
    fixture *f = *state;
    if (mount("none", f->outside, "tmpfs", 0, "size=1200k") == 0) {
        assert_int_equal(umount(f->outside), 0);
        assert_true(check_in_child(on_a_small_disk, f, NULL, NULL));
    } else {
        print_message("no small file system: mounting is not allowed here (errno %d)\n", errno);
    }
    assert_true(check_in_child(with_a_file_size_limit, f, NULL, NULL));
    assert_clean(f, 1);
}

/* ---- Readers ---- */

enum { VERSION_SIZE = 60000 };

typedef struct race {
    zb_store *store;
    atomic_bool stop;
    atomic_int reads, wrong;
} race;

/* An object is right when all its bytes are equal; its size tells which version it must be. */
static void *read_versions(void *argument) {
    race *r = argument;
    while (!atomic_load(&r->stop)) {
        char *data;
        size_t size;
        zb_error err;
        if (zb_store_get(r->store, "k", 1 << 20, "limit", &data, &size, NULL, &err) != ZB_OK) {
            atomic_fetch_add(&r->wrong, 1);
            continue;
        }
        bool right = size == VERSION_SIZE || size == VERSION_SIZE / 2;
        char expected = size == VERSION_SIZE ? 'L' : 's';
        for (size_t i = 0; right && i < size; i++)
            right = data[i] == expected;
        atomic_fetch_add(&r->wrong, !right);
        atomic_fetch_add(&r->reads, 1);
        free(data);
    }
    return NULL;
}

static void readers_see_old_or_new(void **state) {
    fixture *f = *state;
    zb_error err;
    char large[VERSION_SIZE], small[VERSION_SIZE];
    memset(large, 'L', sizeof large);
    memset(small, 's', sizeof small);
    zb_part versions[2][2] = {{{large, 1000}, {large, VERSION_SIZE - 1000}},
                              {{small, 7}, {small, VERSION_SIZE / 2 - 7}}};
    ASSERT_OK(zb_store_put(f->store, "k", versions[0], 2, ZB_SYNC_NONE, &err), err);
    race r = {.store = f->store};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_versions, &r), 0);
    for (int i = 0; i < 4000; i++)
        ASSERT_OK(zb_store_put(f->store, "k", versions[i % 2], 2,
                               i % 100 ? ZB_SYNC_NONE : ZB_SYNC_CLOSE, &err),
                  err);
    ASSERT_OK(zb_store_flush(f->store, &err), err);
    atomic_store(&r.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(r.wrong, 0);
    assert_true(r.reads > 100);
    assert_clean(f, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(replaced_objects_keep_their_rights),
        FIXTURE_TEST(puts_and_replaces),
        FIXTURE_TEST(first_objects_find_nothing),
        FIXTURE_TEST(joins_parts),
        FIXTURE_TEST(hostile_keys_are_refused),
        FIXTURE_TEST(links_lead_nowhere_outside),
        FIXTURE_TEST(what_is_in_the_way_stays),
        FIXTURE_TEST(names_of_new_stores_are_made_durable),
        FIXTURE_TEST(any_call_may_fail),
        FIXTURE_TEST(full_disks_keep_the_old_object),
        FIXTURE_TEST(readers_see_old_or_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
