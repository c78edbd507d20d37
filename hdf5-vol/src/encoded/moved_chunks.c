/* SPDX-License-Identifier: MIT */
/* See moved_chunks.h. */
#include "encoded/moved_chunks.h"

#include "encoded/chunk_chains.h"
#include "encoded/hdf5_chunks.h"
#include "create/creation_list.h"
#include "dataset/dataset.h"
#include "dataset/writers.h"
#include "hdf5/errors.h"

#include "zarrbridge/encoded.h"
#include "zarrbridge/hidden_chunks.h"
#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

/* Chunks in hand together, so that all threads, or the network, have work: their number, and their
   bytes. Beside local stores they stay in the processor's caches. */
#define MOST_CHUNKS 8192
#define MOST_BYTES ((uint64_t)64 << 20)
#define MOST_BYTES_NEAR ((uint64_t)2 << 20)

static uint64_t most_bytes(const zb_node *array) {
    return zb_hierarchy_is_local(zb_node_hierarchy(array)) ? MOST_BYTES_NEAR : MOST_BYTES;
}

/* Chains of chunks from which different filters were left out, of one dataset. */
#define MOST_CHAINS 8

static herr_t fail(const vol_moves *moves, zb_error *err) {
    zb_error_prefix(err, err->code, "cannot copy '%s'", moves->node->path);
    return VOL_PUSH_ZB(moves->lib, SYM, CANTCOPY, err);
}

/* The elements of a chunk, or shard. */
static herr_t copy_chunk(const vol_moves *moves, enum zb_grid_level level, const uint64_t *index) {
    const zb_node *array = moves->node->zarr;
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < zb_node_array(array)->ndim; d++) {
        const zb_chunk_span span = zb_array_chunk_at(array, level, d, index[d]);
        start[d] = span.start;
        count[d] = span.inside;
    }
    return moves->copy_box(moves->context, start, count);
}

static const char other_elements[] = "they are no plain numbers, or of another type";
static const char other_chunks[] = "chunks differ";
static const char no_codec[] = "no codec makes the bytes of its filters";
static const char unwritten[] =
    "chunks that are not written have another fill value, or are not told";

/* ---- From an HDF5 file -------------------------------------------------------------------- */

/* The number of all innermost chunks; 0 where there are too many for a number. */
static uint64_t count_all(const zb_node *array) {
    uint64_t all = 1;
    for (uint32_t d = 0; d < zb_node_array(array)->ndim; d++) {
        if (__builtin_mul_overflow(all, zb_array_chunk_count(array, ZB_GRID_INNER, d), &all))
            return 0;
    }
    return all;
}

static int by_target(const void *a, const void *b) {
    const vol_hdf5_chunk *left = a, *right = b;
    if (left->target != right->target)
        return left->target < right->target ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

static int by_number(const void *a, const void *b) {
    const vol_hdf5_chunk *left = a, *right = b;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Lists the chunks of a dataset. False where HDF5 does not tell them as they are, or where those
   that are not written would be other elements in the array. */
static bool list_chunks(const vol_moves *moves, hid_t source, hid_t dcpl, vol_hdf5_chunks *list) {
    const uint64_t all = count_all(list->array);
    if (!all || !vol_hdf5_chunks_list(moves->lib, source, dcpl, list))
        return false;
    if (list->count < all) {
        vol_pieces probe;
        if (list->count)
            qsort(list->chunk, list->count, sizeof *list->chunk, by_number);
        if (vol_pieces_left_out(list->array, ZB_GRID_INNER, list->chunk, list->count,
                                sizeof *list->chunk, &probe) &&
            !moves->fills_alike(moves->context, &probe))
            return false;
    }
    if (list->count)
        qsort(list->chunk, list->count, sizeof *list->chunk, by_target);
    return true;
}

/* A dataset on its way into an array. */
typedef struct importing {
    const vol_moves *moves;
    hid_t source, dcpl;
    bool big;
    zb_writer *writer;
    vol_hdf5_chunks list;
    zb_chain *chain[MOST_CHAINS];
    uint32_t mask[MOST_CHAINS];
    size_t chains;
    zb_encoded *chunks; /* in hand */
    uint64_t *index;    /* [ndim] of each */
    size_t room;
    uint8_t *bytes; /* of all of them; stays, as the first touch of memory costs more than a read */
    size_t bytes_room;
} importing;

/* The chain of chunks from which these filters were left out; NULL: there is none. */
static const zb_chain *find_chain(importing *i, uint32_t mask) {
    for (size_t k = 0; k < i->chains; k++) {
        if (i->mask[k] == mask)
            return i->chain[k];
    }
    if (i->chains == MOST_CHAINS)
        return NULL;
    i->mask[i->chains] = mask;
    i->chain[i->chains] = vol_chunk_chain(i->moves->lib, i->dcpl, i->list.array, i->big, mask);
    return i->chain[i->chains++];
}

static bool read_chunk(importing *i, const vol_hdf5_chunk *chunk, uint8_t *place, zb_encoded *out) {
    void *dataset = i->moves->lib->H5VLobject(i->source);
    out->chain = find_chain(i, chunk->is_plain ? UINT32_MAX : chunk->mask);
    out->data = place;
    out->size = (size_t)chunk->size;
    return dataset && out->chain && chunk->size > 0 &&
           vol_chunk_get(i->moves, dataset, out->index, place, out->size) >= 0;
}

/* The bytes of listed chunks; UINT64_MAX where one is too long. */
static uint64_t bytes_of(const importing *i, size_t first, size_t end) {
    uint64_t sum = 0;
    for (size_t at = first; at < end; at++) {
        const uint64_t size = i->list.chunk[at].size;
        if (size > zb_limits_get()->shard_bytes || __builtin_add_overflow(sum, size, &sum))
            return UINT64_MAX;
    }
    return sum;
}

static bool make_room_for_bytes(importing *i, uint64_t bytes) {
    if (bytes <= i->bytes_room)
        return true;
    free(i->bytes);
    i->bytes = bytes <= SIZE_MAX / 2 ? malloc((size_t)bytes) : NULL;
    i->bytes_room = i->bytes ? (size_t)bytes : 0;
    return i->bytes;
}

static bool make_room(importing *i, size_t count) {
    const uint32_t ndim = zb_node_array(i->list.array)->ndim;
    if (count <= i->room)
        return true;
    free(i->chunks);
    free(i->index);
    i->chunks = malloc(count * sizeof *i->chunks);
    i->index = malloc(count * ndim * sizeof *i->index);
    i->room = i->chunks && i->index ? count : 0;
    return i->room;
}

/* Moves listed chunks, all of some targets. */
static enum zb_code move_some(importing *i, size_t first, size_t end, zb_error *err) {
    const uint32_t ndim = zb_node_array(i->list.array)->ndim;
    const uint64_t bytes = bytes_of(i, first, end);
    size_t count = 0;
    if (bytes != UINT64_MAX && (!make_room(i, end - first) || !make_room_for_bytes(i, bytes)))
        return zb_fail(err, ZB_ENOMEM, "no memory for encoded chunks");
    vol_silence silence;
    bool good = bytes != UINT64_MAX;
    uint8_t *place = i->bytes;
    vol_silence_begin(i->moves->lib, &silence);
    for (size_t at = first; at < end && good; at++, count++) {
        uint64_t *index = &i->index[count * ndim];
        vol_chunk_index(i->list.array, ZB_GRID_INNER, i->list.chunk[at].number, index);
        i->chunks[count] = (zb_encoded){.index = index};
        good = read_chunk(i, &i->list.chunk[at], place, &i->chunks[count]);
        place += i->list.chunk[at].size;
    }
    vol_silence_end(i->moves->lib, &silence);
    return good ? zb_writer_put_encoded(i->writer, i->chunks, count, err)
                : zb_fail(err, ZB_EUNSUPPORTED, "a chunk cannot be read as it is encoded");
}

/* Copies elements instead. Where that fails, too, what kept the chunks from moving says which. */
static herr_t copy_some(importing *i, size_t first, size_t end, zb_error *why) {
    for (size_t at = first; at < end; at++) {
        uint64_t index[ZB_MAX_NDIM];
        if (at > first && i->list.chunk[at].target == i->list.chunk[at - 1].target)
            continue;
        vol_chunk_index(i->list.array, ZB_GRID_CHUNKS, i->list.chunk[at].target, index);
        if (copy_chunk(i->moves, ZB_GRID_CHUNKS, index) < 0)
            return fail(i->moves, why);
    }
    return 0;
}

/* The end of the chunks that are moved together from `first` on. */
static size_t end_of(const vol_hdf5_chunks *list, size_t first) {
    const uint64_t most = most_bytes(list->array);
    uint64_t bytes = 0;
    size_t end = first;
    while (end < list->count) {
        const uint64_t target = list->chunk[end].target;
        if (end > first && (end - first >= MOST_CHUNKS || bytes >= most))
            break;
        for (; end < list->count && list->chunk[end].target == target; end++)
            bytes += list->chunk[end].size;
    }
    return end;
}

/* The array has just been made. What has come when a copy fails stays, as of other ways. */
static herr_t import_list(importing *i) {
    herr_t result = 0;
    zb_writer_hide(i->writer);
    for (size_t first = 0, end; first < i->list.count && result >= 0; first = end) {
        zb_error err = {0};
        end = end_of(&i->list, first);
        const enum zb_code code = move_some(i, first, end, &err);
        if (zb_encoded_may_decode(code))
            result = copy_some(i, first, end, &err);
        else if (code)
            result = fail(i->moves, &err);
    }
    zb_error err = {0};
    if (zb_writer_show(i->writer, &err) != ZB_OK && result >= 0)
        result = fail(i->moves, &err);
    return result;
}

/* Whether the chunks of a dataset can move; then they are listed. */
static bool begin_import(importing *i, hid_t type) {
    const vol_moves *moves = i->moves;
    const zb_node *array = moves->node->zarr;
    const char *why = NULL;
    zb_chain *own = NULL;
    const zb_chain *from = NULL;
    bool anew = false, may = false;
    if (!vol_chunks_same_elements(moves->lib, type, zb_node_array(array)->dtype, &i->big))
        why = other_elements;
    else if (!vol_chunks_same_shape(moves->lib, i->dcpl, array) ||
             zb_chain_of(array, &own, NULL) != ZB_OK)
        why = other_chunks;
    else if (!(from = find_chain(i, 0)))
        why = no_codec;
    else if (vol_chunks_compare(from, own, &anew, &why) &&
             !(may = list_chunks(moves, i->source, i->dcpl, &i->list)))
        why = unwritten;
    zb_chain_free(own);
    vol_chunks_say(moves, may, anew, why);
    return may;
}

herr_t vol_chunks_from_hdf5(const vol_moves *moves, hid_t source, hid_t type, bool *all) {
    h5_lib *lib = moves->lib;
    importing i = {.moves = moves, .source = source, .list = {.array = moves->node->zarr}};
    zb_error err = {0};
    herr_t result = 0;
    hid_t saved = vol_stack_save(lib);
    i.dcpl = lib->H5Dget_create_plist(source);
    *all = i.dcpl >= 0 && begin_import(&i, type);
    vol_stack_restore(lib, saved);
    if (*all && vol_writer_get(moves->node, &i.writer, &err) != ZB_OK)
        result = fail(moves, &err);
    else if (*all)
        result = import_list(&i);
    for (size_t k = 0; k < i.chains; k++)
        zb_chain_free(i.chain[k]);
    free(i.list.chunk);
    free(i.chunks);
    free(i.index);
    free(i.bytes);
    vol_release_id(lib, i.dcpl);
    return result;
}

/* ---- Into an HDF5 file -------------------------------------------------------------------- */

/* An array on its way into a dataset. */
typedef struct exporting {
    const vol_moves *moves;
    void *dataset;
    vol_stored_chunks stored; /* innermost chunks */
    zb_chain *chain;          /* of the dataset's filters */
    zb_encoded *chunks;       /* in hand, and their indexes */
    uint64_t (*index)[ZB_MAX_NDIM];
} exporting;

static herr_t put_some(const exporting *e, size_t count) {
    herr_t result = 0;
    for (size_t i = 0; i < count && result >= 0; i++) {
        const zb_encoded *chunk = &e->chunks[i];
        if (chunk->size > 0)
            result = vol_chunk_put(e->moves, e->dataset, e->index[i], chunk->data, chunk->size);
    }
    return result;
}

/* Elements of chunks that could not be had as they are encoded; that says also what is wrong. */
static herr_t copy_elements(const exporting *e, size_t count) {
    herr_t result = 0;
    for (size_t i = 0; i < count && result >= 0; i++)
        result = copy_chunk(e->moves, ZB_GRID_INNER, e->index[i]);
    return result;
}

/* Chunks that are decoded together have so many bytes. */
static size_t most_together(const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    uint64_t bytes = info->dtype.size;
    for (uint32_t d = 0; d < info->ndim; d++)
        if (__builtin_mul_overflow(bytes, info->inner_shape[d], &bytes))
            return 1;
    const uint64_t most = most_bytes(array) / (bytes ? bytes : 1);
    return most < 1 ? 1 : most < MOST_CHUNKS ? (size_t)most : MOST_CHUNKS;
}

static herr_t export_stored(exporting *e) {
    const size_t most = most_together(e->stored.array);
    herr_t result = 0;
    e->chunks = malloc(most * sizeof *e->chunks);
    e->index = malloc(most * sizeof *e->index);
    if (!e->chunks || !e->index)
        return VOL_PUSH(e->moves->lib, DATASET, READERROR, "no memory for encoded chunks of '%s'",
                        e->moves->node->path);
    for (size_t first = 0, count; first < e->stored.count && result >= 0; first += count) {
        count = e->stored.count - first < most ? e->stored.count - first : most;
        for (size_t i = 0; i < count; i++) {
            vol_stored_chunks_index(&e->stored, first + i, e->index[i]);
            e->chunks[i] = (zb_encoded){.index = e->index[i]};
        }
        if (zb_array_get_encoded(e->stored.array, e->chain, e->chunks, count, NULL) == ZB_OK)
            result = put_some(e, count);
        else
            result = copy_elements(e, count);
        zb_encoded_clear(e->chunks, count);
    }
    return result;
}

/* Whether chunks that the array does not have may be left out of the dataset. */
static bool may_leave_out(const exporting *e) {
    vol_pieces probe;
    return count_all(e->stored.array) > 0 && (!vol_stored_left_out(&e->stored, &probe) ||
                                              e->moves->fills_alike(e->moves->context, &probe));
}

/* That of the dataset itself: filters may have put into their values what they know of it. */
static hid_t list_of(const vol_moves *moves, void *dataset) {
    H5VL_dataset_get_args_t args = {.op_type = H5VL_DATASET_GET_DCPL,
                                    .args.get_dcpl.dcpl_id = H5I_INVALID_HID};
    return moves->lib->H5VLdataset_get(dataset, moves->lib->native, &args, moves->dxpl, NULL) < 0
               ? H5I_INVALID_HID
               : args.args.get_dcpl.dcpl_id;
}

/* Whether the chunks of the array can move; then they are listed. */
static bool begin_export(exporting *e) {
    vol_node *node = e->moves->node;
    h5_lib *lib = e->moves->lib;
    hid_t dcpl = list_of(e->moves, e->dataset), type = vol_node_type(node);
    unsigned options = 0;
    const char *why = NULL;
    zb_chain *own = NULL;
    bool big, anew = false, may = false;
    if (type < 0 || dcpl < 0 ||
        !vol_chunks_same_elements(lib, type, zb_node_array(node->zarr)->dtype, &big))
        why = other_elements;
    else if (!vol_chunks_same_shape(lib, dcpl, node->zarr) ||
             lib->H5Pget_chunk_opts(dcpl, &options) < 0 || options ||
             zb_chain_of(node->zarr, &own, NULL) != ZB_OK)
        why = other_chunks;
    else if (!(e->chain = vol_chunk_chain(lib, dcpl, node->zarr, big, 0)))
        why = no_codec;
    else if (vol_chunks_compare(own, e->chain, &anew, &why) &&
             !(may = vol_stored_chunks_of(node->zarr, ZB_GRID_INNER, &e->stored, NULL) == ZB_OK &&
                     may_leave_out(e)))
        why = unwritten;
    vol_release_id(lib, type);
    vol_release_id(lib, dcpl);
    zb_chain_free(own);
    vol_chunks_say(e->moves, may, anew, why);
    return may;
}

herr_t vol_chunks_to_hdf5(const vol_moves *moves, void *dataset, bool *all) {
    exporting e = {.moves = moves, .dataset = dataset};
    hid_t saved = vol_stack_save(moves->lib);
    *all = begin_export(&e);
    vol_stack_restore(moves->lib, saved);
    const herr_t result = *all ? export_stored(&e) : 0;
    zb_chain_free(e.chain);
    vol_stored_chunks_free(&e.stored);
    free(e.chunks);
    free(e.index);
    return result;
}
