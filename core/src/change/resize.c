/* SPDX-License-Identifier: MIT */
/*
 * Changing an array's shape.
 *
 * Missing chunks read as the fill value, so growing would change the document alone, if nothing lay
 * beyond the old edge. Shrinking leaves nothing there: it erases the chunks that lie beyond it, and
 * refills the cut part of those on it. But other programs may (zarr-python shrinks without
 * refilling), so growing looks there, and clears the elements that it finds before the document
 * tells of the new shape: until then no writer puts anything there.
 *
 * A shrink that is killed must leave the old array or the new one, so there the document comes
 * first; elements beyond it cannot be seen from then on. A *marker* beside the document, put before
 * it, tells the next resize that the rest is still to be done:
 *
 *     put marker (the old shape) | put document | erase chunks, refill edges | erase marker
 *
 * The marker's name begins with a dot, so that no reader lists it.
 */
#include <stdlib.h>
#include <string.h>

#include "array/build.h"
#include "change/beyond.h"
#include "change/change.h"
#include "change/reshape.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/current.h"
#include "node/edit.h"
#include "node/node.h"
#include "node/v2.h"
#include "util/json_writer.h"
#include "write/writer.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

/* ---- The marker ----------------------------------------------------------------------------- */

static enum zb_code marker_put(const zb_node *node, const char *key, zb_error *err) {
    zb_json_writer w = {.level = 0};
    zb__json_write_extents(&w, node->array->info.shape, node->array->info.ndim);
    enum zb_code code = w.text.failed
                            ? zb_fail(err, ZB_ENOMEM, "out of memory for a shape")
                            : zb__document_put(node->hierarchy, key, w.text.data, w.text.size, err);
    free(w.text.data);
    return code;
}

/* Reads a marker into old; *found tells whether there is one. A marker that is not a shape of this
   array counts as "anything may lie beyond". */
static enum zb_code marker_read(const zb_node *node, const char *key, bool *found, uint64_t *old,
                                zb_error *err) {
    char *text;
    size_t size;
    zb_json *json = NULL;
    const zb_array_info *info = &node->array->info;
    enum zb_code code =
        zb_store_get(zb__place_of(node->hierarchy, key), key, zb_limits_get()->document_bytes,
                     "document_bytes", &text, &size, NULL, err);
    *found = code == ZB_OK;
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    bool good =
        zb_json_parse(text, size, &json, NULL) == ZB_OK && zb_json_count(json) == info->ndim;
    const zb_json *item = zb_json_first(json);
    for (uint32_t d = 0; d < info->ndim; d++, item = zb_json_next(item)) {
        if (!good || !zb_json_uint64(item, &old[d]))
            old[d] = UINT64_MAX;
    }
    zb_json_free(json);
    free(text);
    return ZB_OK;
}

/* Finishes a shrink that another process began: the same work, for the shape as it is now. */
static enum zb_code finish(const zb_node *node, const zb__document_text *text, const char *key,
                           zb_error *err) {
    uint64_t old[ZB_MAX_NDIM];
    bool found;
    enum zb_code code = marker_read(node, key, &found, old, err);
    if (code || !found)
        return code;
    code = zb__beyond_clear(node, text, node->array->info.shape, old, NULL, err);
    return code ? code : zb__hierarchy_erase(node->hierarchy, key, err);
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* The state of one resize. Both nodes and documents are as of now, not as the caller's node. */
typedef struct resizing {
    zb__change change;
    bool at_least; /* what the array is longer by stays */
    zb__document_text document, changed;
    zb__edge_looks looks;
    zb_node *now, *then;
    char *marker;
} resizing;

static bool same_shape(const zb_node *a, const uint64_t *shape) {
    return memcmp(a->array->info.shape, shape, a->array->info.ndim * sizeof *shape) == 0;
}

/* A caller that goes by another shape than the array has now would cut off, or take for its own,
   elements that another process has added. But shrinking may be asked for again, to finish it: the
   elements to cut off are beyond the edge already. */
static enum zb_code check_shape(const resizing *r, const zb_node *node, const uint64_t *shape,
                                zb_error *err) {
    bool shrinks = same_shape(r->now, shape);
    for (uint32_t d = 0; d < node->array->info.ndim; d++)
        shrinks = shrinks && shape[d] <= node->array->info.shape[d];
    if (shrinks || same_shape(r->now, node->array->info.shape))
        return ZB_OK;
    return zb_fail(err, ZB_ECONFLICT,
                   "store %s, array /%s: its shape has changed since it was opened; open it again",
                   node->hierarchy->store->label, node->path);
}

/* The shape to make. */
static void choose(const resizing *r, const uint64_t *asked, uint64_t *shape) {
    const zb_array_info *now = &r->now->array->info;
    for (uint32_t d = 0; d < now->ndim; d++)
        shape[d] = r->at_least && asked[d] < now->shape[d] ? now->shape[d] : asked[d];
}

static enum zb_code read_now(resizing *r, const zb_node *node, const uint64_t *asked,
                             zb_error *err) {
    uint64_t shape[ZB_MAX_NDIM];
    enum zb_code code =
        zb__array_now(node, &r->now, NULL, &r->document.text, &r->document.size, err);
    if (!code && !r->at_least)
        code = check_shape(r, node, asked, err);
    if (!code)
        choose(r, asked, shape);
    if (!code && same_shape(r->now, node->array->info.shape))
        r->looks.known = node->clean_edge;
    if (!code) /* the parts of chunks beyond an edge are written */
        code = zb__array_check_writable(r->now->array, err);
    if (code)
        return code;
    r->marker = zb__path_join(node->path, ZB__MARKER_RESIZE);
    if (!r->marker)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    return zb__as_argument(
        zb__array_reshape(r->now, &r->document, shape, &r->changed, &r->then, err), err);
}

/* Called under the lock. */
static enum zb_code resize(resizing *r, zb_error *err) {
    const zb_array_info *now = &r->now->array->info;
    const uint64_t *shape = r->then->array->info.shape;
    bool shrinks = false, grows = false;
    for (uint32_t d = 0; d < now->ndim; d++) {
        shrinks = shrinks || shape[d] < now->shape[d];
        grows = grows || shape[d] > now->shape[d];
    }
    if (r->at_least && !grows)
        return ZB_OK;
    if (shrinks && !r->now->hierarchy->store->hints.can_list)
        return zb_fail(err, ZB_EUNSUPPORTED, "the store cannot list chunks, so none can be erased");
    enum zb_code code = finish(r->now, &r->document, r->marker, err);
    if (!code && grows) /* the new grid has the chunks that are new */
        code = zb__beyond_clear(r->then, &r->changed, now->shape, shape, &r->looks, err);
    r->then->clean_edge = r->looks.seen;
    if (!code && shrinks)
        code = marker_put(r->now, r->marker, err);
    if (!code)
        code = zb__change_drop(&r->change, err);
    if (!code)
        code = zb__change_put(&r->change, r->now->path, r->changed.text, r->changed.size, err);
    if (!code && shrinks)
        code = zb__beyond_clear(r->then, &r->changed, shape, now->shape, NULL, err);
    if (!code && shrinks)
        code = zb__hierarchy_erase(r->now->hierarchy, r->marker, err);
    return code;
}

static enum zb_code change_shape(const zb_node *array, const uint64_t *shape, bool at_least,
                                 zb_node **out, zb_error *err) {
    resizing r = {.at_least = at_least};
    if (!array->array)
        return zb_fail(err, ZB_EINVAL, "store %s: /%s is a group, not an array",
                       array->hierarchy->store->label, array->path);
    enum zb_code code = zb_node_may_change(array, err);
    if (!code)
        code = zb__change_begin(array->hierarchy, &r.change, err);
    if (code)
        return code;
    code = read_now(&r, array, shape, err);
    if (!code)
        code = zb__change_above(&r.change, array->path, false, err);
    if (!code)
        code = resize(&r, err);
    code = zb__change_end(&r.change, code, err);
    if (code)
        zb_node_release(r.then);
    else
        *out = r.then;
    zb_node_release(r.now);
    free(r.document.text);
    free(r.changed.text);
    free(r.marker);
    return code;
}

enum zb_code zb_array_resize(const zb_node *array, const uint64_t *shape, zb_node **out,
                             zb_error *err) {
    return change_shape(array, shape, false, out, err);
}

/* Without locks another program may put the document between our look and our put. */
enum zb_code zb_array_extend(const zb_node *array, const uint64_t *shape, zb_node **out,
                             zb_error *err) {
    const bool has_locks = array->hierarchy->store->hints.is_local;
    enum zb_code code = ZB_ECONFLICT;
    zb_error why = {0}; /* as in zb_node_edit */
    for (int left = has_locks ? 1 : ZB__EDIT_ATTEMPTS; left > 0 && code == ZB_ECONFLICT; left--)
        code = change_shape(array, shape, true, out, &why);
    if (code && err)
        *err = why;
    return code;
}
