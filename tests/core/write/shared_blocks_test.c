/* SPDX-License-Identifier: MIT */
/*
 * Parts of shards on a file system that shares blocks: the stored elements are those of a model,
 * old blocks are not written again, and what is in vain stays below a half of the rest.
 */
#include <errno.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/shards.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

enum { SIDE = 256, INNER = 32, ELEMENTS = SIDE * SIDE, INDEX_BYTES = 64 * 16 + 4 };

/* ---- The system, as it is to be ---- */

static bool can_share;
static int shared, refused;

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

int __wrap_ioctl(int fd, unsigned long request, ...) {
    va_list args;
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    if (request != FICLONE)
        return __real_ioctl(fd, request, argument);
    if (!can_share) {
        refused++;
        errno = EOPNOTSUPP;
        return -1;
    }
    shared++;
    char block[4096];
    ssize_t n;
    for (off_t at = 0; (n = pread((int)(intptr_t)argument, block, sizeof block, at)) > 0; at += n)
        assert_int_equal(pwrite(fd, block, (size_t)n, at), n);
    return 0;
}

/* ---- An array of one shard ---- */

typedef struct fixture {
    char *root;
    zb_hierarchy *hierarchy;
    zb_node *node;
    int32_t model[ELEMENTS];
} fixture;

static void begin(fixture *f, bool shares) {
    const uint64_t shape[2] = {SIDE, SIDE}, inner[2] = {INNER, INNER};
    const zb_array_spec spec = {.ndim = 2,
                                .shape = shape,
                                .inner_shape = inner,
                                .shard_shape = shape,
                                .dtype = shards_type,
                                .codecs = "[]"};
    zb_error err;
    *f = (fixture){.root = check_new_directory()};
    can_share = shares;
    shared = refused = 0;
    ASSERT_OK(zb_hierarchy_open(f->root, &f->hierarchy, &err), err);
    zb_hierarchy_store(f->hierarchy)->hints.shares_blocks = true;
    ASSERT_OK(zb_array_create(f->hierarchy, "a", &spec, &f->node, &err), err);
}

static void end(fixture *f) {
    zb_node_release(f->node);
    zb_hierarchy_release(f->hierarchy);
    check_remove_directory(f->root);
}

static uint64_t file_size(const fixture *f) {
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/a/c/0/0", f->root);
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* A program that opens the array, writes one box, and closes it. */
static enum zb_code store_box(fixture *f, const uint64_t *start, const uint64_t *count,
                              const int32_t *values, enum zb_sync sync, zb_error *err) {
    zb_writer *writer = shards_open_writer(f->node, ZB_REWRITE, sync);
    enum zb_code code = shards_write(writer, start, count, values, err);
    const enum zb_code closed = zb_writer_close(writer, code ? NULL : err);
    code = code ? code : closed;
    for (uint64_t i = 0; i < count[0] * count[1] && !code; i++)
        f->model[(start[0] + i / count[1]) * SIDE + start[1] + i % count[1]] = values[i];
    return code;
}

static void assert_holds(const fixture *f) {
    static int32_t seen[ELEMENTS];
    zb_read read = {.node = f->node, .view = {.data = seen, .dtype = shards_type}};
    zb_error err;
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    assert_memory_equal(seen, f->model, sizeof seen);
}

/* ---- Tests ---- */

static void fill(int32_t *values, size_t count, check_random *random) {
    for (size_t i = 0; i < count; i++)
        values[i] = (int32_t)check_random_next(random);
}

/* Blocks one by one: after the first few, nothing but the block and an index comes. */
static void blocks_come_one_by_one(void **state) {
    static int32_t values[INNER * INNER];
    const uint64_t count[2] = {INNER, INNER};
    check_random random = check_random_new();
    fixture *f = malloc(sizeof *f);
    zb_error err;
    (void)state;
    begin(f, true);
    for (uint64_t i = 0; i < 64; i++) {
        const uint64_t start[2] = {i / 8 * INNER, i % 8 * INNER}, before = file_size(f);
        fill(values, INNER * INNER, &random);
        ASSERT_OK(store_box(f, start, count, values, ZB_SYNC_NONE, &err), err);
        assert_true(file_size(f) <= before + sizeof values + INDEX_BYTES);
        assert_holds(f);
    }
    assert_true(shared >= 56);
    assert_true(file_size(f) <= sizeof f->model * 3 / 2 + INDEX_BYTES);
    end(f);
    free(f);
}

static void take_random_boxes(bool shares, enum zb_sync sync) {
    static int32_t values[ELEMENTS];
    check_random random = check_random_new();
    fixture *f = malloc(sizeof *f);
    zb_error err;
    begin(f, shares);
    for (int i = 0; i < 80; i++) {
        const uint64_t most = i % 8 == 0 ? SIDE : 60;
        uint64_t start[2], count[2], reclaimed;
        for (int d = 0; d < 2; d++) {
            start[d] = check_random_in(&random, 0, SIDE - 1);
            count[d] = check_random_in(&random, 1, SIDE - start[d] < most ? SIDE - start[d] : most);
        }
        memset(values, 0, sizeof values);
        if (i % 5 > 0)
            fill(values, count[0] * count[1], &random);
        ASSERT_OK(store_box(f, start, count, values, sync, &err), err);
        assert_holds(f);
        const uint64_t size = file_size(f);
        if (i % 20 < 19 || size == 0)
            continue;
        ASSERT_OK(zb_array_compact(f->node, sync, &reclaimed, &err), err);
        assert_int_equal(file_size(f), size - reclaimed);
        assert_true(shares || reclaimed == 0);
        assert_holds(f);
    }
    assert_true(shares ? shared > 20 : refused > 20 && shared == 0);
    end(f);
    free(f);
}

static void random_boxes_are_as_written(void **state) {
    (void)state;
    take_random_boxes(true, ZB_SYNC_NONE);
    take_random_boxes(true, ZB_SYNC_CLOSE);
    take_random_boxes(false, ZB_SYNC_NONE);
}

/* All zeros: nothing is stored any more. */
static void nothing_is_erased(void **state) {
    static int32_t values[ELEMENTS];
    const uint64_t none[2] = {0, 0}, all[2] = {SIDE, SIDE}, most[2] = {SIDE, SIDE - 1},
                   last[2] = {0, SIDE - 1}, column[2] = {SIDE, 1};
    fixture *f = malloc(sizeof *f);
    zb_error err;
    (void)state;
    begin(f, true);
    memset(values, 1, sizeof values);
    ASSERT_OK(store_box(f, none, all, values, ZB_SYNC_NONE, &err), err);
    memset(values, 0, sizeof values);
    ASSERT_OK(store_box(f, none, most, values, ZB_SYNC_NONE, &err), err);
    assert_holds(f);
    ASSERT_OK(store_box(f, last, column, values, ZB_SYNC_NONE, &err), err);
    assert_int_equal(file_size(f), 0);
    assert_holds(f);
    end(f);
    free(f);
}

/* A damaged index is told, and nothing is built upon it. */
static void damage_is_told(void **state) {
    static int32_t values[ELEMENTS];
    const uint64_t none[2] = {0, 0}, all[2] = {SIDE, SIDE}, part[2] = {INNER, INNER};
    fixture *f = malloc(sizeof *f);
    char path[4096];
    zb_error err;
    (void)state;
    begin(f, true);
    memset(values, 1, sizeof values);
    ASSERT_OK(store_box(f, none, all, values, ZB_SYNC_NONE, &err), err);
    const uint64_t size = file_size(f);
    snprintf(path, sizeof path, "%s/a/c/0/0", f->root);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, -8, SEEK_END), 0);
    assert_int_equal(fputc(77, file), 77);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(store_box(f, none, part, values, ZB_SYNC_NONE, &err), ZB_ECHECKSUM);
    assert_int_equal(file_size(f), size);
    assert_int_equal(shared, 0);
    end(f);
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_one_by_one),
        cmocka_unit_test(random_boxes_are_as_written),
        cmocka_unit_test(nothing_is_erased),
        cmocka_unit_test(damage_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
