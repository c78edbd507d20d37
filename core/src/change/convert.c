/* SPDX-License-Identifier: MIT */
/*
 * Copying, where nodes of version 2 become nodes of version 3. Documents are made anew, and chunks
 * are decoded and encoded: into native byte order, the order C, keys of version 3, and the codecs
 * that readers of version 3 share. zstd, gzip and blosc stay as they are; all others, filters
 * included, make place for the default. Nodes of version 3 are copied as they are.
 *
 * The walk goes by the chunks that are stored, and by the grid where the store cannot list. After a
 * failure the whole copy is deleted; a kill leaves it half made.
 */
#include <stdlib.h>
#include <string.h>

#include "change/copy.h"
#include "change/copy_named.h"
#include "codec/table.h"
#include "node/node.h"
#include "node/path.h"
#include "node/walk.h"
#include "store/state.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

/* Chunks that are decoded together, so that all threads have work. */
enum { MOST_CHUNKS = 256 };
static const uint64_t most_bytes = UINT64_C(64) << 20;

typedef struct converting {
    zb_store *from, *to;
    const char *from_path, *to_path;
} converting;

/* The chunks in hand, of one array. */
typedef struct batch {
    const zb_node *node; /* in the source */
    zb_writer *writer;   /* of its copy */
    zb_values *values;   /* what its elements point at */
    uint64_t start[MOST_CHUNKS][ZB_MAX_NDIM], extent[MOST_CHUNKS][ZB_MAX_NDIM];
    void *data[MOST_CHUNKS];
    size_t count;
    uint64_t bytes;
} batch;

static char *target_of(const converting *c, const char *path) {
    const char *below = strcmp(path, c->from_path) == 0 ? "" : zb__path_below(path, c->from_path);
    return *below ? zb__path_join(c->to_path, below) : strdup(c->to_path);
}

/* ---- Chunks ---- */

static void batch_clear(batch *b) {
    for (size_t i = 0; i < b->count; i++)
        free(b->data[i]);
    zb_values_free(b->values);
    b->values = NULL;
    b->count = 0;
    b->bytes = 0;
}

static enum zb_code batch_run(batch *b, zb_error *err) {
    const zb_dtype dtype = b->node->array->info.dtype;
    zb_read reads[MOST_CHUNKS];
    enum zb_code code = b->count ? zb_values_new(&b->values, err) : ZB_OK;
    for (size_t i = 0; i < b->count; i++)
        reads[i] = (zb_read){.node = b->node,
                             .start = b->start[i],
                             .count = b->extent[i],
                             .view = {.data = b->data[i], .dtype = dtype, .values = b->values}};
    if (!code && b->count)
        code = zb_array_read(reads, b->count, err);
    for (size_t i = 0; i < b->count && !code; i++) {
        const zb_write box = {
            .start = b->start[i], .count = b->extent[i], .data = b->data[i], .dtype = dtype};
        code = zb_writer_write(b->writer, &box, err);
    }
    batch_clear(b);
    return code;
}

/* Chunks behind the array's edge belong to nobody. */
static enum zb_code take_chunk(void *context, const char *key, const uint64_t *index,
                               zb_error *err) {
    (void)key;
    batch *b = context;
    const zb_array_info *info = &b->node->array->info;
    uint64_t bytes = info->dtype.size; /* a chunk fits in memory: its form was checked */
    for (uint32_t d = 0; d < info->ndim; d++) {
        zb_chunk_span span = zb_array_chunk_at(b->node, ZB_GRID_CHUNKS, d, index[d]);
        b->start[b->count][d] = span.start;
        b->extent[b->count][d] = span.inside;
        bytes *= span.inside;
    }
    if (bytes == 0)
        return ZB_OK;
    b->data[b->count] = malloc(bytes);
    if (!b->data[b->count])
        return zb_fail(err, ZB_ENOMEM, "no memory for a chunk of %llu bytes",
                       (unsigned long long)bytes);
    b->count++;
    b->bytes += bytes;
    return b->count == MOST_CHUNKS || b->bytes >= most_bytes ? batch_run(b, err) : ZB_OK;
}

static enum zb_code convert_chunks(const zb_node *node, const zb_node *copy, zb_error *err) {
    const zb_write_options options = {.sync = zb__store_sync(copy->store)};
    batch *b = calloc(1, sizeof *b);
    if (!b)
        return zb_fail(err, ZB_ENOMEM, "no memory for copying an array");
    b->node = node;
    enum zb_code code = zb_writer_open(copy, &options, &b->writer, err);
    if (!code)
        code = node->store->hints.can_list ? zb__chunks_each(node, take_chunk, b, err)
                                           : zb__named_chunks(node, take_chunk, b, err);
    if (!code)
        code = batch_run(b, err);
    batch_clear(b);
    enum zb_code closed = zb_writer_close(b->writer, code ? NULL : err);
    free(b);
    return code ? code : closed;
}

/* ---- Nodes ---- */

/* The codecs of bytes that stay, as a list in JSON; *out is NULL where the default takes the place
   of what goes. The caller frees. */
static enum zb_code codecs_of(const zb_array_info *info, char **out, zb_error *err) {
    static const char *const kept[] = {"zstd", "gzip", "blosc", "crc32c"};
    zb_json_writer *w = zb_json_writer_new();
    bool all = true;
    zb_json_begin_array(w);
    for (size_t i = 0; i < info->codec_count; i++) {
        const zb_codec_info *codec = &info->codecs[i];
        const zb__codec_ops *ops = zb__codec_find(codec->name);
        bool keep = false;
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            keep = keep || strcmp(codec->name, kept[k]) == 0;
        all = all && (keep || (ops && ops->kind != ZB__BYTES_TO_BYTES));
        if (!keep)
            continue;
        zb_json_begin_object(w);
        zb_json_write_name(w, "name");
        zb_json_write_string(w, codec->name);
        if (codec->configuration) {
            zb_json_write_name(w, "configuration");
            zb_json_write_value(w, codec->configuration);
        }
        zb_json_end_object(w);
    }
    zb_json_end_array(w);
    *out = zb_json_writer_end(w, NULL);
    if (!*out)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a list of codecs");
    if (!all) {
        free(*out);
        *out = NULL;
    }
    return ZB_OK;
}

static enum zb_code convert_array(const zb_node *node, zb_store *to, const char *path,
                                  const char *attributes, zb_error *err) {
    const zb_array_info *info = &node->array->info;
    char *codecs = NULL;
    zb_node *copy = NULL;
    enum zb_code code = codecs_of(info, &codecs, err);
    const zb_array_spec spec = {.ndim = info->ndim,
                                .shape = info->shape,
                                .inner_shape = info->chunk_shape,
                                .dtype = info->dtype,
                                .fill_value = info->fill_value,
                                .codecs = codecs,
                                .dimension_names = info->dimension_names,
                                .attributes = attributes};
    if (!code)
        code = zb_array_create(to, path, &spec, &copy, err);
    if (!code)
        code = convert_chunks(node, copy, err);
    zb_node_release(copy);
    free(codecs);
    return code;
}

/* Without the nodes below. */
static enum zb_code copy_group(const converting *c, const zb_node *group, const char *target,
                               const char *attributes, zb_error *err) {
    zb_node *copy = NULL;
    enum zb_code code = zb_group_create(c->to, target, attributes, &copy, err);
    if (!code && group->format == 3)
        code = zb__hidden_copy(c->from, group->path, c->to, target, err);
    zb_node_release(copy);
    return code;
}

static enum zb_code convert_node(const converting *c, const zb__name *entry, zb_error *err) {
    zb_node *node = NULL;
    char *attributes = NULL, *target = target_of(c, entry->text);
    enum zb_code code = target ? zb_node_open(c->from, entry->text, &node, err)
                               : zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    if (!code && node->attributes && !(attributes = zb_json_print(node->attributes)))
        code = zb_fail(err, ZB_ENOMEM, "out of memory for attributes");
    if (!code && !node->array)
        code = copy_group(c, node, target, attributes, err);
    else if (!code && node->format == 3)
        code = zb__copy_as_it_is(c->from, entry->text, c->to, target, NULL, err);
    else if (!code)
        code = convert_array(node, c->to, target, attributes, err);
    zb_node_release(node);
    free(attributes);
    free(target);
    return code;
}

static enum zb_code convert(const converting *c, const zb__names *nodes, zb_error *err) {
    zb__names there;
    zb_error lost;
    enum zb_code code = zb__path_check_new(c->to_path, err);
    if (!code && c->from == c->to &&
        (strcmp(c->from_path, c->to_path) == 0 || zb__path_below(c->to_path, c->from_path)))
        code = zb_fail(err, ZB_EINVAL, "the target lies within the source");
    if (!code)
        code = zb__nodes_at(c->to, c->to_path, &there, err);
    if (code)
        return code;
    if (there.count > 0)
        code = zb_fail(err, ZB_ECONFLICT, "there is a node at or below /%s already", c->to_path);
    zb__names_free(&there);
    if (code)
        return code;
    /* A group without a document is in no list of nodes. */
    if (nodes->count == 0 || strcmp(nodes->name[0].text, c->from_path) != 0) {
        zb__name top = {.text = (char *)(uintptr_t)c->from_path};
        code = convert_node(c, &top, err);
    }
    for (size_t i = 0; i < nodes->count && !code; i++)
        code = convert_node(c, &nodes->name[i], err);
    if (code)
        (void)zb_node_delete(c->to, c->to_path, &lost);
    return code;
}

enum zb_code zb_node_copy(zb_store *from, const char *from_path, zb_store *to, const char *to_path,
                          zb_error *err) {
    const converting c = {.from = from, .to = to, .from_path = from_path, .to_path = to_path};
    zb__names older;
    enum zb_code code = zb__copy_as_it_is(from, from_path, to, to_path, &older, err);
    if (!code && older.count > 0) {
        code = convert(&c, &older, err);
        if (code)
            zb_error_prefix(err, code, "copying /%s of store %s to /%s of store %s", from_path,
                            from->label, to_path, to->label);
    }
    zb__names_free(&older);
    return code;
}
