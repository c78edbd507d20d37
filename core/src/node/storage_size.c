/* SPDX-License-Identifier: MIT */
/*
 * The room that an array takes in its store. The chunks that exist are listed and added up: a walk
 * over the grid would take as long as the shape says, which is untrusted.
 */
#include "node/node.h"
#include "node/walk.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

typedef struct sum {
    zb_hierarchy *hierarchy;
    uint64_t bytes;
} sum;

/* An object that vanished meanwhile counts nothing. */
static enum zb_code add_chunk(void *context, const char *key, const uint64_t *index,
                              zb_error *err) {
    sum *s = context;
    zb_object_info info;
    (void)index;
    enum zb_code code = zb_store_stat(s->hierarchy->store, key, &info, err);
    if (code == ZB_OK)
        s->bytes += info.size;
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

enum zb_code zb_array_storage_size(const zb_node *array, uint64_t *bytes, zb_error *err) {
    if (!array->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", array->path);
    if (!array->hierarchy->store->hints.can_list)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s cannot be listed",
                       array->hierarchy->store->label);
    sum s = {.hierarchy = array->hierarchy};
    enum zb_code code = zb__chunks_each(array, add_chunk, &s, err);
    *bytes = s.bytes;
    return code;
}
