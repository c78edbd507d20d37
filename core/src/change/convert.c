/* SPDX-License-Identifier: MIT */
/*
 * Copying, where nodes of version 2 become nodes of version 3, or arrays get other shards.
 * Documents of version 2 are made anew: with native byte order, the order C, keys of version 3, and
 * the codecs that readers of version 3 share. zstd, gzip and blosc stay as they are; all others,
 * filters included, make place for the default. Chunks move as they are encoded where that is the
 * same for both (move_chunks.c). Other nodes of version 3 are copied as they are.
 *
 * The walk goes by the chunks that are stored, and by the grid where the store cannot list. Files
 * of other programs are copied as they are, but not where they would be chunks of version 3. After
 * a failure the nodes of the copy are deleted, and no others; a kill leaves it half made.
 */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/block.h"
#include "array/keys.h"
#include "change/change.h"
#include "change/copy.h"
#include "change/copy_content.h"
#include "change/copy_marker.h"
#include "change/copy_named.h"
#include "change/create.h"
#include "change/move_chunks.h"
#include "change/new_store.h"
#include "change/ome_renew.h"
#include "change/remove.h"
#include "change/reshard.h"
#include "codec/table.h"
#include "hierarchy/hierarchy.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "hierarchy/version.h"
#include "node/bare.h"
#include "node/current.h"
#include "node/document.h"
#include "node/node.h"
#include "node/reserved.h"
#include "node/v2.h"
#include "node/version.h"
#include "node/walk.h"
#include "zarrbridge/change.h"

typedef struct converting {
    zb_hierarchy *from, *to;
    const char *from_path, *to_path;
    const zb_copy_options *options; /* or NULL */
    zb_node **made;                 /* the nodes of the copy so far */
    size_t count;                   /* of them */
    zb__names listed; /* paths of groups of the copy that are to have consolidated metadata */
} converting;

static char *target_of(const converting *c, const char *path) {
    const char *below = strcmp(path, c->from_path) == 0 ? "" : zb__path_below(path, c->from_path);
    return *below ? zb__path_join(c->to_path, below) : strdup(c->to_path);
}

static void tell(const converting *c, const char *path, const char *way) {
    if (c->options && c->options->tell)
        c->options->tell(c->options->context, path, way);
}

static enum zb_code move_chunks(const converting *c, const zb_node *node, const zb_node *copy,
                                zb_error *err) {
    char way[ZB__WAY_SIZE];
    enum zb_code code = zb__chunks_move(node, copy, way, err);
    if (!code)
        tell(c, node->path, way);
    return code;
}

/* ---- Files of other programs ---- */

static enum zb_code copy_others(const converting *c, const zb__names *others, zb_error *err) {
    const zb__names none = {.count = 0};
    zb__copying copying = {.from = c->from,
                           .to = c->to,
                           .from_path = c->from_path,
                           .to_path = c->to_path,
                           .nodes = &none,
                           .others = *others};
    zb__copying_begin(&copying);
    const enum zb_code code = zb__copy_objects(&copying, err);
    copying.undo = true;
    if (code)
        (void)zb__copy_objects(&copying, NULL);
    zb__copying_end(&copying);
    return code;
}

/* What an array has in its directory besides chunks and documents. */
typedef struct gathering {
    const zb_node *node, *copy;
    zb__names others;
} gathering;

static enum zb_code take_other(void *context, const char *key, zb_error *err) {
    gathering *g = context;
    const zb__array *old = g->node->array, *new = g->copy->array;
    const char *below = zb__path_below(key, g->node->path), *name = zb__path_name(key);
    uint64_t index[ZB_MAX_NDIM];
    const bool is_document =
        g->node->format == 3 ? strcmp(below, "zarr.json") == 0 : zb__v2_is_metadata(name);
    if (is_document || zb__object_is_ours(name) ||
        zb__chunk_key_parse(&old->keys, old->info.ndim, below, index))
        return ZB_OK;
    if (strcmp(name, "zarr.json") == 0 ||
        zb__chunk_key_parse(&new->keys, new->info.ndim, below, index))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "'%s' is no part of the array, and would be one in the copy: move it away",
                       key);
    return zb__names_add_listed(&g->others, (zb__name){.text = strdup(key)}, err);
}

static enum zb_code copy_others_of_array(const converting *c, const zb_node *node,
                                         const zb_node *copy, zb_error *err) {
    gathering g = {.node = node, .copy = copy};
    enum zb_code code = c->from->store->hints.can_list
                            ? zb__keys_below(c->from, node->path, NULL, take_other, &g, err)
                            : ZB_OK;
    if (!code)
        code = copy_others(c, &g.others, err);
    zb__names_free(&g.others);
    return code;
}

/* ---- Nodes ---- */

/* The caller has made room for it. */
static void note_made(converting *c, zb_node *node) {
    c->made[c->count++] = node;
}

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
        if (keep)
            zb_codec_print(w, codec);
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

static enum zb_code convert_array(converting *c, const zb_node *node, const char *path,
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
        code = zb__array_create_copy(c->to, path, &spec, &copy, err);
    free(codecs);
    if (code)
        return code;
    note_made(c, copy);
    code = move_chunks(c, node, copy, err);
    return code ? code : copy_others_of_array(c, node, copy, err);
}

/* Without the nodes below, and without consolidated metadata, which describe them. */
static enum zb_code make_group(converting *c, const zb_node *group, const char *target,
                               const char *attributes, zb_node **out, zb_error *err) {
    char *text;
    size_t size;
    zb__document document, bare;
    if (group->format != 3)
        return zb__group_create_copy(c->to, target, attributes, out, err);
    enum zb_code code = zb__node_read(c->from, group->path, &text, &size, err);
    if (!code)
        code = zb__document_outline(text, size, "zarr.json", &document, err);
    if (code)
        return code;
    if (zb_json_kind_of(zb_json_get(document.json, ZB__CONSOLIDATED)) == ZB_JSON_OBJECT)
        code = zb__names_add(&c->listed, (zb__name){.text = strdup(target)}, err);
    if (!code)
        code = zb__document_without(&document, ZB__CONSOLIDATED, &bare, err);
    zb__document_free(&document);
    if (!code) {
        code = zb__node_create_copy(c->to, target, bare.text, bare.size, out, err);
        zb__document_free(&bare);
    }
    return code;
}

static enum zb_code copy_group(converting *c, const zb_node *group, const char *target,
                               const char *attributes, zb_error *err) {
    zb_node *copy = NULL;
    enum zb_code code = make_group(c, group, target, attributes, &copy, err);
    if (code)
        return code;
    note_made(c, copy);
    return group->format == 3 ? zb__hidden_copy(c->from, group->path, c->to, target, err) : ZB_OK;
}

/* An array of version 3 that gets other shards. */
static enum zb_code reshard_array(converting *c, const zb_node *node, const char *target,
                                  zb_error *err) {
    char *text;
    size_t size;
    zb__document document = {.text = NULL};
    zb_node *copy = NULL;
    enum zb_code code = zb__node_read(c->from, node->path, &text, &size, err);
    if (!code)
        code = zb__document_parse(text, size, "zarr.json", &document, err);
    if (!code)
        code = zb__reshard(node, c->options, &document, err);
    if (!code)
        code = zb__node_create_copy(c->to, target, document.text, document.size, &copy, err);
    zb__document_free(&document);
    if (code)
        return code;
    note_made(c, copy);
    code = move_chunks(c, node, copy, err);
    if (!code)
        code = zb__hidden_copy(c->from, node->path, c->to, target, err);
    return code ? code : copy_others_of_array(c, node, copy, err);
}

static enum zb_code copy_array(converting *c, const char *path, const char *target, zb_error *err) {
    zb_node *copy = NULL;
    enum zb_code code = zb__copy_as_it_is(c->from, path, c->to, target, NULL, err);
    /* One that cannot be opened again is not deleted after a failure. */
    if (!code && zb_node_open(c->to, target, &copy, NULL) == ZB_OK)
        note_made(c, copy);
    if (!code)
        tell(c, path, "its files are copied as they are");
    return code;
}

static enum zb_code convert_node(converting *c, const zb__name *entry, zb_error *err) {
    zb_node *node = NULL;
    char *attributes = NULL, *target = target_of(c, entry->text);
    enum zb_code code = target ? zb_node_open(c->from, entry->text, &node, err)
                               : zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    if (!code && node->attributes && !(attributes = zb_json_print(node->attributes)))
        code = zb_fail(err, ZB_ENOMEM, "out of memory for attributes");
    if (!code && !node->array && node->format != 3)
        code = zb__ome_renew(node, &attributes, err);
    if (!code && !node->array)
        code = copy_group(c, node, target, attributes, err);
    else if (!code && node->format == 3 && zb__reshard_is_due(node, c->options))
        code = reshard_array(c, node, target, err);
    else if (!code && node->format == 3)
        code = copy_array(c, entry->text, target, err);
    else if (!code)
        code = convert_array(c, node, target, attributes, err);
    zb_node_release(node);
    free(attributes);
    free(target);
    return code;
}

/* Whether the node is still the one that was made, with no node below: other programs may have
   deleted it, and made others at its path or below it. Where the store has no identities, the
   document must be as it was. Under the hierarchy's lock. */
static bool is_own(const zb_node *node) {
    const uint64_t seen = atomic_load(&((zb_node *)(uintptr_t)node)->seen);
    zb_object_info info;
    zb__names there;
    if (zb__node_still(node, NULL) || zb__document_stat(node, 0, &info, NULL) ||
        (!node->home && seen && seen != zb__version_word(&info.validator)) ||
        zb__nodes_at(node->hierarchy, node->path, &there, NULL))
        return false;
    const bool is_alone = there.count == 1;
    zb__names_free(&there);
    return is_alone;
}

static void delete_made(const zb_node *node) {
    zb__change change;
    if (zb__change_begin(node->hierarchy, &change, NULL))
        return;
    enum zb_code code = is_own(node) ? zb__change_above(&change, node->path, false, NULL) : ZB_EIO;
    if (!code)
        code = zb__change_drop(&change, NULL);
    if (!code)
        code = zb__node_erase(&change, node->path, NULL);
    (void)zb__change_end(&change, code, NULL);
}

/* Children before parents. What cannot be deleted stays. */
static void end(converting *c, bool undo) {
    while (c->count > 0) {
        zb_node *node = c->made[--c->count];
        if (undo)
            delete_made(node);
        zb_node_release(node);
    }
    free(c->made);
}

static enum zb_code convert_all(converting *c, const zb__older *older, zb_error *err) {
    const zb__names *nodes = &older->nodes;
    enum zb_code code = ZB_OK;
    c->made = calloc(nodes->count + 1, sizeof(zb_node *));
    if (!c->made)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a copy");
    /* A group without a document is in no list of nodes. */
    if (strcmp(nodes->name[0].text, c->from_path) != 0) {
        zb__name top = {.text = (char *)(uintptr_t)c->from_path};
        code = convert_node(c, &top, err);
    }
    for (size_t i = 0; i < nodes->count && !code; i++)
        code = convert_node(c, &nodes->name[i], err);
    if (!code)
        code = copy_others(c, &older->others, err);
    for (size_t i = c->listed.count; i > 0 && !code; i--) /* groups below others first */
        code = zb_group_consolidate(c->to, c->listed.name[i - 1].text, err);
    zb__names_free(&c->listed);
    end(c, code != ZB_OK);
    return code;
}

static enum zb_code convert(converting *c, const zb__older *older, zb_error *err) {
    zb__names there;
    enum zb_code code = zb__path_check_target(c->from_path, c->to_path, err);
    if (!code && c->from == c->to &&
        (strcmp(c->from_path, c->to_path) == 0 || zb__path_below(c->to_path, c->from_path)))
        code = zb_fail(err, ZB_EINVAL, "the target lies within the source");
    if (!code)
        code = zb__nodes_at(c->to, c->to_path, &there, err);
    if (code)
        return code;
    if (there.count > 0)
        code = zb_fail(err, ZB_ECONFLICT, "there is a node at or below /%s already", c->to_path);
    else if (c->to->store->hints.can_list)
        code = zb__place_refuse_others(c->to, c->to_path, err);
    zb__names_free(&there);
    return code ? code : convert_all(c, older, err);
}

static enum zb_code check_options(const zb_copy_options *options, zb_error *err) {
    for (uint32_t d = 0; options && options->reshards && !options->choose && d < options->ndim;
         d++) {
        if (options->shard_shape[d] == 0 || options->ndim > ZB_MAX_NDIM)
            return zb_fail(err, ZB_EINVAL, "a shard has 1 to %d extents, each of at least 1",
                           ZB_MAX_NDIM);
    }
    return ZB_OK;
}

enum zb_code zb_node_copy(zb_hierarchy *from, const char *from_path, zb_hierarchy *to,
                          const char *to_path, zb_error *err) {
    return zb_node_copy_as(from, from_path, to, to_path, NULL, err);
}

enum zb_code zb_node_copy_as(zb_hierarchy *from, const char *from_path, zb_hierarchy *to,
                             const char *to_path, const zb_copy_options *options, zb_error *err) {
    converting c = {
        .from = from, .to = to, .from_path = from_path, .to_path = to_path, .options = options};
    zb__older older = {.always = options && options->reshards};
    enum zb_code code = check_options(options, err);
    if (code)
        return code;
    const bool is_hidden = zb__new_store_hide(to);
    code = zb__copy_as_it_is(from, from_path, to, to_path, &older, err);
    if (!code && older.nodes.count > 0) {
        code = convert(&c, &older, err);
        if (code)
            zb_error_prefix(err, code, "copying /%s of store %s to /%s of store %s", from_path,
                            from->store->label, to_path, to->store->label);
    } else if (!code) {
        tell(&c, from_path, "all files are copied as they are");
    }
    zb__names_free(&older.nodes);
    zb__names_free(&older.others);
    return is_hidden ? zb__new_store_show(to, code, err) : code;
}
