/* SPDX-License-Identifier: MIT */
/*
 * Operations in a home: they work in the directory that the caller has looked at, or not at all,
 * whatever is at its path by now.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fixture.h"
#include "zarrbridge/sys/store.h"

static zb_home home_of(zb_store *store, const char *prefix) {
    return (zb_home){.identity = zb_store_identify(store, prefix), .length = strlen(prefix)};
}

static enum zb_code put_in(zb_store *store, zb_home home, const char *key, const char *text,
                           bool waits, zb_error *err) {
    const zb_part part = {.data = text, .size = strlen(text)};
    const zb_put put = {.key = key,
                        .parts = &part,
                        .count = 1,
                        .sync = waits ? ZB_SYNC_CLOSE : ZB_SYNC_NONE,
                        .waits = waits,
                        .home = home};
    return zb_store_put_as(store, &put, err);
}

static enum zb_code erase_in(zb_store *store, zb_home home, const char *key, zb_error *err) {
    return zb_store_erase_as(store, &(zb_erase){.key = key, .home = home}, err);
}

static enum zb_code open_as(zb_store *store, zb_open opening, zb_error *err) {
    zb_object *object;
    zb_object_info info;
    const enum zb_code code = zb_object_open_as(store, &opening, &object, &info, err);
    if (!code)
        zb_object_close(object);
    return code;
}

static enum zb_code open_in(zb_store *store, zb_home home, const char *key, zb_error *err) {
    return open_as(store, (zb_open){.key = key, .home = home}, err);
}

static enum zb_code open_live_in(zb_store *store, zb_home home, const char *key, zb_error *err) {
    return open_as(store, (zb_open){.key = key, .home = home, .is_live = true}, err);
}

static enum zb_code lock_in(zb_store *store, zb_home home, const char *key, zb_error *err) {
    zb_lock *lock;
    const zb_locking locking = {.key = key, .home = home};
    const enum zb_code code = zb_store_lock_as(store, &locking, &lock, err);
    if (!code)
        zb_store_unlock(lock);
    return code;
}

#define ASSERT_ELSEWHERE(call, error)                                                              \
    do {                                                                                           \
        ASSERT_FAILS(call, ZB_ECONFLICT, error, "erased or moved");                                \
        assert_int_equal((error).sys_errno, ESTALE);                                               \
    } while (0)

static void assert_refused(zb_store *store, zb_home home, const char *key) {
    zb_error err;
    ASSERT_ELSEWHERE(put_in(store, home, key, "foreign", false, &err), err);
    ASSERT_ELSEWHERE(put_in(store, home, key, "foreign", true, &err), err);
    ASSERT_ELSEWHERE(erase_in(store, home, key, &err), err);
    ASSERT_ELSEWHERE(open_in(store, home, key, &err), err);
    ASSERT_ELSEWHERE(open_live_in(store, home, key, &err), err);
    ASSERT_ELSEWHERE(lock_in(store, home, key, &err), err);
}

/* Keys of all depths; that of "deep" has no directory yet. */
static void another_home_is_not_touched(void **state) {
    const fixture *f = *state;
    const char *const keys[] = {"u/k", "u/c/0/1", "u/deep/er/k"};
    fixture_must_put(f->store, "u/k", "own", PUT_LATER);
    fixture_must_put(f->store, "u/c/0/1", "own", PUT_LATER);
    const zb_home home = home_of(f->store, "u");
    zb_error err;
    ASSERT_OK(zb_store_rename(f->store, "u", "away", &err), err);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_refused(f->store, home, keys[i]);
    assert_true(zb_store_is_absent(f->store, "u")); /* no directory was made */
    fixture_must_put(f->store, "u/k", "theirs", PUT_LATER);
    fixture_must_put(f->store, "u/c/0/1", "theirs", PUT_LATER);
    const int files = fixture_files(f->root, NULL);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_refused(f->store, home, keys[i]);
    assert_true(zb_store_is_absent(f->store, "u/deep"));
    ASSERT_OK(zb_store_flush(f->store, &err), err);
    assert_int_equal(fixture_files(f->root, NULL), files);
    assert_holds(f->store, "u/k", "theirs");
    assert_holds(f->store, "u/c/0/1", "theirs");
    assert_holds(f->store, "away/c/0/1", "own");
}

static void the_same_home_is_as_without_one(void **state) {
    const fixture *f = *state;
    const char *const homes[] = {"", "u", "u/g"};
    zb_error err;
    fixture_must_put(f->store, "u/g/zarr.json", "{}", PUT_LATER);
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        const zb_home home = home_of(f->store, homes[i]);
        const char *key = "u/g/c/0/1";
        ASSERT_FAILS(open_in(f->store, home, key, &err), ZB_ENOTFOUND, err, key);
        ASSERT_OK(erase_in(f->store, home, key, &err), err);
        assert_true(zb_store_is_absent(f->store, "u/g/c"));
        ASSERT_OK(lock_in(f->store, home, key, &err), err);
        ASSERT_OK(put_in(f->store, home, key, "a", false, &err), err);
        ASSERT_OK(open_in(f->store, home, key, &err), err);
        ASSERT_OK(open_live_in(f->store, home, key, &err), err);
        ASSERT_OK(put_in(f->store, home, key, "b", true, &err), err);
        ASSERT_OK(open_in(f->store, home, key, &err), err); /* what waits is read */
        ASSERT_OK(zb_store_flush(f->store, &err), err);
        assert_holds(f->store, key, "b");
        ASSERT_OK(erase_in(f->store, home, key, &err), err);
        assert_holds(f->store, key, NULL);
        ASSERT_OK(zb_store_erase_below(f->store, "u/g/c", &err), err);
    }
}

static enum zb_code refuse(void *context, const char *key, zb_error *err) {
    ++*(int *)context;
    return zb_fail(err, ZB_ECONFLICT, "'%s' is refused", key);
}

/* Also where there is nothing to erase: the caller is told what a put would tell. */
static void erasures_are_checked(void **state) {
    const fixture *f = *state;
    const char *const keys[] = {"u/c/0", "u/c/1", "u/none/0"};
    zb_batch batch;
    zb_error err;
    int asked = 0;
    fixture_must_put(f->store, "u/c/0", "stays", PUT_LATER);
    zb_batch_begin(&batch, f->store, refuse, &asked);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const zb_erase erase = {.key = keys[i], .home = home_of(f->store, "u"), .batch = &batch};
        ASSERT_FAILS(zb_store_erase_as(f->store, &erase, &err), ZB_ECONFLICT, err, "refused");
        assert_int_equal(asked, (int)i + 1);
    }
    zb_batch_end(&batch);
    assert_holds(f->store, "u/c/0", "stays");
}

/* What waits for a flush and has no home any more is lost, and that is told. */
static void waiting_objects_stay_in_their_home(void **state) {
    const fixture *f = *state;
    zb_store *other;
    zb_error err;
    fixture_must_put(f->store, "u/c/0", "own", PUT_LATER);
    fixture_must_put(f->store, "v/c/0", "theirs", PUT_LATER);
    ASSERT_OK(put_in(f->store, home_of(f->store, "u"), "u/c/0", "new", true, &err), err);
    ASSERT_OK(zb_store_open_fs(f->root, &other, &err), err);
    ASSERT_OK(zb_store_rename(other, "u", "away", &err), err);
    ASSERT_OK(zb_store_rename(other, "v", "u", &err), err);
    zb_store_release(other);
    ASSERT_ELSEWHERE(zb_store_flush(f->store, &err), err);
    assert_holds(f->store, "u/c/0", "theirs");
    assert_holds(f->store, "away/c/0", "own");
}

/* Chunks may lie elsewhere in the store, behind a link in the home; and a file may be a link. */
static void links_in_a_home_work(void **state) {
    const fixture *f = *state;
    zb_error err;
    fixture_must_put(f->store, "u/zarr.json", "{}", PUT_LATER);
    fixture_must_put(f->store, "data/c/0/1", "old", PUT_LATER);
    fixture_link(f, "../data/c", "u/c");
    const zb_home home = home_of(f->store, "u");
    ASSERT_OK(open_in(f->store, home, "u/c/0/1", &err), err);
    ASSERT_OK(lock_in(f->store, home, "u/c/0/1", &err), err);
    ASSERT_OK(put_in(f->store, home, "u/c/0/1", "new", false, &err), err);
    ASSERT_OK(put_in(f->store, home, "u/c/2/1", "made", false, &err), err);
    assert_holds(f->store, "data/c/0/1", "new");
    assert_holds(f->store, "data/c/2/1", "made");
    fixture_link(f, "../data/c/0/1", "u/one");
    ASSERT_OK(open_in(f->store, home, "u/one", &err), err);
    ASSERT_OK(erase_in(f->store, home, "u/one", &err), err);
    assert_holds(f->store, "data/c/0/1", "new");
    ASSERT_OK(zb_store_rename(f->store, "u", "away", &err), err);
    fixture_must_put(f->store, "u/zarr.json", "{}", PUT_LATER);
    fixture_link(f, "../data/c", "u/c");
    assert_refused(f->store, home, "u/c/0/1");
    assert_holds(f->store, "data/c/0/1", "new");
}

/* Links that lead out of the store lead nowhere in a home, either. */
static void links_out_of_the_store_are_refused(void **state) {
    const fixture *f = *state;
    zb_error err;
    fixture_must_put(f->store, "u/zarr.json", "{}", PUT_LATER);
    fixture_link(f, f->outside, "u/c");
    const zb_home home = home_of(f->store, "u");
    ASSERT_FAILS(put_in(f->store, home, "u/c/0/1", "x", false, &err), ZB_EINVAL, err, "link");
    ASSERT_FAILS(put_in(f->store, home, "u/c/0", "x", false, &err), ZB_EINVAL, err, "link");
    ASSERT_FAILS(erase_in(f->store, home, "u/c/0", &err), ZB_EINVAL, err, "link");
    ASSERT_FAILS(open_in(f->store, home, "u/c/0", &err), ZB_EINVAL, err, "link");
    assert_int_equal(fixture_files(f->outside, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(another_home_is_not_touched), FIXTURE_TEST(the_same_home_is_as_without_one),
        FIXTURE_TEST(erasures_are_checked),        FIXTURE_TEST(waiting_objects_stay_in_their_home),
        FIXTURE_TEST(links_in_a_home_work),        FIXTURE_TEST(links_out_of_the_store_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
