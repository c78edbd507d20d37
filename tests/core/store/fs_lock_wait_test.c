/* SPDX-License-Identifier: MIT */
/*
 * Locks that are held for longer than anybody waits: a program of its own, since the limit is read
 * once.
 */
#include <time.h>

#include "store/fixture.h"

/* Somebody who never lets go does not hold up others for ever. */
static void waiting_has_an_end(void **state) {
    fixture *f = *state;
    zb_store *mem;
    zb_error err;
    zb_lock *first, *second;
    ASSERT_OK(zb_store_new_mem("mem", &mem, &err), err);
    for (int i = 0; i < 2; i++) {
        zb_store *store = i ? mem : f->store;
        ASSERT_OK(zb_store_lock(store, "k", &first, &err), err);
        time_t start = time(NULL);
        ASSERT_FAILS(zb_store_lock(store, "k", &second, &err), ZB_ECONFLICT, err, "lock_seconds");
        assert_in_range(time(NULL) - start, 1, 30);
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

/* Whatever level of a hierarchy a store was opened at, its documents have one lock. */
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

int main(void) {
    setenv("ZARRBRIDGE_LOCK_SECONDS", "1", 1);
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(waiting_has_an_end),
        FIXTURE_TEST(a_hierarchy_has_one_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
