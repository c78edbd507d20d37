/* SPDX-License-Identifier: MIT */
#include "change/reshard.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "change/reshape.h"
#include "codec/codecs_print.h"
#include "node/node.h"
#include "util/extension.h"
#include "util/json_writer.h"
#include "zarrbridge/encoded.h"

/* The shape that the chunks of the array's grid get; false where they are to stay as they are.
   *has_shards: these are shards. */
static bool wanted_shape(const zb_node *array, const zb_copy_options *options, uint64_t *shape,
                         bool *has_shards) {
    const zb_array_info *info = &array->array->info;
    uint64_t chosen[ZB_MAX_NDIM] = {0};
    *has_shards = options->choose || options->ndim;
    if (options->choose ? !options->choose(options->context, array, chosen)
                        : options->ndim && options->ndim != info->ndim)
        return false;
    const uint64_t *extents = options->choose ? chosen : options->shard_shape;
    for (uint32_t d = 0; d < info->ndim; d++) {
        const uint64_t inner = info->inner_shape[d];
        const uint64_t wanted = *has_shards ? extents[d] : inner;
        const uint64_t whole = wanted / inner + (wanted % inner > 0);
        if (__builtin_mul_overflow(whole, inner, &shape[d]))
            shape[d] = wanted / inner * inner;
        if (shape[d] == 0) /* chosen so */
            shape[d] = inner;
    }
    return true;
}

bool zb__reshard_is_due(const zb_node *array, const zb_copy_options *options) {
    const zb_array_info *info = &array->array->info;
    uint64_t shape[ZB_MAX_NDIM];
    bool has_shards;
    if (!options || !options->reshards || !wanted_shape(array, options, shape, &has_shards))
        return false;
    return has_shards != (info->shard_depth != 0) || info->shard_depth > 1 ||
           memcmp(shape, info->chunk_shape, info->ndim * sizeof *shape) != 0;
}

/* The configuration of the codec of shards, whose list has no other (zb_chain_of); NULL where the
   array has no shards. */
static const zb_json *sharding_of(const zb_node *array, const zb_json *codecs) {
    return array->array->info.shard_depth ? zb_json_get(zb_json_first(codecs), "configuration")
                                          : NULL;
}

/* In a list of inner chunks' codecs, or a list of the codec of shards alone. */
static void print_codecs(zb_json_writer *w, const zb_json *sharding, const zb_json *inner,
                         const zb_array_info *info, bool has_shards) {
    const zb_json *index = zb_json_get(sharding, "index_codecs");
    const zb_json *location = zb_json_get(sharding, "index_location");
    if (!has_shards) {
        zb_json_write_value(w, inner);
        return;
    }
    zb_json_begin_array(w);
    zb__extension_begin(w, "sharding_indexed");
    zb_json_write_name(w, "chunk_shape");
    zb__json_write_extents(w, info->inner_shape, info->ndim);
    zb_json_write_name(w, "codecs");
    zb_json_write_value(w, inner);
    zb_json_write_name(w, "index_codecs");
    if (index)
        zb_json_write_value(w, index);
    else
        zb_json_write_raw(w, ZB__INDEX_CODECS);
    zb_json_write_name(w, "index_location");
    zb_json_write_string(w, location ? zb_json_string(location) : "end");
    zb__extension_end(w);
    zb_json_end_array(w);
}

static void print_grid(zb_json_writer *w, const uint64_t *shape, uint32_t ndim) {
    zb__extension_begin(w, "regular");
    zb_json_write_name(w, "chunk_shape");
    zb__json_write_extents(w, shape, ndim);
    zb__extension_end(w);
}

enum zb_code zb__reshard(const zb_node *array, const zb_copy_options *options,
                         zb__document *document, zb_error *err) {
    const zb_array_info *info = &array->array->info;
    uint64_t shape[ZB_MAX_NDIM];
    bool has_shards;
    zb_chain *chain;
    enum zb_code code = zb_chain_of(array, &chain, err);
    if (code)
        return code;
    zb_chain_free(chain);
    const zb_json *codecs = zb_json_get(document->json, "codecs");
    const zb_json *sharding = sharding_of(array, codecs);
    const zb_json *inner = sharding ? zb_json_get(sharding, "codecs") : codecs;
    if (info->ndim == 0 || !inner || (sharding && zb_json_count(codecs) != 1))
        return zb_fail(err, ZB_EUNSUPPORTED, "array /%s: its shards cannot be changed",
                       array->path);
    (void)wanted_shape(array, options, shape, &has_shards); /* it is due */
    zb_json_writer list = {.level = 0}, grid = {.level = 0};
    print_codecs(&list, sharding, inner, info, has_shards);
    print_grid(&grid, shape, info->ndim);
    code = zb__document_take(document, "codecs", &list, err);
    enum zb_code second = zb__document_take(document, "chunk_grid", &grid, code ? NULL : err);
    return code ? code : second;
}
