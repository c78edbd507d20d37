/* SPDX-License-Identifier: MIT */
#include "change/copy_content.h"

#include <stdlib.h>
#include <string.h>

#include "array/block.h"
#include "change/copy_named.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/bare.h"
#include "node/document.h"
#include "node/node.h"
#include "node/walk.h"
#include "zarrbridge/sys/store.h"

/* Listings of arrays at once. */
#define LISTINGS 8

void zb__copying_begin(zb__copying *c) {
    pthread_mutex_init(&c->lock, NULL);
    zb__object_copier_init(&c->copier, c->from, c->to);
}

void zb__copying_end(zb__copying *c) {
    zb__object_copier_end(&c->copier);
    pthread_mutex_destroy(&c->lock);
}

char *zb__copy_target(const zb__copying *c, const char *key) {
    const char *below = strcmp(key, c->from_path) == 0 ? "" : zb__path_below(key, c->from_path);
    return *below ? zb__path_join(c->to_path, below) : strdup(c->to_path);
}

static enum zb_code copy_key(zb__copying *c, const char *key, bool may_be_missing, zb_error *err) {
    char *target = zb__copy_target(c, key);
    if (!target)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code = c->undo ? zb__hierarchy_erase(c->to, target, err)
                                : zb__copy_object(&c->copier, key, target, err);
    free(target);
    if (!c->undo)
        zb__hierarchy_chunk_done(c->from);
    return code == ZB_ENOTFOUND && may_be_missing ? ZB_OK : code;
}

static enum zb_code copy_object(void *context, const char *key, zb_error *err) {
    return copy_key(context, key, false, err);
}

/* For keys that no listing has told, which are asked for many at once already. */
static enum zb_code copy_if_there(void *context, const char *key, zb_error *err) {
    return copy_key(context, key, true, err);
}

/* Many at once on a network. The first object goes alone: it tells whether the service copies at
   all, so that one that does not is asked once. Called before other threads give objects. */
static void begin_many(zb__copying *c) {
    if (c->is_begun && !c->is_many)
        zb__lane_begin_keys(&c->objects, copy_object, c, zb__object_copier_width(&c->copier));
    c->is_many = c->is_begun;
}

static enum zb_code give_object(void *context, const char *key, zb_error *err) {
    zb__copying *c = context;
    if (!c->is_many) {
        begin_many(c);
        c->is_begun = true;
    }
    return c->is_many ? zb__lane_give_key(&c->objects, key, err) : copy_object(c, key, err);
}

/* Waits for the objects that were given. */
static enum zb_code await_objects(zb__copying *c, enum zb_code code, zb_error *err) {
    if (c->is_many)
        code = zb__lane_end(&c->objects, code, err);
    c->is_many = false;
    return code;
}

/* The documents of hidden arrays, when all chunks are there. */
static enum zb_code finish_objects(zb__copying *c, enum zb_code code, zb_error *err) {
    code = await_objects(c, code, err);
    for (size_t i = 0; i < c->documents.count && !code; i++)
        code = give_object(c, c->documents.name[i].text, err);
    zb__names_free(&c->documents);
    code = await_objects(c, code, err);
    return code || c->undo ? code : zb__object_copier_flush(&c->copier, err);
}

/* A store that cannot list has chunks and a document, as far as anybody knows. */
static enum zb_code give_hidden_array(zb__copying *c, const char *path, zb_error *err) {
    enum zb_code code = c->from->store->hints.can_list
                            ? zb__keys_below(c->from, path, "zarr.json", give_object, c, err)
                            : zb__named_keys(c->from, path, copy_if_there, c, err);
    if (code)
        return code;
    pthread_mutex_lock(&c->lock);
    code = zb__names_add(&c->documents, (zb__name){.text = zb__path_join(path, "zarr.json")}, err);
    pthread_mutex_unlock(&c->lock);
    return code;
}

static enum zb_code give_hidden(zb__copying *c, const char *path, zb_error *err) {
    zb__names hidden;
    enum zb_code code = c->from->store->hints.can_list
                            ? zb__hidden_at(c->from, path, &hidden, err)
                            : zb__named_hidden(c->from, path, &hidden, err);
    for (size_t i = 0; i < hidden.count && !code; i++)
        code = give_hidden_array(c, hidden.name[i].text, err);
    zb__names_free(&hidden);
    return code;
}

/* All objects below an array but its document. */
static enum zb_code give_array(zb__copying *c, const char *path, zb_error *err) {
    if (c->from->store->hints.can_list) {
        const enum zb_code code = c->undo ? ZB_OK : zb__chunk_prefixes_refuse(c->from, path, err);
        return code ? code : zb__keys_below(c->from, path, "zarr.json", give_object, c, err);
    }
    enum zb_code code = zb__named_keys(c->from, path, copy_if_there, c, err);
    if (c->undo && code == ZB_EUNSUPPORTED) /* too many to ask for: none was copied */
        code = ZB_OK;
    return code ? code : give_hidden(c, path, err);
}

static enum zb_code give_node(void *context, size_t item, zb__scratch *unused, zb_error *err) {
    zb__copying *c = context;
    const zb__name *node = &c->nodes->name[item];
    (void)unused;
    if (c->places[item] == ZB__LOST)
        return ZB_OK;
    if (node->is_prefix)
        return give_array(c, node->text, err);
    return node->has_hidden ? give_hidden(c, node->text, err) : ZB_OK;
}

/* What a store that cannot list has is asked for many at once already. */
static size_t listings(const zb__copying *c) {
    return c->from->store->hints.can_list && zb__object_copier_width(&c->copier) ? LISTINGS : 0;
}

enum zb_code zb__copy_objects(zb__copying *c, zb_error *err) {
    zb__lane lane;
    bool has_lane = false;
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < c->others.count && !code; i++)
        code = give_object(c, c->others.name[i].text, err);
    for (size_t i = 0; i < c->nodes->count && !code; i++) {
        begin_many(c);
        if (c->is_many && !has_lane)
            zb__lane_begin(&lane, give_node, c, listings(c));
        has_lane = c->is_many;
        code = has_lane ? zb__lane_give(&lane, i, err) : give_node(c, i, NULL, err);
    }
    return finish_objects(c, has_lane ? zb__lane_end(&lane, code, err) : code, err);
}

enum zb_code zb__copy_hidden(zb__copying *c, const char *path, zb_error *err) {
    return finish_objects(c, give_hidden(c, path, err), err);
}

/* Nodes without documents are not found by their names, and their chunks would stay behind. */
static enum zb_code refuse_without_documents(const zb__copying *c, const char *path,
                                             const char *text, size_t size, zb_error *err) {
    zb_node *node;
    if (!memmem(text, size, ZB__CONSOLIDATED, strlen(ZB__CONSOLIDATED)) ||
        zb__node_make(c->from, path, text, size, &node, NULL))
        return ZB_OK;
    const bool says_all = zb__group_says_all(node);
    zb_node_release(node);
    return says_all ? zb_fail(err, ZB_EUNSUPPORTED,
                              "store %s: the nodes below /%s have no documents of their own, only "
                              "consolidated metadata describes them: copy the directory itself, or "
                              "make a zip archive of it",
                              c->from->store->label, path)
                    : ZB_OK;
}

/* A document that could not be put may be there all the same. */
static enum zb_code copy_document(void *context, size_t item, zb__scratch *unused, zb_error *err) {
    zb__copying *c = context;
    const char *path = c->nodes->name[item].text;
    char *text = NULL, *target = zb__copy_target(c, path);
    size_t size;
    (void)unused;
    enum zb_code code = target ? zb__node_read(c->from, path, &text, &size, err)
                               : zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    if (!code)
        code = refuse_without_documents(c, path, text, size, err);
    if (!code) {
        code = zb__change_put(c->change, target, text, size, err);
        c->places[item] = code == ZB_ECONFLICT ? ZB__LOST : ZB__TAKEN;
    }
    free(text);
    free(target);
    return code;
}

/* Those of one depth many at once on a network. */
enum zb_code zb__copy_documents(zb__copying *c, zb_error *err) {
    enum zb_code code = ZB_OK;
    size_t depth = 0;
    for (size_t i = 0; i < c->nodes->count; i++) {
        const size_t own = zb__path_depth(c->nodes->name[i].text);
        depth = own > depth ? own : depth;
    }
    for (size_t left = c->nodes->count; left > 0 && !code; depth--) {
        zb__lane lane;
        zb__lane_begin(&lane, copy_document, c, zb__object_copier_width(&c->copier));
        for (size_t i = c->nodes->count; i > 0 && !code; i--) {
            if (zb__path_depth(c->nodes->name[i - 1].text) != depth)
                continue;
            left--;
            code = zb__lane_give(&lane, i - 1, err);
        }
        code = zb__lane_end(&lane, code, err);
    }
    return code;
}

/* The topmost document first. */
bool zb__copy_undo(zb__copying *c) {
    const zb__names *nodes = c->nodes;
    bool done = true;
    c->undo = true;
    for (size_t i = 0; i < nodes->count; i++) {
        if (c->places[i] != ZB__TAKEN)
            continue;
        char *target = zb__copy_target(c, nodes->name[i].text);
        done = target && zb__change_erase(c->change, target, i == 0, NULL) == ZB_OK && done;
        free(target);
    }
    return zb__copy_objects(c, NULL) == ZB_OK && done;
}
