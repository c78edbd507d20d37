/* SPDX-License-Identifier: MIT */
#include "store/fs_path.h"
#include "store/fixture.h"

#include <ftw.h>
#include <unistd.h>

void fixture_open(fixture *f) {
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(f->root, &f->hierarchy, &err), err);
    f->store = zb_hierarchy_store(f->hierarchy);
}

int fixture_set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->root = check_new_directory();
    f->outside = check_new_directory();
    fixture_open(f);
    *state = f;
    return 0;
}

int fixture_tear_down(void **state) {
    fixture *f = *state;
    zb_hierarchy_release(f->hierarchy);
    check_remove_directory(f->root);
    check_remove_directory(f->outside);
    free(f);
    return 0;
}

void fixture_link(const fixture *f, const char *target, const char *key) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", f->root, key);
    assert_int_equal(symlink(target, path), 0);
}

enum zb_code fixture_put_as(zb_store *store, zb_batch *batch, const char *key, const char *text,
                            enum fixture_way way, zb_error *err) {
    zb_part part = {text, strlen(text)};
    zb_put put = {.key = key,
                  .parts = &part,
                  .count = 1,
                  .sync = way == PUT_NOW                        ? ZB_SYNC_ALWAYS
                          : way == PUT_WAITS || way == PUT_HELD ? ZB_SYNC_CLOSE
                                                                : ZB_SYNC_NONE,
                  .waits = way == PUT_WAITS,
                  .in_order = way == PUT_IN_ORDER,
                  .batch = batch};
    return zb_store_put_as(store, &put, err);
}

enum zb_code fixture_put(zb_store *store, const char *key, const char *text, enum fixture_way way,
                         zb_error *err) {
    return fixture_put_as(store, NULL, key, text, way, err);
}

void fixture_must_put(zb_store *store, const char *key, const char *text, enum fixture_way way) {
    zb_error err;
    ASSERT_OK(fixture_put(store, key, text, way, &err), err);
}

enum zb_code fixture_get(zb_store *store, const char *key, char **data, zb_error *err) {
    size_t size;
    return zb_store_get(store, key, 1000, "document_bytes", data, &size, NULL, err);
}

void assert_holds(zb_store *store, const char *key, const char *expected) {
    zb_error err;
    char *data;
    if (!expected) {
        ASSERT_FAILS(fixture_get(store, key, &data, &err), ZB_ENOTFOUND, err, key);
        return;
    }
    ASSERT_OK(fixture_get(store, key, &data, &err), err);
    assert_string_equal(data, expected);
    free(data);
}

static int seen, seen_ours;

static int count_file(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
    (void)st;
    seen_ours += zb__fs_is_ours(path + ftw->base);
    seen += kind != FTW_D;
    return 0;
}

int fixture_files(const char *root, int *ours) {
    seen = seen_ours = 0;
    assert_int_equal(nftw(root, count_file, 16, FTW_PHYS), 0);
    if (ours)
        *ours = seen_ours;
    return seen;
}
