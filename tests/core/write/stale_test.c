/* SPDX-License-Identifier: MIT */
/*
 * Stale handles: the array was deleted, moved, made anew, resized, or its document edited, since it
 * was opened. A write or read by an old handle is right, or ZB_ECONFLICT; never of another array,
 * never fill values for elements that were there.
 */
#include <unistd.h>

#include "store/fixture.h"
#include "support/clocks.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

enum { COUNT = 40, CHUNK = 8 };

static const zb_dtype int_type = {.kind = ZB_KIND_INT, .size = 4};
static const zb_dtype float_type = {.kind = ZB_KIND_FLOAT, .size = 4};

static zb_node *create(zb_hierarchy *hierarchy, const char *path, zb_dtype dtype, uint64_t count) {
    const uint64_t shape[1] = {count}, inner[1] = {CHUNK};
    zb_array_spec spec = {
        .ndim = 1, .shape = shape, .inner_shape = inner, .dtype = dtype, .codecs = "[]"};
    zb_error err;
    zb_node *node = NULL;
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &node, &err), err);
    return node;
}

static enum zb_code write_on(zb_writer *writer, uint64_t start, uint64_t count, int32_t value,
                             zb_error *err) {
    const int64_t strides[1] = {0};
    zb_write write = {
        .start = &start, .count = &count, .data = &value, .dtype = int_type, .strides = strides};
    return zb_writer_write(writer, &write, err);
}

/* Opens, writes, closes. */
static enum zb_code write_values(const zb_node *node, uint64_t start, uint64_t count, int32_t value,
                                 enum zb_sync sync, zb_error *err) {
    zb_writer *writer = NULL;
    zb_write_options options = {.sync = sync};
    enum zb_code code = zb_writer_open(node, &options, &writer, err);
    if (code == ZB_OK)
        code = write_on(writer, start, count, value, err);
    enum zb_code closed = zb_writer_close(writer, code ? NULL : err);
    return code ? code : closed;
}

static enum zb_code read_values(const zb_node *node, int32_t *values, zb_error *err) {
    zb_read read = {.node = node, .view = {.data = values, .dtype = int_type}};
    return zb_array_read(&read, 1, err);
}

/* All of a new handle's elements are `value`, as raw bytes. */
static void assert_all(zb_hierarchy *hierarchy, const char *path, int32_t value) {
    zb_node *node;
    zb_error err;
    int32_t values[COUNT];
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    assert_int_equal(zb_node_array(node)->shape[0], COUNT);
    zb_read read = {.node = node, .view = {.data = values, .dtype = zb_node_array(node)->dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(values[i], value);
    zb_node_release(node);
}

/* The changes of an array that its handle does not see, by way of the same store or as another
   process does them. */
static void delete_it(zb_hierarchy *hierarchy) {
    zb_error err;
    ASSERT_OK(zb_node_delete(hierarchy, "a", &err), err);
}

static void move_it(zb_hierarchy *hierarchy) {
    zb_error err;
    ASSERT_OK(zb_node_move(hierarchy, "a", "b", &err), err);
}

static void make_floats(zb_hierarchy *hierarchy) {
    delete_it(hierarchy);
    zb_node_release(create(hierarchy, "a", float_type, COUNT));
}

static void make_the_same(zb_hierarchy *hierarchy) {
    delete_it(hierarchy);
    zb_node_release(create(hierarchy, "a", int_type, COUNT));
}

static void make_group(zb_hierarchy *hierarchy) {
    zb_node *group;
    zb_error err;
    delete_it(hierarchy);
    ASSERT_OK(zb_group_create(hierarchy, "a", NULL, &group, &err), err);
    zb_node_release(group);
}

static void (*const events[])(zb_hierarchy *) = {delete_it, move_it, make_floats, make_the_same,
                                                 make_group};
enum { EVENTS = sizeof events / sizeof *events };

/* A part, a whole chunk, and all of it; at once, or waiting for the flush when it happens. */
static const struct {
    uint64_t start, count;
} boxes[] = {{3, 2}, {8, 8}, {0, COUNT}, {36, 2}};
enum { BOXES = sizeof boxes / sizeof *boxes };

static void try_write(zb_hierarchy *hierarchy, zb_hierarchy *actor, int event, int box,
                      enum zb_sync sync, bool written_before) {
    zb_error err;
    zb_writer *writer;
    zb_write_options options = {.sync = sync};
    zb_node *node = create(hierarchy, "a", int_type, COUNT);
    ASSERT_OK(write_values(node, 0, COUNT, 1, ZB_SYNC_NONE, &err), err);
    ASSERT_OK(zb_writer_open(node, &options, &writer, &err), err);
    enum zb_code code = ZB_OK;
    if (written_before)
        ASSERT_OK(write_on(writer, boxes[box].start, boxes[box].count, 2, &err), err);
    events[event](actor);
    if (!written_before)
        code = write_on(writer, boxes[box].start, boxes[box].count, 2, &err);
    if (code == ZB_OK)
        code = zb_writer_flush(writer, &err);
    /* Written first and then deleted, with the chunks that had been there; if by this very store,
       those that waited for the flush as well. */
    bool was_stored =
        written_before && code == ZB_OK && (sync != ZB_SYNC_CLOSE || hierarchy == actor);
    if (!was_stored && code != ZB_ECONFLICT)
        fail_msg("event %d, box %d, sync %d: %s", event, box, sync,
                 code ? err.message : "stored in silence");
    zb_writer_abandon(writer);
    zb_node_release(node);
    if (events[event] == make_floats || events[event] == make_the_same)
        assert_all(hierarchy, "a", 0);
    if (events[event] == move_it && !was_stored)
        assert_all(hierarchy, "b", 1);
    zb_node_delete(hierarchy, "a", NULL);
    zb_node_delete(hierarchy, "b", NULL);
}

/* On a directory, by the same store and by another one, and in memory. */
static void in_all_stores(void **state, void (*fn)(zb_hierarchy *hierarchy, zb_hierarchy *actor)) {
    fixture *f = *state;
    zb_hierarchy *mem, *other;
    zb_error err;
    zb_node *root;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
    ASSERT_OK(zb_hierarchy_open(f->root, &other, &err), err);
    ASSERT_OK(zb_group_create(f->hierarchy, "", NULL, &root, &err), err);
    zb_node_release(root);
    ASSERT_OK(zb_group_create(mem, "", NULL, &root, &err), err);
    zb_node_release(root);
    fn(f->hierarchy, f->hierarchy);
    fn(f->hierarchy, other);
    fn(mem, mem);
    zb_hierarchy_release(mem);
    zb_hierarchy_release(other);
}

static void write_behind_all(zb_hierarchy *hierarchy, zb_hierarchy *actor) {
    for (int event = 0; event < EVENTS; event++) {
        for (int box = 0; box < BOXES; box++) {
            for (int sync = ZB_SYNC_NONE; sync <= ZB_SYNC_ALWAYS; sync++) {
                try_write(hierarchy, actor, event, box, (enum zb_sync)sync, false);
                try_write(hierarchy, actor, event, box, (enum zb_sync)sync, true);
            }
        }
    }
}

static void stale_writers_are_refused(void **state) {
    in_all_stores(state, write_behind_all);
}

static int ignore(void *context, const uint64_t *index, uint64_t bytes) {
    (void)context;
    (void)index;
    (void)bytes;
    return 0;
}

static void read_behind_all(zb_hierarchy *hierarchy, zb_hierarchy *actor) {
    zb_error err;
    int32_t values[COUNT];
    for (int event = 0; event < EVENTS; event++) {
        zb_node *node = create(hierarchy, "a", int_type, COUNT);
        ASSERT_OK(write_values(node, 0, COUNT, 1, ZB_SYNC_NONE, &err), err);
        ASSERT_OK(read_values(node, values, &err), err);
        events[event](actor);
        ASSERT_FAILS(read_values(node, values, &err), ZB_ECONFLICT, err, "open it again");
        uint64_t coords[1] = {5};
        const zb_points points = {.node = node,
                                  .coords = coords,
                                  .count = 1,
                                  .view = {.data = values, .dtype = int_type}};
        ASSERT_FAILS(zb_array_read_points(&points, &err), ZB_ECONFLICT, err, "open it again");
        uint64_t bytes;
        ASSERT_FAILS(zb_array_chunk_stored(node, (const uint64_t[]){1}, &bytes, &err), ZB_ECONFLICT,
                     err, "open it again");
        ASSERT_FAILS(zb_array_stored_each(node, ZB_GRID_CHUNKS, ignore, NULL, &err), ZB_ECONFLICT,
                     err, "open it again");
        const uint64_t start = 3, count = 30;
        ASSERT_FAILS(zb_array_stored_in(node, &start, &count, ignore, NULL, &err), ZB_ECONFLICT,
                     err, "open it again");
        zb_node_release(node);
        zb_node_delete(hierarchy, "a", NULL);
        zb_node_delete(hierarchy, "b", NULL);
    }
}

static void stale_readers_are_refused(void **state) {
    in_all_stores(state, read_behind_all);
}

static void change_behind_all(zb_hierarchy *hierarchy, zb_hierarchy *actor) {
    zb_error err;
    for (int event = 0; event < EVENTS; event++) {
        zb_node *node = create(hierarchy, "a", int_type, COUNT), *changed;
        events[event](actor);
        const uint64_t shape[1] = {COUNT + 1};
        ASSERT_FAILS(zb_array_resize(node, shape, &changed, &err), ZB_ECONFLICT, err, "/a");
        enum zb_code code = zb_node_set_attribute(node, "k", "1", &changed, &err);
        assert_true(code == ZB_ECONFLICT || code == ZB_ENOTFOUND);
        zb_node_release(node);
        zb_node_delete(hierarchy, "a", NULL);
        zb_node_delete(hierarchy, "b", NULL);
    }
}

static void stale_changes_are_refused(void **state) {
    in_all_stores(state, change_behind_all);
}

/* Edits of the document that do not concern the chunks leave a handle valid. */
static void edit_behind_all(zb_hierarchy *hierarchy, zb_hierarchy *actor) {
    zb_error err;
    int32_t values[COUNT];
    zb_node *node = create(hierarchy, "a", int_type, COUNT), *other, *changed;
    zb_writer *writer;
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    ASSERT_OK(zb_node_open(actor, "a", &other, &err), err);
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "k%d", i);
        ASSERT_OK(zb_node_set_attribute(other, name, "1", &changed, &err), err);
        zb_node_release(changed);
        ASSERT_OK(write_on(writer, 3, 2, i, &err), err);
        ASSERT_OK(zb_writer_flush(writer, &err), err);
        ASSERT_OK(read_values(node, values, &err), err);
        assert_int_equal(values[4], i);
    }
    const char *names[1] = {"x"};
    ASSERT_OK(zb_array_set_dimension_names(other, names, &changed, &err), err);
    zb_node_release(changed);
    ASSERT_OK(write_on(writer, 0, COUNT, 5, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    assert_all(hierarchy, "a", 5);
    zb_node_release(other);
    zb_node_release(node);
    zb_node_delete(hierarchy, "a", NULL);
}

static void edits_do_no_harm(void **state) {
    in_all_stores(state, edit_behind_all);
}

/* Chunks of which as much lies inside as before can be written; others cannot. */
static void resize_behind_all(zb_hierarchy *hierarchy, zb_hierarchy *actor) {
    static const struct {
        uint64_t shape, start;
        enum zb_code code;
    } rows[] = {{50, 0, ZB_OK},         {50, 32, ZB_OK},        {37, 0, ZB_OK},
                {37, 32, ZB_ECONFLICT}, {20, 16, ZB_ECONFLICT}, {20, 24, ZB_ECONFLICT},
                {20, 8, ZB_OK}};
    zb_error err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_node *node = create(hierarchy, "a", int_type, COUNT), *changed;
        ASSERT_OK(write_values(node, 0, COUNT, 1, ZB_SYNC_NONE, &err), err);
        zb_node *other;
        ASSERT_OK(zb_node_open(actor, "a", &other, &err), err);
        ASSERT_OK(zb_array_resize(other, &rows[i].shape, &changed, &err), err);
        zb_node_release(other);
        for (int part = 0; part < 2; part++) {
            enum zb_code code = write_values(node, rows[i].start, part ? 3 : CHUNK, 2,
                                             part ? ZB_SYNC_CLOSE : ZB_SYNC_NONE, &err);
            if (code != rows[i].code)
                fail_msg("row %zu, part %d: %s", i, part, code ? err.message : "written");
        }
        zb_node_release(changed);
        zb_node_release(node);
        zb_node_delete(hierarchy, "a", NULL);
    }
}

static void shapes_are_compared_chunk_by_chunk(void **state) {
    in_all_stores(state, resize_behind_all);
}

/* Four handles that append one after the other lose nothing: a handle that goes by an old shape is
   told. */
static void append_behind_all(zb_hierarchy *hierarchy, zb_hierarchy *actor) {
    zb_error err;
    zb_node *handle[4], *changed;
    zb_node_release(create(hierarchy, "a", int_type, 0));
    for (int i = 0; i < 4; i++)
        ASSERT_OK(zb_node_open(i % 2 ? actor : hierarchy, "a", &handle[i], &err), err);
    int refused = 0;
    for (int i = 0; i < COUNT; i++) {
        zb_node **mine = &handle[i % 4];
        for (;;) {
            uint64_t n = zb_node_array(*mine)->shape[0], grown = n + 1;
            enum zb_code code = zb_array_resize(*mine, &grown, &changed, &err);
            if (code == ZB_OK) {
                zb_node_release(*mine);
                *mine = changed;
                ASSERT_OK(write_values(*mine, n, 1, i, ZB_SYNC_NONE, &err), err);
                break;
            }
            assert_int_equal(code, ZB_ECONFLICT);
            refused++;
            ASSERT_OK(zb_node_refresh(*mine, &changed, &err), err);
            zb_node_release(*mine);
            *mine = changed;
        }
    }
    assert_int_equal(refused, COUNT - 1);
    int32_t values[COUNT];
    ASSERT_OK(read_values(handle[(COUNT - 1) % 4], values, &err), err);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(values[i], i);
    for (int i = 0; i < 4; i++)
        zb_node_release(handle[i]);
    zb_node_delete(hierarchy, "a", NULL);
}

static void appends_lose_nothing(void **state) {
    in_all_stores(state, append_behind_all);
}

/* A directory that was put in the place of another one, both unchanged for long. */
static void directories_that_change_places(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *old = create(f->hierarchy, "a", int_type, COUNT), *other;
    other = create(f->hierarchy, "b", float_type, COUNT);
    ASSERT_OK(write_values(old, 0, COUNT, 1, ZB_SYNC_NONE, &err), err);
    ASSERT_OK(write_values(other, 0, COUNT, 1, ZB_SYNC_NONE, &err), err);
    clocks_let_files_age();
    int32_t values[COUNT];
    ASSERT_OK(read_values(old, values, &err), err);
    char a[600], b[600], c[600];
    snprintf(a, sizeof a, "%s/a", f->root);
    snprintf(b, sizeof b, "%s/b", f->root);
    snprintf(c, sizeof c, "%s/c", f->root);
    assert_int_equal(rename(a, c) | rename(b, a), 0);
    ASSERT_FAILS(read_values(old, values, &err), ZB_ECONFLICT, err, "has taken the place");
    ASSERT_FAILS(write_values(old, 0, COUNT, 2, ZB_SYNC_NONE, &err), ZB_ECONFLICT, err,
                 "has taken the place");
    assert_int_equal(rename(a, b) | rename(c, a), 0);
    ASSERT_OK(read_values(old, values, &err), err);
    clocks_reset();
    zb_node_release(old);
    zb_node_release(other);
}

/* ---- Arrays that are away for a moment ---- */

/* While a call of the store that reads or writes goes on, the array is moved away, and back before
   the next one. */
static struct {
    const zb_store_ops *ops; /* the store's own */
    zb_hierarchy *actor;
    unsigned locks, opens, lists; /* of chunks: the next so many calls come upon it */
    unsigned lacks;               /* such questions of the store */
    bool moves;                   /* a move is going on, whose own calls have better luck */
} away;

/* A move that waits for a lock gives up, as it would go on waiting for a writer at work. */
static bool moved(const char *from, const char *to) {
    zb_error err;
    away.moves = true;
    const enum zb_code code = zb_node_move(away.actor, from, to, &err);
    away.moves = false;
    assert_true(code == ZB_OK || code == ZB_ECONFLICT);
    return code == ZB_OK;
}

static bool leaves(const char *key, const char *among, unsigned *left) {
    if (away.moves || strncmp(key, among, strlen(among)) != 0 || *left == 0)
        return false;
    --*left;
    return moved("a", "b");
}

static enum zb_code lock_away(zb_store *store, const zb_locking *locking, zb_lock **out,
                              zb_error *err) {
    const bool gone = leaves(locking->key, "a/c/", &away.locks);
    const enum zb_code code = away.ops->lock(store, locking, out, err);
    assert_true(!gone || moved("b", "a"));
    return code;
}

static enum zb_code open_away(zb_store *store, const zb_open *open, zb_object **out,
                              zb_object_info *info, zb_error *err) {
    const bool gone = !open->is_live && leaves(open->key, "a/c/", &away.opens);
    const enum zb_code code = away.ops->open(store, open, out, info, err);
    assert_true(!gone || moved("b", "a"));
    return code;
}

static enum zb_code list_away(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                              zb_error *err) {
    const bool gone = !list->is_recursive && leaves(list->prefix, "a", &away.lists);
    const enum zb_code code = away.ops->list(store, list, fn, context, err);
    assert_true(!gone || moved("b", "a"));
    return code;
}

/* Runs fn with the array of 1s "a" in a store whose calls are so unlucky. */
static void with_unlucky_store(zb_hierarchy *hierarchy, zb_hierarchy *actor,
                               void (*fn)(zb_hierarchy *hierarchy, const zb_node *node)) {
    zb_error err;
    zb_node *node = create(hierarchy, "a", int_type, COUNT);
    ASSERT_OK(write_values(node, 0, COUNT, 1, ZB_SYNC_NONE, &err), err);
    zb_store_ops ops = *zb_hierarchy_store(hierarchy)->ops;
    away.ops = zb_hierarchy_store(hierarchy)->ops;
    away.actor = actor;
    ops.lock = lock_away;
    ops.open = open_away;
    ops.list = list_away;
    zb_hierarchy_store(hierarchy)->ops = &ops;
    fn(hierarchy, node);
    away.locks = away.opens = away.lists = 0;
    zb_hierarchy_store(hierarchy)->ops = away.ops;
    zb_node_release(node);
    ASSERT_OK(zb_node_delete(hierarchy, "a", &err), err);
}

static void read_unluckily(zb_hierarchy *hierarchy, const zb_node *node) {
    zb_error err;
    int32_t values[COUNT];
    (void)hierarchy;
    away.opens = 2;
    ASSERT_OK(read_values(node, values, &err), err);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(values[i], 1);
    assert_int_equal(away.opens, 0);
    away.opens = 1000;
    ASSERT_FAILS(read_values(node, values, &err), ZB_ECONFLICT, err, "open it again");
}

static int count_chunk(void *context, const uint64_t *index, uint64_t bytes) {
    (void)index;
    (void)bytes;
    ++*(unsigned *)context;
    return 0;
}

static void walk_unluckily(zb_hierarchy *hierarchy, const zb_node *node) {
    zb_error err;
    (void)hierarchy;
    for (unsigned lists = 1; lists <= 2; lists++) {
        unsigned chunks = 0;
        away.lists = lists;
        ASSERT_OK(zb_array_stored_each(node, ZB_GRID_CHUNKS, count_chunk, &chunks, &err), err);
        assert_int_equal(chunks, COUNT / CHUNK);
        assert_int_equal(away.lists, 0);
    }
    unsigned chunks = 0;
    away.opens = 2;
    ASSERT_OK(zb_array_stored_each(node, ZB_GRID_INNER, count_chunk, &chunks, &err), err);
    assert_int_equal(chunks, COUNT / CHUNK);
    away.opens = 1000;
    ASSERT_FAILS(zb_array_stored_each(node, ZB_GRID_INNER, count_chunk, &chunks, &err),
                 ZB_ECONFLICT, err, "open it again");
    const uint64_t first = 0, count = COUNT;
    chunks = 0;
    away.opens = 2;
    ASSERT_OK(zb_array_stored_in(node, &first, &count, count_chunk, &chunks, &err), err);
    assert_int_equal(chunks, COUNT / CHUNK);
    away.opens = 1000;
    ASSERT_FAILS(zb_array_stored_in(node, &first, &count, count_chunk, &chunks, &err), ZB_ECONFLICT,
                 err, "open it again");
    uint64_t bytes = 0;
    away.opens = 2;
    ASSERT_OK(zb_array_chunk_stored(node, &first, &bytes, &err), err);
    assert_int_equal(bytes, CHUNK * sizeof(int32_t));
    away.opens = 1000;
    ASSERT_FAILS(zb_array_chunk_stored(node, &first, &bytes, &err), ZB_ECONFLICT, err,
                 "open it again");
    assert_null(strstr(err.message, "array /")); /* its path is told once */
}

static void write_unluckily(zb_hierarchy *hierarchy, const zb_node *node) {
    zb_error err;
    away.locks = away.opens = 1;
    ASSERT_OK(write_values(node, 3, 2, 1, ZB_SYNC_NONE, &err), err);
    assert_int_equal(away.locks, 0);
    assert_int_equal(away.opens, 0);
    assert_all(hierarchy, "a", 1);
    away.locks = 1000;
    ASSERT_FAILS(write_values(node, 3, 2, 2, ZB_SYNC_NONE, &err), ZB_ECONFLICT, err, "moved");
    away.locks = away.opens = 0;
    assert_all(hierarchy, "a", 1);
}

static enum zb_code count_lacks(zb_store *store, zb_probe *probe, zb_error *err) {
    away.lacks += probe->count > 0;
    return away.ops->probe(store, probe, err);
}

/* Of 100 chunks, of which one is stored, 99 are missing: two questions make sure of them. */
static void questions_are_for_many_chunks(void **state) {
    const fixture *f = *state;
    const uint64_t start = 0, count = 100 * CHUNK;
    zb_error err;
    unsigned chunks = 0;
    zb_node *node = create(f->hierarchy, "a", int_type, count);
    ASSERT_OK(write_values(node, 80, 8, 1, ZB_SYNC_NONE, &err), err);
    zb_store_ops ops = *f->store->ops;
    away.ops = f->store->ops;
    away.lacks = 0;
    ops.probe = count_lacks;
    f->store->ops = &ops;
    ASSERT_OK(zb_array_stored_in(node, &start, &count, count_chunk, &chunks, &err), err);
    f->store->ops = away.ops;
    assert_int_equal(chunks, 1);
    assert_int_equal(away.lacks, 2);
    zb_node_release(node);
    ASSERT_OK(zb_node_delete(f->hierarchy, "a", &err), err);
}

/* In memory an array that is moved is another one from then on. */
static void read_while_it_is_away(zb_hierarchy *hierarchy, zb_hierarchy *actor) {
    if (strcmp(zb_hierarchy_store(hierarchy)->ops->name, "fs") == 0)
        with_unlucky_store(hierarchy, actor, read_unluckily);
}

static void walk_while_it_is_away(zb_hierarchy *hierarchy, zb_hierarchy *actor) {
    if (strcmp(zb_hierarchy_store(hierarchy)->ops->name, "fs") == 0)
        with_unlucky_store(hierarchy, actor, walk_unluckily);
}

static void write_while_it_is_away(zb_hierarchy *hierarchy, zb_hierarchy *actor) {
    if (strcmp(zb_hierarchy_store(hierarchy)->ops->name, "fs") == 0)
        with_unlucky_store(hierarchy, actor, write_unluckily);
}

static void arrays_that_come_back_are_read(void **state) {
    in_all_stores(state, read_while_it_is_away);
}

static void arrays_that_come_back_are_walked(void **state) {
    in_all_stores(state, walk_while_it_is_away);
}

static void arrays_that_come_back_keep_their_elements(void **state) {
    in_all_stores(state, write_while_it_is_away);
}

/* After a killed deletion: once another array is there, older handles are stale. */
static void killed_deletions_leave_no_way_in(void **state) {
    const fixture *f = *state;
    zb_error err;
    enum zb_code code = ZB_EIO;
    for (uint64_t nth = 1; code != ZB_OK; nth++) {
        zb_hierarchy *fault;
        zb_node *node = create(f->hierarchy, "a", int_type, COUNT), *other = NULL;
        ASSERT_OK(write_values(node, 0, COUNT, 1, ZB_SYNC_NONE, &err), err);
        ASSERT_OK(wrap(zb_store_new_fault, f->hierarchy, &fault, &err), err);
        zb_store_fault_from(zb_hierarchy_store(fault), nth);
        code = zb_node_delete(fault, "a", &err);
        zb_hierarchy_release(fault);
        if (zb_node_open(f->hierarchy, "a", &other, NULL) != ZB_OK) {
            zb_node_release(create(f->hierarchy, "a", int_type, COUNT));
            ASSERT_FAILS(write_values(node, 0, 8, 2, ZB_SYNC_NONE, &err), ZB_ECONFLICT, err,
                         "open it again");
            assert_all(f->hierarchy, "a", 0);
        }
        zb_node_release(other);
        zb_node_release(node);
        ASSERT_OK(zb_node_delete(f->hierarchy, "a", &err), err);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(stale_writers_are_refused),
        FIXTURE_TEST(stale_readers_are_refused),
        FIXTURE_TEST(stale_changes_are_refused),
        FIXTURE_TEST(edits_do_no_harm),
        FIXTURE_TEST(shapes_are_compared_chunk_by_chunk),
        FIXTURE_TEST(appends_lose_nothing),
        FIXTURE_TEST(directories_that_change_places),
        FIXTURE_TEST(arrays_that_come_back_are_read),
        FIXTURE_TEST(arrays_that_come_back_are_walked),
        FIXTURE_TEST(questions_are_for_many_chunks),
        FIXTURE_TEST(arrays_that_come_back_keep_their_elements),
        FIXTURE_TEST(killed_deletions_leave_no_way_in),
    };
    setenv("ZARRBRIDGE_LOCK_SECONDS", "1", 1); /* the moves that a lock keeps from going on */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
