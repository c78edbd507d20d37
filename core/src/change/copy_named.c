/* SPDX-License-Identifier: MIT */
/* See copy_named.h. */
#include "change/copy_named.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "node/node.h"
#include "store/store.h"
#include "write/budget.h"
#include "zarrbridge/json.h"

/* ---- Nodes -------------------------------------------------------------------------------- */

typedef struct gathering {
    zb__names *out;
    enum zb_code code;
    zb_error *err;
} gathering;

static int take_node(void *context, const zb_entry *entry) {
    gathering *g = context;
    if (entry->reason)
        g->code = zb_fail(g->err, ZB_EUNSUPPORTED,
                          "/%s cannot be read, and the store cannot be listed: %s", entry->path,
                          entry->reason);
    else
        g->code = zb__names_add_listed(g->out,
                                       (zb__name){.text = strdup(entry->path),
                                                  .is_prefix = entry->array != NULL,
                                                  .is_older = entry->format == 2,
                                                  .has_hidden = !entry->array},
                                       g->err);
    return g->code;
}

enum zb_code zb__named_nodes(zb_hierarchy *hierarchy, const char *path, zb__names *out,
                             zb_error *err) {
    gathering g = {.out = out, .err = err};
    *out = (zb__names){.count = 0};
    enum zb_code code = zb_node_each(hierarchy, path, take_node, &g, err);
    code = g.code ? g.code : code;
    if (code)
        zb__names_free(out);
    return code;
}

/* ---- Hidden arrays ------------------------------------------------------------------------ */

/* An entry that names no array there is an error where the attribute is read, and none here. */
static enum zb_code drop_missing(zb_hierarchy *hierarchy, zb__names *names, zb_error *err) {
    enum zb_code code = ZB_OK;
    size_t count = 0;
    for (size_t i = 0; i < names->count; i++) {
        char kind = 0;
        if (!code)
            code = zb__node_kind(hierarchy, names->name[i].text, &kind, err);
        if (kind == 'a')
            names->name[count++] = names->name[i];
        else
            free(names->name[i].text);
    }
    names->count = count;
    return code;
}

/* The texts in the attributes that are such names. */
static enum zb_code take_names(const char *path, const char *text, zb__names *out, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (; !code && (text = strchr(text, '"')) != NULL; text++) {
        char *name = strndup(text + 1, strcspn(text + 1, "\""));
        if (!name)
            code = zb_fail(err, ZB_ENOMEM, "out of memory for a name");
        else if (zb__hidden_is_name(name))
            code = zb__names_add_listed(out, (zb__name){.text = zb__path_join(path, name)}, err);
        free(name);
    }
    zb__names_sort(out);
    return code;
}

enum zb_code zb__named_hidden(zb_hierarchy *hierarchy, const char *path, zb__names *out,
                              zb_error *err) {
    zb_node *node = NULL;
    *out = (zb__names){.count = 0};
    enum zb_code code = zb_node_open(hierarchy, path, &node, err);
    if (code)
        return code;
    const zb_json *attributes = zb_node_attributes(node);
    char *text = attributes ? zb_json_print(attributes) : NULL;
    if (text)
        code = take_names(path, text, out, err);
    else if (attributes)
        code = zb_fail(err, ZB_ENOMEM, "no memory for attributes");
    if (!code)
        code = drop_missing(hierarchy, out, err);
    free(text);
    zb_node_release(node);
    return code;
}

/* ---- Chunks ------------------------------------------------------------------------------- */

typedef struct asking {
    const zb_node *array;
    zb__key_fn fn;
    void *context;
} asking;

static enum zb_code count_chunks(const zb_node *array, size_t *out, zb_error *err) {
    const uint64_t count = zb__array_count_chunks(array->array);
    *out = (size_t)count;
    return count <= ZB__MOST_NAMED_CHUNKS
               ? ZB_OK
               : zb_fail(err, ZB_EUNSUPPORTED,
                         "/%s has more than %u chunks to ask for, and the store cannot be listed",
                         array->path, ZB__MOST_NAMED_CHUNKS);
}

enum zb_code zb__named_chunks(const zb_node *array, zb__chunk_fn fn, void *context, zb_error *err) {
    uint64_t index[ZB_MAX_NDIM] = {0};
    size_t count;
    enum zb_code code = count_chunks(array, &count, err);
    for (size_t i = 0; i < count && !code; i++) {
        char *key = zb__array_chunk_key(array, index);
        code =
            key ? fn(context, key, index, err) : zb_fail(err, ZB_ENOMEM, "out of memory for a key");
        free(key);
        zb__array_next_chunk(array->array, index);
    }
    return code;
}

static enum zb_code ask(void *context, size_t number, zb__scratch *unused, zb_error *err) {
    const asking *a = context;
    uint64_t index[ZB_MAX_NDIM] = {0};
    (void)unused;
    for (uint32_t d = a->array->array->info.ndim; d-- > 0;) {
        const uint64_t count = zb_array_chunk_count(a->array, ZB_GRID_CHUNKS, d);
        index[d] = number % count;
        number /= count;
    }
    char *key = zb__array_chunk_key(a->array, index);
    enum zb_code code =
        key ? a->fn(a->context, key, err) : zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    free(key);
    return code;
}

/* Those of one of the first chunks, decoded: they decide how many are copied at once. */
static uint64_t bytes_of_chunk(const zb_node *array) {
    const zb_array_info *info = &array->array->info;
    uint64_t bytes = info->dtype.size;
    for (uint32_t d = 0; d < info->ndim; d++)
        bytes = zb__work_product(bytes, info->chunk_shape[d]);
    return bytes;
}

static enum zb_code ask_for_all(const asking *a, zb_error *err) {
    size_t count;
    enum zb_code code = count_chunks(a->array, &count, err);
    if (code)
        return code;
    zb__lane lane;
    zb__lane_begin(&lane, ask, (void *)(uintptr_t)a,
                   zb__store_width(zb__node_store(a->array), bytes_of_chunk(a->array)));
    for (size_t i = 0; i < count && !code; i++)
        code = zb__lane_give(&lane, i, err);
    return zb__lane_end(&lane, code, err);
}

enum zb_code zb__named_keys(zb_hierarchy *hierarchy, const char *path, zb__key_fn fn, void *context,
                            zb_error *err) {
    zb_node *array = NULL;
    enum zb_code code = zb_node_open(hierarchy, path, &array, err);
    if (code)
        return code;
    const asking a = {.array = array, .fn = fn, .context = context};
    code = ask_for_all(&a, err);
    zb_node_release(array);
    return code;
}
