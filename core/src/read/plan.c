/* SPDX-License-Identifier: MIT */
/*
 * Executing a read: boxes are cut into keys, a batch of keys at a time is expanded to leaves, and
 * the leaves run as tasks of the pool. See plan.h for the picture.
 */
#include "read/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/list.h"
#include "base/lru.h"
#include "base/pool.h"
#include "base/scratch.h"
#include "codec/form.h"
#include "model/array.h"
#include "model/chunk_form.h"
#include "node/node.h"
#include "node/notes.h"
#include "read/expand.h"
#include "read/leaf.h"
#include "read/piece.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* Pieces collected before they are grouped by chunk: bounds the plan's memory (about 300 bytes
 * each). */
#define WAVE_PIECES 16384
/* Keys expanded and run together: bounds open files. */
#define BATCH_KEYS 128
/* Below this much estimated work a read stays on its caller's thread: waking a worker and hearing
   back costs about 60 µs. Nanoseconds. */
#define PARALLEL_NS 100000
/* A chunk that a writer is changing in place is read again every RETRY_NS, for at most
   RETRY_MOST_NS; for RETRY_QUIET_NS when nothing changes and no journal tells of a change, but its
   time stamps are not sure (they may lie in the future). Nanoseconds. */
#define RETRY_NS 1000000
#define RETRY_QUIET_NS 100000000
#define RETRY_MOST_NS 1000000000
/* The cost of reading and copying, in nanoseconds per KiB. */
#define COPY_COST 100

/* Neighbouring leaves of one key that are read with one request. */
typedef struct task {
    zb__stored_chunk *key;
    zb__leaf *first;
    size_t count;
    uint64_t offset, size; /* of the request; size 0 when nothing is to be read here */
} task;

typedef struct wave {
    bool is_fresh;
    zb__stored_chunk *keys;
    size_t key_count, key_capacity;
    zb__arena arena; /* pieces and grid indexes of the keys */
    task *tasks;
    size_t task_count, task_capacity;
} wave;

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a read");
}

/* ---- Keys ---- */

/* The chunk's number in C order, or UINT64_MAX when the grid has more chunks than that. */
static uint64_t number_of(const zb__array *array, const uint64_t *index) {
    uint64_t number = 0;
    for (uint32_t d = 0; d < array->info.ndim; d++) {
        if (__builtin_mul_overflow(number, array->chunk_count[d], &number) ||
            __builtin_add_overflow(number, index[d], &number))
            return UINT64_MAX;
    }
    return number;
}

static enum zb_code add_key(wave *w, const zb_node *node, const zb__cells *cells, zb_error *err) {
    uint32_t ndim = cells->grid.ndim;
    uint64_t *index = zb__arena_alloc(&w->arena, ndim * sizeof *index);
    zb__piece *piece = zb__cells_piece(cells, &w->arena, node->array->chain->axis);
    if (!index || !piece ||
        !zb__list_grow(&w->keys, w->key_count, &w->key_capacity, sizeof(zb__stored_chunk)))
        return no_memory(err);
    memcpy(index, cells->cell, ndim * sizeof *index);
    /* A key without a number is not cached. */
    w->keys[w->key_count++] =
        (zb__stored_chunk){.node = node,
                           .index = index,
                           .number = w->is_fresh ? UINT64_MAX : number_of(node->array, index),
                           .pieces = piece};
    return ZB_OK;
}

static int by_chunk(const void *a, const void *b) {
    const zb__stored_chunk *left = a, *right = b;
    if (left->node != right->node)
        return left->node < right->node ? -1 : 1;
    for (uint32_t d = 0; d < left->node->array->info.ndim; d++) {
        if (left->index[d] != right->index[d])
            return left->index[d] < right->index[d] ? -1 : 1;
    }
    return 0;
}

/* Gives each chunk one key with all pieces of it, where several boxes may touch the same. */
static void group_keys(wave *w) {
    qsort(w->keys, w->key_count, sizeof(zb__stored_chunk), by_chunk);
    size_t kept = 0;
    for (size_t i = 0; i < w->key_count; i++) {
        if (kept > 0 && by_chunk(&w->keys[kept - 1], &w->keys[i]) == 0) {
            w->keys[i].pieces->next = w->keys[kept - 1].pieces;
            w->keys[kept - 1].pieces = w->keys[i].pieces;
        } else {
            w->keys[kept++] = w->keys[i];
        }
    }
    w->key_count = kept;
}

/* ---- Leaves to tasks ---- */

/* Leaves that lie close together share a request; the others are tasks of their own. */
static bool joins(const task *t, const zb__leaf *leaf, uint64_t gap, uint64_t most) {
    if (t->size == 0 || leaf->missing || leaf->cached || leaf->form->chain->is_raw)
        return false;
    uint64_t end = t->offset + t->size;
    return leaf->offset <= end + gap && leaf->offset + leaf->size - t->offset <= most;
}

static enum zb_code add_leaf(wave *w, zb__stored_chunk *key, zb__leaf *leaf, uint64_t most,
                             zb_error *err) {
    if (key->object && !leaf->missing)
        zb__leaf_look_up(leaf);
    task *last = w->task_count ? &w->tasks[w->task_count - 1] : NULL;
    if (last && last->key == key && joins(last, leaf, key->node->store->hints.gap, most)) {
        uint64_t end = leaf->offset + leaf->size;
        if (end > last->offset + last->size)
            last->size = end - last->offset;
        last->count++;
        return ZB_OK;
    }
    if (!zb__list_grow(&w->tasks, w->task_count, &w->task_capacity, sizeof(task)))
        return no_memory(err);
    bool is_read = key->object && !leaf->missing && !leaf->cached && !leaf->form->chain->is_raw;
    w->tasks[w->task_count++] = (task){.key = key,
                                       .first = leaf,
                                       .count = 1,
                                       .offset = leaf->offset,
                                       .size = is_read ? leaf->size : 0};
    return ZB_OK;
}

/* Puts the tasks of cached chunks first: they release their chunks before others need room in the
   cache. */
static void cached_first(wave *w) {
    size_t first = 0;
    for (size_t i = 0; i < w->task_count; i++) {
        if (!w->tasks[i].first->cached)
            continue;
        task other = w->tasks[first];
        w->tasks[first++] = w->tasks[i];
        w->tasks[i] = other;
    }
}

/* Requests are small enough that each thread gets several. */
static uint64_t most_per_request(const zb__stored_chunk *keys, size_t count) {
    uint64_t stored = 0;
    for (size_t i = 0; i < count; i++) {
        for (const zb__leaf *leaf = keys[i].leaves; leaf; leaf = leaf->next)
            stored += leaf->missing ? 0 : leaf->size;
    }
    uint64_t share = stored / (4 * zb__pool_width());
    uint64_t most = keys->node->store->hints.max_request;
    return share < most ? share : most;
}

/* The rough cost of decoding and scattering, in nanoseconds. */
static uint64_t estimate(const zb__stored_chunk *keys, size_t count) {
    uint64_t work = 0;
    for (size_t i = 0; i < count; i++) {
        for (const zb__leaf *leaf = keys[i].leaves; leaf; leaf = leaf->next) {
            bool decodes = !leaf->missing && !leaf->cached;
            uint64_t elements = 0;
            for (zb__piece *piece = leaf->pieces; piece; piece = piece->next)
                elements += zb__piece_elements(piece, leaf->form->chain->ndim);
            work += elements * leaf->form->chain->dtype.size / 1024 * COPY_COST;
            work += decodes ? leaf->form->decoded_size / 1024 * leaf->form->chain->cost : 0;
        }
    }
    return work;
}

/* ---- Running ---- */

static enum zb_code run_expand(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    return zb__stored_chunk_expand((zb__stored_chunk *)context + i, scratch, err);
}

/* Reads a range of the key's open object, all of it, into the scratch; sets the range's buffer. */
static enum zb_code fetch(const zb__stored_chunk *key, zb_range *range, zb__scratch *scratch,
                          zb_error *err) {
    enum zb_code code = zb__buffer_reserve(&scratch->encoded, range->length, err);
    range->buffer = scratch->encoded.data;
    if (code == ZB_OK)
        code = zb_object_read(key->object, range, 1, err);
    if (code == ZB_OK && range->got != range->length)
        code = zb_fail(err, ZB_EIO, "the object became shorter while it was read");
    return code == ZB_OK ? ZB_OK : zb__stored_chunk_blame(key, code, err);
}

/* Runs a leaf and releases the cached chunk that it held: once evicted from the table, the chunk
   would take room besides those that replaced it. */
static enum zb_code run_leaf(zb__leaf *leaf, const void *stored, zb__scratch *scratch,
                             zb_error *err) {
    enum zb_code code = zb__leaf_run(leaf, stored, scratch, err);
    zb__lru_release(leaf->cached);
    leaf->cached = NULL;
    return code;
}

/* Runs a chunk whose object is not open yet: the whole object is read and decoded in one go. */
static enum zb_code run_unopened(zb__stored_chunk *key, zb__leaf *leaf, zb__scratch *scratch,
                                 zb_error *err) {
    enum zb_code code = zb__stored_chunk_open(key, err);
    if (code != ZB_OK)
        return code;
    leaf->missing = key->object == NULL;
    if (leaf->missing)
        return run_leaf(leaf, NULL, scratch, err);
    leaf->size = key->info.size;
    zb__leaf_look_up(leaf);
    zb_range range = {.length = (size_t)leaf->size};
    code = zb__form_check_stored(leaf->form, leaf->size, err);
    if (code != ZB_OK)
        zb__leaf_blame(leaf, code, err);
    else if (!leaf->cached)
        code = fetch(key, &range, scratch, err);
    zb_object_close(key->object);
    key->object = NULL;
    return code == ZB_OK ? run_leaf(leaf, range.buffer, scratch, err) : code;
}

static enum zb_code run_task(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    const task *t = &((const wave *)context)->tasks[i];
    zb__leaf *leaf = t->first;
    if (!t->key->object && !leaf->missing)
        return run_unopened(t->key, leaf, scratch, err);
    if (t->size == 0)
        return run_leaf(leaf, NULL, scratch, err);
    zb_range range = {.offset = t->offset, .length = (size_t)t->size};
    enum zb_code code = fetch(t->key, &range, scratch, err);
    for (size_t n = 0; n < t->count && code == ZB_OK; n++, leaf = leaf->next)
        code = run_leaf(leaf, (uint8_t *)range.buffer + (leaf->offset - t->offset), scratch, err);
    return code;
}

static void release_batch(zb__stored_chunk *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (zb__leaf *leaf = keys[i].leaves; leaf; leaf = leaf->next)
            zb__lru_release(leaf->cached);
        zb_object_close(keys[i].object);
        zb__arena_free(&keys[i].arena);
        zb__chunk_form_end(keys[i].node->array, keys[i].form);
        keys[i].form = NULL;
        keys[i].object = NULL;
        keys[i].leaves = NULL;
        keys[i].leaf_count = 0;
    }
}

/* ---- Trying again ---- */

enum { UNCHANGED, UNSURE, CHANGING };

/* True if a journal has been put beside the object lately. Its change may take some time; a journal
   that has been there for longer was left by a kill. */
static bool has_young_journal(const zb__stored_chunk *key, const char *name) {
    zb_object_info info;
    char *journal = zb__journal_key(name);
    bool there = journal && zb_store_stat(key->node->store, journal, &info, NULL) == ZB_OK;
    free(journal);
    return there && info.age != 0 && info.age < RETRY_MOST_NS;
}

/* True if the key's object has changed since it was opened for the last try, or is being
   changed. */
static int change_of(const zb__stored_chunk *key) {
    const zb_validator *opened = &key->info.validator;
    zb_object_info now;
    if (opened->word[0] == 0) /* not opened, or not there */
        return UNCHANGED;
    char *name = zb__array_chunk_key(key->node, key->index);
    bool there = name && zb_store_stat(key->node->store, name, &now, NULL) == ZB_OK;
    int change = there && !now.validator.valid ? UNSURE : UNCHANGED;
    if (there && (memcmp(now.validator.word, opened->word, sizeof opened->word) != 0 ||
                  has_young_journal(key, name)))
        change = CHANGING;
    free(name);
    return change;
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

typedef struct retry {
    int64_t first, changed; /* times of the first failure, and when a change was seen last */
} retry;

/* After a failure, waits a moment before the next try: a writer at work in an object can make it
   look damaged. */
static bool is_worth_a_retry(retry *r, const zb__stored_chunk *keys, size_t count,
                             enum zb_code code) {
    if (!keys->node->store->hints.can_change ||
        (code != ZB_ECHECKSUM && code != ZB_EFORMAT && code != ZB_EIO))
        return false;
    int change = UNCHANGED;
    for (size_t i = 0; i < count && change != CHANGING; i++) {
        int one = change_of(&keys[i]);
        change = one > change ? one : change;
    }
    int64_t now = now_ns();
    r->first = r->first ? r->first : now;
    if (change == CHANGING || !r->changed)
        r->changed = now;
    if (change == UNCHANGED || now - r->first > RETRY_MOST_NS || now - r->changed > RETRY_QUIET_NS)
        return false;
    struct timespec pause = {.tv_nsec = RETRY_NS};
    nanosleep(&pause, NULL);
    return true;
}

static enum zb_code try_batch(wave *w, zb__stored_chunk *keys, size_t count, zb_error *err) {
    /* Opening and looking up an index takes microseconds on a local store. */
    size_t width = keys->node->store->hints.is_local && count < 16 ? 1 : 0;
    enum zb_code code = zb__pool_run(run_expand, keys, count, width, err);
    w->task_count = 0;
    uint64_t most = most_per_request(keys, count);
    for (size_t i = 0; i < count && code == ZB_OK; i++) {
        for (zb__leaf *leaf = keys[i].leaves; leaf && code == ZB_OK; leaf = leaf->next)
            code = add_leaf(w, &keys[i], leaf, most, err);
    }
    cached_first(w);
    if (code == ZB_OK)
        code = zb__pool_run(run_task, w, w->task_count, estimate(keys, count) < PARALLEL_NS ? 1 : 0,
                            err);
    release_batch(keys, count);
    return code;
}

static bool lacks_descriptors(const zb_error *error) {
    return error->sys_errno == EMFILE || error->sys_errno == ENFILE;
}

/* A batch has an object open for each key. Where the process may not have that many descriptors,
   the batch is split in halves. */
static enum zb_code run_batch(wave *w, zb__stored_chunk *keys, size_t count, zb_error *err) {
    retry r = {0};
    zb_error error = {.code = ZB_OK};
    enum zb_code code = try_batch(w, keys, count, &error);
    while (code != ZB_OK && !lacks_descriptors(&error) && is_worth_a_retry(&r, keys, count, code))
        code = try_batch(w, keys, count, &error);
    if (code != ZB_OK && lacks_descriptors(&error) && count > 1) {
        code = run_batch(w, keys, count / 2, err);
        return code ? code : run_batch(w, keys + count / 2, count - count / 2, err);
    }
    if (code != ZB_OK && err)
        *err = error;
    return code;
}

static enum zb_code run_wave(wave *w, bool group, zb_error *err) {
    if (group)
        group_keys(w);
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < w->key_count && code == ZB_OK; i += BATCH_KEYS) {
        size_t count = w->key_count - i < BATCH_KEYS ? w->key_count - i : BATCH_KEYS;
        code = run_batch(w, &w->keys[i], count, err);
    }
    w->key_count = 0;
    zb__arena_free(&w->arena);
    return code;
}

enum zb_code zb__plan_run(const zb__box *boxes, size_t count, bool is_fresh, zb_error *err) {
    wave w = {.is_fresh = is_fresh};
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < count && code == ZB_OK; i++) {
        zb__cells cells;
        zb__cells_begin(&cells, boxes[i].piece, &boxes[i].node->array->grid);
        for (; !cells.done && code == ZB_OK; zb__cells_next(&cells)) {
            code = add_key(&w, boxes[i].node, &cells, err);
            if (code == ZB_OK && w.key_count == WAVE_PIECES)
                code = run_wave(&w, count > 1, err);
        }
    }
    if (code == ZB_OK && w.key_count > 0)
        code = run_wave(&w, count > 1, err);
    zb__arena_free(&w.arena);
    free(w.keys);
    free(w.tasks);
    return code;
}
