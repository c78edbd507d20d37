/* SPDX-License-Identifier: MIT */
/*
 * Changing an array's shape.
 *
 * Growing changes the document and nothing else: what is missing reads as the fill value. That is
 * right only because shrinking leaves nothing behind the new edge: it erases the chunks that lie
 * beyond it, and refills the cut part of those on it.
 *
 * A shrink that is killed must leave the old array or the new one, so the document comes first;
 * what lies beyond cannot be seen from then on. A *note* beside the document, put before it, tells
 * the next resize that the rest is still to be done:
 *
 *     put note (the old shape) | put document | erase chunks, refill edges | erase note
 *
 * The note's name begins with a dot, so that no reader lists it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/text.h"
#include "meta/build.h"
#include "meta/change.h"
#include "meta/document.h"
#include "meta/walk.h"
#include "zarrbridge/write.h"

#define NOTE ".zarrbridge-resize"

/* ---- Shapes in JSON ----------------------------------------------------------------------- */

static enum zb_code shape_json(const uint64_t *shape, uint32_t ndim, zb__text *text, zb_json **json,
                               zb_error *err) {
    zb__text_add(text, "[");
    for (uint32_t d = 0; d < ndim; d++)
        zb__text_addf(text, "%s%llu", d ? "," : "", (unsigned long long)shape[d]);
    zb__text_add(text, "]");
    if (text->failed)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a shape");
    return zb_json_parse(text->data, text->size, json, err);
}

/* A node of the same document with another shape, and with out_document its text. */
static enum zb_code reshape(const zb_node *node, const zb__document *document,
                            const uint64_t *shape, zb__document *out_document, zb_node **out,
                            zb_error *err) {
    zb__text text = {0};
    zb_json *json = NULL;
    zb__document changed = {.text = NULL};
    enum zb_code code = shape_json(shape, node->array->info.ndim, &text, &json, err);
    char *copy = code ? NULL : strndup(document->text, document->size);
    if (!code)
        code = copy ? zb__document_parse(copy, document->size, "zarr.json", &changed, err)
                    : zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    if (!code)
        code = zb__document_edit(&changed, NULL, "shape", json, NULL, err);
    if (!code)
        code = zb__node_make(node->store, node->path, changed.text, changed.size, out, err);
    if (!code && out_document)
        *out_document = changed;
    else
        zb__document_free(&changed);
    zb_json_free(json);
    free(text.data);
    return code;
}

/* ---- What lies beyond the edge ------------------------------------------------------------ */

typedef struct trimming {
    const zb_node *node; /* of the new shape */
    const zb_node
        *padded;       /* of whole chunks along the edge, so that the writer reaches what is cut */
    zb_writer *writer; /* of padded, opened at the first chunk that needs it */
    const uint64_t *old; /* the shape before */
} trimming;

/* Fills the part of one chunk that lies beyond the edge of dimension d. The source is one element,
   which all strides of zero lead to. */
static enum zb_code refill(trimming *t, const uint64_t *index, uint32_t d, zb_error *err) {
    const zb_array_info *info = &t->node->array->info;
    const uint64_t *padded = t->padded->array->info.shape;
    static const int64_t strides[ZB_MAX_NDIM];
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM];
    for (uint32_t e = 0; e < info->ndim; e++) {
        start[e] = index[e] * info->chunk_shape[e];
        uint64_t left = padded[e] - start[e];
        count[e] = left < info->chunk_shape[e] ? left : info->chunk_shape[e];
    }
    uint64_t end = start[d] + count[d];
    if (end <= info->shape[d])
        return ZB_OK;
    start[d] = info->shape[d];
    count[d] = end - start[d];
    enum zb_code code = t->writer ? ZB_OK : zb_writer_open(t->padded, NULL, &t->writer, err);
    zb_write write = {.start = start,
                      .count = count,
                      .data = info->fill_value,
                      .dtype = info->dtype,
                      .strides = strides};
    return code ? code : zb_writer_write(t->writer, &write, err);
}

/* Only dimensions that shrink matter: what lies beyond the others never was inside. */
static enum zb_code trim_chunk(void *context, const char *key, const uint64_t *index,
                               zb_error *err) {
    trimming *t = context;
    const zb_array_info *info = &t->node->array->info;
    uint64_t grid[ZB_MAX_NDIM];
    enum zb_code code = ZB_OK;
    zb__array_grid(t->node->array, grid);
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (index[d] >= grid[d])
            return zb_store_erase(t->node->store, key, err);
    }
    for (uint32_t d = 0; d < info->ndim && !code; d++) {
        if (t->old[d] > info->shape[d] && index[d] + 1 == grid[d] &&
            info->shape[d] % info->chunk_shape[d] != 0)
            code = refill(t, index, d, err);
    }
    return code;
}

/* The chunks that exist are listed: a sparse array's grid may be far too large to walk. */
static enum zb_code trim(const zb_node *node, const zb__document *document, const uint64_t *old,
                         zb_error *err) {
    const zb_array_info *info = &node->array->info;
    uint64_t shape[ZB_MAX_NDIM], grid[ZB_MAX_NDIM];
    zb_node *padded;
    zb__array_grid(node->array, grid);
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (!zb__mul_u64(grid[d], info->chunk_shape[d], &shape[d]) || shape[d] > INT64_MAX)
            shape[d] = info->shape[d]; /* no more can have been written there */
    }
    enum zb_code code = reshape(node, document, shape, NULL, &padded, err);
    if (code)
        return code;
    trimming t = {.node = node, .padded = padded, .old = old};
    code = zb__chunks_each(node, trim_chunk, &t, err);
    if (code)
        zb_writer_abandon(t.writer);
    else
        code = zb_writer_close(t.writer, err);
    zb_node_release(padded);
    return code;
}

/* ---- The note ----------------------------------------------------------------------------- */

static enum zb_code note_put(const zb_node *node, const char *key, zb_error *err) {
    zb__text text = {0};
    zb_json *json = NULL;
    const zb_array_info *info = &node->array->info;
    enum zb_code code = shape_json(info->shape, info->ndim, &text, &json, err);
    zb_part part = {.data = text.data, .size = text.size};
    if (!code)
        code = zb_store_put(node->store, key, &part, 1, ZB_DURABLE_LATER, err);
    zb_json_free(json);
    free(text.data);
    return code;
}

/* Reads a note into old; *found tells whether there is one. A note that is no shape of this array
   counts as "anything may lie beyond". */
static enum zb_code note_read(const zb_node *node, const char *key, bool *found, uint64_t *old,
                              zb_error *err) {
    char *text;
    size_t size;
    zb_json *json = NULL;
    const zb_array_info *info = &node->array->info;
    enum zb_code code = zb_store_get(node->store, key, zb_limits_get()->document_bytes,
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
static enum zb_code finish(const zb_node *node, const zb__document *document, const char *key,
                           zb_error *err) {
    uint64_t old[ZB_MAX_NDIM];
    bool found;
    enum zb_code code = note_read(node, key, &found, old, err);
    if (code || !found)
        return code;
    code = trim(node, document, old, err);
    return code ? code : zb_store_erase(node->store, key, err);
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* What one resize works with. Both nodes and documents are as of now, not as the caller's node. */
typedef struct resizing {
    zb__change change;
    zb__document document, changed;
    zb_node *now, *then;
    char *note;
} resizing;

static enum zb_code read_now(resizing *r, const zb_node *node, const uint64_t *shape,
                             zb_error *err) {
    char *text;
    size_t size;
    enum zb_code code = zb__node_read(node->store, node->path, &text, &size, err);
    if (!code)
        code = zb__document_parse(text, size, "zarr.json", &r->document, err);
    if (code)
        return zb__node_blame(node->store, "array", node->path, code, err);
    code = zb__node_make(node->store, node->path, r->document.text, r->document.size, &r->now, err);
    if (code)
        return code;
    if (!r->now->array || r->now->array->info.ndim != node->array->info.ndim)
        return zb_fail(err, ZB_ECONFLICT, "store %s: another node has taken the place of array /%s",
                       node->store->label, node->path);
    r->note = zb__path_join(node->path, NOTE);
    if (!r->note)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    return zb__as_argument(reshape(r->now, &r->document, shape, &r->changed, &r->then, err), err);
}

/* Under the lock. */
static enum zb_code resize(resizing *r, zb_error *err) {
    const zb_array_info *now = &r->now->array->info;
    const uint64_t *shape = r->then->array->info.shape;
    bool shrinks = false;
    for (uint32_t d = 0; d < now->ndim; d++)
        shrinks = shrinks || shape[d] < now->shape[d];
    if (shrinks && !r->now->store->hints.can_list)
        return zb_fail(err, ZB_EUNSUPPORTED, "the store cannot list chunks, so none can be erased");
    enum zb_code code = finish(r->now, &r->document, r->note, err);
    if (!code && shrinks)
        code = note_put(r->now, r->note, err);
    if (!code)
        code = zb__change_drop(&r->change, err);
    if (!code)
        code = zb__change_put(&r->change, r->now->path, r->changed.text, r->changed.size, err);
    if (!code && shrinks)
        code = trim(r->then, &r->changed, now->shape, err);
    if (!code && shrinks)
        code = zb_store_erase(r->now->store, r->note, err);
    return code;
}

enum zb_code zb_array_resize(const zb_node *node, const uint64_t *shape, zb_node **out,
                             zb_error *err) {
    resizing r = {.note = NULL};
    if (!node->array)
        return zb_fail(err, ZB_EINVAL, "store %s: /%s is a group, not an array", node->store->label,
                       node->path);
    enum zb_code code = zb__change_begin(node->store, &r.change, err);
    if (code)
        return code;
    code = read_now(&r, node, shape, err);
    if (!code)
        code = zb__change_above(&r.change, node->path, false, err);
    if (!code)
        code = resize(&r, err);
    code = zb__change_end(&r.change, code);
    if (code)
        zb_node_release(r.then);
    else
        *out = r.then;
    zb_node_release(r.now);
    zb__document_free(&r.document);
    zb__document_free(&r.changed);
    free(r.note);
    return code;
}
