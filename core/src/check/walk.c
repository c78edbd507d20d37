/* SPDX-License-Identifier: MIT */
#include "check/walk.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/keys.h"
#include "change/copy_named.h"
#include "check/object.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "node/node.h"
#include "node/open.h"
#include "node/v2.h"
#include "node/walk.h"
#include "util/wait.h"
#include "zarrbridge/check.h"
#include "zarrbridge/json.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* ---- Stores that cannot list names -------------------------------------------------------- */

typedef struct named_walk {
    zb_hierarchy *hierarchy;
    const zb__visitor *visitor;
    const zb_node *array; /* whose chunks are visited */
    enum zb_code code;
    zb_error *err;
} named_walk;

static enum zb_code visit_chunk(void *context, const char *key, const uint64_t *index,
                                zb_error *err) {
    const named_walk *w = context;
    return w->visitor->chunk(w->visitor->context, w->array, key, index, err);
}

static enum zb_code report(const named_walk *w, const char *path, const char *message) {
    const zb__visitor *v = w->visitor;
    char *key = zb__path_join(path, "zarr.json");
    enum zb_code code = key ? v->other(v->context, ZB_FINDING_UNCHECKED, key, message, w->err)
                            : zb_fail(w->err, ZB_ENOMEM, "no memory for a key");
    free(key);
    return code;
}

static enum zb_code visit_chunks(named_walk *w, const zb_node *array) {
    if (zb__array_count_chunks(array->array) > ZB__MOST_NAMED_CHUNKS)
        return report(w, array->path,
                      "the grid has too many chunks to ask for each, and the store cannot list "
                      "those that there are");
    w->array = array;
    return zb__named_chunks(array, visit_chunk, w, w->err);
}

static int on_entry(void *context, const zb_entry *entry) {
    named_walk *w = context;
    zb_node *node = NULL;
    if (entry->reason) {
        w->code = report(w, entry->path, entry->reason);
        return w->code;
    }
    w->code = zb_node_open(w->hierarchy, entry->path, &node, w->err);
    if (!w->code)
        w->code = w->visitor->node(w->visitor->context, node, w->err);
    if (!w->code && node->array)
        w->code = visit_chunks(w, node);
    zb_node_release(node);
    return w->code;
}

enum zb_code zb__check_walk_named(zb_hierarchy *hierarchy, const zb__visitor *visitor,
                                  zb_error *err) {
    named_walk w = {.hierarchy = hierarchy, .visitor = visitor, .err = err};
    const enum zb_code code = zb_node_each(hierarchy, "", on_entry, &w, err);
    return w.code ? w.code : code;
}

/* ---- Stores that list names --------------------------------------------------------------- */

/* No sensible store nests names deeper than this. */
#define MOST_DEPTH 256

/* A directory on the way that has no document and is in no array: no program that lists groups gets
   below it. */
typedef struct bare {
    const char *prefix;
    bool is_told;
    struct bare *above; /* NULL where the directory above has a document */
} bare;

typedef struct walk {
    zb_hierarchy *hierarchy;
    const zb__visitor *visitor;
    unsigned depth;
    unsigned nodes; /* directories with a document on the way */
    bare *above;    /* the directory above the one that is visited, if it is such a one */
    bool in_copy;   /* at or below the target of a copy that is at work or was killed */
    bool is_empty;  /* the root has neither objects nor prefixes */
    zb__links links;
} walk;

static enum zb_code walk_directory(walk *w, const char *prefix, const zb_node *array,
                                   zb_error *err);

static enum zb_code other(const walk *w, enum zb_finding_kind kind, const char *key,
                          const char *message, zb_error *err) {
    const zb__visitor *v = w->visitor;
    return v->other ? v->other(v->context, kind, key, message, err) : ZB_OK;
}

/* ---- Objects ------------------------------------------------------------------------------ */

static bool parse_key(const zb_node *array, const char *key, uint64_t *index) {
    const char *below = zb__path_below(key, array->path);
    return below && zb__chunk_key_parse(&array->array->keys, array->array->info.ndim, below, index);
}

static enum zb_code visit_journal(const walk *w, const zb_node *array, const char *key,
                                  zb_error *err) {
    uint64_t index[ZB_MAX_NDIM];
    char *of = zb__journal_shard(key);
    if (!of)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = parse_key(array, of, index)
                            ? w->visitor->journal(w->visitor->context, array, of, err)
                            : other(w, ZB_FINDING_ORPHANED, key, "a journal of no chunk", err);
    free(of);
    return code;
}

/* An object that is neither a document nor a chunk. One that is called like a chunk would become
   one of an array that is made or copied there. */
static enum zb_code visit_unknown(const walk *w, const char *key, const char *message,
                                  zb_error *err) {
    if (zb__chunk_key_is_like(zb__path_name(key)))
        return other(w, ZB_FINDING_ORPHANED, key, message, err);
    return w->nodes > 0 ? other(w, ZB_FINDING_FOREIGN, key, "no part of the store", err) : ZB_OK;
}

static bool is_in_grid(const zb_node *array, const uint64_t *index) {
    for (uint32_t d = 0; d < array->array->info.ndim; d++) {
        if (index[d] >= array->array->chunk_count[d])
            return false;
    }
    return true;
}

/* An object at or below an array. name: the last part of its key, in it. */
static enum zb_code visit_in_array(const walk *w, const zb_node *array, const char *key,
                                   const char *name, zb_error *err) {
    const zb__visitor *v = w->visitor;
    uint64_t index[ZB_MAX_NDIM];
    if (zb__journal_is_name(name))
        return visit_journal(w, array, key, err);
    if (strcmp(name, ZB__MARKER_RESIZE) == 0)
        return v->resizing(v->context, array, key, err);
    if (!parse_key(array, key, index))
        return visit_unknown(w, key, "no chunk of the array above", err);
    if (!is_in_grid(array, index))
        return other(w, ZB_FINDING_ORPHANED, key, "a chunk beyond the array's shape", err);
    return v->chunk ? v->chunk(v->context, array, key, index, err) : ZB_OK;
}

/* An object below a group, or below no node. */
static enum zb_code visit_outside(const walk *w, const char *key, const char *name, zb_error *err) {
    if (strcmp(name, ZB__MARKER_COPY) == 0)
        return other(w, ZB_FINDING_STALE, key,
                     "a copy to this place, or its deletion, was killed; writing a node here, or "
                     "copying again, clears it",
                     err);
    if (strcmp(name, ZB__MARKER_CONSOLIDATED) == 0)
        return other(w, ZB_FINDING_STALE, key,
                     "consolidated metadata has been taken out by a writer that is at work or was "
                     "killed; the next writer puts it back",
                     err);
    return visit_unknown(w, key, "belongs to no array", err);
}

static bool is_document(const char *name) {
    return strcmp(name, "zarr.json") == 0 || zb__v2_is_document(name);
}

/* ---- Directories -------------------------------------------------------------------------- */

/* Opens the node of a directory that has a document. *array: its array, released by the caller.
 *enter: the objects below can be told apart. */
static enum zb_code visit_node(const walk *w, const char *prefix, const char *key, zb_node **array,
                               bool *enter, zb_error *err) {
    zb_error reason = {.code = ZB_OK};
    zb_node *node = NULL;
    char kind = 0;
    enum zb_code code = zb__node_open_own(w->hierarchy, prefix, &node, &reason);
    if (code == ZB_OK)
        code = w->visitor->node(w->visitor->context, node, err);
    else if (zb__is_of_call(code))
        return zb_fail(err, code, "%s", reason.message);
    else
        code = other(w,
                     code == ZB_EUNSUPPORTED || code == ZB_ELIMIT ||
                             zb__object_is_out_of_reach(w->hierarchy, &reason)
                         ? ZB_FINDING_UNCHECKED
                         : ZB_FINDING_DAMAGED,
                     key, reason.message, err);
    if (code == ZB_OK && node && node->array)
        *array = zb_node_retain(node);
    *enter = node || (zb__node_kind(w->hierarchy, prefix, &kind, NULL) == ZB_OK && kind == 'g');
    zb_node_release(node);
    return code;
}

static enum zb_code visit_entry(walk *w, const char *key, const zb__name *entry,
                                const zb_node *array, zb_error *err) {
    const char *name = zb__path_name(key);
    if (entry->is_prefix) { /* a hidden array is a node of its own, also below an array */
        uint64_t index[ZB_MAX_NDIM];
        enum zb_code code = zb__links_count(&w->links, entry, key, err);
        if (!code && array && parse_key(array, key, index) && is_in_grid(array, index))
            code = other(w, ZB_FINDING_DAMAGED, key, "a directory in the place of a chunk", err);
        const bool is_hidden = zb__hidden_is_name(name);
        return code ? code : walk_directory(w, key, is_hidden ? NULL : array, err);
    }
    if (zb__v2_is_metadata(name) && !zb__v2_is_document(name))
        return ZB_OK;
    if (is_document(name))
        return array && strcmp(key + strlen(array->path) + (*array->path != '\0'), name) != 0
                   ? other(w, ZB_FINDING_ORPHANED, key, "a node below an array", err)
                   : ZB_OK;
    return array ? visit_in_array(w, array, key, name, err) : visit_outside(w, key, name, err);
}

/* A node of version 3 has been found below them. */
static enum zb_code tell_bare(const walk *w, bare *b, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (; b && !b->is_told && !code; b = b->above) {
        char *key = zb__path_join(b->prefix, "zarr.json");
        b->is_told = true;
        code =
            key ? other(w, ZB_FINDING_DAMAGED, key,
                        "there is none: programs that list groups do not find the nodes below", err)
                : zb_fail(err, ZB_ENOMEM, "no memory for a key");
        free(key);
    }
    return code;
}

/* The name of the document that makes a node of the directory, or NULL. */
static const char *document_of(const zb__names *names) {
    const char *found = NULL;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->name[i].text;
        if (names->name[i].is_prefix || !is_document(name))
            continue;
        if (strcmp(name, "zarr.json") == 0)
            return name;
        if (!found || strcmp(name, ".zarray") == 0)
            found = name;
    }
    return found;
}

/* A copy puts the documents of its groups, and of those it makes above, last; a deletion erases
   them first. */
static bool has_copy_marker(const zb__names *names) {
    for (size_t i = 0; i < names->count; i++)
        if (!names->name[i].is_prefix && strcmp(names->name[i].text, ZB__MARKER_COPY) == 0)
            return true;
    return false;
}

static enum zb_code walk_names(walk *w, const char *prefix, const zb__names *names,
                               const zb_node *array, zb_error *err) {
    enum zb_code code = ZB_OK;
    zb_node *own = NULL;
    bool enter = true;
    const char *document = array ? NULL : document_of(names);
    const bool above_in_copy = w->in_copy;
    w->in_copy |= has_copy_marker(names);
    bare here = {.prefix = prefix, .above = w->above};
    if (document && strcmp(document, "zarr.json") == 0 && !w->in_copy)
        code = tell_bare(w, w->above, err);
    w->above = document || array ? NULL : &here;
    w->nodes += document != NULL;
    if (document && !code) {
        char *key = zb__path_join(prefix, document);
        code = key ? visit_node(w, prefix, key, &own, &enter, err)
                   : zb_fail(err, ZB_ENOMEM, "no memory for a key");
        free(key);
    }
    for (size_t i = 0; i < names->count && code == ZB_OK && enter; i++) {
        char *key = zb__path_join(prefix, names->name[i].text);
        code = key ? visit_entry(w, key, &names->name[i], own ? own : array, err)
                   : zb_fail(err, ZB_ENOMEM, "no memory for a key");
        free(key);
    }
    w->nodes -= document != NULL;
    w->above = here.above;
    w->in_copy = above_in_copy;
    zb_node_release(own);
    return code;
}

/* Rights that are missing for a part of a local store are a finding. */
static enum zb_code unlisted(const walk *w, const char *prefix, enum zb_code code,
                             const zb_error *why, zb_error *err) {
    if (w->depth > 0 && w->visitor->other && w->hierarchy->store->hints.is_local &&
        zb__object_is_out_of_reach(w->hierarchy, why))
        return other(w, ZB_FINDING_UNCHECKED, prefix, why->message, err);
    if (err && why->code)
        *err = *why;
    return code;
}

/* array: the array above, or NULL. */
static enum zb_code walk_directory(walk *w, const char *prefix, const zb_node *array,
                                   zb_error *err) {
    zb__names names;
    if (w->depth >= MOST_DEPTH)
        return other(w, ZB_FINDING_UNCHECKED, prefix, "directories are nested too deep", err);
    zb_error why = {.code = ZB_OK};
    enum zb_code code = w->visitor->directory(w->visitor->context, prefix, &why);
    if (!code && (code = zb__list(w->hierarchy, prefix, &names, &why)))
        zb_error_prefix(&why, code, "listing '%s'", prefix);
    if (code)
        return unlisted(w, prefix, code, &why, err);
    if (w->depth == 0)
        w->is_empty = names.count == 0;
    w->depth++;
    code = walk_names(w, prefix, &names, array, err);
    w->depth--;
    zb__names_free(&names);
    return code;
}

enum zb_code zb__check_missing(const zb_hierarchy *hierarchy, zb_error *err) {
    return zb_fail(err, ZB_ENOTFOUND, "store %s: there is no store: nothing is at that name",
                   hierarchy->store->label);
}

enum zb_code zb__check_walk(zb_hierarchy *hierarchy, const zb__visitor *visitor, bool *is_missing,
                            zb_error *err) {
    walk w = {.hierarchy = hierarchy, .visitor = visitor};
    if (!hierarchy->store->hints.can_list)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s cannot be listed", hierarchy->store->label);
    enum zb_code code = walk_directory(&w, "", NULL, err);
    *is_missing = code == ZB_OK && w.is_empty && !hierarchy->store->hints.is_local;
    return code == ZB_OK ? ZB_OK : zb_error_prefix(err, code, "store %s", hierarchy->store->label);
}

/* ---- Hidden arrays ------------------------------------------------------------------------ */

/* Anywhere in the attributes: what is not sure counts as named. */
static enum zb_code find(const zb_json *attributes, const char *name, bool *found, zb_error *err) {
    *found = false;
    if (!attributes)
        return ZB_OK;
    char *text = zb_json_print(attributes);
    if (!text)
        return zb_fail(err, ZB_ENOMEM, "no memory for attributes");
    *found = strstr(text, name) != NULL;
    free(text);
    return ZB_OK;
}

enum zb_code zb__unnamed_is(zb_hierarchy *hierarchy, const zb_node *node, bool *is, zb_error *err) {
    const char *name = zb__path_name(node->path);
    zb_error reason = {.code = ZB_OK};
    zb_node *owner = NULL;
    bool found;
    *is = false;
    if (!node->array || !zb__hidden_is_name(name))
        return ZB_OK;
    const size_t length = (size_t)(name - node->path);
    char *path = strndup(node->path, length > 0 ? length - 1 : 0);
    enum zb_code code = path ? zb__node_open_own(hierarchy, path, &owner, &reason) : ZB_ENOMEM;
    free(path);
    if (code)
        return code == ZB_ENOMEM ? zb_fail(err, code, "no memory for a path") : ZB_OK;
    code = find(zb_node_attributes(owner), name, &found, err);
    *is = !code && !found;
    zb_node_release(owner);
    return code;
}
