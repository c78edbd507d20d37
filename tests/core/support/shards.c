/* SPDX-License-Identifier: MIT */
#include "support/shards.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

const zb_dtype shards_type = {.kind = ZB_KIND_INT, .size = 4};
const char *const shards_codecs[] = {
    [ZB_REWRITE] = NULL, [ZB_APPEND] = NULL, [ZB_INPLACE] = "[{\"name\":\"crc32c\"}]"};

static zb_node *create(zb_hierarchy *hierarchy, enum zb_strategy strategy,
                       const zb_chunk_runs *runs) {
    const uint64_t shape[2] = {SHARDS_ROWS, SHARDS_COLUMNS}, inner[2] = {4, 4}, shard[2] = {8, 16};
    zb_array_spec spec = {.ndim = 2,
                          .shape = shape,
                          .inner_shape = inner,
                          .shard_shape = shard,
                          .chunk_runs = runs,
                          .dtype = shards_type,
                          .codecs = shards_codecs[strategy]};
    zb_error err;
    zb_node *node = NULL;
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    return node;
}

zb_node *shards_create(zb_hierarchy *hierarchy, enum zb_strategy strategy) {
    return create(hierarchy, strategy, NULL);
}

zb_node *shards_create_uneven(zb_hierarchy *hierarchy, enum zb_strategy strategy) {
    static const zb_chunk_run rows[] = {{4, 1}, {12, 1}, {8, 1}}, columns[] = {{16, 1}, {8, 2}};
    return create(hierarchy, strategy, (const zb_chunk_runs[]){{rows, 3}, {columns, 2}});
}

zb_writer *shards_open_writer(const zb_node *node, enum zb_strategy strategy, enum zb_sync sync) {
    zb_write_options options = {.strategy = strategy, .sync = sync};
    zb_error err;
    zb_writer *writer = NULL;
    ASSERT_OK(zb_writer_open(node, &options, &writer, &err), err);
    return writer;
}

enum zb_code shards_write(zb_writer *writer, const uint64_t *start, const uint64_t *count,
                          const int32_t *values, zb_error *err) {
    zb_write write = {.start = start, .count = count, .data = values, .dtype = shards_type};
    enum zb_code code = zb_writer_write(writer, &write, err);
    return code ? code : zb_writer_flush(writer, err);
}

void shards_set_model(int32_t *model, const uint64_t *start, const uint64_t *count,
                      const int32_t *values) {
    for (uint64_t r = 0; r < count[0]; r++)
        memcpy(model + (start[0] + r) * SHARDS_COLUMNS + start[1], values + r * count[1],
               (size_t)count[1] * sizeof *values);
}

void shards_assert_holds(const zb_node *node, const int32_t *model) {
    int32_t values[SHARDS_ELEMENTS];
    zb_read read = {.node = node, .view = {.data = values, .dtype = shards_type}};
    zb_error err;
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    assert_memory_equal(values, model, sizeof values);
}

static int count_journal(void *context, const zb_list_entry *entry) {
    *(int *)context += strstr(entry->name, "zb-journal") != NULL;
    return 0;
}

int shards_journals(zb_hierarchy *hierarchy) {
    int count = 0;
    zb_error err;
    static const char *const rows[] = {"a/c/0", "a/c/1", "a/c/2"};
    for (int i = 0; i < 3; i++)
        ASSERT_OK(
            zb_store_list(zb_hierarchy_store(hierarchy), rows[i], count_journal, &count, &err),
            err);
    return count;
}

shards_scene shards_new_scene(enum zb_strategy strategy, uint64_t rows, uint64_t columns) {
    shards_scene s = {.mem = stores_new_mem(), .start = {5, 6}, .count = {rows, columns}};
    zb_error err;
    s.direct = shards_create(s.mem, strategy);
    zb_writer *writer = shards_open_writer(s.direct, strategy, ZB_SYNC_NONE);
    uint64_t start[2] = {0, 0}, count[2] = {SHARDS_ROWS, SHARDS_COLUMNS};
    for (int i = 0; i < SHARDS_ELEMENTS; i++) {
        s.old[i] = s.changed[i] = i + 1;
        s.values[i] = -i - 1;
    }
    ASSERT_OK(shards_write(writer, start, count, s.old, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    shards_set_model(s.changed, s.start, s.count, s.values);
    ASSERT_OK(wrap(zb_store_new_fault, s.mem, &s.fault, &err), err);
    ASSERT_OK(zb_node_open(s.fault, "a", &s.node, &err), err);
    return s;
}

void shards_free_scene(shards_scene *s) {
    zb_node_release(s->node);
    zb_node_release(s->direct);
    zb_hierarchy_release(s->fault);
    zb_hierarchy_release(s->mem);
}

int shards_damaged(const shards_scene *s) {
    int failed = 0;
    for (uint64_t r = 0; r < SHARDS_ROWS; r += 4) {
        for (uint64_t c = 0; c < SHARDS_COLUMNS; c += 4) {
            int32_t inner[16], old[16], changed[16];
            uint64_t start[2] = {r, c},
                     count[2] = {4, SHARDS_COLUMNS - c < 4 ? SHARDS_COLUMNS - c : 4};
            size_t bytes = (size_t)count[1] * 4 * sizeof *inner;
            zb_read read = {.node = s->direct,
                            .start = start,
                            .count = count,
                            .view = {.data = inner, .dtype = shards_type}};
            zb_error err;
            for (uint64_t i = 0; i < count[0] * count[1]; i++) {
                size_t at = (size_t)((r + i / count[1]) * SHARDS_COLUMNS + c + i % count[1]);
                old[i] = s->old[at];
                changed[i] = s->changed[at];
            }
            enum zb_code code = zb_array_read(&read, 1, &err);
            if (code == ZB_OK)
                assert_true(memcmp(inner, old, bytes) == 0 || memcmp(inner, changed, bytes) == 0);
            else
                assert_true(code == ZB_ECHECKSUM || code == ZB_EFORMAT);
            failed += code != ZB_OK;
        }
    }
    return failed;
}

void shards_assert_healed(shards_scene *s, enum zb_strategy strategy) {
    zb_error err;
    for (uint64_t r = 0; r < SHARDS_ROWS; r += 8) {
        for (uint64_t c = 0; c < SHARDS_COLUMNS; c += 16) {
            uint64_t start[2] = {r, c}, one[2] = {1, 1};
            zb_writer *writer = shards_open_writer(s->direct, strategy, ZB_SYNC_NONE);
            int32_t value = 77;
            ASSERT_OK(shards_write(writer, start, one, &value, &err), err);
            ASSERT_OK(zb_writer_close(writer, &err), err);
            s->old[r * SHARDS_COLUMNS + c] = s->changed[r * SHARDS_COLUMNS + c] = value;
        }
    }
    assert_int_equal(shards_damaged(s), 0);
    assert_int_equal(shards_journals(s->mem), 0);
}
