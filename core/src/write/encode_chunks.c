/* SPDX-License-Identifier: MIT */
/*
 * Encoding and storing chunks: every inner chunk of every chunk is a task. The task that finishes a
 * chunk's last inner chunk puts the object, so that storing one chunk overlaps with encoding the
 * next. On a network it gives it to a lane.
 *
 * Inner chunks that no codec changes are stored from where their elements lie, in the caller's
 * memory or in a buffered chunk, when they lie together there.
 */
#include "write/writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/encode.h"
#include "node/node.h"
#include "read/piece.h"
#include "store/store.h"
#include "types/move.h"
#include "util/pool.h"
#include "util/scratch.h"
#include "write/budget.h"
#include "write/encode_blocks.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

typedef struct chunk_state {
    zb__encode_blocks blocks; /* of the encoded inner chunks */
    zb__encoded *encoded;     /* [inner_chunks], from the chunk's first inner chunk to its last */
    uint64_t left;            /* inner chunks to encode */
    size_t first;             /* the task of its first inner chunk */
} chunk_state;

typedef struct encode_run {
    zb_writer *writer;
    zb__job *jobs;
    chunk_state *states;
    size_t count;         /* of both lists */
    size_t each;          /* inner chunks of each chunk; 0 where they differ */
    pthread_mutex_t lock; /* guards states and the writer's blocks */
    zb__lane lane;        /* of chunks to put; of width 0: tasks put them themselves */
} encode_run;

/* ---- Storing one chunk -------------------------------------------------------------------- */

/* From this size on an object is looked for before it is sent. Bytes. */
#define SEEN_FIRST ((uint64_t)1 << 20)

/* A whole chunk that may wait for the flush needs no lock before; but erasing cannot wait, nor can
   a chunk with a journal, nor one on the array's edge: until then the array may have grown. */
static bool may_wait(const zb_writer *writer, const zb__job *job, const zb__encoded *inner_chunks) {
    bool any = false;
    for (uint64_t i = 0; i < job->layout->inner_chunks && !any; i++)
        any = inner_chunks[i].size > 0;
    return any && !job->lock && !writer->unseen && !zb__chunk_is_cut(job->layout, job->index) &&
           !job->layout->fixed && writer->options.sync == ZB_SYNC_CLOSE;
}

/* A chunk may be whole only because the array ends in it. Where a lock keeps no program out,
   another one may make the array longer and write the rest of the chunk: so its put replaces what
   was there before the look at the document, and nothing that has come since. */
bool zb__chunk_is_open_edge(const zb_writer *writer, const zb__write_layout *layout,
                            const uint64_t *index) {
    return !zb__node_store(writer->node)->hints.is_local && zb__chunk_is_cut(layout, index);
}

static uint64_t bytes_of(const zb__write_layout *layout, const zb__encoded *inner_chunks) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < layout->inner_chunks; i++)
        sum += inner_chunks[i].size;
    return sum;
}

static enum zb_code put_locked(zb_writer *writer, const zb__job *job, const char *key,
                               const zb__encoded *inner_chunks, bool sees, enum zb__put_way way,
                               zb__scratch *scratch, zb_error *err) {
    zb_lock *lock = NULL;
    enum zb_code code = zb__chunk_lock(writer, key, true, &lock, err);
    if (!code && sees)
        code = zb__chunk_see(writer, key, err);
    if (!code)
        code = zb__chunk_put(writer, job->layout, key, inner_chunks, way, scratch, err);
    zb_store_unlock(lock);
    return code;
}

/* The put was refused. For the sake of the array's document there is no use in another try. */
static enum zb_code check_again(zb_writer *writer, const char *key, zb_error *err) {
    zb_error why;
    const enum zb_code code = writer->batch.check ? writer->batch.check(writer, key, &why) : ZB_OK;
    if (code && err)
        *err = why;
    return code;
}

/* At first none is expected, which costs no request where that is so. A large object is not sent in
   vain, nor is there a condition for erasing what is not known. */
static enum zb_code put_on_edge(zb_writer *writer, const zb__job *job, const char *key,
                                const zb__encoded *inner_chunks, zb__scratch *scratch,
                                zb_error *err) {
    const uint64_t bytes = bytes_of(job->layout, inner_chunks);
    bool sees = bytes == 0 || bytes >= SEEN_FIRST;
    for (unsigned tries = 1;; tries++) {
        enum zb_code code = put_locked(writer, job, key, inner_chunks, sees,
                                       sees ? ZB__PUT_NOW : ZB__PUT_EXPECTS_NONE, scratch, err);
        if (code != ZB_ECONFLICT || (code = check_again(writer, key, err)) != ZB_OK ||
            !zb__chunk_pause(tries))
            return code;
        sees = true;
    }
}

/* Stores the chunk, all of whose inner chunks are encoded; sets job->stored. */
static enum zb_code job_put(zb_writer *writer, zb__job *job, const zb__encoded *inner_chunks,
                            zb__scratch *scratch, zb_error *err) {
    enum zb_code code;
    char *key = zb__array_chunk_key(writer->node, job->index);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "no memory for a chunk's key");
    const bool waits = may_wait(writer, job, inner_chunks);
    if (job->live)
        code = zb__live_put(writer, key, job->buffered, job->live, inner_chunks, scratch, err);
    else if (job->lock || waits || writer->unseen ||
             zb__store_is_unseen(zb__node_store(writer->node)))
        code = zb__chunk_put(writer, job->layout, key, inner_chunks,
                             waits ? ZB__PUT_WAITS : ZB__PUT_NOW, scratch, err);
    else if (zb__chunk_is_open_edge(writer, job->layout, job->index))
        code = put_on_edge(writer, job, key, inner_chunks, scratch, err);
    else
        code = put_locked(writer, job, key, inner_chunks, false, ZB__PUT_NOW, scratch, err);
    job->stored = code == ZB_OK;
    if (waits && job->stored)
        atomic_store(&writer->waits, true);
    free(key);
    return code;
}

/* ---- Memory of chunks --------------------------------------------------------------------- */

/* The list of the chunk's encoded inner chunks; made for its first inner chunk. NULL when memory
   runs out. */
static zb__encoded *begin_inner(encode_run *run, size_t chunk) {
    chunk_state *state = &run->states[chunk];
    pthread_mutex_lock(&run->lock);
    if (!state->encoded)
        state->encoded =
            calloc((size_t)run->jobs[chunk].layout->inner_chunks, sizeof *state->encoded);
    zb__encoded *encoded = state->encoded;
    pthread_mutex_unlock(&run->lock);
    return encoded;
}

/* Counts an inner chunk as encoded; true for the chunk's last one. */
static bool finish_inner(encode_run *run, size_t chunk) {
    pthread_mutex_lock(&run->lock);
    bool last = --run->states[chunk].left == 0;
    pthread_mutex_unlock(&run->lock);
    return last;
}

static void forget_chunk(encode_run *run, size_t chunk) {
    chunk_state *state = &run->states[chunk];
    pthread_mutex_lock(&run->lock);
    zb__encode_blocks_clear(&state->blocks, &run->writer->blocks);
    pthread_mutex_unlock(&run->lock);
    free(state->encoded);
    state->encoded = NULL;
}

static enum zb_code take_block(encode_run *run, size_t chunk, size_t bound, zb__block **out,
                               zb_error *err) {
    zb_writer *writer = run->writer;
    pthread_mutex_lock(&run->lock);
    *out = zb__encode_blocks_take(&run->states[chunk].blocks, &writer->blocks, bound);
    pthread_mutex_unlock(&run->lock);
    return *out ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for an encoded chunk");
}

static void give_block(encode_run *run, size_t chunk, zb__block *block, size_t used) {
    pthread_mutex_lock(&run->lock);
    block->used += used;
    zb__encode_blocks_give(&run->states[chunk].blocks, block, run->writer->layout.inner_bound);
    pthread_mutex_unlock(&run->lock);
}

/* ---- Inner chunks
   -------------------------------------------------------------------------------- */

/* The part of a chunk's piece that lies in one inner chunk, in the inner chunk's coordinates; NULL
   when none does. `memory` is an arena for it. */
static enum zb_code inner_piece(const zb__write_layout *layout, zb__piece *piece, uint64_t inner,
                                zb__arena *memory, zb__piece **out, zb_error *err) {
    uint32_t ndim = layout->ndim;
    *out = zb__piece_new(memory, ndim);
    if (!*out)
        return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a write");
    (*out)->next = NULL;
    (*out)->target = piece->target;
    (*out)->dst = piece->dst;
    for (uint32_t d = ndim; d-- > 0;) {
        zb__span span = zb__inner_span(layout, d, &inner);
        int64_t stride = zb__piece_stride(piece, ndim)[d];
        zb__piece_start(*out)[d] = 0;
        zb__piece_count(*out, ndim)[d] = zb__span_inside(span, zb__piece_count(piece, ndim)[d]);
        zb__piece_step(*out, ndim)[d] = 1;
        zb__piece_stride(*out, ndim)[d] = stride;
        (*out)->dst += (int64_t)span.start * stride;
    }
    return ZB_OK;
}

/* True if the caller's memory holds the inner chunk's elements as they are serialised. */
static bool is_direct(const zb__write_layout *layout, zb__piece *piece) {
    const zb__pipeline *inner = layout->inner->pipeline;
    const zb_dtype *from = &piece->target->dtype;
    if (!zb__dtype_copies(*from, inner->dtype))
        return false;
    int64_t stride = from->size;
    for (uint32_t i = layout->ndim; i-- > 0;) {
        uint32_t d = layout->shard ? inner->axis[i] : i;
        uint64_t count = zb__piece_count(piece, layout->ndim)[d];
        if (count != layout->inner_shape[d] ||
            (count > 1 && zb__piece_stride(piece, layout->ndim)[d] != stride))
            return false;
        stride *= (int64_t)count;
    }
    return true;
}

/* The place that an inner chunk's elements come from. */
typedef struct inner_source {
    const uint8_t *direct; /* they lie here as they are serialised, or NULL */
    zb__arena memory;
    zb__piece *piece; /* otherwise the caller's memory; NULL when none is inside the array */
} inner_source;

static enum zb_code find_source(const zb__write_layout *layout, const zb__job *job, uint64_t inner,
                                inner_source *source, zb_error *err) {
    if (!job->piece) {
        source->direct = job->buffered->inner_chunks[inner].elements;
        return ZB_OK;
    }
    zb__piece *piece;
    enum zb_code code = inner_piece(layout, job->piece, inner, &source->memory, &piece, err);
    if (code != ZB_OK || zb__piece_elements(piece, layout->ndim) == 0)
        return code;
    if (is_direct(layout, piece))
        source->direct = (const uint8_t *)piece->dst;
    else
        source->piece = piece;
    return ZB_OK;
}

/* Brings the elements together. */
static void copy_source(const zb__write_layout *layout, const inner_source *source, uint8_t *out) {
    uint64_t inside = zb__piece_elements(source->piece, layout->ndim);
    if (inside * layout->inner->pipeline->dtype.size < layout->inner_bytes)
        zb__inner_fill(layout, out); /* beyond the array's edge */
    zb__inner_put(layout, source->piece, out);
}

/* The size of a plain inner chunk: 0 when it is all fill. */
static size_t plain_size(const zb_writer *writer, const zb__write_layout *layout,
                         const uint8_t *elements) {
    size_t item = layout->inner->pipeline->dtype.size;
    bool empty = !writer->options.store_empty &&
                 zb__is_all(elements, layout->inner_bytes / item, layout->fill, item);
    return empty ? 0 : layout->inner_bytes;
}

/* Brings the elements of variable length together and finds out what they need. */
static enum zb_code measure_source(const zb__write_layout *layout, inner_source *source,
                                   zb__scratch *scratch, size_t *bound, zb_error *err) {
    enum zb_code code = ZB_OK;
    uint64_t bytes;
    if (!source->direct)
        code = zb__buffer_reserve(&scratch->decoded, layout->inner_bytes, err);
    if (code == ZB_OK && !source->direct) {
        copy_source(layout, source, scratch->decoded.data);
        source->direct = scratch->decoded.data;
    }
    if (code == ZB_OK)
        code = zb__chunk_measure(layout->inner, source->direct, &bytes, err);
    if (code == ZB_OK && bytes > SIZE_MAX / 2)
        code = zb_fail(err, ZB_ELIMIT, "a chunk is too large to be encoded");
    *bound = code ? 0 : (size_t)bytes;
    return code;
}

/* Encodes an inner chunk to place[0..bound). */
static enum zb_code encode_source(const zb_writer *writer, const zb__write_layout *layout,
                                  const inner_source *source, zb__scratch *scratch, uint8_t *place,
                                  size_t bound, size_t *size, zb_error *err) {
    if (zb__is_plain(layout)) {
        copy_source(layout, source, place);
        *size = plain_size(writer, layout, place);
        return ZB_OK;
    }
    const uint8_t *elements = source->direct;
    if (!elements) {
        enum zb_code code = zb__buffer_reserve(&scratch->decoded, layout->inner_bytes, err);
        if (code != ZB_OK)
            return code;
        copy_source(layout, source, scratch->decoded.data);
        elements = scratch->decoded.data;
    }
    return zb__chunk_encode(layout->inner, scratch, elements, layout->fill,
                            writer->options.store_empty, place, bound, size, err);
}

static enum zb_code encode_into_block(encode_run *run, size_t chunk, inner_source *source,
                                      zb__scratch *scratch, zb__encoded *out, zb_error *err) {
    zb__block *block;
    const zb__write_layout *layout = run->jobs[chunk].layout;
    size_t bound = layout->inner_bound;
    enum zb_code code = ZB_OK;
    if (layout->inner->pipeline->is_variable)
        code = measure_source(layout, source, scratch, &bound, err);
    if (code == ZB_OK)
        code = take_block(run, chunk, bound, &block, err);
    if (code != ZB_OK)
        return code;
    out->data = block->bytes + block->used;
    code = encode_source(run->writer, layout, source, scratch, block->bytes + block->used, bound,
                         &out->size, err);
    give_block(run, chunk, block, code == ZB_OK ? out->size : 0);
    return code;
}

/* Says which inner chunk of a shard a message is about. */
static enum zb_code name_inner(const zb__write_layout *layout, uint64_t inner, enum zb_code code,
                               zb_error *err) {
    char text[ZB_MESSAGE_SIZE] = "";
    uint64_t index[ZB_MAX_NDIM];
    size_t used = 0;
    for (uint32_t d = layout->ndim; d-- > 0;)
        index[d] = zb__inner_span(layout, d, &inner).index;
    for (uint32_t d = 0; d < layout->ndim && used < sizeof text; d++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu", d ? "," : "",
                                 (unsigned long long)index[d]);
    return layout->shard ? zb_error_prefix(err, code, "inner chunk (%s)", text) : code;
}

/* The room that an inner chunk in the form of another chain needs, and the array's edge in it. */
static uint64_t given_bound(const zb_writer *writer, const zb__given *given, zb__chain_edge *place,
                            const zb__chain_edge **edge) {
    *edge = zb__encoded_is_cut(writer->node, given->place, place) ? place : NULL;
    return zb__chain_bound(given->change, *edge, given->bytes.data, given->bytes.size);
}

static enum zb_code change_given(encode_run *run, size_t chunk, const zb__given *given,
                                 zb__scratch *scratch, zb__encoded *out, zb_error *err) {
    zb__chain_edge place;
    const zb__chain_edge *edge;
    const uint64_t bound = given_bound(run->writer, given, &place, &edge);
    zb__block *block = NULL;
    size_t size = 0;
    if (bound > SIZE_MAX / 2)
        return zb_fail(err, ZB_ELIMIT, "a chunk is too large to be encoded");
    if (!run->writer->options.store_empty &&
        zb__chain_is_fill(given->change, run->writer->node->array->info.fill_value, scratch,
                          given->bytes.data, given->bytes.size))
        return ZB_OK; /* *out says that it is not stored */
    enum zb_code code = bound ? take_block(run, chunk, (size_t)bound, &block, err) : ZB_OK;
    if (code)
        return code;
    uint8_t *out_at = block ? block->bytes + block->used : NULL;
    code = zb__chain_run(given->change, edge, scratch, given->bytes.data, given->bytes.size, out_at,
                         (size_t)bound, &size, err);
    if (block)
        give_block(run, chunk, block, code ? 0 : size);
    *out = (zb__encoded){block ? out_at : given->bytes.data, size};
    return code;
}

static enum zb_code encode_inner(encode_run *run, size_t chunk, uint64_t inner,
                                 zb__scratch *scratch, zb__encoded *out, zb_error *err) {
    const zb_writer *writer = run->writer;
    const zb__job *job = &run->jobs[chunk];
    if (job->reused && job->reused[inner].size > 0) {
        *out = job->reused[inner];
        return ZB_OK;
    }
    if (job->given) {
        const zb__given *given = &job->given[inner];
        enum zb_code changed =
            given->bytes.size ? change_given(run, chunk, given, scratch, out, err) : ZB_OK;
        return changed ? name_inner(job->layout, inner, changed, err) : ZB_OK;
    }
    inner_source source = {0};
    enum zb_code code = find_source(job->layout, job, inner, &source, err);
    if (code == ZB_OK && source.direct && zb__is_plain(job->layout))
        *out = (zb__encoded){source.direct, plain_size(writer, job->layout, source.direct)};
    else if (code == ZB_OK && (source.direct || source.piece))
        code = encode_into_block(run, chunk, &source, scratch, out, err);
    zb__arena_free(&source.memory);
    return code;
}

static enum zb_code store_chunk(void *context, size_t chunk, zb__scratch *scratch, zb_error *err) {
    encode_run *run = context;
    enum zb_code code =
        job_put(run->writer, &run->jobs[chunk], run->states[chunk].encoded, scratch, err);
    forget_chunk(run, chunk);
    return code ? zb__chunk_add_context(run->writer, run->jobs[chunk].index, code, err) : ZB_OK;
}

/* The chunk of a task. Tasks are counted from chunk to chunk. */
static size_t chunk_of(const encode_run *run, size_t task) {
    if (run->each)
        return task / run->each;
    size_t low = 0, high = run->count; /* it is in [low, high) */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(run->states[middle].first <= task ? &low : &high) = middle;
    }
    return low;
}

static enum zb_code run_inner(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    encode_run *run = context;
    size_t chunk = chunk_of(run, i), inner = i - run->states[chunk].first;
    zb__encoded *encoded = begin_inner(run, chunk);
    enum zb_code code = encoded ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for an encoded chunk");
    if (code == ZB_OK)
        code = encode_inner(run, chunk, inner, scratch, &encoded[inner], err);
    if (code)
        return zb__chunk_add_context(run->writer, run->jobs[chunk].index, code, err);
    if (!finish_inner(run, chunk))
        return ZB_OK;
    return run->lane.width ? zb__lane_give(&run->lane, chunk, err)
                           : store_chunk(run, chunk, scratch, err);
}

/* Bytes of a whole encoded chunk, at most. */
static uint64_t bytes_of_inner_chunks(const zb__write_layout *layout) {
    return zb__work_product(layout->inner_chunks, layout->inner_bound);
}

static size_t lane_width(const zb_writer *writer) {
    return zb__store_width(zb__node_store(writer->node), bytes_of_inner_chunks(&writer->layout));
}

static enum zb_code run_jobs(zb_writer *writer, zb__job *jobs, size_t count, zb_error *err) {
    encode_run run = {.writer = writer, .jobs = jobs, .count = count};
    size_t tasks = 0;
    run.states = calloc(count, sizeof *run.states);
    if (!run.states)
        return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a write");
    run.each = (size_t)jobs->layout->inner_chunks;
    for (size_t i = 0; i < count; i++) {
        size_t inner_chunks = (size_t)jobs[i].layout->inner_chunks;
        run.each = inner_chunks == run.each ? inner_chunks : 0;
        run.states[i] = (chunk_state){.left = inner_chunks, .first = tasks};
        if (__builtin_add_overflow(tasks, inner_chunks, &tasks)) {
            free(run.states);
            return zb_fail(err, ZB_ELIMIT, "too many inner chunks for one write");
        }
    }
    pthread_mutex_init(&run.lock, NULL);
    zb__lane_begin(&run.lane, store_chunk, &run, count > 1 ? lane_width(writer) : 0);
    enum zb_code code = zb__pool_run(run_inner, &run, tasks, 0, err);
    code = zb__lane_end(&run.lane, code, err);
    for (size_t i = 0; i < count && code != ZB_OK; i++)
        forget_chunk(&run, i); /* chunks that were not finished */
    pthread_mutex_destroy(&run.lock);
    free(run.states);
    return code;
}

/* ---- The memory of a run ------------------------------------------------------------------ */

/* True if the job's chunk can be put from where it lies. Its first inner chunk decides, so chunks
   on the array's edge of which only the last inner chunks have to be copied pass, too: their copies
   take one inner chunk for each thread. */
static bool needs_no_block(const zb_writer *writer, const zb__job *job) {
    const zb__write_layout *layout = job->layout;
    for (uint64_t i = 0; job->given && i < layout->inner_chunks; i++) {
        zb__chain_edge place;
        const zb__chain_edge *edge;
        const zb__given *given = &job->given[i];
        if (given->bytes.size && given_bound(writer, given, &place, &edge) != 0)
            return false;
    }
    if (job->given)
        return true;
    if (!zb__is_plain(layout))
        return false;
    if (!job->piece)
        return true;
    zb__arena memory = {0};
    zb__piece *piece;
    bool direct = inner_piece(layout, job->piece, 0, &memory, &piece, NULL) == ZB_OK &&
                  is_direct(layout, piece);
    zb__arena_free(&memory);
    return direct;
}

/* The most bytes that the elements of one of the chunks point at. */
static uint64_t most_values(const zb__write_layout *layout, const zb__job *jobs, size_t count) {
    uint64_t most = 0, bytes;
    for (size_t i = 0; i < count; i++) {
        bytes = jobs[i].buffered ? jobs[i].buffered->value_bytes : 0;
        if (jobs[i].piece && zb__piece_measure(layout, jobs[i].piece, &bytes, NULL) != ZB_OK)
            bytes = 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* The most memory that one of the chunks needs while it is encoded: its encoded inner chunks, the
   list of them, and the index that is made of it. */
static uint64_t bytes_of_one(const zb_writer *writer, const zb__job *jobs, size_t count) {
    const zb__write_layout *layout = &writer->layout;
    uint64_t lists = zb__work_product(layout->inner_chunks, ZB__INNER_LISTS);
    uint64_t inner_chunks = bytes_of_inner_chunks(layout);
    if (layout->inner->pipeline->is_variable)
        return inner_chunks + lists + most_values(layout, jobs, count);
    for (size_t i = 0; i < count; i++) {
        if (!needs_no_block(writer, &jobs[i]))
            return inner_chunks + lists;
    }
    return lists;
}

/* Reserves memory for as many of the chunks as possible, at least one. Returns the number of chunks
   that can be run, and the reserved bytes. Tasks start in the order of the chunks, so that each
   thread but one keeps one chunk from being finished: there are never more chunks in memory than
   threads, and one, and those in the lane. */
static size_t reserve(uint64_t one, size_t count, size_t in_lane, uint64_t *reserved) {
    size_t most = zb__pool_width() + 1 + in_lane;
    for (size_t n = count < most ? count : most; n > 1; n /= 2) {
        *reserved = zb__work_product(one, n);
        if (zb__work_try(*reserved))
            return n == most ? count : n;
    }
    *reserved = one;
    zb__work_begin(one);
    return 1;
}

enum zb_code zb__jobs_run(zb_writer *writer, zb__job *jobs, size_t count, bool is_reserved,
                          zb_error *err) {
    if (is_reserved)
        return run_jobs(writer, jobs, count, err);
    uint64_t one = bytes_of_one(writer, jobs, count), reserved;
    enum zb_code code = ZB_OK;
    for (size_t done = 0, n; done < count && code == ZB_OK; done += n) {
        n = reserve(one, count - done, lane_width(writer), &reserved);
        code = run_jobs(writer, jobs + done, n, err);
        zb__work_end(reserved, true);
    }
    return code;
}
