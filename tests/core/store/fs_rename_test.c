/* SPDX-License-Identifier: MIT */
/* Moving trees by renaming: in one step or not at all, and never over something. */
#include <errno.h>
#include <sys/stat.h>

#include "store/calls.h"
#include "store/fixture.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

static void trees_are_renamed(void **state) {
    fixture *f = *state;
    zb_error err;
    fixture_must_put(f->store, "a/b/c/0", "chunk", PUT_LATER);
    fixture_must_put(f->store, "a/b/stray", "file", PUT_LATER);
    ASSERT_OK(zb_store_flush(f->store, &err), err);
    calls_clear();
    ASSERT_OK(zb_store_rename(f->store, "a/b", "x/y/z", &err), err);
    assert_null(strchr(calls_log, 'w'));
    assert_holds(f->store, "x/y/z/c/0", "chunk");
    assert_holds(f->store, "x/y/z/stray", "file");
    assert_holds(f->store, "a/b/c/0", NULL);
    calls_clear();
    ASSERT_OK(zb_store_flush(f->store, &err), err);
    assert_string_equal(calls_log, "dddd"); /* the root, x, x/y and a */
}

static int ignore(void *context, const zb_list_entry *entry) {
    (void)context;
    (void)entry;
    return 0;
}

static void what_cannot_be_renamed_stays(void **state) {
    fixture *f = *state;
    zb_error err;
    fixture_must_put(f->store, "a/k", "a", PUT_LATER);
    fixture_must_put(f->store, "b/k", "b", PUT_LATER);
    fixture_link(f, "a", "link");
    ASSERT_FAILS(zb_store_rename(f->store, "a", "b", &err), ZB_ECONFLICT, err, "something at 'b'");
    ASSERT_FAILS(zb_store_rename(f->store, "link", "v", &err), ZB_EUNSUPPORTED, err, "'link'");
    ASSERT_FAILS(zb_store_rename(f->store, "none", "v", &err), ZB_EIO, err, "'none'");
    ASSERT_FAILS(zb_store_rename(f->store, "a", "../v", &err), ZB_EINVAL, err, "..");
    ASSERT_FAILS(zb_store_rename(f->store, "", "v", &err), ZB_EINVAL, err, "");
    assert_holds(f->store, "a/k", "a");
    assert_holds(f->store, "b/k", "b");
    ASSERT_OK(zb_store_list(f->store, "", ignore, NULL, &err), err);
    char path[512];
    snprintf(path, sizeof path, "%s/empty", f->root);
    assert_int_equal(mkdir(path, 0777), 0);
    ASSERT_OK(zb_store_rename(f->store, "a", "empty", &err), err);
    assert_holds(f->store, "empty/k", "a");
}

/* Objects that wait for a flush go with their directory; left-overs of late writers at the target
   do not count. */
static void waiting_objects_are_moved_too(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_lock *lock;
    fixture_must_put(f->store, "w/k", "waits", PUT_WAITS);
    fixture_must_put(f->store, "v/c/0/k", "1", PUT_LATER);
    ASSERT_OK(zb_store_erase(f->store, "v/c/0/k", &err), err);
    ASSERT_OK(zb_store_lock(f->store, "v/c/1/k", &lock, &err), err);
    ASSERT_OK(zb_store_rename(f->store, "w", "v", &err), err);
    zb_store_unlock(lock);
    assert_holds(f->store, "v/k", "waits");
    assert_holds(f->store, "w/k", NULL);
    int ours;
    assert_int_equal(fixture_files(f->root, &ours), 1);
    assert_int_equal(ours, 0);
}

/* Those of the user stay where they are, beside what comes there, unless they are in its way. */
static void files_at_the_target_stay(void **state) {
    fixture *f = *state;
    zb_error err;
    int ours;
    fixture_must_put(f->store, "v/c/0/k", "chunk", PUT_LATER);
    fixture_must_put(f->store, "u/c/0/README", "1", PUT_LATER);
    fixture_must_put(f->store, "u/notes/a/b", "2", PUT_LATER);
    fixture_must_put(f->store, "u/c/1/k", "3", PUT_LATER);
    ASSERT_OK(zb_store_erase(f->store, "u/c/1/k", &err), err);
    ASSERT_OK(zb_store_rename(f->store, "v", "u", &err), err);
    assert_holds(f->store, "u/c/0/k", "chunk");
    assert_holds(f->store, "u/c/0/README", "1");
    assert_holds(f->store, "u/notes/a/b", "2");
    assert_true(zb_store_is_absent(f->store, "v"));
    assert_int_equal(fixture_files(f->root, &ours), 3);
    assert_int_equal(ours, 0);
    fixture_must_put(f->store, "w/x", "1", PUT_LATER);
    fixture_must_put(f->store, "w/notes/a", "a file", PUT_LATER);
    ASSERT_FAILS(zb_store_rename(f->store, "u", "w", &err), ZB_ECONFLICT, err, "in the way");
    assert_holds(f->store, "w/x", "1");
    assert_holds(f->store, "w/notes/a", "a file");
    assert_holds(f->store, "u/c/0/k", "chunk");
    assert_holds(f->store, "u/notes/a/b", "2");
}

static uint64_t inode_of(const fixture *f, const char *key) {
    struct stat st;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", f->root, key);
    return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

static zb_node *create(const fixture *f, const char *path) {
    const uint64_t shape[1] = {4}, inner[1] = {2};
    zb_array_spec spec = {.ndim = 1,
                          .shape = shape,
                          .inner_shape = inner,
                          .dtype = {.kind = ZB_KIND_UINT, .size = 1}};
    zb_error err;
    zb_node *node = NULL;
    zb_writer *writer = NULL;
    zb_write write = {.data = "abcd", .dtype = spec.dtype};
    ASSERT_OK(zb_array_create(f->hierarchy, path, &spec, &node, &err), err);
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    return node;
}

static const char consolidated[] =
    "{\"attributes\":{},\"zarr_format\":3,\"consolidated_metadata\":{\"kind\":\"inline\","
    "\"must_understand\":false,\"metadata\":{\"g\":{\"zarr_format\":3,\"node_type\":\"group\"},"
    "\"g/a\":{\"zarr_format\":3,\"node_type\":\"array\"}}},\"node_type\":\"group\"}";

/* A node moves as its directory, chunks, stray files and all, and consolidated metadata with it. */
static void nodes_move_by_their_directory(void **state) {
    fixture *f = *state;
    zb_error err;
    char *text;
    zb_node_release(create(f, "g/a"));
    fixture_must_put(f->store, "zarr.json", consolidated, PUT_LATER);
    uint64_t inode = inode_of(f, "g/a/c/0");
    ASSERT_OK(zb_node_move(f->hierarchy, "g", "new/place", &err), err);
    assert_int_equal(inode_of(f, "new/place/a/c/0"), inode);
    assert_int_equal(inode_of(f, "g"), 0);
    zb_node *node = NULL;
    ASSERT_OK(zb_node_open(f->hierarchy, "new/place/a", &node, &err), err);
    unsigned char back[4];
    zb_read read = {.node = node, .view = {.data = back, .dtype = {ZB_KIND_UINT, 1, false, NULL}}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    assert_memory_equal(back, "abcd", 4);
    zb_node_release(node);
    size_t size;
    ASSERT_OK(zb_hierarchy_write_back(f->hierarchy, &err), err);
    ASSERT_OK(zb_store_get(f->store, "zarr.json", 1 << 20, "limit", &text, &size, NULL, &err), err);
    assert_non_null(strstr(text, "\"new/place/a\""));
    assert_null(strstr(text, "\"g/a\""));
    free(text);
}

/* A file of no node is at the target. A copy would lose what others write meanwhile. */
static void nodes_move_in_one_step_beside_files(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node_release(create(f, "a"));
    fixture_must_put(f->store, "b/stray", "file", PUT_LATER);
    uint64_t inode = inode_of(f, "a/c/0");
    ASSERT_OK(zb_node_move(f->hierarchy, "a", "b", &err), err);
    assert_int_equal(inode_of(f, "b/c/0"), inode);
    assert_int_equal(inode_of(f, "a/zarr.json"), 0);
    assert_holds(f->store, "b/stray", "file");
}

static void nodes_that_cannot_be_moved_in_one_step_stay(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node_release(create(f, "a"));
    const uint64_t inode = inode_of(f, "a/c/0");
    calls_fail(CALL_RENAMEAT, 1, EXDEV);
    ASSERT_FAILS(zb_node_move(f->hierarchy, "a", "b", &err), ZB_EUNSUPPORTED, err, "copy it");
    assert_int_equal(inode_of(f, "a/c/0"), inode);
    assert_int_equal(inode_of(f, "b"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(trees_are_renamed),
        FIXTURE_TEST(what_cannot_be_renamed_stays),
        FIXTURE_TEST(waiting_objects_are_moved_too),
        FIXTURE_TEST(nodes_move_by_their_directory),
        FIXTURE_TEST(files_at_the_target_stay),
        FIXTURE_TEST(nodes_move_in_one_step_beside_files),
        FIXTURE_TEST(nodes_that_cannot_be_moved_in_one_step_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
