/* SPDX-License-Identifier: MIT */
/* Versions of files, and identities of directories and stores: when two are sure to be the same. */
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "store/fs_store.h"
#include "store/fs_version.h"
#include "store/fixture.h"
#include "zarrbridge/sys/store.h"

/* Makes the file's time stamps too old to be racy; ctime can only be waited for. */
static void wait_until_old(void) {
    usleep(120000);
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Writes a file, dates it back if `past`, and stats it before it can be old: a busy machine may
   keep us waiting in between, then again. */
static zb_object_info stat_fresh(const fixture *f, const char *text, bool past) {
    zb_error err;
    zb_object_info info;
    char path[512];
    snprintf(path, sizeof path, "%s/k", f->root);
    struct timeval date[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    for (int tries = 0; tries < 100; tries++) {
        int64_t start = now_ms();
        check_write_file(f->root, "k", text, 1);
        if (past)
            assert_int_equal(utimes(path, date), 0);
        ASSERT_OK(zb_store_stat(f->store, "k", &info, &err), err);
        if (now_ms() - start < 40)
            return info;
    }
    fail_msg("this machine takes over 40 ms to write and stat a file, 100 times in a row");
    return info;
}

/* A file that has just changed can change again within one tick of the clock: no promise yet. */
static void fresh_files_have_no_version(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_object_info info = stat_fresh(f, "1", false), later;
    assert_false(info.validator.valid);
    wait_until_old();
    ASSERT_OK(zb_store_stat(f->store, "k", &info, &err), err);
    assert_true(info.validator.valid);
    ASSERT_OK(zb_store_stat(f->store, "k", &later, &err), err);
    assert_memory_equal(info.validator.word, later.validator.word, sizeof later.validator.word);
    /* An old modification time can be forged, the change time cannot. */
    info = stat_fresh(f, "2", true);
    assert_false(info.validator.valid);
    wait_until_old();
    ASSERT_OK(zb_store_stat(f->store, "k", &info, &err), err);
    assert_true(info.validator.valid);
    assert_true(memcmp(info.validator.word, later.validator.word, sizeof later.validator.word));
}

static struct timespec stamp(int64_t ns) {
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static bool is_sure_once(bool is_remote, int64_t age, int64_t tick) {
    zb__fs fs = {.is_remote = is_remote};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t then = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - age;
    then -= then % tick;
    if (tick < 1000000000 && then % (10 * tick) == 0) /* there is none coarser than a second */
        then -= tick;
    struct stat st = {.st_mtim = stamp(then), .st_ctim = stamp(then)};
    return zb__fs_info_of(&fs, &st).validator.valid;
}

/* True if a file whose stamps are that many nanoseconds old, cut to whole ticks, has a sure
   version. Stamps that are by chance cut to ten ticks, which tell of a coarser clock, are avoided.
   Asked again where a busy machine has let the file become older meanwhile. */
static bool is_sure(bool is_remote, int64_t age, int64_t tick) {
    for (int tries = 0; tries < 100; tries++) {
        const int64_t start = now_ms();
        const bool sure = is_sure_once(is_remote, age, tick);
        if (now_ms() - start < 10)
            return sure;
    }
    fail_msg("this machine takes over 10 ms to look at a clock, 100 times in a row");
    return false;
}

/* The coarser the clock of the file system, the older a file has to be before its stamps tell it
   from the next one. */
static void versions_wait_for_a_tick_of_the_clock(void **state) {
    (void)state;
    const int64_t ms = 1000000, second = 1000 * ms;
    assert_false(is_sure(false, 20 * ms, 1));
    assert_true(is_sure(false, 200 * ms, 1));
    assert_false(is_sure(false, 200 * ms, second)); /* ext4 with small inodes, vfat */
    assert_false(is_sure(false, 900 * ms, second));
    assert_true(is_sure(false, 4 * second, second));
    assert_true(is_sure(false, 200 * ms, 10 * ms)); /* exfat */
    assert_false(is_sure(true, 60 * second, 1));    /* another machine's clock */
    assert_true(is_sure(true, 1000 * second, 1));
    assert_false(is_sure(false, -1000 * second, 1)); /* the future */
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
