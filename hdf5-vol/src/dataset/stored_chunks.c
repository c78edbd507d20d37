/* SPDX-License-Identifier: MIT */
/* Lists of stored chunks: see stored_chunks.h. */
#include "dataset/stored_chunks.h"

#include "zarrbridge/read.h"

#include <stdlib.h>

void vol_stored_chunks_free(vol_stored_chunks *list) {
    free(list->chunk);
    *list = (vol_stored_chunks){.array = NULL};
}

static bool number_of(const vol_stored_chunks *list, const uint64_t *index, uint64_t *number) {
    *number = 0;
    for (uint32_t d = 0; d < zb_node_array(list->array)->ndim; d++)
        if (__builtin_mul_overflow(*number, zb_array_chunk_count(list->array, list->level, d),
                                   number) ||
            __builtin_add_overflow(*number, index[d], number))
            return false;
    return true;
}

bool vol_chunk_index(const zb_node *array, enum zb_grid_level level, uint64_t number,
                     uint64_t index[ZB_MAX_NDIM]) {
    for (uint32_t d = zb_node_array(array)->ndim; d-- > 0;) {
        const uint64_t count = zb_array_chunk_count(array, level, d);
        index[d] = number % count;
        number /= count;
    }
    return number == 0;
}

void vol_stored_chunks_index(const vol_stored_chunks *list, size_t i, uint64_t index[ZB_MAX_NDIM]) {
    vol_chunk_index(list->array, list->level, list->chunk[i].number, index);
}

static bool reserve(vol_stored_chunks *list) {
    size_t capacity = list->capacity ? 2 * list->capacity : 64, bytes;
    if (list->count < list->capacity)
        return true;
    if (__builtin_mul_overflow(capacity, sizeof *list->chunk, &bytes))
        return false;
    vol_stored_chunk *chunk = realloc(list->chunk, bytes);
    if (!chunk)
        return false;
    list->chunk = chunk;
    list->capacity = capacity;
    return true;
}

enum zb_code vol_stored_chunks_add(vol_stored_chunks *list, const uint64_t *index, uint64_t bytes,
                                   zb_error *err) {
    uint64_t number;
    if (!number_of(list, index, &number))
        return zb_fail(err, ZB_EUNSUPPORTED, "array /%s has more than 2^64 chunks",
                       zb_node_path(list->array));
    if (list->count > 0 && list->chunk[list->count - 1].number == number)
        return ZB_OK;
    if (!reserve(list))
        return zb_fail(err, ZB_ENOMEM, "no memory for a list of %zu chunks", list->count);
    list->chunk[list->count++] = (vol_stored_chunk){.number = number, .bytes = bytes};
    return ZB_OK;
}

static int by_number(const void *a, const void *b) {
    const uint64_t left = ((const vol_stored_chunk *)a)->number;
    const uint64_t right = ((const vol_stored_chunk *)b)->number;
    return (left > right) - (left < right);
}

void vol_stored_chunks_sort(vol_stored_chunks *list) {
    size_t kept = 0;
    if (list->count > 1)
        qsort(list->chunk, list->count, sizeof *list->chunk, by_number);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || list->chunk[kept - 1].number != list->chunk[i].number)
            list->chunk[kept++] = list->chunk[i];
    list->count = kept;
}

typedef struct listing {
    vol_stored_chunks *list;
    enum zb_code code;
    zb_error *err;
} listing;

static int take_chunk(void *context, const uint64_t *index, uint64_t bytes) {
    listing *l = context;
    l->code = vol_stored_chunks_add(l->list, index, bytes, l->err);
    return l->code != ZB_OK;
}

enum zb_code vol_stored_chunks_of(const zb_node *array, enum zb_grid_level level,
                                  vol_stored_chunks *out, zb_error *err) {
    listing l = {.list = out, .err = err};
    *out = (vol_stored_chunks){.array = array, .level = level};
    const enum zb_code code = zb_array_stored_each(array, level, take_chunk, &l, err);
    vol_stored_chunks_sort(out);
    return code ? code : l.code;
}

/* ---- Of a node ---- */

void vol_node_forget_stored_chunks(vol_node *dataset) {
    if (!dataset->stored_chunks)
        return;
    zb_node_release((zb_node *)(uintptr_t)dataset->stored_chunks->array);
    vol_stored_chunks_free(dataset->stored_chunks);
    free(dataset->stored_chunks);
    dataset->stored_chunks = NULL;
}

enum zb_grid_level vol_stored_level(const zb_node *array) {
    return zb_node_array(array)->shard_depth > 0 ? ZB_GRID_INNER : ZB_GRID_CHUNKS;
}

static enum zb_code look(vol_node *dataset, zb_error *err) {
    vol_stored_chunks *list = calloc(1, sizeof *list);
    if (!list)
        return zb_fail(err, ZB_ENOMEM, "no memory for a list of chunks");
    const enum zb_code code =
        vol_stored_chunks_of(dataset->zarr, vol_stored_level(dataset->zarr), list, err);
    zb_node_retain(dataset->zarr);
    dataset->stored_chunks = list;
    if (code)
        vol_node_forget_stored_chunks(dataset);
    return code;
}

enum zb_code vol_node_stored_chunks(vol_node *dataset, const vol_stored_chunks **out,
                                    zb_error *err) {
    enum zb_code code = ZB_OK;
    const vol_stored_chunks *kept = dataset->stored_chunks;
    if (!kept || kept->array != dataset->zarr) {
        vol_node_forget_stored_chunks(dataset);
        code = look(dataset, err);
    }
    *out = dataset->stored_chunks;
    return code;
}
