/* SPDX-License-Identifier: MIT */
/* Chunks and shards of inner chunks that are encoded already: see zarrbridge/encoded.h. */
#include "write/writer.h"

#include <stdlib.h>
#include <string.h>

#include "codec/chain.h"
#include "node/node.h"
#include "read/encoded.h"

/* Chunks, or shards, that are planned together: bounds the plan's memory. */
#define JOBS_AT_ONCE 4096

/* The ways from the chains that the encoded chunks of a call name: few. */
typedef struct ways {
    const zb_chain **chain;
    zb__chain_change *change;
    size_t count;
} ways;

typedef struct putting {
    zb_writer *writer;
    const zb_encoded *chunks;
    const zb__placed *placed;
    ways ways;
    zb__job *jobs; /* [most] */
    size_t count, most;
} putting;

static size_t find_way(const ways *w, const zb_chain *chain) {
    size_t i = w->count;
    while (i > 0 && w->chain[i - 1] != chain)
        i--;
    return i; /* counted from 1; 0: not there */
}

/* Lists the ways before any is pointed at. */
static enum zb_code list_ways(ways *w, const zb_encoded *chunks, size_t count,
                              const zb__chunk_layout *to, zb_error *err) {
    for (size_t i = 0; i < count; i++) {
        if (chunks[i].size == 0 || find_way(w, chunks[i].chain))
            continue;
        if ((w->count & (w->count - 1)) == 0) { /* room for a power of two */
            const size_t room = w->count ? 2 * w->count : 1;
            const zb_chain **chain = realloc(w->chain, room * sizeof *chain);
            w->chain = chain ? chain : w->chain;
            zb__chain_change *change = realloc(w->change, room * sizeof *change);
            w->change = change ? change : w->change;
            if (!chain || !change)
                return zb_fail(err, ZB_ENOMEM, "no memory for encoded chunks");
        }
        w->chain[w->count] = chunks[i].chain;
        w->change[w->count] = zb__chain_compare(chunks[i].chain ? chunks[i].chain->layout : to, to);
        if (w->change[w->count].way == ZB_CHAIN_NONE)
            return zb_fail(err, ZB_EUNSUPPORTED, "encoded chunks cannot be moved: %s",
                           w->change[w->count].reason);
        w->count++;
    }
    return ZB_OK;
}

/* Plans the chunk or shard of the encoded chunks placed[first..end). */
static enum zb_code add_job(putting *p, size_t first, size_t end, zb_error *err) {
    zb__job *job = &p->jobs[p->count];
    *job = (zb__job){.index = p->placed[first].index};
    enum zb_code code = zb__write_layout_take(p->writer, job->index, &job->layout, err);
    if (code)
        return code;
    p->count++;
    zb__given *given = calloc((size_t)job->layout->inner_chunks, sizeof *given);
    job->given = given;
    if (!given)
        return zb_fail(err, ZB_ENOMEM, "no memory for encoded chunks");
    for (size_t i = first; i < end; i++) {
        const zb_encoded *chunk = &p->chunks[p->placed[i].at];
        const size_t way = chunk->size ? find_way(&p->ways, chunk->chain) : 0;
        given[p->placed[i].number] = (zb__given){.bytes = {chunk->data, chunk->size},
                                                 .change = way ? &p->ways.change[way - 1] : NULL,
                                                 .place = chunk->index};
    }
    return ZB_OK;
}

/* What waits of a chunk that is stored now is forgotten. */
static void end_jobs(putting *p) {
    for (size_t i = 0; i < p->count; i++) {
        zb__buffered_chunk *buffered =
            p->jobs[i].stored ? zb__buffered_chunk_find(p->writer, p->jobs[i].index) : NULL;
        if (buffered)
            zb__buffered_chunk_drop(p->writer, buffered);
        zb__write_layout_give(p->writer, p->jobs[i].layout);
        free((void *)(uintptr_t)p->jobs[i].given);
    }
    p->count = 0;
}

static enum zb_code run_jobs(putting *p, zb_error *err) {
    enum zb_code code = p->count ? zb__jobs_run(p->writer, p->jobs, p->count, false, err) : ZB_OK;
    end_jobs(p);
    return code;
}

static enum zb_code put(putting *p, size_t count, zb_error *err) {
    const uint32_t ndim = p->writer->layout.ndim;
    enum zb_code code = ZB_OK;
    for (size_t i = 0, end; i < count && !code; i = end) {
        end = zb__placed_end(p->placed, i, count, ndim);
        code = add_job(p, i, end, err);
        if (!code && p->count == p->most)
            code = run_jobs(p, err);
    }
    if (!code)
        return run_jobs(p, err);
    end_jobs(p);
    return code;
}

static enum zb_code put_all(zb_writer *writer, const zb_encoded *chunks, size_t count,
                            zb_error *err) {
    zb_chain *own = NULL;
    zb__placed *placed = NULL;
    enum zb_code code = zb_chain_of(writer->node, &own, err);
    if (code)
        return code;
    putting p = {
        .writer = writer, .chunks = chunks, .most = count < JOBS_AT_ONCE ? count : JOBS_AT_ONCE};
    p.jobs = malloc((p.most ? p.most : 1) * sizeof *p.jobs);
    if (!p.jobs)
        code = zb_fail(err, ZB_ENOMEM, "no memory for the plan of a write");
    if (!code)
        code = zb__encoded_sort(writer->node, chunks, count, &placed, err);
    if (!code)
        code = list_ways(&p.ways, chunks, count, own->layout, err);
    if (!code) {
        p.placed = placed;
        code = put(&p, count, err);
    }
    free(p.ways.chain);
    free(p.ways.change);
    free(p.jobs);
    free(placed);
    zb_chain_free(own);
    return code;
}

/* A chunk on the edge has elements outside the array, which another program may have written since:
   it is not put whole. */
static bool any_is_cut(const zb_node *node, const zb_encoded *chunks, size_t count) {
    zb__chain_edge edge;
    for (size_t i = 0; i < count; i++) {
        if (zb__encoded_is_cut(node, chunks[i].index, &edge))
            return true;
    }
    return false;
}

enum zb_code zb_writer_put_encoded(zb_writer *writer, const zb_encoded *chunks, size_t count,
                                   zb_error *err) {
    enum zb_code code;
    do
        code = put_all(writer, chunks, count, err);
    while (code == ZB_ECONFLICT && !any_is_cut(writer->node, chunks, count) &&
           zb__writer_follows(writer, code));
    return code;
}
