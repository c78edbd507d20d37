/* SPDX-License-Identifier: MIT */
#include "scenarios.h"

#include "scenarios_two.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

void (*scenario_over)(void);
const char *scenario_root;

/* ---- Writing boxes ------------------------------------------------------------------------ */

enum { FILL = -1 }; /* a generation: writes the fill value */

typedef struct box {
    const char *path;
    uint64_t start[2], count[2];
    int generation;
    enum zb_sync sync;
    enum zb_strategy strategy;
    bool by_rows; /* one call of zb_writer_write for each */
} box;

static enum zb_code write_rows(zb_writer *writer, const box *b, const int32_t *values,
                               zb_error *err) {
    uint64_t rows = b->by_rows ? 1 : b->count[0];
    enum zb_code code = ZB_OK;
    for (uint64_t row = 0; row < b->count[0] && !code; row += rows) {
        uint64_t start[2] = {b->start[0] + row, b->start[1]}, count[2] = {rows, b->count[1]};
        zb_write write = {.start = start,
                          .count = count,
                          .data = values + row * b->count[1],
                          .dtype = {ZB_KIND_INT, 4, false, NULL}};
        PERSIST(code, zb_writer_write(writer, &write, err));
    }
    return code;
}

static enum zb_code write_box(zb_hierarchy *hierarchy, const box *b, zb_error *err) {
    zb_node *node = NULL;
    zb_writer *writer = NULL;
    zb_write_options options = {.sync = b->sync, .strategy = b->strategy};
    static int32_t values[1024]; /* not an allocation of the core's that could fail */
    for (uint64_t i = 0; i < b->count[0] * b->count[1]; i++)
        values[i] = b->generation == FILL
                        ? WORLD_FILL
                        : world_value(b->generation, b->start[0] + i / b->count[1],
                                      b->start[1] + i % b->count[1]);
    enum zb_code code;
    PERSIST(code, zb_node_open(hierarchy, b->path, &node, err));
    if (!code)
        PERSIST(code, zb_writer_open(node, &options, &writer, err));
    if (!code)
        code = write_rows(writer, b, values, err);
    if (!code)
        PERSIST(code, zb_writer_flush(writer, err));
    if (code)
        zb_writer_abandon(writer);
    else
        code = zb_writer_close(writer, err);
    zb_node_release(node);
    return code;
}

enum zb_code scenario_write(zb_hierarchy *hierarchy, const char *path, uint64_t row,
                            uint64_t column, uint64_t rows, uint64_t columns, zb_error *err) {
    return write_box(hierarchy, &(box){path, {row, column}, {rows, columns}, .generation = 1}, err);
}

enum zb_code scenario_read(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    zb_node *node;
    enum zb_code code = zb_node_open(hierarchy, path, &node, err);
    if (code)
        return code;
    static int32_t values[1024];
    zb_read read = {.node = node, .view = {.data = values, .dtype = {ZB_KIND_INT, 4, false, NULL}}};
    code = zb_array_read(&read, 1, err);
    zb_node_release(node);
    return code;
}

static enum zb_code overwrite_plain(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(hierarchy, &(box){"g/plain", {0, 0}, {12, 10}, .generation = 1}, err);
}

static enum zb_code overwrite_shard(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(hierarchy, &(box){"g/shard", {0, 0}, {14, 16}, .generation = 1}, err);
}

/* Objects that a flush could not make durable have to be written again. */
static enum zb_code overwrite_synced(zb_hierarchy *hierarchy, zb_error *err) {
    enum zb_code code;
    const box b = {"g/shard", {0, 0}, {14, 16}, .generation = 1, .sync = ZB_SYNC_CLOSE};
    PERSIST(code, write_box(hierarchy, &b, err));
    return code;
}

static enum zb_code overwrite_rows(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(hierarchy,
                     &(box){"g/shard", {0, 0}, {14, 16}, .generation = 1, .by_rows = true}, err);
}

static enum zb_code partial_plain(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(hierarchy, &(box){"g/plain", {2, 3}, {7, 6}, .generation = 1}, err);
}

static enum zb_code partial_shard(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(hierarchy, &(box){"g/shard", {3, 5}, {9, 9}, .generation = 1}, err);
}

static enum zb_code partial_closed(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(
        hierarchy, &(box){"g/shard", {3, 5}, {9, 9}, .generation = 1, .sync = ZB_SYNC_CLOSE}, err);
}

static enum zb_code partial_always(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(
        hierarchy, &(box){"g/shard", {3, 5}, {9, 9}, .generation = 1, .sync = ZB_SYNC_ALWAYS}, err);
}

static enum zb_code append_live(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(
        hierarchy, &(box){"g/shard", {3, 5}, {9, 9}, .generation = 1, .strategy = ZB_APPEND}, err);
}

static enum zb_code append_synced(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(hierarchy,
                     &(box){"g/shard",
                            {3, 5},
                            {9, 9},
                            .generation = 1,
                            .sync = ZB_SYNC_ALWAYS,
                            .strategy = ZB_APPEND},
                     err);
}

static enum zb_code inplace_live(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(
        hierarchy, &(box){"g/fixed", {1, 3}, {6, 9}, .generation = 1, .strategy = ZB_INPLACE}, err);
}

static enum zb_code inplace_synced(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(hierarchy,
                     &(box){"g/fixed",
                            {1, 3},
                            {6, 9},
                            .generation = 1,
                            .sync = ZB_SYNC_ALWAYS,
                            .strategy = ZB_INPLACE},
                     err);
}

static enum zb_code compact(zb_hierarchy *hierarchy, zb_error *err) {
    zb_node *node = NULL;
    enum zb_code code = append_live(hierarchy, err);
    if (!code)
        PERSIST(code, zb_node_open(hierarchy, "g/shard", &node, err));
    if (!code)
        PERSIST(code, zb_array_compact(node, ZB_SYNC_NONE, NULL, err));
    zb_node_release(node);
    return code;
}

static enum zb_code erase_by_fill(zb_hierarchy *hierarchy, zb_error *err) {
    return write_box(hierarchy, &(box){"g/shard", {0, 0}, {8, 16}, .generation = FILL}, err);
}

/* ---- Shapes ------------------------------------------------------------------------------- */

enum zb_code scenario_resize(zb_hierarchy *hierarchy, const char *path, uint64_t rows,
                             uint64_t columns, zb_error *err) {
    zb_node *node = NULL, *changed;
    enum zb_code code;
    PERSIST(code, zb_node_open(hierarchy, path, &node, err));
    if (!code) {
        PERSIST(code, zb_array_resize(node, (uint64_t[]){rows, columns}, &changed, err));
        if (!code)
            zb_node_release(changed);
    }
    zb_node_release(node);
    return code;
}

static enum zb_code append_plain(zb_hierarchy *hierarchy, zb_error *err) {
    enum zb_code code = scenario_resize(hierarchy, "g/plain", 20, 10, err);
    return code ? code
                : write_box(hierarchy, &(box){"g/plain", {12, 0}, {8, 10}, .generation = 1}, err);
}

/* The rows begin within a shard that is there. */
static enum zb_code append_shard(zb_hierarchy *hierarchy, zb_error *err) {
    enum zb_code code = scenario_resize(hierarchy, "g/shard", 20, 16, err);
    return code ? code
                : write_box(hierarchy, &(box){"g/shard", {14, 0}, {6, 16}, .generation = 1}, err);
}

static enum zb_code shrink(zb_hierarchy *hierarchy, zb_error *err) {
    return scenario_resize(hierarchy, "g/shard", 9, 7, err);
}

/* Elements that were cut off do not come back. */
static void verify_shrunk(const char *root) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
    ASSERT_OK(scenario_resize(hierarchy, "g/shard", 14, 16, &err), err);
    zb_hierarchy_release(hierarchy);
    world_snapshot now;
    world_snapshot_take(root, &now);
    for (uint64_t r = 0; r < 14; r++) {
        for (uint64_t c = 0; c < 16; c++) {
            int32_t expected = r < 9 && c < 7 ? world_value(0, r, c) : WORLD_FILL;
            int32_t value = now.array[1].values[r * 16 + c];
            if (value != expected)
                fail_msg("%d,%d is %d, expected %d", (int)r, (int)c, value, expected);
        }
    }
    world_snapshot_free(&now);
}

/* ---- Nodes -------------------------------------------------------------------------------- */

static enum zb_code create_group(zb_hierarchy *hierarchy, zb_error *err) {
    zb_node *node;
    enum zb_code code;
    PERSIST(code, zb_group_create(hierarchy, "new/group", "{\"a\":1}", &node, err));
    if (!code)
        zb_node_release(node);
    return code == ZB_ECONFLICT ? ZB_OK : code;
}

static enum zb_code create_array(zb_hierarchy *hierarchy, zb_error *err) {
    static const int32_t fill = WORLD_FILL;
    zb_array_spec spec = {.ndim = 2,
                          .shape = (uint64_t[]){16, 12},
                          .inner_shape = (uint64_t[]){4, 4},
                          .shard_shape = (uint64_t[]){8, 8},
                          .dtype = {ZB_KIND_INT, 4, false, NULL},
                          .fill_value = &fill};
    zb_node *node;
    enum zb_code code;
    PERSIST(code, zb_array_create(hierarchy, "new/array", &spec, &node, err));
    if (!code)
        zb_node_release(node);
    if (code && code != ZB_ECONFLICT)
        return code;
    return write_box(hierarchy, &(box){"new/array", {0, 0}, {16, 12}, .generation = 1}, err);
}

static enum zb_code set_attribute(zb_hierarchy *hierarchy, zb_error *err) {
    static const char *const paths[] = {"g/shard", "g", ""};
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < 3 && !code; i++) {
        zb_node *node = NULL, *changed;
        PERSIST(code, zb_node_open(hierarchy, paths[i], &node, err));
        if (!code) {
            PERSIST(code, zb_node_set_attribute(node, "valid", "{\"min\":0.5}", &changed, err));
            if (!code)
                zb_node_release(changed);
        }
        zb_node_release(node);
    }
    return code;
}

static enum zb_code delete_node(zb_hierarchy *hierarchy, zb_error *err) {
    enum zb_code code;
    PERSIST(code, zb_node_delete(hierarchy, "g", err));
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

static enum zb_code delete_root(zb_hierarchy *hierarchy, zb_error *err) {
    enum zb_code code;
    PERSIST(code, zb_node_delete(hierarchy, "", err));
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

static enum zb_code copy_group(zb_hierarchy *hierarchy, zb_error *err) {
    enum zb_code code;
    PERSIST(code, zb_node_copy(hierarchy, "g", hierarchy, "h/g", err));
    return code == ZB_ECONFLICT ? ZB_OK : code;
}

/* Killed between copying and deleting, a move leaves both nodes: deleting the source is the
   rest. */
enum zb_code scenario_move(zb_hierarchy *hierarchy, const char *from, const char *to,
                           zb_error *err) {
    enum zb_code code;
    PERSIST(code, zb_node_move(hierarchy, from, to, err));
    if (code == ZB_ECONFLICT || code == ZB_ENOTFOUND)
        PERSIST(code, zb_node_delete(hierarchy, from, err));
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

static enum zb_code move_array(zb_hierarchy *hierarchy, zb_error *err) {
    return scenario_move(hierarchy, "g/shard", "h/shard", err);
}

static enum zb_code move_group(zb_hierarchy *hierarchy, zb_error *err) {
    return scenario_move(hierarchy, "g", "h/g", err);
}

const scenario scenarios[] = {
    {"create_group", .run = create_group, .consolidated = true},
    {"create_array", .run = create_array, .consolidated = true},
    {"append_plain", .run = append_plain, .consolidated = true},
    {"append_shard", .run = append_shard},
    {"overwrite_plain", .run = overwrite_plain},
    {"overwrite_shard", .run = overwrite_shard},
    {"overwrite_synced", .run = overwrite_synced},
    {"overwrite_rows", .run = overwrite_rows},
    {"partial_plain", .run = partial_plain},
    {"partial_shard", .run = partial_shard},
    {"partial_closed", .run = partial_closed},
    {"partial_always", .run = partial_always},
    {"append_live", .run = append_live, .live = "g/shard"},
    {"append_synced", .run = append_synced, .live = "g/shard"},
    {"inplace_live", .run = inplace_live, .live = "g/fixed"},
    {"inplace_synced", .run = inplace_synced, .live = "g/fixed"},
    {"compact", .run = compact, .live = "g/shard"},
    {"erase_by_fill", .run = erase_by_fill},
    {"shrink", .run = shrink, .consolidated = true, .verify = verify_shrunk},
    {"set_attribute", .run = set_attribute, .consolidated = true},
    {"copy_group", .run = copy_group, .consolidated = true},
    {"move_array", .run = move_array, .consolidated = true},
    {"move_group", .run = move_group, .consolidated = true},
    {"delete_node", .run = delete_node, .consolidated = true},
    {"delete_root", .run = delete_root, .consolidated = true},
    {"two_parts", .run = two_parts, .split = "g/shard", .part = {4, 8}},
    {"two_parts_synced", .run = two_parts_synced, .split = "g/shard", .part = {4, 8}},
    {"two_whole", .run = two_whole},
    {"whole_and_part", .run = whole_and_part, .split = "g/shard", .part = {4, 8}},
    {"two_append", .run = two_append, .live = "g/shard"},
    {"two_inplace", .run = two_inplace, .live = "g/fixed"},
    {"beside_attribute", .run = beside_attribute, .consolidated = true},
    {"beside_growth", .run = beside_growth, .split = "g/shard", .part = {4, 8}},
    {"beside_shrinking", .run = beside_shrinking, .split = "g/shard", .part = {4, 8}},
    {"beside_move", .run = beside_move, .consolidated = true},
    {"beside_delete", .run = beside_delete, .consolidated = true},
};

bool scenario_is_chosen(const char *name) {
    const char *only = getenv("ZB_FAULT_ONLY");
    return !only || strcmp(only, name) == 0;
}

uint64_t scenario_stride(uint64_t stride) {
    const check_length length = check_test_length();
    if (length == CHECK_FULL || getenv("ZB_FAULT_ONLY"))
        return 1;
    return length == CHECK_LONG ? stride : 3 * stride;
}

void scenarios_each(void (*run)(const scenario *s, bool consolidated, uint64_t stride),
                    uint64_t stride) {
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (!scenario_is_chosen(scenarios[i].name))
            continue;
        for (int consolidated = 0; consolidated <= scenarios[i].consolidated; consolidated++)
            run(&scenarios[i], consolidated, scenario_stride(stride));
    }
}

void scenario_split(const scenario *s, world_snapshot *before) {
    for (size_t i = 0; s->split && world_paths[i]; i++) {
        if (strcmp(world_paths[i], s->split) == 0)
            memcpy(before->array[i].chunk, s->part, sizeof s->part);
    }
}

enum zb_code scenario_run(const scenario *s, const char *root, zb_error *err) {
    zb_hierarchy *hierarchy;
    scenario_root = root;
    enum zb_code code;
    PERSIST(code, zb_hierarchy_open(root, &hierarchy, err));
    if (code)
        return code;
    code = s->run(hierarchy, err);
    if (!code)
        PERSIST(code, zb_hierarchy_write_back(hierarchy, err));
    zb_hierarchy_release(hierarchy);
    return code;
}
