/* SPDX-License-Identifier: MIT */
/* Links into directories that the variable ZARRBRIDGE_LINKS_TO names are followed by readers.
   (Those that it does not name: fs_test.c.) */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fixture.h"

static char *shared;

static char *in_shared(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", shared, name);
    return path;
}

static int set_up(void **state) {
    fixture_set_up(state);
    const fixture *f = *state;
    check_write_file(shared, "chunks/0", "0", 1);
    check_write_file(shared, "one", "1", 1);
    check_write_file(f->outside, "secret", "s", 1);
    check_write_file(f->root, "c/0", "own", 3);
    fixture_link(f, in_shared("one"), "c/1");
    fixture_link(f, in_shared("chunks"), "d");
    return 0;
}

static void refuse(zb_store *store, const char *key) {
    char *data = NULL;
    zb_error err;
    assert_int_equal(fixture_get(store, key, &data, &err), ZB_EINVAL);
    assert_non_null(strstr(err.message, "symbolic link"));
}

static void links_to_named_directories_are_followed(void **state) {
    const fixture *f = *state;
    zb_object_info info;
    assert_holds(f->store, "c/1", "1");
    assert_holds(f->store, "d/0", "0");
    assert_holds(f->store, "d/1", NULL); /* it is missing, and no link leads there */
    ASSERT_OK(zb_store_stat(f->store, "d/0", &info, NULL), (zb_error){0});
    assert_int_equal(info.size, 1);
}

/* Also one that leads there by way of a named directory, and one beside it. */
static void others_are_not(void **state) {
    const fixture *f = *state;
    char beside[512];
    fixture_link(f, f->outside, "out");
    refuse(f->store, "out/secret");
    assert_int_equal(symlink(f->outside, in_shared("chunks/out")), 0);
    refuse(f->store, "d/out/secret");
    unlink(in_shared("chunks/out"));
    snprintf(beside, sizeof beside, "%s-beside", shared);
    assert_int_equal(mkdir(beside, 0700), 0);
    check_write_file(beside, "x", "x", 1);
    fixture_link(f, beside, "beside");
    refuse(f->store, "beside/x");
    fixture_link(f, in_shared("nothing"), "nothing"); /* not a missing object */
    refuse(f->store, "nothing");
    fixture_link(f, "/proc/self/root", "magic");
    refuse(f->store, "magic/etc/passwd");
    check_remove_directory(strdup(beside));
}

static int take_name(void *context, const zb_list_entry *entry) {
    char *line = context;
    strcat(strcat(line, entry->name), entry->is_prefix ? "/ " : " ");
    return 0;
}

static void they_are_listed(void **state) {
    const fixture *f = *state;
    char line[64] = "";
    zb_error err;
    ASSERT_OK(zb_store_list(f->store, "d", take_name, line, &err), err);
    assert_string_equal(line, "0 ");
    *line = '\0';
    fixture_link(f, f->outside, "out");
    ASSERT_OK(zb_store_list(f->store, "", take_name, line, &err), err);
    assert_non_null(strstr(line, "d/ "));
    assert_null(strstr(line, "out/"));
}

/* What is shared belongs to others, too. */
static void nothing_is_written_there(void **state) {
    const fixture *f = *state;
    char *data = NULL;
    zb_error err;
    fixture_must_put(f->store, "c/1", "new", PUT_NOW);
    assert_holds(f->store, "c/1", "new");
    assert_int_equal(fixture_put(f->store, "d/0", "new", PUT_NOW, &err), ZB_EINVAL);
    assert_int_equal(fixture_put(f->store, "d/9", "new", PUT_NOW, &err), ZB_EINVAL);
    assert_int_not_equal(zb_store_erase(f->store, "d/0", &err), ZB_OK);
    assert_holds(f->store, "d/0", "0");
    assert_int_not_equal(zb_store_erase_below(f->store, "d", &err), ZB_OK);
    zb_store *other;
    ASSERT_OK(zb_store_open_fs(shared, &other, &err), err);
    assert_holds(other, "one", "1");
    assert_holds(other, "chunks/0", "0");
    assert_int_equal(fixture_get(other, "chunks/9", &data, &err), ZB_ENOTFOUND);
    zb_store_release(other);
}

int main(void) {
    char variable[512];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_to_named_directories_are_followed, set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(others_are_not, set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(they_are_listed, set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_written_there, set_up, fixture_tear_down),
    };
    shared = check_new_directory();
    snprintf(variable, sizeof variable, "relative:/no/such/place:%s", shared);
    setenv("ZARRBRIDGE_LINKS_TO", variable, 1);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    check_remove_directory(shared);
    return failed;
}
