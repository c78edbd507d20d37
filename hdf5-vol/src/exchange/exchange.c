/* SPDX-License-Identifier: MIT */
/* Collective writes: see exchange.h. */
#include "exchange/exchange.h"

#include "exchange/shared_chunks.h"
#include "dataset/writers.h"
#include "hdf5/errors.h"
#include "objects/tokens.h"

#include <stdlib.h>
#include <string.h>

#define ROUND_BYTES ((uint64_t)16 << 20)
#define ROUND_CHUNKS 1024
#define MOST_CHUNK_BYTES ((uint64_t)1 << 30) /* larger ones are not exchanged: counts are ints */

/* What each rank tells the others, in words. */
enum {
    SAID_WHAT, /* of which dataset, of which shape */
    SAID_FORM,
    SAID_TYPE,
    SAID_BOX, /* start, count, step */
    SAID_COUNT = SAID_BOX + 3 * VOL_SHARED_NDIM
};
enum { FORM_OTHER, FORM_BOX, FORM_NOTHING };

/* A chunk of a round. */
typedef struct round_chunk {
    uint64_t index[VOL_SHARED_NDIM];
    size_t owner;
} round_chunk;

struct vol_exchange {
    h5_lib *lib;
    h5_ranks *ranks;
    size_t count, own; /* of ranks; this one's number */
    vol_node *node;
    zb_writer *writer;
    const char *data; /* the program's: where the first element lies */
    int64_t strides[VOL_SHARED_NDIM];
    zb_dtype dtype;    /* of this rank */
    int64_t *said;     /* [count][SAID_COUNT] */
    zb_dtype *types;   /* [count] */
    vol_shared shared; /* of `count` ranks */
    uint64_t most;     /* bytes that a rank sends or gets in a round */
    /* The round */
    round_chunk *chunks; /* [ROUND_CHUNKS] */
    size_t chunk_count;
    uint64_t *sent, *got; /* [count]: bytes of each rank */
    h5_mail out, in;
    bool has_failed; /* all know of it: there is no further round */
    char **next;     /* [count]: the place in `out` or `in` for each rank */
};

/* ---- Who takes part ---- */

h5_ranks *vol_exchange_ranks(const vol_transfer *writes, size_t count, const vol_dxpl *list) {
    if (!list->is_collective || count == 0)
        return NULL;
    const vol_file *file = writes[0].node->file;
    for (size_t i = 1; i < count; i++)
        if (writes[i].node->file != file)
            return NULL;
    return file->lib->stopping ? NULL : file->ranks;
}

herr_t vol_exchange_agree(h5_ranks *ranks, herr_t result) {
    return h5_ranks_result(ranks, h5_ranks_call("H5Dwrite", NULL, 0), result);
}

/* ---- What is said ---- */

static bool has_pointers(zb_dtype type) {
    return type.detail || type.kind == ZB_KIND_STRING || type.kind == ZB_KIND_BYTES;
}

static int64_t number_of(const vol_node *node) {
    const zb_array_info *info = zb_node_array(node->zarr);
    uint64_t hash = vol_hash(VOL_HASH_START, node->path, strlen(node->path));
    hash = vol_hash(hash, info->shape, info->ndim * sizeof *info->shape);
    return (int64_t)(hash >> 1);
}

static void say_box(const vol_selection *file, int64_t *words) {
    for (uint32_t d = 0; d < file->ndim; d++) {
        words[d] = (int64_t)file->start[d];
        words[VOL_SHARED_NDIM + d] = (int64_t)file->count[d];
        words[2 * VOL_SHARED_NDIM + d] = (int64_t)file->step[d];
    }
}

/* Without strides the elements lie one after another. */
static void take_strides(vol_exchange *x, const vol_selection *file, const int64_t *strides) {
    int64_t pitch = x->dtype.size;
    for (uint32_t d = file->ndim; d-- > 0;) {
        x->strides[d] = strides ? strides[d] : pitch;
        pitch *= (int64_t)file->count[d];
    }
}

static void say(vol_exchange *x, vol_request *request, int64_t words[SAID_COUNT]) {
    const int64_t *strides;
    char *data;
    memset(words, 0, SAID_COUNT * sizeof *words);
    if (!request || zb_node_array(request->args->node->zarr)->ndim > VOL_SHARED_NDIM)
        return;
    words[SAID_WHAT] = number_of(request->args->node);
    if (request->file.elements == 0)
        words[SAID_FORM] = FORM_NOTHING;
    if (request->file.elements == 0 || request->is_nested || request->is_text ||
        has_pointers(request->dtype) || !vol_request_is_direct(request, &data, &strides))
        return;
    x->data = data;
    x->dtype = request->dtype;
    take_strides(x, &request->file, strides);
    words[SAID_FORM] = FORM_BOX;
    words[SAID_TYPE] =
        (int64_t)x->dtype.kind << 33 | (int64_t)x->dtype.swapped << 32 | (int64_t)x->dtype.size;
    say_box(&request->file, words + SAID_BOX);
}

/* Whether all write the same dataset, and in a form that can be exchanged. */
static bool hear(vol_exchange *x) {
    for (size_t i = 0; i < x->count; i++) {
        const int64_t *words = x->said + i * SAID_COUNT, *box = words + SAID_BOX;
        vol_box *out = &x->shared.boxes[i];
        if (words[SAID_FORM] == FORM_OTHER || words[SAID_WHAT] != x->said[SAID_WHAT])
            return false;
        out->is_empty = words[SAID_FORM] == FORM_NOTHING;
        x->types[i] = (zb_dtype){.kind = (enum zb_kind)(words[SAID_TYPE] >> 33),
                                 .swapped = words[SAID_TYPE] >> 32 & 1,
                                 .size = (uint32_t)words[SAID_TYPE]};
        for (uint32_t d = 0; d < VOL_SHARED_NDIM; d++) {
            out->start[d] = (uint64_t)box[d];
            out->count[d] = (uint64_t)box[VOL_SHARED_NDIM + d];
            out->step[d] = (uint64_t)box[2 * VOL_SHARED_NDIM + d];
        }
    }
    return true;
}

/* ---- Parts ---- */

static uint64_t part_bytes(const vol_exchange *x, size_t rank) {
    return x->shared.elements[rank] * x->types[rank].size;
}

/* Copies a box of the program's elements, one after another. */
static char *pack(const char *from, const int64_t *strides, const uint64_t *count, uint32_t ndim,
                  size_t size, char *to) {
    if (ndim == 0 || (ndim == 1 && strides[0] == (int64_t)size)) {
        const size_t bytes = (ndim == 0 ? 1 : (size_t)count[0]) * size;
        memcpy(to, from, bytes);
        return to + bytes;
    }
    for (uint64_t i = 0; i < count[0]; i++)
        to = pack(from + (int64_t)i * strides[0], strides + 1, count + 1, ndim - 1, size, to);
    return to;
}

static const char *own_data(const vol_exchange *x, const uint64_t *first) {
    const char *data = x->data;
    for (uint32_t d = 0; d < x->shared.ndim; d++)
        data += (int64_t)first[d] * x->strides[d];
    return data;
}

/* Writes a rank's part of the chunk at which the walk is; data: packed, NULL for this rank's. */
static enum zb_code write_part(const vol_exchange *x, size_t rank, const char *data,
                               zb_error *err) {
    const vol_box *box = &x->shared.boxes[rank];
    uint64_t first[VOL_SHARED_NDIM], count[VOL_SHARED_NDIM], start[VOL_SHARED_NDIM];
    vol_shared_part(&x->shared, rank, first, count);
    for (uint32_t d = 0; d < x->shared.ndim; d++)
        start[d] = box->start[d] + first[d] * box->step[d];
    const zb_write write = {.start = start,
                            .count = count,
                            .step = box->step,
                            .data = data ? data : own_data(x, first),
                            .dtype = x->types[rank],
                            .strides = data ? NULL : x->strides};
    return zb_writer_write(x->writer, &write, err);
}

/* Stores what waits of that chunk. */
static enum zb_code settle_chunk(const vol_exchange *x, zb_error *err) {
    uint64_t start[VOL_SHARED_NDIM], count[VOL_SHARED_NDIM];
    for (uint32_t d = 0; d < x->shared.ndim; d++) {
        start[d] = x->shared.span[d].start;
        count[d] = x->shared.span[d].inside;
    }
    return vol_writer_settle(x->node, start, count, err);
}

static herr_t push_failed(const vol_exchange *x, const zb_error *err) {
    return VOL_PUSH_ZB(x->lib, DATASET, WRITEERROR, err);
}

static herr_t push_memory(const vol_exchange *x) {
    return VOL_PUSH(x->lib, DATASET, WRITEERROR,
                    "no memory for what the ranks of a collective write exchange");
}

/* ---- A round ---- */

/* Puts the mail for each rank behind that for the one before; every part begins with a word. */
static bool lay_out(const vol_exchange *x, const uint64_t *bytes, h5_mail *mail) {
    int words = 0;
    for (size_t i = 0; i < x->count; i++) {
        mail->at[i] = words;
        mail->words[i] = (int)((bytes[i] + sizeof(int64_t) - 1) / sizeof(int64_t));
        words += mail->words[i];
    }
    mail->data = malloc(((size_t)words + 1) * sizeof *mail->data);
    return mail->data != NULL;
}

static void begin_reading(vol_exchange *x, const h5_mail *mail) {
    for (size_t i = 0; i < x->count; i++)
        x->next[i] = (char *)(mail->data + mail->at[i]);
}

/* sent and got serve again: as bytes for each rank, and from each. */
static void count_mail(vol_exchange *x) {
    memset(x->sent, 0, x->count * sizeof *x->sent);
    memset(x->got, 0, x->count * sizeof *x->got);
    for (size_t i = 0; i < x->chunk_count; i++) {
        const size_t owner = x->chunks[i].owner;
        vol_shared_at(&x->shared, x->chunks[i].index);
        if (owner != x->own)
            x->sent[owner] += part_bytes(x, x->own);
        for (size_t r = 0; r < x->count && owner == x->own; r++)
            x->got[r] += r == x->own ? 0 : part_bytes(x, r);
    }
}

/* Stores what this rank had written of the chunks before, and packs what it sends. */
static herr_t prepare_round(vol_exchange *x) {
    zb_error err = {0};
    count_mail(x);
    if (!lay_out(x, x->sent, &x->out) || !lay_out(x, x->got, &x->in))
        return push_memory(x);
    begin_reading(x, &x->out);
    for (size_t i = 0; i < x->chunk_count; i++) {
        const size_t owner = x->chunks[i].owner;
        uint64_t first[VOL_SHARED_NDIM], count[VOL_SHARED_NDIM];
        vol_shared_at(&x->shared, x->chunks[i].index);
        if (settle_chunk(x, &err) != ZB_OK)
            return push_failed(x, &err);
        if (owner == x->own || x->shared.elements[x->own] == 0)
            continue;
        vol_shared_part(&x->shared, x->own, first, count);
        x->next[owner] = pack(own_data(x, first), x->strides, count, x->shared.ndim, x->dtype.size,
                              x->next[owner]);
    }
    return 0;
}

/* Writes the parts of a chunk that this rank owns. Nothing of it waits afterwards. */
static enum zb_code write_chunk(vol_exchange *x, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t r = 0; r < x->count && !code; r++) {
        if (x->shared.elements[r] == 0)
            continue;
        code = write_part(x, r, r == x->own ? NULL : x->next[r], err);
        if (r != x->own)
            x->next[r] += part_bytes(x, r);
    }
    return code ? code : settle_chunk(x, err);
}

static herr_t write_round(vol_exchange *x) {
    zb_error err = {0};
    begin_reading(x, &x->in);
    for (size_t i = 0; i < x->chunk_count; i++) {
        vol_shared_at(&x->shared, x->chunks[i].index);
        if (x->chunks[i].owner == x->own && write_chunk(x, &err) != ZB_OK)
            return push_failed(x, &err);
    }
    return 0;
}

/* result: of what this rank has done so far. Collective, and so is all of this: no rank leaves
   alone. */
static herr_t make_round(vol_exchange *x, herr_t result) {
    const uint64_t none[VOL_SHARED_NDIM] = {0};
    uint64_t at[VOL_SHARED_NDIM];
    memcpy(at, x->chunk_count > 0 ? x->shared.index : none, sizeof at);
    if (result >= 0)
        result = prepare_round(x);
    result = vol_exchange_agree(x->ranks, result);
    x->has_failed = result < 0;
    if (result >= 0)
        result = h5_ranks_exchange(x->ranks, &x->out, &x->in);
    if (result >= 0)
        result = write_round(x);
    free(x->out.data);
    free(x->in.data);
    x->out.data = x->in.data = NULL;
    x->chunk_count = 0;
    memset(x->sent, 0, x->count * sizeof *x->sent);
    memset(x->got, 0, x->count * sizeof *x->got);
    vol_shared_at(&x->shared, at);
    return result;
}

/* Whether the chunk at which the walk is goes into the round with those that are in it. */
static bool fits(const vol_exchange *x) {
    const size_t owner = x->shared.owner;
    uint64_t got = x->got[owner];
    if (x->chunk_count == ROUND_CHUNKS)
        return false;
    for (size_t r = 0; r < x->count; r++) {
        if (r == owner)
            continue;
        got += part_bytes(x, r);
        if (x->sent[r] + part_bytes(x, r) > x->most)
            return false;
    }
    return got <= x->most;
}

static void add(vol_exchange *x) {
    round_chunk *chunk = &x->chunks[x->chunk_count++];
    memcpy(chunk->index, x->shared.index, sizeof chunk->index);
    chunk->owner = x->shared.owner;
    for (size_t r = 0; r < x->count; r++) {
        if (r == chunk->owner)
            continue;
        x->sent[r] += part_bytes(x, r);
        x->got[chunk->owner] += part_bytes(x, r);
    }
}

/* ---- All rounds ---- */

/* What one rank has of a chunk without an owner waits with it, unless it is complete. */
static herr_t write_own(vol_exchange *x) {
    zb_error err = {0};
    if (x->shared.elements[x->own] == 0 || write_part(x, x->own, NULL, &err) == ZB_OK)
        return 0;
    return push_failed(x, &err);
}

/* The others have changed chunks, too. */
static herr_t get_writer(vol_exchange *x) {
    zb_error err = {0};
    if (vol_writer_get(x->node, &x->writer, &err) == ZB_OK)
        return 0;
    return push_failed(x, &err);
}

/* A failure is told to all when the next round begins, or by the verdict on the call; until then
   this rank goes on without writing. */
static herr_t exchange_all(vol_exchange *x, uint64_t most) {
    herr_t result = get_writer(x);
    for (bool more = vol_shared_first(&x->shared, x->node->zarr, most); more;
         more = vol_shared_next(&x->shared)) {
        if (x->shared.owner == VOL_SHARED_NOBODY) {
            result = result >= 0 ? write_own(x) : result;
            continue;
        }
        const size_t owner = x->shared.owner;
        if (!fits(x)) {
            result = make_round(x, result);
            if (x->has_failed)
                return -1;
            x->shared.owner = owner;
        }
        add(x);
    }
    return x->chunk_count > 0 ? make_round(x, result) : result;
}

/* Elements that a chunk has at most, to be exchanged; and the bytes of a round. */
static uint64_t bound(vol_exchange *x) {
    const zb_array_info *info = zb_node_array(x->node->zarr);
    uint64_t elements = 1, size = 1;
    for (size_t i = 0; i < x->count; i++)
        size = x->types[i].size > size ? x->types[i].size : size;
    for (uint32_t d = 0; d < info->ndim; d++)
        if (__builtin_mul_overflow(elements, info->chunk_shape[d], &elements))
            elements = UINT64_MAX;
    const uint64_t most = MOST_CHUNK_BYTES / size;
    const uint64_t bytes = (elements < most ? elements : most) * size;
    x->most = bytes > ROUND_BYTES ? bytes : ROUND_BYTES;
    return most;
}

static bool any_owner(vol_exchange *x, uint64_t most) {
    for (bool more = vol_shared_first(&x->shared, x->node->zarr, most); more;
         more = vol_shared_next(&x->shared))
        if (x->shared.owner != VOL_SHARED_NOBODY)
            return true;
    return false;
}

static bool make_lists(vol_exchange *x) {
    const size_t count = x->count;
    x->said = calloc(count, SAID_COUNT * sizeof *x->said);
    x->types = calloc(count, sizeof *x->types);
    x->chunks = calloc(ROUND_CHUNKS, sizeof *x->chunks);
    x->sent = calloc(count, sizeof *x->sent);
    x->got = calloc(count, sizeof *x->got);
    x->next = calloc(count, sizeof *x->next);
    x->out.words = calloc(4 * count, sizeof *x->out.words);
    if (!vol_shared_make(&x->shared, count) || !x->said || !x->types || !x->chunks || !x->sent ||
        !x->got || !x->next || !x->out.words)
        return false;
    x->out.at = x->out.words + count;
    x->in.words = x->out.at + count;
    x->in.at = x->in.words + count;
    return true;
}

vol_exchange *vol_exchange_new(h5_lib *lib, h5_ranks *ranks) {
    vol_exchange *x = calloc(1, sizeof *x);
    if (x) {
        x->lib = lib;
        x->ranks = ranks;
        x->count = h5_ranks_count(ranks);
        x->own = h5_ranks_own(ranks);
    }
    if (x && make_lists(x))
        return x;
    vol_exchange_free(x);
    VOL_PUSH(lib, DATASET, WRITEERROR, "no memory for a collective write");
    return NULL;
}

void vol_exchange_free(vol_exchange *x) {
    if (!x)
        return;
    vol_shared_free(&x->shared);
    free(x->said);
    free(x->types);
    free(x->chunks);
    free(x->sent);
    free(x->got);
    free(x->next);
    free(x->out.words);
    free(x);
}

herr_t vol_exchange_write(vol_exchange *x, vol_request *request, bool *is_written) {
    int64_t words[SAID_COUNT];
    *is_written = false;
    say(x, request, words);
    if (h5_ranks_gather(x->ranks, words, SAID_COUNT, x->said) < 0)
        return -1;
    if (!hear(x))
        return 0;
    x->node = request->args->node;
    const uint64_t most = bound(x);
    *is_written = any_owner(x, most);
    return *is_written ? exchange_all(x, most) : 0;
}
