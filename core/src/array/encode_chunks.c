/* SPDX-License-Identifier: MIT */
/*
 * Encoding and storing chunks: every unit of every chunk is a task. The task that finishes a
 * chunk's last unit puts the object, so that storing one chunk overlaps with encoding the next.
 *
 * Encoded units lie in the chunk's arena, each at its own place of unit_bound bytes; pages between
 * them are never touched. Arenas are used again by later chunks: fresh pages cost as much as a fast
 * codec.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "array/writer.h"
#include "base/pool.h"
#include "codec/encode.h"

typedef struct arena {
    struct arena *next;
    uint8_t *bytes;       /* units * unit_bound */
    zb__encoded *encoded; /* [units] */
} arena;

typedef struct chunk_state {
    arena *arena;  /* from the chunk's first unit to its last */
    uint64_t left; /* units to encode */
} chunk_state;

typedef struct encode_run {
    zb_writer *writer;
    const zb__job *jobs;
    chunk_state *states;
    pthread_mutex_t lock; /* of states and idle */
    arena *idle;
} encode_run;

/* ---- Arenas ---- */

static void free_arena(arena *a) {
    if (!a)
        return;
    free(a->bytes);
    free(a->encoded);
    free(a);
}

static arena *new_arena(const zb__layout *layout) {
    arena *a = calloc(1, sizeof *a);
    size_t bytes;
    if (!a || __builtin_mul_overflow((size_t)layout->units, layout->unit_bound, &bytes)) {
        free(a);
        return NULL;
    }
    zb__buffer buffer = {0};
    if (zb__buffer_reserve(&buffer, bytes ? bytes : 1, NULL) == ZB_OK)
        a->bytes = buffer.data;
    a->encoded = calloc((size_t)layout->units, sizeof *a->encoded);
    if (!a->bytes || !a->encoded) {
        free_arena(a);
        return NULL;
    }
    return a;
}

/* The chunk's arena, taken at its first unit. NULL when memory runs out. */
static arena *arena_of(encode_run *run, size_t chunk) {
    chunk_state *state = &run->states[chunk];
    pthread_mutex_lock(&run->lock);
    if (!state->arena && run->idle) {
        state->arena = run->idle;
        run->idle = run->idle->next;
    }
    if (!state->arena)
        state->arena = new_arena(&run->writer->layout);
    arena *a = state->arena;
    pthread_mutex_unlock(&run->lock);
    return a;
}

/* Counts a unit as encoded; returns true for the chunk's last one. */
static bool finish_unit(encode_run *run, size_t chunk) {
    pthread_mutex_lock(&run->lock);
    bool last = --run->states[chunk].left == 0;
    pthread_mutex_unlock(&run->lock);
    return last;
}

static void give_back(encode_run *run, size_t chunk) {
    pthread_mutex_lock(&run->lock);
    arena *a = run->states[chunk].arena;
    run->states[chunk].arena = NULL;
    a->next = run->idle;
    run->idle = a;
    pthread_mutex_unlock(&run->lock);
}

/* ---- Units ---- */

/* The part of a chunk's piece that lies in one unit, in the unit's coordinates; NULL when none
   does. `memory` is an arena for it. */
static enum zb_code unit_piece(const zb__layout *layout, zb__piece *piece, uint64_t unit,
                               zb__arena *memory, zb__piece **out, zb_error *err) {
    uint32_t ndim = layout->ndim;
    *out = zb__piece_new(memory, ndim);
    if (!*out)
        return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a write");
    (*out)->next = NULL;
    (*out)->target = piece->target;
    (*out)->dst = piece->dst;
    for (uint32_t d = ndim; d-- > 0; unit /= layout->unit_grid[d]) {
        uint64_t from = unit % layout->unit_grid[d] * layout->unit_shape[d];
        uint64_t extent = zb__piece_count(piece, ndim)[d];
        uint64_t left = from < extent ? extent - from : 0;
        int64_t stride = zb__piece_stride(piece, ndim)[d];
        zb__piece_start(*out)[d] = 0;
        zb__piece_count(*out, ndim)[d] =
            left < layout->unit_shape[d] ? left : layout->unit_shape[d];
        zb__piece_step(*out, ndim)[d] = 1;
        zb__piece_stride(*out, ndim)[d] = stride;
        (*out)->dst += (int64_t)from * stride;
    }
    return ZB_OK;
}

/* The caller's memory holds the unit's elements as they are serialised. */
static bool is_direct(const zb__layout *layout, zb__piece *piece) {
    const zb__chain *unit = layout->unit;
    const zb_dtype *from = &piece->target->dtype;
    if (from->kind != unit->dtype.kind || from->size != unit->dtype.size ||
        (from->size > 1 && from->swapped != unit->dtype.swapped) || from->kind == ZB_KIND_BOOL)
        return false;
    int64_t stride = from->size;
    for (uint32_t i = layout->ndim; i-- > 0;) {
        uint32_t d = layout->shard ? unit->axis[i] : i;
        uint64_t count = zb__piece_count(piece, layout->ndim)[d];
        if (count != layout->unit_shape[d] ||
            (count > 1 && zb__piece_stride(piece, layout->ndim)[d] != stride))
            return false;
        stride *= (int64_t)count;
    }
    return true;
}

/* The unit's elements out of the caller's memory: where they are, or copied into the scratch. NULL
   with ZB_OK when none lies inside the array. */
static enum zb_code elements_of_piece(const zb__layout *layout, zb__piece *whole, uint64_t unit,
                                      zb__scratch *scratch, const uint8_t **out, zb_error *err) {
    zb__arena memory = {0};
    zb__piece *piece;
    *out = NULL;
    enum zb_code code = unit_piece(layout, whole, unit, &memory, &piece, err);
    uint64_t inside = code == ZB_OK ? zb__piece_elements(piece, layout->ndim) : 0;
    if (inside > 0 && is_direct(layout, piece)) {
        *out = (const uint8_t *)piece->dst;
    } else if (inside > 0) {
        code = zb__buffer_reserve(&scratch->decoded, layout->unit_bytes, err);
        if (code == ZB_OK && inside * layout->unit->dtype.size < layout->unit_bytes)
            zb__unit_fill(layout, scratch->decoded.data); /* beyond the array's edge */
        if (code == ZB_OK)
            zb__unit_put(layout, piece, scratch->decoded.data);
        *out = scratch->decoded.data;
    }
    zb__arena_free(&memory);
    return code;
}

static enum zb_code encode_unit(const zb_writer *writer, const zb__job *job, uint64_t unit,
                                zb__scratch *scratch, zb__encoded *out, uint8_t *place,
                                zb_error *err) {
    const zb__layout *layout = &writer->layout;
    *out = (zb__encoded){.data = place};
    if (job->kept && job->kept[unit].size > 0) {
        *out = job->kept[unit];
        return ZB_OK;
    }
    const uint8_t *elements;
    enum zb_code code = ZB_OK;
    if (job->piece)
        code = elements_of_piece(layout, job->piece, unit, scratch, &elements, err);
    else
        elements = job->open->units[unit].elements;
    if (code != ZB_OK || !elements)
        return code;
    return zb__chunk_encode(layout->unit, scratch, elements, layout->fill,
                            writer->options.store_empty, place, layout->unit_bound, &out->size,
                            err);
}

static enum zb_code put_chunk(encode_run *run, size_t chunk, zb__scratch *scratch, zb_error *err) {
    zb_writer *writer = run->writer;
    char *key = zb__array_chunk_key(writer->node, run->jobs[chunk].index);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "no memory for a chunk's key");
    zb_lock *lock = NULL;
    enum zb_code code =
        run->jobs[chunk].lock ? ZB_OK : zb__chunk_lock(writer, key, true, &lock, err);
    const zb__job *job = &run->jobs[chunk];
    const zb__encoded *units = run->states[chunk].arena->encoded;
    if (code == ZB_OK && job->live)
        code = zb__live_put(writer, key, job->open, job->live, units, scratch, err);
    else if (code == ZB_OK)
        code = zb__object_put(&writer->layout, writer->node->store, key, units,
                              zb__durability(writer), scratch, err);
    zb_store_unlock(lock);
    free(key);
    return code;
}

static enum zb_code run_unit(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    encode_run *run = context;
    const zb__layout *layout = &run->writer->layout;
    size_t chunk = i / (size_t)layout->units, unit = i % (size_t)layout->units;
    arena *a = arena_of(run, chunk);
    enum zb_code code = a ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for an encoded chunk");
    if (code == ZB_OK)
        code = encode_unit(run->writer, &run->jobs[chunk], unit, scratch, &a->encoded[unit],
                           a->bytes + unit * layout->unit_bound, err);
    if (code == ZB_OK && finish_unit(run, chunk)) {
        code = put_chunk(run, chunk, scratch, err);
        give_back(run, chunk);
    }
    return code == ZB_OK ? ZB_OK : zb__chunk_blame(run->writer, run->jobs[chunk].index, code, err);
}

enum zb_code zb__jobs_run(zb_writer *writer, const zb__job *jobs, size_t count, zb_error *err) {
    encode_run run = {.writer = writer, .jobs = jobs};
    size_t units = (size_t)writer->layout.units, tasks;
    if (__builtin_mul_overflow(count, units, &tasks))
        return zb_fail(err, ZB_ELIMIT, "too many inner chunks for one write");
    run.states = calloc(count, sizeof *run.states);
    if (!run.states)
        return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a write");
    for (size_t i = 0; i < count; i++)
        run.states[i].left = units;
    pthread_mutex_init(&run.lock, NULL);
    enum zb_code code = zb__pool_run(run_unit, &run, tasks, 0, err);
    for (size_t i = 0; i < count; i++)
        free_arena(run.states[i].arena);
    while (run.idle) {
        arena *next = run.idle->next;
        free_arena(run.idle);
        run.idle = next;
    }
    pthread_mutex_destroy(&run.lock);
    free(run.states);
    return code;
}
