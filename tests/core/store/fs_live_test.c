/* SPDX-License-Identifier: MIT */
/*
 * Changing files of the directory store in place: files that may be changed and files that may not,
 * and that every change gives the object another version.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/calls.h"
#include "store/fixture.h"
#include "support/clocks.h"
#include "zarrbridge/sys/store.h"

static enum zb_code try_open(const fixture *f, const char *key, zb_object **live,
                             zb_object_info *info, zb_error *err) {
    return zb_object_open_as(f->store, &(zb_open){.key = key, .is_live = true}, live, info, err);
}

static enum zb_code set_size(zb_object *live, uint64_t size, enum zb_sync sync, zb_error *err) {
    return zb_object_change(live, &(zb_change){.offset = size, .is_end = true, .sync = sync}, err);
}

static zb_object *open_live(const fixture *f, const char *key, zb_object_info *info) {
    zb_object *live = NULL;
    zb_error err;
    ASSERT_OK(try_open(f, key, &live, info, &err), err);
    return live;
}

static void write_text(zb_object *live, uint64_t offset, const char *text, enum zb_sync sync) {
    zb_error err;
    zb_part parts[2] = {{text, 1}, {text + 1, strlen(text) - 1}};
    const zb_change change = {.offset = offset, .parts = parts, .count = 2, .sync = sync};
    ASSERT_OK(zb_object_change(live, &change, &err), err);
}

static void writes_and_truncates(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_object_info info;
    fixture_must_put(f->store, "a/c", "0123456789", PUT_LATER);
    zb_object *live = open_live(f, "a/c", &info);
    assert_int_equal(info.size, 10);
    write_text(live, 3, "abc", ZB_SYNC_NONE);
    assert_holds(f->store, "a/c", "012abc6789");
    write_text(live, 8, "wxyz", ZB_SYNC_ALWAYS);
    assert_holds(f->store, "a/c", "012abc67wxyz");
    ASSERT_OK(set_size(live, 5, ZB_SYNC_ALWAYS, &err), err);
    assert_holds(f->store, "a/c", "012ab");
    ASSERT_OK(set_size(live, 7, ZB_SYNC_NONE, &err), err);
    char bytes[8] = "???????";
    zb_range range = {.offset = ZB_FROM_END, .length = 3, .buffer = bytes};
    ASSERT_OK(zb_object_read(live, &range, 1, &err), err); /* sees its own changes */
    assert_int_equal(range.got, 3);
    assert_memory_equal(bytes, "b\0\0", 3);
    zb_object_close(live);
    ASSERT_FAILS(try_open(f, "a/d", &live, &info, &err), ZB_ENOTFOUND, err, "a/d");
    ASSERT_FAILS(try_open(f, "x/y", &live, &info, &err), ZB_ENOTFOUND, err, "x/y");
    ASSERT_FAILS(try_open(f, "a", &live, &info, &err), ZB_EIO, err, "directory");
}

static void shared_files_are_left_alone(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_object *live;
    zb_object_info info;
    char from[512], to[512];
    fixture_must_put(f->store, "file", "text", PUT_LATER);
    fixture_link(f, "file", "link");
    ASSERT_FAILS(try_open(f, "link", &live, &info, &err), ZB_EUNSUPPORTED, err, "cannot be opened");
    snprintf(from, sizeof from, "%s/file", f->root);
    snprintf(to, sizeof to, "%s/copy", f->root);
    assert_int_equal(link(from, to), 0);
    ASSERT_FAILS(try_open(f, "file", &live, &info, &err), ZB_EUNSUPPORTED, err, "several names");
    fixture_must_put(f->store, "later", "text", PUT_WAITS);
    ASSERT_FAILS(try_open(f, "later", &live, &info, &err), ZB_EUNSUPPORTED, err, "waits");
}

/* A version that was seen before a change, or while it went on, is another one afterwards. */
static void each_change_makes_a_version(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_object_info before, now;
    fixture_must_put(f->store, "k", "0123456789", PUT_LATER);
    zb_object *live = open_live(f, "k", &before);
    for (int i = 0; i < 3; i++) {
        clocks_let_files_age(); /* from now on a version is valid */
        ASSERT_OK(zb_store_stat(f->store, "k", &before, &err), err);
        assert_true(before.validator.valid);
        if (i == 0)
            write_text(live, 0, "ab", ZB_SYNC_NONE);
        else if (i == 1)
            ASSERT_OK(zb_object_change(live, &(zb_change){.count = 0}, &err), err);
        else
            ASSERT_OK(set_size(live, 10, ZB_SYNC_NONE, &err), err);
        ASSERT_OK(zb_store_stat(f->store, "k", &now, &err), err);
        assert_memory_not_equal(before.validator.word, now.validator.word,
                                sizeof now.validator.word);
    }
    clocks_reset();
    zb_object_close(live);
}

static void failures_are_reported(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_object_info info;
    zb_part part = {"new", 3};
    const zb_change change = {.parts = &part, .count = 1, .sync = ZB_SYNC_ALWAYS};
    static const enum call kinds[] = {CALL_WRITEV, CALL_FDATASYNC, CALL_FCNTL, CALL_CLOSE};
    fixture_must_put(f->store, "k", "old", PUT_LATER);
    zb_object *live = open_live(f, "k", &info);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        calls_fail(kinds[i], 1, ENOSPC);
        ASSERT_FAILS(zb_object_change(live, &change, &err), ZB_EIO, err, strerror(ENOSPC));
        assert_true(calls_failed());
        calls_fail(kinds[i], 0, 0);
    }
    zb_object_close(live);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(writes_and_truncates),
        FIXTURE_TEST(shared_files_are_left_alone),
        FIXTURE_TEST(each_change_makes_a_version),
        FIXTURE_TEST(failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
