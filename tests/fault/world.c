/* SPDX-License-Identifier: MIT */
#include "world.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

#include <errno.h>
#include <ftw.h>
#include <unistd.h>

#include "support/store.h" /* of tests/core/meta */

const char *const world_paths[] = {"g/plain",   "g/shard",      "g/fixed",   "g/sub/deep",
                                   "new/array", "h/shard",      "h/g/plain", "h/g/shard",
                                   "h/g/fixed", "h/g/sub/deep", NULL};

int32_t world_value(int generation, uint64_t row, uint64_t column) {
    return (int32_t)(1000000 * generation + 1000 * (int)row + (int)column);
}

char *world_new_place(void) {
    if (access("/dev/shm", R_OK | W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
    return check_new_directory();
}

/* ---- Making ------------------------------------------------------------------------------- */

static zb_hierarchy *open_store(const char *root) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
    return hierarchy;
}

static void make_array(zb_hierarchy *hierarchy, const char *path, const uint64_t *shape,
                       const uint64_t *chunk, const uint64_t *inner, const char *codecs) {
    static const int32_t fill = WORLD_FILL;
    zb_array_spec spec = {.ndim = 2,
                          .shape = shape,
                          .inner_shape = inner ? inner : chunk,
                          .shard_shape = inner ? chunk : NULL,
                          .dtype = {ZB_KIND_INT, 4, false, NULL},
                          .fill_value = &fill,
                          .codecs = codecs,
                          .attributes = "{\"unit\":\"K\",\"scale\":[1,2.5]}"};
    zb_node *node;
    zb_writer *writer;
    zb_error err;
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &node, &err), err);
    int32_t *values = malloc(shape[0] * shape[1] * sizeof *values);
    for (uint64_t i = 0; i < shape[0] * shape[1]; i++)
        values[i] = world_value(0, i / shape[1], i % shape[1]);
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    zb_write write = {.data = values, .dtype = spec.dtype};
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    free(values);
    zb_node_release(node);
}

void world_make(const char *root, bool consolidated) {
    static const char empty_block[] =
        "{\"zarr_format\":3,\"consolidated_metadata\":{\"kind\":\"inline\","
        "\"must_understand\":false,\"metadata\":{}},\"node_type\":\"group\"}";
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_hierarchy_create(root, NULL, &hierarchy, &err), err);
    zb_part part = {empty_block, strlen(empty_block)};
    if (consolidated)
        ASSERT_OK(
            zb_store_put(zb_hierarchy_store(hierarchy), "zarr.json", &part, 1, ZB_SYNC_NONE, &err),
            err);
    ASSERT_OK(zb_group_create(hierarchy, "g", "{\"title\":\"t\"}", &node, &err), err);
    zb_node_release(node);
    make_array(hierarchy, "g/plain", (uint64_t[]){12, 10}, (uint64_t[]){4, 5}, NULL,
               "[{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]");
    make_array(hierarchy, "g/shard", (uint64_t[]){14, 16}, (uint64_t[]){8, 8}, (uint64_t[]){2, 4},
               "[{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":false}},"
               "{\"name\":\"crc32c\"}]");
    make_array(hierarchy, "g/fixed", (uint64_t[]){8, 16}, (uint64_t[]){8, 8}, (uint64_t[]){2, 4},
               "[{\"name\":\"crc32c\"}]");
    make_array(hierarchy, "g/sub/deep", (uint64_t[]){4, 4}, (uint64_t[]){4, 4}, NULL, "[]");
    zb_hierarchy_release(hierarchy);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

void world_remove(const char *root) {
    if (nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        assert_int_equal(errno, ENOENT);
}

/* ---- Snapshots ---------------------------------------------------------------------------- */

static world_array read_array(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node;
    zb_error err;
    enum zb_code code = zb_node_open(hierarchy, path, &node, &err);
    if (code == ZB_ENOTFOUND)
        return (world_array){.exists = false};
    ASSERT_OK(code, err);
    const zb_array_info *info = zb_node_array(node);
    assert_non_null(info);
    world_array array = {.exists = true};
    memcpy(array.shape, info->shape, sizeof array.shape);
    memcpy(array.chunk, info->chunk_shape, sizeof array.chunk);
    array.values = malloc(array.shape[0] * array.shape[1] * sizeof *array.values);
    zb_read read = {.node = node, .view = {.data = array.values, .dtype = info->dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    zb_node_release(node);
    return array;
}

void world_snapshot_take(const char *root, world_snapshot *out) {
    *out = (world_snapshot){.array[0].exists = false};
    zb_cache_clear();
    zb_hierarchy *hierarchy = open_store(root);
    for (size_t i = 0; world_paths[i]; i++)
        out->array[i] = read_array(hierarchy, world_paths[i]);
    zb_hierarchy_release(hierarchy);
}

void world_snapshot_free(world_snapshot *snapshot) {
    for (size_t i = 0; i < WORLD_PATHS; i++)
        free(snapshot->array[i].values);
}

/* ---- Judging ------------------------------------------------------------------------------ */

static bool same_shape(const world_array *a, const world_array *b) {
    return a->exists && b->exists && a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1];
}

/* Whether the chunk that begins at row, column is the same in both. Outside an array all is
   fill. */
static bool same_chunk(const world_array *now, const world_array *then, const uint64_t *chunk,
                       uint64_t row, uint64_t column) {
    for (uint64_t r = row; r < row + chunk[0] && r < now->shape[0]; r++) {
        for (uint64_t c = column; c < column + chunk[1] && c < now->shape[1]; c++) {
            bool inside = then->exists && r < then->shape[0] && c < then->shape[1];
            int32_t expected = inside ? then->values[r * then->shape[1] + c] : WORLD_FILL;
            if (now->values[r * now->shape[1] + c] != expected)
                return false;
        }
    }
    return true;
}

/* A new array that the change makes piece by piece may hold fill where nothing was written yet; one
   that existed may not, and neither may a copy, which appears complete. */
static void check_array(const world_array *now, const world_array *before, const world_array *after,
                        const char *path, const char *what) {
    if (!now->exists) {
        if (before->exists && after->exists)
            fail_msg("%s: array %s is gone", what, path);
        return;
    }
    bool old_shape = same_shape(now, before), new_shape = same_shape(now, after);
    if (!old_shape && !new_shape)
        fail_msg("%s: array %s has a shape [%d,%d] that is neither old nor new", what, path,
                 (int)now->shape[0], (int)now->shape[1]);
    bool grows_in_place = !before->exists && strcmp(path, "new/array") == 0;
    const uint64_t *chunk = before->exists ? before->chunk : now->chunk;
    for (uint64_t r = 0; r < now->shape[0]; r += chunk[0]) {
        for (uint64_t c = 0; c < now->shape[1]; c += chunk[1]) {
            bool is_old =
                (before->exists || grows_in_place) && same_chunk(now, before, chunk, r, c);
            bool is_new = after->exists && same_chunk(now, after, chunk, r, c);
            if (!is_old && !is_new)
                fail_msg("%s: array %s: the chunk at %d,%d is neither old nor new: begins with %d",
                         what, path, (int)r, (int)c, (int)now->values[r * now->shape[1] + c]);
        }
    }
}

/* Reads the inner chunk at row, column into its place in an array of all. */
static enum zb_code read_inner(const zb_node *node, uint64_t row, uint64_t column,
                               const world_array *now, int32_t *values) {
    const zb_array_info *info = zb_node_array(node);
    zb_error err;
    uint64_t start[2] = {row, column}, count[2];
    for (int d = 0; d < 2; d++) {
        uint64_t left = info->shape[d] - start[d];
        count[d] = left < now->chunk[d] ? left : now->chunk[d];
    }
    zb_read read = {
        .node = node,
        .start = start,
        .count = count,
        .view = {.data = values + row * info->shape[1] + column,
                 .dtype = info->dtype,
                 .strides = (int64_t[]){(int64_t)info->shape[1] * (int64_t)sizeof *values,
                                        sizeof *values}}};
    return zb_array_read(&read, 1, &err);
}

void world_check_live(const char *root, const char *path, const world_snapshot *before,
                      const world_snapshot *after, const char *what) {
    size_t place = 0;
    while (strcmp(world_paths[place], path) != 0)
        place++;
    zb_cache_clear();
    zb_hierarchy *hierarchy = open_store(root);
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    const zb_array_info *info = zb_node_array(node);
    world_array now = {.exists = true,
                       .values = malloc(info->shape[0] * info->shape[1] * sizeof *now.values)};
    memcpy(now.shape, info->shape, sizeof now.shape);
    memcpy(now.chunk, info->inner_shape, sizeof now.chunk);
    for (uint64_t r = 0; r < now.shape[0]; r += now.chunk[0]) {
        for (uint64_t c = 0; c < now.shape[1]; c += now.chunk[1]) {
            enum zb_code code = read_inner(node, r, c, &now, now.values);
            if (code == ZB_OK && !same_chunk(&now, &before->array[place], now.chunk, r, c) &&
                !same_chunk(&now, &after->array[place], now.chunk, r, c))
                fail_msg("%s: %s: the inner chunk at %d,%d is neither old nor new", what, path,
                         (int)r, (int)c);
            if (code && code != ZB_ECHECKSUM && code != ZB_EFORMAT)
                fail_msg("%s: %s at %d,%d: %s", what, path, (int)r, (int)c, zb_code_name(code));
        }
    }
    free(now.values);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* Every name that looks like a node opens. */
static void check_nodes(const zb_node *group, const char *what) {
    zb_children children;
    zb_error err;
    ASSERT_OK(zb_group_children(group, &children, &err), err);
    for (size_t i = 0; i < children.count; i++) {
        if (!children.child[i].node)
            fail_msg("%s: node %s: %s", what, children.child[i].name, children.child[i].reason);
        if (!zb_node_array(children.child[i].node))
            check_nodes(children.child[i].node, what);
    }
    zb_children_free(&children);
}

void world_check(const char *root, const world_snapshot *before, const world_snapshot *after,
                 const char *what) {
    world_snapshot now;
    world_snapshot_take(root, &now);
    for (size_t i = 0; world_paths[i]; i++)
        check_array(&now.array[i], &before->array[i], &after->array[i], world_paths[i], what);
    world_snapshot_free(&now);
    zb_hierarchy *hierarchy = open_store(root);
    zb_node *top;
    zb_error err;
    enum zb_code code = zb_node_open(hierarchy, "", &top, &err);
    if (code == ZB_OK) {
        check_nodes(top, what);
        store_check_truthful(hierarchy);
        zb_node_release(top);
    } else if (code != ZB_ENOTFOUND) { /* the root may have been deleted */
        fail_msg("%s: the root: %s", what, err.message);
    }
    zb_hierarchy_release(hierarchy);
}

/* ---- Left-over files ---------------------------------------------------------------------- */

static int left_over;
static bool locks_count;

static bool is_ours(const char *name) {
    size_t length = strlen(name);
    return name[0] == '.' && length > 7 && strstr(name, ".zb-") != NULL;
}

static int count_ours(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
    (void)st;
    (void)kind;
    /* Not the marker of a copy, which goes with the node that it lies beside (change/copy.c). The
       note of a block goes with a repair, or with the next writer that changes anything. */
    bool is_lock = strstr(path + ftw->base, ".zb-lock") != NULL;
    left_over += (is_ours(path + ftw->base) && (locks_count || !is_lock)) ||
                 strcmp(path + ftw->base, ".zarrbridge-resize") == 0 ||
                 (!locks_count && strcmp(path + ftw->base, ".zarrbridge-consolidated") == 0);
    return 0;
}

int world_left_over(const char *root, bool locks) {
    left_over = 0;
    locks_count = locks;
    assert_int_equal(nftw(root, count_ours, 16, FTW_PHYS), 0);
    return left_over;
}

#define DIRECTORIES_MAX 256
static char *directories[DIRECTORIES_MAX];
static size_t directory_count, root_length;

static int note_directory(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
    (void)st;
    if (kind == FTW_D && is_ours(path + ftw->base))
        return FTW_SKIP_SUBTREE;
    if (kind == FTW_D && directory_count < DIRECTORIES_MAX)
        directories[directory_count++] = strdup(path + root_length + (path[root_length] == '/'));
    return FTW_CONTINUE;
}

void world_sweep(const char *root) {
    directory_count = 0;
    root_length = strlen(root);
    assert_int_equal(nftw(root, note_directory, 16, FTW_PHYS | FTW_ACTIONRETVAL), 0);
    assert_true(directory_count < DIRECTORIES_MAX);
    zb_hierarchy *hierarchy = open_store(root);
    zb_part part = {"x", 1};
    zb_error err;
    for (size_t i = 0; i < directory_count; i++) {
        char key[512];
        snprintf(key, sizeof key, "%s%sprobe", directories[i], *directories[i] ? "/" : "");
        ASSERT_OK(zb_store_put(zb_hierarchy_store(hierarchy), key, &part, 1, ZB_SYNC_NONE, &err),
                  err);
        ASSERT_OK(zb_store_erase(zb_hierarchy_store(hierarchy), key, &err), err);
        free(directories[i]);
    }
    zb_hierarchy_release(hierarchy);
}
