/* SPDX-License-Identifier: MIT */
/* A file of another format that becomes the shard of an array. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fixture.h"
#include "support/stores.h"
#include "zarrbridge/check.h"
#include "zarrbridge/file_shard.h"

/* The file: a head, and two inner chunks of 2 x 4 elements. */
#define HEAD 5
#define CHUNK (8 * sizeof(int32_t))
#define LENGTH (HEAD + 2 * CHUNK)

static const uint64_t shape[] = {5, 4}, inner[] = {2, 4}, shard[] = {6, 4}, small[] = {2, 4};
static const zb_file_chunk chunks[] = {{2, HEAD, CHUNK}, {0, HEAD + CHUNK, CHUNK}};

static zb_node *new_array(zb_hierarchy *hierarchy, const char *path, const uint64_t *extents) {
    const int32_t fill = 7;
    const zb_array_spec spec = {.ndim = 2,
                                .shape = shape,
                                .inner_shape = inner,
                                .shard_shape = extents,
                                .dtype = {.kind = ZB_KIND_INT, .size = 4},
                                .fill_value = &fill,
                                .codecs = "[]"};
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &node, &err), err);
    return node;
}

static int new_file(const fixture *f, const char *name) {
    char path[512];
    int32_t values[16];
    for (int i = 0; i < 16; i++)
        values[i] = 100 + i;
    snprintf(path, sizeof path, "%s/%s", f->root, name);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "head!", HEAD), HEAD);
    assert_int_equal(write(fd, values, sizeof values), sizeof values);
    return fd;
}

static enum zb_code take(const zb_node *node, int fd, zb_error *err) {
    const zb_file_shard file = {.fd = fd, .length = LENGTH, .chunks = chunks, .count = 2};
    return zb_array_take_file(node, &file, err);
}

/* The second inner chunk is not stored, and the third one cut by the edge. */
static void expect(const zb_node *node) {
    int32_t values[20];
    zb_error err;
    const zb_read read = {.node = node, .view = {values, {ZB_KIND_INT, 4}}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (int i = 0; i < 20; i++)
        assert_int_equal(values[i], i < 8 ? 108 + i : i < 16 ? 7 : 100 + i - 16);
}

static off_t size_of(int fd, nlink_t names) {
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_nlink, names);
    return st.st_size;
}

/* A writer of the array leaves the file as it is. */
static void is_both(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_node *node = new_array(f->hierarchy, "a", shard);
    const int fd = new_file(f, "file");
    ASSERT_OK(take(node, fd, &err), err);
    assert_int_equal(size_of(fd, 2), LENGTH + 3 * 16 + 4);
    expect(node);
    ASSERT_FAILS(take(node, fd, &err), ZB_EUNSUPPORTED, err, "other names");
    const int32_t one = 1;
    zb_writer *writer;
    const zb_write write = {.start = (const uint64_t[]){0, 0},
                            .count = (const uint64_t[]){1, 1},
                            .data = &one,
                            .dtype = {ZB_KIND_INT, 4}};
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    assert_int_equal(size_of(fd, 1), LENGTH + 3 * 16 + 4);
    close(fd);
    zb_node_release(node);
}

/* Nothing is changed then. */
static void is_refused(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_object_info info;
    zb_node *node = new_array(f->hierarchy, "a", shard),
            *many = new_array(f->hierarchy, "b", small);
    const int fd = new_file(f, "file");
    ASSERT_FAILS(take(many, fd, &err), ZB_EUNSUPPORTED, err, "one shard");
    zb_file_shard file = {.fd = fd, .length = LENGTH, .chunks = chunks, .count = 2};
    file.length--;
    ASSERT_FAILS(zb_array_take_file(node, &file, &err), ZB_EINVAL, err, "leaves the file");
    const zb_file_chunk twice[] = {chunks[0], chunks[0]}, outside[] = {{3, 0, 1}},
                        huge[] = {{0, UINT64_MAX, CHUNK}};
    file = (zb_file_shard){.fd = fd, .length = LENGTH, .chunks = twice, .count = 2};
    ASSERT_FAILS(zb_array_take_file(node, &file, &err), ZB_EINVAL, err, "twice");
    file = (zb_file_shard){.fd = fd, .length = LENGTH, .chunks = outside, .count = 1};
    ASSERT_FAILS(zb_array_take_file(node, &file, &err), ZB_EINVAL, err, "leaves the file");
    file = (zb_file_shard){.fd = fd, .length = LENGTH, .chunks = huge, .count = 1};
    ASSERT_FAILS(zb_array_take_file(node, &file, &err), ZB_EINVAL, err, "leaves the file");
    file = (zb_file_shard){.fd = fd, .length = LENGTH, .is_kept = true};
    ASSERT_FAILS(zb_array_take_file(node, &file, &err), ZB_EUNSUPPORTED, err, "is to stay");
    assert_int_equal(pwrite(fd, "x", 1, LENGTH), 1);
    ASSERT_FAILS(take(node, fd, &err), ZB_EUNSUPPORTED, err, "bytes behind");
    assert_int_equal(size_of(fd, 1), LENGTH + 1);
    assert_int_equal(zb_store_stat(f->store, "a/c/0/0", &info, &err), ZB_ENOTFOUND);
    close(fd);
    zb_node_release(many);
    zb_node_release(node);
}

/* A program that writes the file cuts the index off: an error, by reading and by `verify`. */
static void tells_lost_indexes(void **state) {
    const fixture *f = *state;
    zb_error err;
    int32_t values[20];
    zb_node *node = new_array(f->hierarchy, "a", shard);
    const int fd = new_file(f, "file");
    ASSERT_OK(take(node, fd, &err), err);
    assert_int_equal(ftruncate(fd, LENGTH), 0);
    const zb_read read = {.node = node, .view = {values, {ZB_KIND_INT, 4}}};
    assert_int_equal(zb_array_read(&read, 1, &err), ZB_ECHECKSUM);
    close(fd);
    zb_node_release(node);
}

/* The store may go, and another one come: the same index is at the end already. */
static void uses_an_index_again(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_node *node = new_array(f->hierarchy, "a", shard),
            *other = new_array(f->hierarchy, "b", shard);
    const int fd = new_file(f, "file");
    ASSERT_OK(take(node, fd, &err), err);
    ASSERT_OK(zb_node_delete(f->hierarchy, "a", &err), err);
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    assert_int_equal(size_of(fd, 1), LENGTH + 3 * 16 + 4);
    const zb_file_shard less = {.fd = fd, .length = LENGTH, .chunks = chunks, .count = 1};
    ASSERT_FAILS(zb_array_take_file(other, &less, &err), ZB_EUNSUPPORTED, err, "bytes behind");
    ASSERT_OK(take(other, fd, &err), err);
    assert_int_equal(size_of(fd, 2), LENGTH + 3 * 16 + 4);
    expect(other);
    close(fd);
    zb_node_release(other);
    zb_node_release(node);
}

/* Where there is a shard, the file stays. */
static void finds_a_shard(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_node *node = new_array(f->hierarchy, "a", shard);
    const int fd = new_file(f, "file"), other = new_file(f, "other");
    ASSERT_OK(take(node, fd, &err), err);
    ASSERT_FAILS(take(node, other, &err), ZB_ECONFLICT, err, "there already");
    assert_int_equal(size_of(other, 1), LENGTH);
    close(other);
    close(fd);
    zb_node_release(node);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(is_both),
        FIXTURE_TEST(is_refused),
        FIXTURE_TEST(tells_lost_indexes),
        FIXTURE_TEST(uses_an_index_again),
        FIXTURE_TEST(finds_a_shard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
