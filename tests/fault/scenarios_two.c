/* SPDX-License-Identifier: MIT */
#include "scenarios_two.h"
#include "zarrbridge/change.h"
#include "zarrbridge/write.h"

/* A writer of an array, through a store that may be its own. */
typedef struct hand {
    zb_hierarchy *store;
    zb_node *node;
    zb_writer *writer;
} hand;

static enum zb_code open_hand(hand *h, zb_hierarchy *hierarchy, const char *path,
                              const zb_write_options *options, zb_error *err) {
    enum zb_code code = ZB_OK;
    *h = (hand){.store = NULL};
    if (hierarchy)
        h->store = zb_hierarchy_retain(hierarchy);
    else
        PERSIST(code, zb_hierarchy_open(scenario_root, &h->store, err));
    if (!code)
        PERSIST(code, zb_node_open(h->store, path, &h->node, err));
    if (!code)
        PERSIST(code, zb_writer_open(h->node, options, &h->writer, err));
    return code;
}

/* Closes the writer; after an error, its data are dropped. */
static enum zb_code close_hand(hand *h, enum zb_code code, zb_error *err) {
    if (code)
        zb_writer_abandon(h->writer);
    else
        code = zb_writer_close(h->writer, err);
    zb_node_release(h->node);
    zb_hierarchy_release(h->store);
    return code;
}

/* Writes world_value(1, ...) to a box of at most 128 elements. */
static enum zb_code put_box(const hand *h, uint64_t row, uint64_t column, uint64_t rows,
                            uint64_t columns, zb_error *err) {
    int32_t values[128];
    for (uint64_t i = 0; i < rows * columns; i++)
        values[i] = world_value(1, row + i / columns, column + i % columns);
    zb_write write = {.start = (uint64_t[]){row, column},
                      .count = (uint64_t[]){rows, columns},
                      .data = values,
                      .dtype = {ZB_KIND_INT, 4, false, NULL}};
    enum zb_code code;
    PERSIST(code, zb_writer_write(h->writer, &write, err));
    return code;
}

static enum zb_code flush_hand(const hand *h, zb_error *err) {
    enum zb_code code;
    PERSIST(code, zb_writer_flush(h->writer, err));
    return code;
}

/* ---- Two writers -------------------------------------------------------------------------- */

typedef struct pair {
    const char *path;
    zb_write_options options;
    bool one_store;
    enum zb_code (*work)(const hand *first, const hand *second, zb_error *err);
} pair;

static enum zb_code run_pair(zb_hierarchy *hierarchy, const pair *p, zb_error *err) {
    hand first, second = {.store = NULL};
    enum zb_code code = open_hand(&first, hierarchy, p->path, &p->options, err);
    if (!code)
        code = open_hand(&second, p->one_store ? hierarchy : NULL, p->path, &p->options, err);
    if (!code)
        code = p->work(&first, &second, err);
    code = close_hand(&second, code, err);
    return close_hand(&first, code, err);
}

/* In each shard the first writer has rows 0 to 3, the second one the others. */
static enum zb_code put_rows(const hand *first, const hand *second, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (uint64_t i = 0; i < 8 && !code; i++) {
        uint64_t row = i / 4 * 8 + i % 4;
        code = put_box(first, row, 0, 1, 16, err);
        if (!code && row + 4 < 14)
            code = put_box(second, row + 4, 0, 1, 16, err);
    }
    if (!code)
        code = flush_hand(first, err);
    return code ? code : flush_hand(second, err);
}

enum zb_code two_parts(zb_hierarchy *hierarchy, zb_error *err) {
    return run_pair(hierarchy, &(pair){.path = "g/shard", .work = put_rows}, err);
}

/* Chunks that a flush with sync=close could not store have to be written again, here and below. */
enum zb_code two_parts_synced(zb_hierarchy *hierarchy, zb_error *err) {
    const pair p = {
        .path = "g/shard", .options.sync = ZB_SYNC_CLOSE, .one_store = true, .work = put_rows};
    enum zb_code code;
    PERSIST(code, run_pair(hierarchy, &p, err));
    return code;
}

static enum zb_code put_chunks(const hand *first, const hand *second, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (uint64_t row = 0; row < 12 && !code; row += 4) {
        code = put_box(first, row, 0, 4, 5, err);
        if (!code)
            code = put_box(second, row, 5, 4, 5, err);
    }
    if (!code)
        code = flush_hand(first, err);
    return code ? code : flush_hand(second, err);
}

enum zb_code two_whole(zb_hierarchy *hierarchy, zb_error *err) {
    const pair p = {
        .path = "g/plain", .options.sync = ZB_SYNC_CLOSE, .one_store = true, .work = put_chunks};
    enum zb_code code;
    PERSIST(code, run_pair(hierarchy, &p, err));
    return code;
}

static enum zb_code put_whole_and_part(const hand *first, const hand *second, zb_error *err) {
    enum zb_code code = put_box(first, 0, 0, 8, 16, err);
    if (!code)
        code = put_box(second, 0, 0, 4, 16, err);
    if (!code)
        code = flush_hand(second, err);
    return code ? code : flush_hand(first, err);
}

enum zb_code whole_and_part(zb_hierarchy *hierarchy, zb_error *err) {
    const pair p = {.path = "g/shard",
                    .options.sync = ZB_SYNC_CLOSE,
                    .one_store = true,
                    .work = put_whole_and_part};
    enum zb_code code;
    PERSIST(code, run_pair(hierarchy, &p, err));
    return code;
}

/* Each flush changes the two shards in which the box lies, behind or beside the other's change. */
static enum zb_code put_inner_chunks(const hand *first, const hand *second, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (uint64_t row = 0; row < 8 && !code; row += 2) {
        const hand *h = row % 4 ? second : first;
        code = put_box(h, row, 4, 2, 8, err);
        if (!code)
            code = flush_hand(h, err);
    }
    return code;
}

enum zb_code two_append(zb_hierarchy *hierarchy, zb_error *err) {
    return run_pair(
        hierarchy,
        &(pair){.path = "g/shard", .options.strategy = ZB_APPEND, .work = put_inner_chunks}, err);
}

enum zb_code two_inplace(zb_hierarchy *hierarchy, zb_error *err) {
    return run_pair(
        hierarchy,
        &(pair){.path = "g/fixed", .options.strategy = ZB_INPLACE, .work = put_inner_chunks}, err);
}

/* ---- A writer and a change ---------------------------------------------------------------- */

typedef struct event {
    enum zb_code (*change)(zb_hierarchy *hierarchy, zb_error *err);
    bool refuses; /* the writer's flush must be ZB_ECONFLICT after it */
} event;

static enum zb_code change_elsewhere(const event *e, zb_error *err) {
    zb_hierarchy *other;
    enum zb_code code;
    PERSIST(code, zb_hierarchy_open(scenario_root, &other, err));
    if (code)
        return code;
    code = e->change(other, err);
    if (!code)
        PERSIST(code, zb_hierarchy_write_back(other, err)); /* the release tells no errors */
    zb_hierarchy_release(other);
    return code;
}

static enum zb_code flush_after(const hand *h, const event *e, bool *refused, zb_error *err) {
    enum zb_code code = flush_hand(h, err);
    *refused = e->refuses && code == ZB_ECONFLICT;
    if (e->refuses && code == ZB_OK)
        return zb_fail(err, ZB_EFORMAT, "the writer is told nothing of its loss");
    return code;
}

/* One shard whole, which waits for the flush, and a part of another one. */
static enum zb_code run_event_once(zb_hierarchy *hierarchy, const event *e, zb_error *err) {
    hand h;
    bool refused = false;
    zb_write_options options = {.sync = ZB_SYNC_CLOSE};
    enum zb_code code = open_hand(&h, hierarchy, "g/shard", &options, err);
    bool is_over = e->refuses && code == ZB_ENOTFOUND; /* made by a run that was stopped */
    if (!code)
        code = put_box(&h, 0, 0, 8, 8, err);
    if (!code)
        code = put_box(&h, 0, 8, 4, 8, err);
    if (!code)
        code = change_elsewhere(e, err);
    if (!code)
        code = flush_after(&h, e, &refused, err);
    enum zb_code closed = close_hand(&h, code, err);
    return is_over || refused ? ZB_OK : closed;
}

static enum zb_code run_event(zb_hierarchy *hierarchy, const event *e, zb_error *err) {
    enum zb_code code;
    PERSIST(code, run_event_once(hierarchy, e, err));
    return code;
}

static enum zb_code set_attribute(zb_hierarchy *hierarchy, zb_error *err) {
    zb_node *node = NULL, *changed;
    enum zb_code code;
    PERSIST(code, zb_node_open(hierarchy, "g/shard", &node, err));
    if (!code) {
        PERSIST(code, zb_node_set_attribute(node, "seen", "true", &changed, err));
        if (!code)
            zb_node_release(changed);
    }
    zb_node_release(node);
    return code;
}

enum zb_code beside_attribute(zb_hierarchy *hierarchy, zb_error *err) {
    return run_event(hierarchy, &(event){.change = set_attribute}, err);
}

static enum zb_code grow(zb_hierarchy *hierarchy, zb_error *err) {
    return scenario_resize(hierarchy, "g/shard", 20, 16, err);
}

enum zb_code beside_growth(zb_hierarchy *hierarchy, zb_error *err) {
    return run_event(hierarchy, &(event){.change = grow}, err);
}

static enum zb_code shrink(zb_hierarchy *hierarchy, zb_error *err) {
    return scenario_resize(hierarchy, "g/shard", 8, 16, err);
}

enum zb_code beside_shrinking(zb_hierarchy *hierarchy, zb_error *err) {
    return run_event(hierarchy, &(event){.change = shrink}, err);
}

static enum zb_code move_away(zb_hierarchy *hierarchy, zb_error *err) {
    return scenario_move(hierarchy, "g/shard", "h/shard", err);
}

enum zb_code beside_move(zb_hierarchy *hierarchy, zb_error *err) {
    return run_event(hierarchy, &(event){.change = move_away, .refuses = true}, err);
}

static enum zb_code delete_it(zb_hierarchy *hierarchy, zb_error *err) {
    enum zb_code code;
    PERSIST(code, zb_node_delete(hierarchy, "g/shard", err));
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

enum zb_code beside_delete(zb_hierarchy *hierarchy, zb_error *err) {
    return run_event(hierarchy, &(event){.change = delete_it, .refuses = true}, err);
}
