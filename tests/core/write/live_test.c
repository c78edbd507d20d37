/* SPDX-License-Identifier: MIT */
/*
 * Changing stored shards: random boxes against a model, every call failing once, every call being
 * the last one of a killed writer, torn writes, and readers at the same time.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "zarrbridge/check.h"
#include "zarrbridge/write.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/sys/wrappers.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"

enum { ROWS = 20, COLUMNS = 30, ELEMENTS = ROWS * COLUMNS };

static const zb_dtype int32_type = {.kind = ZB_KIND_INT, .size = 4};
static const char *const codecs_of[] = {
    [ZB_REWRITE] = NULL, [ZB_APPEND] = NULL, [ZB_INPLACE] = "[{\"name\":\"crc32c\"}]"};

static zb_store *new_mem(void) {
    zb_error err;
    zb_store *mem = NULL;
    ASSERT_OK(zb_store_new_mem("mem", &mem, &err), err);
    return mem;
}

/* int32, 20 x 30 in shards of 8 x 16 with inner chunks of 4 x 4, ragged on both sides; zeros. */
static zb_node *create(zb_store *store, enum zb_strategy strategy) {
    const uint64_t shape[2] = {ROWS, COLUMNS}, inner[2] = {4, 4}, shard[2] = {8, 16};
    zb_array_spec spec = {.ndim = 2,
                          .shape = shape,
                          .inner_shape = inner,
                          .shard_shape = shard,
                          .dtype = int32_type,
                          .codecs = codecs_of[strategy]};
    zb_error err;
    zb_node *node = NULL;
    ASSERT_OK(zb_array_create(store, "a", &spec, &node, &err), err);
    return node;
}

static zb_writer *open_writer(const zb_node *node, enum zb_strategy strategy, enum zb_sync sync) {
    zb_write_options options = {.strategy = strategy, .sync = sync};
    zb_error err;
    zb_writer *writer = NULL;
    ASSERT_OK(zb_writer_open(node, &options, &writer, &err), err);
    return writer;
}

static enum zb_code write_box(zb_writer *writer, const uint64_t *start, const uint64_t *count,
                              const int32_t *values, zb_error *err) {
    zb_write write = {.start = start, .count = count, .data = values, .dtype = int32_type};
    enum zb_code code = zb_writer_write(writer, &write, err);
    return code ? code : zb_writer_flush(writer, err);
}

static void set_model(int32_t *model, const uint64_t *start, const uint64_t *count,
                      const int32_t *values) {
    for (uint64_t r = 0; r < count[0]; r++)
        memcpy(model + (start[0] + r) * COLUMNS + start[1], values + r * count[1],
               (size_t)count[1] * sizeof *values);
}

static void read_all(const zb_node *node, int32_t *values) {
    zb_read read = {.node = node, .view = {.data = values, .dtype = int32_type}};
    zb_error err;
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
}

static void assert_holds(const zb_node *node, const int32_t *model) {
    int32_t values[ELEMENTS];
    read_all(node, values);
    assert_memory_equal(values, model, sizeof values);
}

/* The bytes of all shards. */
static uint64_t stored_bytes(const zb_node *node) {
    uint64_t bytes = 0;
    zb_error err;
    ASSERT_OK(zb_array_storage_size(node, &bytes, &err), err);
    return bytes;
}

static int count_journal(void *context, const zb_list_entry *entry) {
    *(int *)context += strstr(entry->name, "zb-journal") != NULL;
    return 0;
}

static int journals(zb_store *store) {
    int count = 0;
    zb_error err;
    static const char *const rows[] = {"a/c/0", "a/c/1", "a/c/2"};
    for (int i = 0; i < 3; i++)
        ASSERT_OK(zb_store_list(store, rows[i], count_journal, &count, &err), err);
    return count;
}

/* ---- What is written is read ---- */

static void random_box(check_random *random, uint64_t *start, uint64_t *count, int32_t *values) {
    start[0] = check_random_in(random, 0, ROWS - 1);
    start[1] = check_random_in(random, 0, COLUMNS - 1);
    count[0] = check_random_in(random, 1, ROWS - start[0]);
    count[1] = check_random_in(random, 1, COLUMNS - start[1]);
    bool zero = check_random_in(random, 0, 4) == 0;
    for (uint64_t i = 0; i < count[0] * count[1]; i++)
        values[i] = zero ? 0 : (int32_t)check_random_next(random);
}

static void takes_random_boxes(zb_store *store, enum zb_strategy strategy, enum zb_sync sync,
                               int boxes, check_random *random) {
    int32_t model[ELEMENTS] = {0}, values[ELEMENTS];
    uint64_t start[2], count[2];
    zb_error err;
    zb_node *node = create(store, strategy);
    zb_writer *writer = open_writer(node, strategy, sync);
    for (int i = 0; i < boxes; i++) {
        random_box(random, start, count, values);
        ASSERT_OK(write_box(writer, start, count, values, &err), err);
        set_model(model, start, count, values);
        assert_holds(node, model);
    }
    ASSERT_OK(zb_writer_close(writer, &err), err);
    assert_int_equal(journals(store), 0);
    uint64_t before = stored_bytes(node), reclaimed = 0;
    ASSERT_OK(zb_array_compact(node, sync, &reclaimed, &err), err);
    assert_holds(node, model);
    assert_int_equal(stored_bytes(node), before - reclaimed);
    assert_true(strategy != ZB_APPEND || boxes < 60 || reclaimed > 0);
    ASSERT_OK(zb_array_compact(node, sync, &reclaimed, &err), err);
    assert_int_equal(reclaimed, 0);
    zb_node_release(node);
}

static void strategies_take_random_boxes(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (enum zb_strategy strategy = ZB_REWRITE; strategy <= ZB_INPLACE; strategy++) {
        for (enum zb_sync sync = ZB_SYNC_NONE; sync <= ZB_SYNC_CLOSE; sync++) {
            zb_store *mem = new_mem(), *fs = NULL;
            zb_error err;
            char *root = check_new_directory();
            takes_random_boxes(mem, strategy, sync, 60, &random);
            ASSERT_OK(zb_store_open_fs(root, &fs, &err), err);
            /* A busy disk takes long to sync. */
            takes_random_boxes(fs, strategy, sync, sync == ZB_SYNC_NONE ? 60 : 4, &random);
            zb_store_release(mem);
            zb_store_release(fs);
            check_remove_directory(root);
        }
    }
}

/* Slices of one row of inner chunks arrive one by one; what has been flushed is read by others, and
   each flush writes the slice and an index, not the shard. */
static void slices_stream_into_a_shard(void **state) {
    (void)state;
    enum { STEPS = 16, SIDE = 64 };
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        zb_store *mem = new_mem(), *counter = NULL;
        zb_error err;
        const uint64_t shape[3] = {1, SIDE, SIDE}, inner[3] = {1, 32, 32};
        const uint64_t shard[3] = {STEPS, SIDE, SIDE};
        zb_array_spec spec = {.ndim = 3,
                              .shape = shape,
                              .inner_shape = inner,
                              .shard_shape = shard,
                              .dtype = int32_type,
                              .codecs = strategy == ZB_APPEND ? "[]" : codecs_of[strategy]};
        zb_node *node = NULL;
        ASSERT_OK(zb_store_new_count(mem, &counter, &err), err);
        ASSERT_OK(zb_array_create(counter, "a", &spec, &node, &err), err);
        int32_t slice[SIDE * SIDE], back[SIDE * SIDE];
        for (uint64_t t = 0; t < STEPS; t++) {
            uint64_t grown[3] = {t + 1, SIDE, SIDE}, start[3] = {t, 0, 0};
            uint64_t one[3] = {1, SIDE, SIDE};
            zb_node *now = NULL;
            ASSERT_OK(zb_array_resize(node, grown, &now, &err), err);
            zb_node_release(node);
            node = now;
            zb_writer *writer = open_writer(node, strategy, ZB_SYNC_NONE);
            for (int i = 0; i < SIDE * SIDE; i++)
                slice[i] = (int32_t)t * 10000 + i + 1;
            zb_store_count_take(counter);
            ASSERT_OK(write_box(writer, start, one, slice, &err), err);
            zb_store_counts counts = zb_store_count_take(counter);
            if (strategy == ZB_APPEND && t > 0)
                /* The slice, a copy of the old index, and the new one. */
                assert_int_equal(counts.change_bytes, sizeof slice + 2 * (16 * 4 * STEPS + 4));
            ASSERT_OK(zb_writer_close(writer, &err), err);
            for (uint64_t u = 0; u <= t; u++) {
                uint64_t from[3] = {u, 0, 0};
                zb_read read = {.node = node,
                                .start = from,
                                .count = one,
                                .view = {.data = back, .dtype = int32_type}};
                ASSERT_OK(zb_array_read(&read, 1, &err), err);
                assert_int_equal(back[7], (int32_t)u * 10000 + 8);
            }
        }
        zb_node_release(node);
        zb_store_release(counter);
        zb_store_release(mem);
    }
}

/* ---- What is refused ---- */

static void assert_refused(const char *document, enum zb_strategy strategy, const char *why) {
    zb_store *mem = new_mem();
    zb_error err;
    zb_node *node = NULL;
    zb_writer *writer = NULL;
    zb_write_options options = {.strategy = strategy};
    ASSERT_OK(zb_store_mem_set(mem, "zarr.json", document, strlen(document), &err), err);
    ASSERT_OK(zb_node_open(mem, "", &node, &err), err);
    ASSERT_FAILS(zb_writer_open(node, &options, &writer, &err), ZB_EUNSUPPORTED, err, why);
    zb_node_release(node);
    zb_store_release(mem);
}

#define DOCUMENT(codecs)                                                                           \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[8],\"data_type\":\"int8\","             \
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[8]}},"               \
    "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":0,\"codecs\":[" codecs "]}"
#define SHARD(inner, index, location)                                                              \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[4],\"codecs\":["           \
    "{\"name\":\"bytes\"}" inner "],\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":"      \
    "{\"endian\":\"little\"}}" index "],\"index_location\":\"" location "\"}}"
#define CRC ",{\"name\":\"crc32c\"}"
#define ZSTD ",{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":true}}"

static void what_cannot_be_detected_is_refused(void **state) {
    (void)state;
    assert_refused(DOCUMENT("{\"name\":\"bytes\"}"), ZB_APPEND, "not sharded");
    assert_refused(DOCUMENT("{\"name\":\"bytes\"}"), ZB_INPLACE, "not sharded");
    assert_refused(DOCUMENT(SHARD("", CRC, "end") ZSTD), ZB_APPEND, "codecs lie around");
    assert_refused(DOCUMENT(SHARD("", "", "end")), ZB_APPEND, "no crc32c");
    assert_refused(DOCUMENT(SHARD(CRC, "", "end")), ZB_INPLACE, "no crc32c");
    assert_refused(DOCUMENT(SHARD("", CRC, "start")), ZB_APPEND, "at the start");
    assert_refused(DOCUMENT(SHARD("", CRC, "start")), ZB_INPLACE, "with a crc32c");
    assert_refused(DOCUMENT(SHARD(ZSTD CRC, CRC, "end")), ZB_INPLACE, "no compression");
}

/* ---- Kills and errors ---- */

/* A store with an array of known values, and a box of others to write: over inner chunks that are
   covered wholly and in part, in four shards when it is large. */
typedef struct scene {
    zb_store *mem, *fault;
    zb_node *node, *direct; /* through the fault store, and past it */
    int32_t old[ELEMENTS], changed[ELEMENTS], values[ELEMENTS];
    uint64_t start[2], count[2];
} scene;

static scene new_scene(enum zb_strategy strategy, uint64_t rows, uint64_t columns) {
    scene s = {.mem = new_mem(), .start = {5, 6}, .count = {rows, columns}};
    zb_error err;
    s.direct = create(s.mem, strategy);
    zb_writer *writer = open_writer(s.direct, strategy, ZB_SYNC_NONE);
    uint64_t start[2] = {0, 0}, count[2] = {ROWS, COLUMNS};
    for (int i = 0; i < ELEMENTS; i++) {
        s.old[i] = s.changed[i] = i + 1;
        s.values[i] = -i - 1;
    }
    ASSERT_OK(write_box(writer, start, count, s.old, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    set_model(s.changed, s.start, s.count, s.values);
    ASSERT_OK(zb_store_new_fault(s.mem, &s.fault, &err), err);
    ASSERT_OK(zb_node_open(s.fault, "a", &s.node, &err), err);
    return s;
}

static void free_scene(scene *s) {
    zb_node_release(s->node);
    zb_node_release(s->direct);
    zb_store_release(s->fault);
    zb_store_release(s->mem);
}

static char *get(zb_store *store, const char *key, size_t *size) {
    char *data = NULL;
    zb_error err;
    ASSERT_OK(zb_store_get(store, key, 1 << 20, "limit", &data, size, NULL, &err), err);
    return data;
}

/* Every inner chunk reads as the old or the new one, or not at all. Returns how many fail. */
static int assert_old_new_or_error(const scene *s) {
    int failed = 0;
    for (uint64_t r = 0; r < ROWS; r += 4) {
        for (uint64_t c = 0; c < COLUMNS; c += 4) {
            int32_t inner[16], old[16], changed[16];
            uint64_t start[2] = {r, c}, count[2] = {4, COLUMNS - c < 4 ? COLUMNS - c : 4};
            size_t bytes = (size_t)count[1] * 4 * sizeof *inner;
            zb_read read = {.node = s->direct,
                            .start = start,
                            .count = count,
                            .view = {.data = inner, .dtype = int32_type}};
            zb_error err;
            for (uint64_t i = 0; i < count[0] * count[1]; i++) {
                size_t at = (size_t)((r + i / count[1]) * COLUMNS + c + i % count[1]);
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

/* A writer comes after the kill and changes one element of each shard: all is well again. */
static void assert_next_writer_heals(scene *s, enum zb_strategy strategy) {
    zb_error err;
    for (uint64_t r = 0; r < ROWS; r += 8) {
        for (uint64_t c = 0; c < COLUMNS; c += 16) {
            uint64_t start[2] = {r, c}, one[2] = {1, 1};
            zb_writer *writer = open_writer(s->direct, strategy, ZB_SYNC_NONE);
            int32_t value = 77;
            ASSERT_OK(write_box(writer, start, one, &value, &err), err);
            ASSERT_OK(zb_writer_close(writer, &err), err);
            s->old[r * COLUMNS + c] = s->changed[r * COLUMNS + c] = value;
        }
    }
    assert_int_equal(assert_old_new_or_error(s), 0);
    assert_int_equal(journals(s->mem), 0);
}

static void every_call_may_be_the_last(void **state) {
    (void)state;
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        for (enum zb_strategy next = ZB_REWRITE; next <= strategy; next += strategy) {
            int damaged = 0;
            enum zb_code code = ZB_EIO;
            for (uint64_t nth = 1; code != ZB_OK; nth++) {
                scene s = new_scene(strategy, 10, 20);
                zb_error err;
                zb_writer *writer = open_writer(s.node, strategy, ZB_SYNC_NONE);
                zb_cache_clear();
                zb_store_fault_from(s.fault, nth);
                code = write_box(writer, s.start, s.count, s.values, &err);
                zb_writer_abandon(writer);
                damaged += assert_old_new_or_error(&s) > 0;
                assert_next_writer_heals(&s, next);
                free_scene(&s);
            }
            /* Calls of the store are atomic in memory, so that an inner chunk is never torn. How
               often appending is caught in between depends on the random boxes. */
            assert_true(strategy == ZB_INPLACE || damaged > 0);
        }
    }
}

/* Until the new index takes its place, the old one stands at the shard's new end: readers go on
   while what was appended is synced. */
static void appended_shards_can_be_read_while_they_wait(void **state) {
    (void)state;
    int waiting = 0;
    enum zb_code code = ZB_EIO;
    for (uint64_t nth = 1; code != ZB_OK; nth++) {
        scene s = new_scene(ZB_APPEND, 3, 10);
        size_t before, after;
        zb_error err;
        free(get(s.mem, "a/c/0/0", &before));
        zb_writer *writer = open_writer(s.node, ZB_APPEND, ZB_SYNC_NONE);
        zb_store_fault_from(s.fault, nth);
        code = write_box(writer, s.start, s.count, s.values, &err);
        zb_writer_abandon(writer);
        free(get(s.mem, "a/c/0/0", &after));
        waiting += code != ZB_OK && after > before && assert_old_new_or_error(&s) == 0;
        free_scene(&s);
    }
    assert_int_equal(waiting, 2); /* before the new index is written, and before the journal goes */
}

static void every_error_leaves_the_old_shard(void **state) {
    (void)state;
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        enum zb_code code = ZB_EIO;
        for (uint64_t nth = 1; code != ZB_OK; nth++) {
            scene s = new_scene(strategy, 10, 20);
            zb_error err;
            zb_writer *writer = open_writer(s.node, strategy, ZB_SYNC_CLOSE);
            zb_cache_clear();
            zb_store_fault_set(s.fault, nth);
            code = write_box(writer, s.start, s.count, s.values, &err);
            assert_true(code == ZB_OK || code == ZB_EIO);
            assert_int_equal(assert_old_new_or_error(&s), 0);
            zb_store_fault_set(s.fault, 0);
            ASSERT_OK(write_box(writer, s.start, s.count, s.values, &err), err);
            ASSERT_OK(zb_writer_close(writer, &err), err);
            assert_holds(s.direct, s.changed);
            free_scene(&s);
        }
    }
}

/* ---- Torn writes ---- */

/* Writes with a kill at the nth call, for the state of the shard and its journal just before it. */
static void write_until(scene *s, enum zb_strategy strategy, uint64_t nth) {
    zb_error err;
    zb_writer *writer = open_writer(s->node, strategy, ZB_SYNC_NONE);
    zb_store_fault_from(s->fault, nth);
    (void)write_box(writer, s->start, s->count, s->values, &err);
    zb_writer_abandon(writer);
}

/* The shard before the change, with so many bytes of the one after it. */
static void tear(const scene *s, const char *old, size_t old_size, const char *after, size_t size,
                 size_t from, size_t cut) {
    zb_error err;
    char *torn = calloc(1, size);
    memcpy(torn, old, old_size);
    memcpy(torn + from, after + from, cut);
    ASSERT_OK(zb_store_mem_set(s->mem, "a/c/0/0", torn, size, &err), err);
    free(torn);
}

static int take_no_notice(void *context, const zb_finding *finding) {
    (void)context;
    (void)finding;
    return 0;
}

static void repair(const scene *s) {
    zb_error err;
    ASSERT_OK(zb_store_repair(s->mem, take_no_notice, NULL, &err), err);
}

/* Whatever length of the new bytes was written: detected and undone, or complete. */
static void torn_writes_are_detected(void **state) {
    (void)state;
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        scene done = new_scene(strategy, 3, 10);
        size_t size, old_size;
        char *old = get(done.mem, "a/c/0/0", &old_size);
        write_until(&done, strategy, 0);
        char *after = get(done.mem, "a/c/0/0", &size);
        size_t from = strategy == ZB_APPEND ? old_size : 0;
        int detected = 0;
        for (size_t cut = 0; cut <= size - from; cut += size - from - cut >= 20 ? 3 : 1) {
            scene s = new_scene(strategy, 3, 10);
            uint64_t nth = 1;
            while (journals(s.mem) == 0) /* killed when it had put its journal */
                write_until(&s, strategy, nth++);
            tear(&s, old, old_size, after, size, from, cut);
            detected += assert_old_new_or_error(&s) > 0;
            assert_next_writer_heals(&s, ZB_REWRITE);
            free_scene(&s);
        }
        assert_true(detected > 20);
        free(old);
        free(after);
        free_scene(&done);
    }
}

/* A journal that stayed behind a change that had been completed: damage that comes later is not for
   it to undo, since what it would bring back are old elements in the place of new ones. */
static void finished_changes_are_not_undone(void **state) {
    (void)state;
    static const char name[] = "a/c/0/.0.zb-journal";
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        size_t size, journal_size = 0;
        zb_error err;
        char *journal = NULL;
        for (uint64_t nth = 1; !journal; nth++) {
            scene s = new_scene(strategy, 3, 10);
            write_until(&s, strategy, nth);
            if (zb_store_get(s.mem, name, 1 << 20, "limit", &journal, &journal_size, NULL, NULL))
                journal = NULL;
            free_scene(&s);
        }
        for (int where = 0; where < 4; where++) {
            scene s = new_scene(strategy, 3, 10);
            size_t old_size;
            free(get(s.mem, "a/c/0/0", &old_size));
            write_until(&s, strategy, 0);
            char *shard = get(s.mem, "a/c/0/0", &size);
            size_t from = strategy == ZB_APPEND ? old_size : 0;
            size_t at = from + (size - from - 1) * (size_t)where / 3;
            shard[at] ^= 0x10;
            ASSERT_OK(zb_store_mem_set(s.mem, "a/c/0/0", shard, size, &err), err);
            ASSERT_OK(zb_store_mem_set(s.mem, name, journal, journal_size, &err), err);
            repair(&s);
            size_t now_size;
            char *now = get(s.mem, "a/c/0/0", &now_size);
            assert_int_equal(now_size, size);
            assert_memory_equal(now, shard, size);
            assert_int_equal(journals(s.mem), 0);
            free(now);
            free(shard);
            free_scene(&s);
        }
        free(journal);
    }
}

/* Puts an object of one store in another. */
static void hand_over(zb_store *from, zb_store *to, const char *key) {
    size_t size;
    zb_error err;
    char *data = get(from, key, &size);
    const zb_part part = {.data = data, .size = size};
    ASSERT_OK(zb_store_put(to, key, &part, 1, ZB_SYNC_NONE, &err), err);
    free(data);
}

/* A killed append left a journal; a writer puts the whole shard anew, which waits for its flush,
   and then writes a part of it. */
static void journals_of_replaced_shards_are_in_nobodys_way(void **state) {
    (void)state;
    static const char *const keys[] = {"a/zarr.json", "a/c/0/0", "a/c/0/.0.zb-journal"};
    scene s = new_scene(ZB_APPEND, 3, 10);
    for (uint64_t nth = 1; journals(s.mem) == 0; nth++)
        write_until(&s, ZB_APPEND, nth);
    char *root = check_new_directory();
    zb_store *store;
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_store_open_fs(root, &store, &err), err);
    for (int i = 0; i < 3; i++)
        hand_over(s.mem, store, keys[i]);
    ASSERT_OK(zb_node_open(store, "a", &node, &err), err);
    zb_writer *writer = open_writer(node, ZB_REWRITE, ZB_SYNC_CLOSE);
    const uint64_t start[2] = {0, 0}, whole[2] = {8, 16}, part[2] = {2, 2};
    int32_t values[8 * 16];
    for (int i = 0; i < 8 * 16; i++)
        values[i] = 1000 + i;
    const int32_t four[] = {1, 2, 3, 4};
    zb_write write = {.start = start, .count = whole, .data = values, .dtype = int32_type};
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(write_box(writer, start, part, four, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    memcpy(values, four, 2 * sizeof *four);
    memcpy(values + 16, four + 2, 2 * sizeof *four);
    int32_t found[8 * 16];
    zb_read read = {.node = node, .count = whole, .view = {.data = found, .dtype = int32_type}};
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(zb_array_read(&read, 1, &err), err);
        assert_memory_equal(found, values, sizeof values);
        ASSERT_OK(zb_store_repair(store, take_no_notice, NULL, &err), err);
        assert_int_equal(journals(store), 0);
    }
    zb_node_release(node);
    zb_store_release(store);
    check_remove_directory(root);
    free_scene(&s);
}

/* ---- Kills at any instant ---- */

/* Overwrites inner chunks with ever new numbers until it is killed. */
static void write_on(const char *root, enum zb_strategy strategy) {
    zb_store *store;
    zb_node *node;
    zb_writer *writer;
    zb_error err = {.code = ZB_OK};
    zb_write_options options = {.strategy = strategy};
    CHILD_CHECK(zb_store_open_fs(root, &store, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_node_open(store, "a", &node, &err) == ZB_OK, "%s", err.message);
    CHILD_CHECK(zb_writer_open(node, &options, &writer, &err) == ZB_OK, "%s", err.message);
    for (int32_t i = 1;; i++) {
        int32_t values[16 * 16];
        uint64_t start[2] = {(uint64_t)(i % 2) * 4, 4}, count[2] = {8, 16};
        for (int j = 0; j < 16 * 16; j++)
            values[j] = i;
        CHILD_CHECK(write_box(writer, start, count, values, &err) == ZB_OK, "%s", err.message);
    }
}

/* Each inner chunk holds one number, or is damaged; how many are. */
static int count_damaged(const zb_node *node) {
    int damaged = 0;
    for (uint64_t r = 0; r < ROWS; r += 4) {
        for (uint64_t c = 0; c < COLUMNS; c += 4) {
            int32_t inner[16];
            uint64_t start[2] = {r, c}, count[2] = {4, COLUMNS - c < 4 ? COLUMNS - c : 4};
            zb_read read = {.node = node,
                            .start = start,
                            .count = count,
                            .view = {.data = inner, .dtype = int32_type}};
            zb_error err;
            enum zb_code code = zb_array_read(&read, 1, &err);
            assert_true(code == ZB_OK || code == ZB_ECHECKSUM || code == ZB_EFORMAT);
            for (uint64_t i = 1; i < 4 * count[1] && code == ZB_OK; i++)
                assert_int_equal(inner[i], inner[0]);
            damaged += code != ZB_OK;
        }
    }
    return damaged;
}

static void killed_writers_are_undone(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        char *root = check_new_directory();
        zb_store *store = NULL;
        zb_error err;
        int damaged = 0;
        ASSERT_OK(zb_store_open_fs(root, &store, &err), err);
        zb_node *node = create(store, strategy);
        for (int round = 0; round < 60; round++) {
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                write_on(root, strategy);
                _Exit(1);
            }
            usleep((useconds_t)check_random_in(&random, 1000, 8000));
            int status;
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_true(WIFSIGNALED(status)); /* it had not failed by itself */
            damaged += count_damaged(node) > 0;
            zb_writer *writer = open_writer(node, ZB_REWRITE, ZB_SYNC_NONE);
            for (uint64_t shard = 0; shard < 6; shard++) { /* a whole inner chunk of each */
                uint64_t start[2] = {shard / 2 * 8, shard % 2 * 16}, count[2] = {4, 4};
                int32_t values[16] = {0};
                ASSERT_OK(write_box(writer, start, count, values, &err), err);
            }
            ASSERT_OK(zb_writer_close(writer, &err), err);
            assert_int_equal(count_damaged(node), 0);
            assert_int_equal(journals(store), 0);
        }
        print_message("%d of 60 kills left a damaged shard\n", damaged);
        zb_node_release(node);
        zb_store_release(store);
        check_remove_directory(root);
    }
}

/* ---- Readers at the same time ---- */

typedef struct race {
    const zb_node *node;
    atomic_bool stop;
    int reads, mixed, errors;
} race;

/* All elements of an inner chunk were written together. A writer that the system holds up makes
   an error, which is nothing to count on in a test. */
static void *read_on(void *context) {
    race *r = context;
    while (!atomic_load(&r->stop)) {
        int32_t values[ELEMENTS];
        zb_read read = {.node = r->node, .view = {.data = values, .dtype = int32_type}};
        enum zb_code code = zb_array_read(&read, 1, NULL);
        r->errors += code != ZB_OK && code != ZB_ECHECKSUM && code != ZB_EFORMAT;
        for (int i = 0; i < ELEMENTS && code == ZB_OK; i++) {
            int row = i / COLUMNS / 4 * 4, column = i % COLUMNS / 4 * 4;
            r->mixed += values[i] != values[row * COLUMNS + column];
        }
        r->reads++;
    }
    return NULL;
}

static void readers_find_old_or_new(void **state) {
    (void)state;
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++) {
        char *root = check_new_directory();
        zb_store *store = NULL, *other = NULL;
        zb_error err;
        ASSERT_OK(zb_store_open_fs(root, &store, &err), err);
        ASSERT_OK(zb_store_open_fs(root, &other, &err), err);
        zb_node *node = create(store, strategy), *seen = NULL;
        ASSERT_OK(zb_node_open(other, "a", &seen, &err), err);
        zb_writer *writer = open_writer(node, strategy, ZB_SYNC_NONE);
        race r = {.node = seen};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, read_on, &r), 0);
        for (int32_t i = 1; i <= 400; i++) {
            int32_t values[16 * 16];
            uint64_t start[2] = {(uint64_t)(i % 2) * 4, 4}, count[2] = {8, 16};
            for (int j = 0; j < 16 * 16; j++)
                values[j] = i;
            ASSERT_OK(write_box(writer, start, count, values, &err), err);
        }
        atomic_store(&r.stop, true);
        pthread_join(thread, NULL);
        assert_true(r.reads > 0);
        assert_int_equal(r.errors, 0);
        assert_int_equal(r.mixed, 0);
        ASSERT_OK(zb_writer_close(writer, &err), err);
        zb_node_release(node);
        zb_node_release(seen);
        zb_store_release(store);
        zb_store_release(other);
        check_remove_directory(root);
    }
}

/* ---- How long a reader tries ---- */

/* A damaged shard is read again while somebody may be changing it; not for ever because its time
   stamp lies in the future, nor because a killed writer's journal lies beside it. */
static void damage_is_told_soon(void **state) {
    (void)state;
    char *root = check_new_directory();
    zb_store *files, *count;
    zb_error err;
    ASSERT_OK(zb_store_create_fs(root, &files, &err), err);
    zb_node_release(create(files, ZB_APPEND));
    ASSERT_OK(zb_store_new_count(files, &count, &err), err);
    zb_node *node;
    ASSERT_OK(zb_node_open(count, "a", &node, &err), err);
    zb_writer *writer = open_writer(node, ZB_REWRITE, ZB_SYNC_NONE);
    int32_t values[ELEMENTS] = {1, 2, 3};
    uint64_t start[2] = {0, 0}, box[2] = {ROWS, COLUMNS}, one[2] = {1, 1};
    ASSERT_OK(write_box(writer, start, box, values, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    char shard[600], journal[600];
    snprintf(shard, sizeof shard, "%s/a/c/0/0", root);
    snprintf(journal, sizeof journal, "%s/a/c/0/.0.zb-journal", root);
    for (int kind = 0; kind < 3; kind++) {
        struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = kind == 1 ? 4000000000 : 1}};
        assert_int_equal(truncate(shard, 1000), 0);
        if (kind == 2)
            check_write_file(root, "a/c/0/.0.zb-journal", "left", 4);
        assert_int_equal(utimensat(AT_FDCWD, shard, times, 0), 0);
        if (kind != 1)
            usleep(1300000); /* change times and journals are old by then */
        zb_store_count_take(count);
        zb_read read = {.node = node, .count = one, .view = {.data = values, .dtype = int32_type}};
        enum zb_code code = zb_array_read(&read, 1, &err);
        assert_true(code == ZB_ECHECKSUM || code == ZB_EFORMAT);
        uint64_t opens = zb_store_count_take(count).opens;
        if (opens > (kind == 1 ? 300 : 5))
            fail_msg("kind %d: %d tries", kind, (int)opens);
    }
    zb_node_release(node);
    zb_store_release(count);
    zb_store_release(files);
    check_remove_directory(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strategies_take_random_boxes),
        cmocka_unit_test(slices_stream_into_a_shard),
        cmocka_unit_test(what_cannot_be_detected_is_refused),
        cmocka_unit_test(every_call_may_be_the_last),
        cmocka_unit_test(every_error_leaves_the_old_shard),
        cmocka_unit_test(torn_writes_are_detected),
        cmocka_unit_test(finished_changes_are_not_undone),
        cmocka_unit_test(journals_of_replaced_shards_are_in_nobodys_way),
        cmocka_unit_test(damage_is_told_soon),
        cmocka_unit_test(appended_shards_can_be_read_while_they_wait),
        cmocka_unit_test(killed_writers_are_undone),
        cmocka_unit_test(readers_find_old_or_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
