/* SPDX-License-Identifier: MIT */
/* Erasing trees, at once and without leaving the store; and tidying up after writers that were
 * killed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/fixture.h"
#include "store/fs_path.h"
#include "store/fs_store.h"
#include "zarrbridge/sys/store.h"

static int add_name(void *context, const zb_list_entry *entry) {
    strcat(context, entry->name);
    strcat(context, entry->is_prefix ? "/ " : " ");
    return 0;
}

static void assert_lists(zb_store *store, const char *prefix, const char *expected) {
    zb_error err;
    char text[400] = "";
    ASSERT_OK(zb_store_list(store, prefix, add_name, text, &err), err);
    assert_string_equal(text, expected);
}

static void make_tree(zb_store *store, const char *root) {
    char key[200];
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "%s/c/%d/%d/%d", root, i % 3, i % 11, i);
        fixture_must_put(store, key, "chunk", PUT_LATER);
    }
    snprintf(key, sizeof key, "%s/zarr.json", root);
    fixture_must_put(store, key, "{}", PUT_LATER);
}

static void erases_trees(void **state) {
    fixture *f = *state;
    zb_error err;
    make_tree(f->store, "g/a");
    make_tree(f->store, "g/b");
    fixture_must_put(f->store, "g/a.x", "1", PUT_LATER);
    int descriptors = check_descriptors();
    ASSERT_OK(zb_store_erase_below(f->store, "g/a", &err), err);
    assert_holds(f->store, "g/a.x", "1");
    assert_holds(f->store, "g/b/c/2/7/95", "chunk");
    assert_int_equal(fixture_files(f->root, NULL), 302);
    ASSERT_OK(zb_store_erase_below(f->store, "g/a", &err), err); /* missing: not an error */
    ASSERT_OK(zb_store_erase_below(f->store, "no/such/thing", &err), err);
    ASSERT_OK(zb_store_erase_below(f->store, "g/a.x", &err), err); /* an object, not a prefix */
    ASSERT_OK(zb_store_erase_below(f->store, "g/a.x/b", &err), err);
    assert_holds(f->store, "g/a.x", "1");
    make_tree(f->store, "g/a"); /* and can be made anew */
    ASSERT_OK(zb_store_erase_below(f->store, "g", &err), err);
    assert_lists(f->store, "", "");
    make_tree(f->store, "g");
    fixture_must_put(f->store, "zarr.json", "{}", PUT_LATER);
    ASSERT_OK(zb_store_erase_below(f->store, "", &err), err);
    int ours;
    assert_int_equal(fixture_files(f->root, &ours), 0);
    assert_int_equal(ours, 0);
    assert_int_equal(check_descriptors(), descriptors);
    ASSERT_FAILS(zb_store_erase_below(f->store, "..", &err), ZB_EINVAL, err, "key");
    ASSERT_FAILS(zb_store_erase_below(f->store, "a/", &err), ZB_EINVAL, err, "key");
}

/* Deeper than a path can be long, and than there are descriptors. */
static void erases_deep_trees(void **state) {
    fixture *f = *state;
    zb_error err;
    int at = open(f->root, O_RDONLY | O_DIRECTORY);
    for (int depth = 0; depth < 1100; depth++) {
        assert_int_equal(mkdirat(at, "directory", 0777), 0);
        int below = openat(at, "directory", O_RDONLY | O_DIRECTORY);
        assert_true(below >= 0);
        close(at);
        at = below;
    }
    close(at);
    ASSERT_OK(zb_store_erase_below(f->store, "directory", &err), err);
    assert_lists(f->store, "", "");
}

static void links_are_erased_not_followed(void **state) {
    fixture *f = *state;
    zb_error err;
    char target[512];
    check_write_file(f->outside, "dir/victim", "x", 1);
    fixture_must_put(f->store, "a/b/k", "1", PUT_LATER);
    fixture_must_put(f->store, "inside/k", "kept", PUT_LATER);
    snprintf(target, sizeof target, "%s/dir", f->outside);
    fixture_link(f, target, "a/outside");
    fixture_link(f, target, "a/b/outside");
    fixture_link(f, "../inside", "a/to_inside");
    fixture_link(f, "inside", "alias");
    ASSERT_OK(zb_store_erase_below(f->store, "a", &err), err);
    assert_holds(f->store, "alias/k", "kept");
    ASSERT_OK(zb_store_erase_below(f->store, "alias", &err),
              err); /* the link, not the directory that it leads to */
    assert_lists(f->store, "", "inside/ ");
    fixture_link(f, target, "out");
    ASSERT_OK(zb_store_erase_below(f->store, "", &err), err);
    assert_lists(f->store, "", "");
    assert_int_equal(fixture_files(f->outside, NULL), 1);
}

/* ---- Left-overs of killed writers ---- */

static bool exists(const fixture *f, const char *name) {
    char path[PATH_MAX + 512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", f->root, name);
    return lstat(path, &st) == 0;
}

static void make_older(const fixture *f, const char *name, int hours) {
    char path[PATH_MAX + 512];
    struct timeval now, times[2];
    snprintf(path, sizeof path, "%s/%s", f->root, name);
    gettimeofday(&now, NULL);
    now.tv_sec -= hours * 3600;
    times[0] = times[1] = now;
    assert_int_equal(utimes(path, times), 0);
}

/* The parent kills the child while one object waits and a tree is half erased. */
static void die_in_the_middle(const fixture *f) {
    zb_error err;
    CHILD_CHECK(fixture_put(f->store, "a/k", "lost", PUT_WAITS, &err) == ZB_OK, "put");
    char from[512], to[600], name[NAME_MAX + 1];
    zb__fs_temp_name("tree", name);
    snprintf(from, sizeof from, "%s/a/tree", f->root);
    snprintf(to, sizeof to, "%s/a/%s", f->root, name);
    CHILD_CHECK(rename(from, to) == 0, "errno %d", errno);
    kill(getpid(), SIGKILL);
}

static void next_writers_tidy_up(void **state) {
    fixture *f = *state;
    zb_error err;
    make_tree(f->store, "a/tree");
    fixture_must_put(f->store, "a/k", "old", PUT_LATER);
    int files = fixture_files(f->root, NULL), ours;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        die_in_the_middle(f);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(fixture_files(f->root, &ours), files + 1);
    assert_int_equal(ours, 2);
    assert_holds(f->store, "a/k", "old");
    assert_lists(f->store, "a", "k ");
    zb_store *next;
    ASSERT_OK(zb_store_open_fs(f->root, &next, &err), err);
    fixture_must_put(next, "a/other", "1", PUT_LATER); /* any key of that directory will do */
    assert_int_equal(fixture_files(f->root, &ours), 2);
    assert_int_equal(ours, 0);
    assert_holds(next, "a/k", "old");
    zb_store_release(next);
}

/* The files of ours that the next writer takes away. */
static void live_files_stay(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_store *next;
    zb_lock *lock;
    static const char foreign[] = ".k.00000000000000aa.0123456789abcdef.zb-tmp";
    static const char old_foreign[] = ".k.00000000000000aa.0123456789abcdee.zb-tmp";
    static const char nameless[] = ".zb-tmp", like_ours[] = "k.zb-tmp", other[] = ".hidden";
    const char *const files[] = {foreign,  old_foreign, ".gone.zb-lock", ".old.zb-lock",
                                 nameless, like_ours,   other,           ".x.zb-tmp"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        check_write_file(f->root, files[i], "x", 1);
    make_older(f, old_foreign, 25);
    make_older(f, ".old.zb-lock", 25);
    make_older(f, other, 1000);
    make_older(f, like_ours, 1000);
    char local[NAME_MAX + 1], path[PATH_MAX];
    zb__fs_temp_name("k", local);
    check_write_file(f->root, local, "x", 1);
    /* Waits for a flush, and a lock is held; both for longer than a day. */
    fixture_must_put(f->store, "waits", "1", PUT_WAITS);
    assert_true(zb__fs_find_waiting((zb__fs *)f->store, "waits", path));
    make_older(f, path, 1000);
    ASSERT_OK(zb_store_lock(f->store, "held", &lock, &err), err);
    make_older(f, ".held.zb-lock", 1000);
    check_write_file(f->root, local, "x", 1); /* the put may have swept it */
    ASSERT_OK(zb_store_open_fs(f->root, &next, &err), err);
    fixture_must_put(next, "k", "1", PUT_LATER);
    assert_false(exists(f, local));
    assert_false(exists(f, old_foreign));
    assert_false(exists(f, ".old.zb-lock"));
    assert_true(exists(f, foreign));
    assert_false(exists(f, ".gone.zb-lock"));
    assert_true(exists(f, ".x.zb-tmp"));
    assert_true(exists(f, like_ours));
    assert_true(exists(f, other));
    assert_true(exists(f, path));
    assert_true(exists(f, ".held.zb-lock"));
    check_write_file(f->root, local, "x", 1);
    fixture_must_put(next, "k", "2", PUT_LATER);
    assert_true(exists(f, local)); /* looks but once */
    zb_store_release(next);
    zb_store_unlock(lock);
    ASSERT_OK(zb_store_flush(f->store, &err), err);
    assert_holds(f->store, "waits", "1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(erases_trees),
        FIXTURE_TEST(erases_deep_trees),
        FIXTURE_TEST(links_are_erased_not_followed),
        FIXTURE_TEST(next_writers_tidy_up),
        FIXTURE_TEST(live_files_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
