/* SPDX-License-Identifier: MIT */
/*
 * Chunks on the edge of an array. What of such a chunk lies outside the array counts as covered: a
 * writer puts fill values there without looking. That is right for as long as the array has the
 * shape that the writer knows; once somebody has made it larger, those places hold elements, and
 * they would be lost. So before such a chunk is put, under its lock, the array's document is looked
 * at again. (Who makes the array larger after that has to wait for the lock to write there.)
 */
#include <stdlib.h>
#include <string.h>

#include "array/writer.h"
#include "base/text.h"
#include "meta/document.h"

bool zb__is_on_edge(const zb__layout *layout, const uint64_t *index) {
    for (uint32_t d = 0; d < layout->ndim; d++) {
        uint64_t origin = index[layout->outer->axis[d]] * layout->chunk_shape[d];
        if (layout->shape[d] - origin < layout->chunk_shape[d])
            return true;
    }
    return false;
}

static bool same_shapes(const zb__array *a, const zb__array *b) {
    size_t size = a->info.ndim * sizeof *a->info.shape;
    return a->info.ndim == b->info.ndim && memcmp(a->info.shape, b->info.shape, size) == 0 &&
           memcmp(a->info.chunk_shape, b->info.chunk_shape, size) == 0;
}

static enum zb_code compare(const zb_node *node, zb_error *err) {
    char *text;
    size_t size;
    zb_node *now = NULL;
    enum zb_code code = zb__node_read(node->store, node->path, &text, &size, err);
    if (code == ZB_ENOTFOUND)
        return zb_fail(err, ZB_ECONFLICT, "the array has been deleted since it was opened");
    if (code)
        return code;
    code = zb__node_make(node->store, node->path, text, size, &now, err);
    free(text);
    if (!code && (!now->array || !same_shapes(now->array, node->array)))
        code = zb_fail(err, ZB_ECONFLICT,
                       "the array's shape has changed since it was opened; open it again");
    zb_node_release(now);
    return code;
}

static bool is_seen(const zb_writer *writer, const zb_validator *validator) {
    const zb_validator *seen = &writer->document;
    return seen->valid && validator->valid &&
           memcmp(seen->word, validator->word, sizeof seen->word) == 0;
}

enum zb_code zb__edge_check(zb_writer *writer, const uint64_t *index, zb_error *err) {
    if (!zb__is_on_edge(&writer->layout, index))
        return ZB_OK;
    /* The version is asked for before the document is read, so that it is never newer than that. */
    const zb_node *node = writer->node;
    zb_object_info info = {.size = 0};
    char *key = zb__path_join(node->path, "zarr.json");
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = zb_store_stat(node->store, key, &info, err);
    free(key);
    if (code && code != ZB_ENOTFOUND)
        return code;
    /* One thread looks at a version; the others wait for what it finds. */
    pthread_mutex_lock(&writer->edge_lock);
    bool seen = !code && is_seen(writer, &info.validator);
    code = seen ? ZB_OK : compare(node, err);
    if (!code)
        writer->document = info.validator;
    pthread_mutex_unlock(&writer->edge_lock);
    return code;
}
