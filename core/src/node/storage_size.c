/* SPDX-License-Identifier: MIT */
/*
 * The room that an array takes in its store. The chunks that exist are listed and added up: a walk
 * over the grid would take as long as the shape says, which is untrusted.
 */
#include "array/array.h"
#include "node/node.h"
#include "node/walk.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

typedef struct sum {
    const zb_node *array;
    zb_stored *out;
} sum;

static bool is_in_grid(const zb_node *array, const uint64_t *index) {
    for (uint32_t d = 0; d < array->array->info.ndim; d++) {
        if (index[d] >= zb_array_chunk_count(array, ZB_GRID_CHUNKS, d))
            return false;
    }
    return true;
}

/* An object that vanished meanwhile counts nothing. */
static enum zb_code add_chunk(void *context, const char *key, const uint64_t *index,
                              zb_error *err) {
    const sum *s = context;
    zb_object_info info;
    enum zb_code code = zb_store_stat(s->array->hierarchy->store, key, &info, err);
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    s->out->bytes += info.size;
    s->out->chunks += is_in_grid(s->array, index);
    return ZB_OK;
}

enum zb_code zb_array_stored(const zb_node *array, zb_stored *out, zb_error *err) {
    *out = (zb_stored){.chunks = 0};
    if (!array->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", array->path);
    if (!array->hierarchy->store->hints.can_list)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s cannot be listed",
                       array->hierarchy->store->label);
    sum s = {.array = array, .out = out};
    return zb__chunks_each(array, add_chunk, &s, err);
}

enum zb_code zb_array_storage_size(const zb_node *array, uint64_t *bytes, zb_error *err) {
    zb_stored stored;
    const enum zb_code code = zb_array_stored(array, &stored, err);
    *bytes = stored.bytes;
    return code;
}
