/* SPDX-License-Identifier: MIT */
/* Listings of directories that ask what each name holds, on several threads. */
#include <sys/stat.h>
#include <unistd.h>

#include "store/fixture.h"
#include "zarrbridge/sys/store.h"

static const char *const documents[] = {"zarr.json", ".zgroup", NULL};

/* Names are long, so that blocks have few of them and rounds of blocks end below COUNT. */
enum { COUNT = 2100, WIDTH = 250 };

typedef struct seen {
    unsigned char times[COUNT];
    bool holds[COUNT], is_prefix[COUNT];
    int told, stop_after;
} seen;

static int note(void *context, const zb_list_entry *entry) {
    seen *s = context;
    const int i = atoi(entry->name);
    assert_in_range(i, 0, COUNT - 1);
    s->times[i]++;
    s->holds[i] = entry->holds;
    s->is_prefix[i] = entry->is_prefix;
    return ++s->told == s->stop_after;
}

/* By number: a node of version 3, one of version 2, a directory with something else, an object. */
static void make_many(const fixture *f) {
    static const char *const below[] = {"/zarr.json", "/.zgroup", "/zarr.jso", ""};
    char key[WIDTH + 16];
    for (int i = 0; i < COUNT; i++) {
        snprintf(key, sizeof key, "g/%0*d%s", WIDTH, i, below[i % 4]);
        check_write_file(f->root, key, "x", 1);
    }
}

static enum zb_code list_holding(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                                 zb_error *err) {
    const zb_list list = {.prefix = prefix, .objects = documents};
    return zb_store_list_as(store, &list, fn, context, err);
}

static void tells_what_each_name_holds(void **state) {
    const fixture *f = *state;
    seen s = {.told = 0}, plain = {.told = 0};
    zb_error err;
    make_many(f);
    ASSERT_OK(list_holding(f->store, "g", note, &s, &err), err);
    ASSERT_OK(zb_store_list(f->store, "g", note, &plain, &err), err);
    assert_int_equal(s.told, COUNT);
    assert_int_equal(plain.told, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(s.times[i], 1);
        assert_int_equal(s.holds[i], i % 4 < 2);
        assert_int_equal(s.is_prefix[i], i % 4 < 3);
        assert_int_equal(plain.is_prefix[i], i % 4 < 3);
        assert_false(plain.holds[i]);
    }
    for (int most = 1; most < COUNT; most = most * 7 + 1) {
        s = (seen){.stop_after = most};
        ASSERT_OK(list_holding(f->store, "g", note, &s, &err), err);
        assert_int_equal(s.told, most);
    }
}

/* The one name of a listing. */
static int keep(void *context, const zb_list_entry *entry) {
    *(zb_list_entry *)context = *entry;
    return 0;
}

static zb_list_entry only_one(const fixture *f, const char *prefix) {
    zb_list_entry entry = {.holds = true};
    zb_error err;
    ASSERT_OK(list_holding(f->store, prefix, keep, &entry, &err), err);
    return entry;
}

static int remove_all(void *context, const zb_list_entry *entry) {
    const fixture *f = context;
    char path[512];
    snprintf(path, sizeof path, "%s/g/%s", f->root, entry->name);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/g", f->root);
    assert_int_equal(rmdir(path), 0);
    return 0;
}

static void a_directory_that_goes_meanwhile_ends(void **state) {
    fixture *f = *state;
    zb_error err;
    for (int holding = 0; holding < 2; holding++) {
        check_write_file(f->root, "g/a", "x", 1);
        ASSERT_OK(holding ? list_holding(f->store, "g", remove_all, f, &err)
                          : zb_store_list(f->store, "g", remove_all, f, &err),
                  err);
    }
}

/* Nothing is told of what is behind links, and nothing of objects that wait. */
static void leaves_links_to_others(void **state) {
    const fixture *f = *state;
    check_write_file(f->root, "in/zarr.json", "x", 1);
    check_write_file(f->root, "to/empty/x/y", "x", 1);
    check_write_file(f->root, "plain/node/zarr.json", "x", 1);
    check_write_file(f->root, "plain/.a.zb-lock", "", 0);
    check_write_file(f->root, "links/.a.zb-lock", "", 0);
    check_write_file(f->outside, "zarr.json", "x", 1);
    assert_true(only_one(f, "plain").holds);
    assert_false(only_one(f, "to").holds);
    fixture_must_put(f->store, "to/empty/zarr.json", "x", PUT_WAITS);
    assert_false(only_one(f, "to").holds);
    fixture_link(f, "../in", "links/inside");
    assert_true(only_one(f, "links").is_prefix && !only_one(f, "links").holds);
    assert_int_equal(zb_store_erase(f->store, "links/inside", NULL), ZB_OK);
    fixture_link(f, f->outside, "links/outside");
    assert_false(only_one(f, "links").is_prefix || only_one(f, "links").holds);
}

/* All that is left of a failed or empty listing is what it says. */
static void fails_as_a_listing(void **state) {
    const fixture *f = *state;
    zb_list_entry entry;
    zb_error err;
    fixture_link(f, f->outside, "out");
    ASSERT_OK(list_holding(f->store, "none", keep, &entry, &err), err);
    ASSERT_FAILS(list_holding(f->store, "out", keep, &entry, &err), ZB_EINVAL, err, "link");
    ASSERT_FAILS(list_holding(f->store, "../x", keep, &entry, &err), ZB_EINVAL, err, "..");
}

/* A store that has no such listing gives a plain one. */
static void others_tell_nothing(void **state) {
    (void)state;
    zb_store *store;
    zb_list_entry entry = {.holds = true};
    zb_error err;
    ASSERT_OK(zb_store_new_mem("test", &store, &err), err);
    ASSERT_OK(zb_store_mem_set(store, "a/zarr.json", "x", 1, &err), err);
    ASSERT_OK(list_holding(store, "", keep, &entry, &err), err);
    assert_true(entry.is_prefix && !entry.holds);
    zb_store_release(store);
}

int main(void) {
    setenv("ZARRBRIDGE_NUM_THREADS", "4", 1);
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(tells_what_each_name_holds),
        FIXTURE_TEST(a_directory_that_goes_meanwhile_ends),
        FIXTURE_TEST(leaves_links_to_others),
        FIXTURE_TEST(fails_as_a_listing),
        cmocka_unit_test(others_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
