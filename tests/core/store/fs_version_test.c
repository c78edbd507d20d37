/* SPDX-License-Identifier: MIT */
/* Versions of files, and identities of directories and stores: when two are sure to be the same. */
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

#include "store/fixture.h"
#include "store/fs_store.h"
#include "support/clocks.h"
#include "zarrbridge/sys/store.h"

#define MS ((int64_t)1000000) /* nanoseconds */
#define SECOND (1000 * MS)

static int64_t nanoseconds(struct timespec t) {
    return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static struct timespec stamp(int64_t ns) {
    return (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
}

/* What is told of the file "k" so many nanoseconds after its last change. */
static zb_object_info stat_at_age(const fixture *f, int64_t age) {
    zb_error err;
    zb_object_info info;
    struct stat st;
    char path[512];
    snprintf(path, sizeof path, "%s/k", f->root);
    assert_int_equal(stat(path, &st), 0);
    clocks_stop(stamp(nanoseconds(st.st_ctim) + age));
    ASSERT_OK(zb_store_stat(f->store, "k", &info, &err), err);
    clocks_reset();
    return info;
}

/* A file that has just changed can change again within one tick of the clock: no promise yet. */
static void fresh_files_have_no_version(void **state) {
    const fixture *f = *state;
    char path[512];
    const struct timeval past[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    check_write_file(f->root, "k", "1", 1);
    assert_false(stat_at_age(f, 0).validator.valid);
    assert_false(stat_at_age(f, 40 * MS).validator.valid);
    const zb_object_info info = stat_at_age(f, 3 * SECOND), later = stat_at_age(f, 4 * SECOND);
    assert_true(info.validator.valid && later.validator.valid);
    assert_memory_equal(info.validator.word, later.validator.word, sizeof later.validator.word);
    /* An old modification time can be forged, the change time cannot. */
    snprintf(path, sizeof path, "%s/k", f->root);
    clocks_let_files_age();
    assert_int_equal(utimes(path, past), 0);
    assert_false(stat_at_age(f, 0).validator.valid);
    assert_false(stat_at_age(f, 40 * MS).validator.valid);
    const zb_object_info forged = stat_at_age(f, 3 * SECOND);
    assert_true(forged.validator.valid);
    assert_memory_not_equal(info.validator.word, forged.validator.word,
                            sizeof forged.validator.word);
}

/* True if a file whose stamps are that many nanoseconds old, and end in a tick of that many, has a
   sure version. */
static bool is_sure(bool is_remote, int64_t age, int64_t tick) {
    const zb__fs fs = {.is_remote = is_remote};
    const int64_t then = 1700000000 * SECOND + 3 * tick;
    const struct stat st = {.st_mtim = stamp(then), .st_ctim = stamp(then)};
    clocks_stop(stamp(then + age));
    const bool sure = zb__fs_info_of(&fs, &st).validator.valid;
    clocks_reset();
    return sure;
}

/* The coarser the clock of the file system, the older a file has to be before its stamps tell it
   from the next one. */
static void versions_wait_for_a_tick_of_the_clock(void **state) {
    (void)state;
    assert_false(is_sure(false, 20 * MS, 1));
    assert_true(is_sure(false, 200 * MS, 1));
    assert_false(is_sure(false, 200 * MS, SECOND)); /* ext4 with small inodes, vfat */
    assert_false(is_sure(false, 900 * MS, SECOND));
    assert_true(is_sure(false, 4 * SECOND, SECOND));
    assert_true(is_sure(false, 200 * MS, 10 * MS)); /* exfat */
    assert_false(is_sure(true, 60 * SECOND, 1));    /* another machine's clock */
    assert_true(is_sure(true, 1000 * SECOND, 1));
    assert_false(is_sure(false, -1000 * SECOND, 1)); /* the future */
}

/* A directory that comes after another one at the same path is not the same, however soon. */
static void directories_have_identities(void **state) {
    fixture *f = *state;
    zb_error err;
    uint64_t seen[50];
    assert_int_equal(zb_store_identify(f->store, "a/b"), 0);
    assert_int_not_equal(zb_store_identify(f->store, ""), 0);
    for (int i = 0; i < 50; i++) {
        fixture_must_put(f->store, "a/b/k", "1", PUT_LATER);
        seen[i] = zb_store_identify(f->store, "a/b");
        assert_int_not_equal(seen[i], 0);
        fixture_must_put(f->store, "a/b/k", "2", PUT_LATER);
        fixture_must_put(f->store, "a/b/l", "2", PUT_LATER);
        assert_true(zb_store_identify(f->store, "a/b") == seen[i]);
        for (int j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
        ASSERT_OK(zb_store_erase_below(f->store, "a/b", &err), err);
    }
    fixture_must_put(f->store, "c/k", "1", PUT_LATER);
    uint64_t id = zb_store_identify(f->store, "c");
    ASSERT_OK(zb_store_rename(f->store, "c", "d", &err), err);
    assert_true(zb_store_identify(f->store, "d") == id);
}

/* Two stores on one directory share cached chunks; stores on two do not. */
static void ids_follow_the_directory(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_store *same, *other;
    ASSERT_OK(zb_store_open_fs(f->root, &same, &err), err);
    ASSERT_OK(zb_store_open_fs(f->outside, &other, &err), err);
    assert_true(same->id == f->store->id);
    assert_true(other->id != f->store->id);
    zb_store_release(same);
    zb_store_release(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(fresh_files_have_no_version),
        FIXTURE_TEST(versions_wait_for_a_tick_of_the_clock),
        FIXTURE_TEST(directories_have_identities),
        FIXTURE_TEST(ids_follow_the_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
