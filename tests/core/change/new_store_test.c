/* SPDX-License-Identifier: MIT */
/* New stores: what has the name before and after the first node, or the commit of a zip archive, at
   the end of a store, and after a failure. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fixture.h"
#include "support/store.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/sys/hierarchy.h"

static char *archive_of(const fixture *f) {
    char *path = NULL;
    assert_true(asprintf(&path, "%s/x.zip", f->root) > 0);
    return path;
}

static zb_hierarchy *create(const char *path) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(zb_hierarchy_create(path, NULL, &hierarchy, &err), err);
    return hierarchy;
}

/* The names in the fixture's directory. */
static int count_name(void *context, const zb_list_entry *entry) {
    (void)entry;
    ++*(int *)context;
    return 0;
}

static int count_names(const fixture *f) {
    int count = 0;
    zb_error err;
    ASSERT_OK(zb_store_list(f->store, "", count_name, &count, &err), err);
    return count;
}

static void expect_group(const char *path, const char *group, bool is_there) {
    zb_hierarchy *hierarchy;
    zb_node *node = NULL;
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(path, &hierarchy, &err), err);
    assert_int_equal(zb_node_open(hierarchy, group, &node, &err), is_there ? ZB_OK : ZB_ENOTFOUND);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static ino_t inode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_ino;
}

static void an_archive_has_its_name_when_it_is_sealed(void **state) {
    fixture *f = *state;
    zb_error err;
    char *path = archive_of(f);
    zb_hierarchy *hierarchy = create(path);
    ASSERT_OK(zb_hierarchy_commit(hierarchy, &err), err); /* without a root there is none */
    zb_node_release(store_group(hierarchy, "a", NULL));
    ASSERT_OK(zb_hierarchy_flush(hierarchy, &err), err);
    assert_int_not_equal(access(path, F_OK), 0);
    ASSERT_OK(zb_hierarchy_commit(hierarchy, &err), err);
    expect_group(path, "a", true);
    const ino_t committed = inode_of(path);
    ASSERT_OK(zb_hierarchy_commit(hierarchy, &err), err);
    assert_int_equal(inode_of(path), committed); /* nothing has changed */
    zb_node_release(store_group(hierarchy, "b", NULL));
    expect_group(path, "b", false);
    zb_hierarchy_release(hierarchy); /* commits */
    expect_group(path, "b", true);
    assert_int_equal(count_names(f), 1);
    free(path);
}

static void what_is_there_stays_until_then(void **state) {
    fixture *f = *state;
    zb_error err;
    char *path = archive_of(f);
    zb_hierarchy *hierarchy = create(path);
    zb_node_release(store_group(hierarchy, "old", NULL));
    zb_hierarchy_release(hierarchy);
    hierarchy = create(path);
    zb_node_release(store_group(hierarchy, "new", NULL));
    expect_group(path, "old", true);
    ASSERT_OK(zb_node_delete(hierarchy, "", &err), err);
    zb_hierarchy_release(hierarchy); /* has no root */
    expect_group(path, "old", true);
    assert_int_equal(count_names(f), 1);
    free(path);
}

static void an_archive_that_cannot_be_made(void **state) {
    fixture *f = *state;
    zb_hierarchy *hierarchy = NULL;
    zb_error err;
    char *path = NULL;
    assert_true(asprintf(&path, "%s/missing/x.zip", f->root) > 0);
    assert_int_equal(zb_hierarchy_create(path, NULL, &hierarchy, &err), ZB_ENOTFOUND);
    free(path);
    assert_true(asprintf(&path, "%s/d/x.zip", f->root) > 0);
    char *directory = strndup(path, strlen(path) - strlen("/x.zip"));
    assert_int_equal(mkdir(directory, 0777), 0);
    hierarchy = create(path);
    zb_node_release(store_group(hierarchy, "a", NULL));
    assert_int_equal(mkdir(path, 0777), 0); /* which cannot be replaced */
    assert_int_equal(zb_hierarchy_commit(hierarchy, &err), ZB_EIO);
    assert_int_equal(rmdir(path), 0);
    ASSERT_OK(zb_hierarchy_commit(hierarchy, &err), err); /* nothing is lost */
    zb_hierarchy_release(hierarchy);
    expect_group(path, "a", true);
    free(directory);
    free(path);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static enum zb_place place_of(const char *name, const char *node) {
    zb_error err;
    enum zb_place found;
    ASSERT_OK(zb_destination_look(name, node, NULL, &found, &err), err);
    return found;
}

/* Only an archive with a store is replaced, and an empty file. */
static void what_a_new_archive_finds(void **state) {
    fixture *f = *state;
    zb_error err;
    char *path = archive_of(f);
    assert_int_equal(place_of(path, ""), ZB_PLACE_EMPTY);
    write_file(path, "");
    assert_int_equal(place_of(path, ""), ZB_PLACE_EMPTY);
    write_file(path, "PK\3\4, mine");
    assert_int_equal(place_of(path, ""), ZB_PLACE_OTHER);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(place_of(path, ""), ZB_PLACE_EMPTY); /* becomes no archive */
    assert_int_equal(rmdir(path), 0);
    zb_hierarchy *hierarchy = create(path);
    zb_node_release(store_group(hierarchy, "a", NULL));
    ASSERT_OK(zb_hierarchy_commit(hierarchy, &err), err);
    zb_hierarchy_release(hierarchy);
    assert_int_equal(place_of(path, ""), ZB_PLACE_NODE);
    free(path);
}

static void names_of_archives(void **state) {
    fixture *f = *state;
    char *path = archive_of(f);
    assert_true(zb_path_becomes_zip(path));
    assert_true(zb_path_becomes_zip("X.ZIP"));
    assert_false(zb_path_becomes_zip(".zip"));
    assert_false(zb_path_becomes_zip("x/.zip"));
    assert_false(zb_path_becomes_zip("x.zarr"));
    assert_int_equal(mkdir(path, 0777), 0);
    assert_false(zb_path_becomes_zip(path));
    zb_hierarchy *hierarchy = create(path);
    zb_node_release(store_group(hierarchy, "", NULL));
    zb_hierarchy_release(hierarchy);
    expect_group(path, "", true); /* a directory */
    free(path);
}

/* ---- Directories ---- */

static char *directory_of(const fixture *f) {
    char *path = NULL;
    assert_true(asprintf(&path, "%s/x.zarr", f->root) > 0);
    return path;
}

static void a_directory_comes_with_its_first_node(void **state) {
    fixture *f = *state;
    struct stat info;
    zb_error err;
    zb_node *root;
    char *path = directory_of(f);
    zb_hierarchy *one = create(path), *other = create(path), *unused = create(path);
    assert_int_not_equal(lstat(path, &info), 0);
    zb_node_release(store_group(one, "a/b", NULL));
    expect_group(path, "a/b", true);
    ASSERT_FAILS(zb_group_create(other, "", NULL, &root, &err), ZB_ECONFLICT, err, "x.zarr");
    zb_node_release(store_group(one, "c", NULL)); /* it goes on where it is */
    expect_group(path, "c", true);
    zb_hierarchy_release(one);
    zb_hierarchy_release(other);
    zb_hierarchy_release(unused);
    assert_int_equal(count_names(f), 1); /* nothing is left of the others */
    free(path);
}

static pthread_barrier_t all_are_there;

static void *make_group(void *hierarchy) {
    static atomic_int number;
    zb_node *made = NULL;
    char name[16];
    snprintf(name, sizeof name, "%d", number++);
    pthread_barrier_wait(&all_are_there);
    const enum zb_code code = zb_group_create(hierarchy, name, NULL, &made, NULL);
    zb_node_release(made);
    return code ? hierarchy : NULL;
}

static void a_directory_comes_once_for_all_threads(void **state) {
    enum { THREADS = 8, ROUNDS = 100 };
    fixture *f = *state;
    char *path = directory_of(f);
    pthread_barrier_init(&all_are_there, NULL, THREADS);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        zb_error err;
        zb_hierarchy *hierarchy = create(path);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, make_group, hierarchy), 0);
        void *failed[THREADS];
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(threads[i], &failed[i]), 0);
        for (int i = 0; i < THREADS; i++)
            assert_null(failed[i]);
        ASSERT_OK(zb_node_delete(hierarchy, "", &err), err);
        zb_hierarchy_release(hierarchy);
        assert_int_equal(rmdir(path), 0);
    }
    pthread_barrier_destroy(&all_are_there);
    free(path);
}

static void a_directory_that_is_there_is_kept(void **state) {
    fixture *f = *state;
    char *path = directory_of(f);
    assert_int_equal(mkdir(path, 0750), 0);
    const ino_t inode = inode_of(path);
    zb_hierarchy *hierarchy = create(path);
    zb_node_release(store_group(hierarchy, "", NULL));
    zb_hierarchy_release(hierarchy);
    assert_int_equal(inode_of(path), inode);
    free(path);
}

static void a_directory_in_none(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_hierarchy *hierarchy;
    char *path = NULL;
    assert_true(asprintf(&path, "%s/no/x.zarr", f->root) > 0);
    ASSERT_FAILS(zb_hierarchy_create(path, NULL, &hierarchy, &err), ZB_ENOTFOUND, err, path);
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(an_archive_has_its_name_when_it_is_sealed),
        FIXTURE_TEST(what_is_there_stays_until_then),
        FIXTURE_TEST(an_archive_that_cannot_be_made),
        FIXTURE_TEST(what_a_new_archive_finds),
        FIXTURE_TEST(names_of_archives),
        FIXTURE_TEST(a_directory_comes_with_its_first_node),
        FIXTURE_TEST(a_directory_comes_once_for_all_threads),
        FIXTURE_TEST(a_directory_that_is_there_is_kept),
        FIXTURE_TEST(a_directory_in_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
