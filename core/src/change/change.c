/* SPDX-License-Identifier: MIT */
/* The frame of every change of documents. */
#include "change/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array/block.h"
#include "array/build.h"
#include "change/consolidated_block.h"
#include "change/tracking.h"
#include "change/write_back.h"
#include "extension/moved.h"
#include "hierarchy/consolidated_cache.h"
#include "hierarchy/hierarchy.h"
#include "hierarchy/metadata.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/bare.h"
#include "node/document.h"
#include "node/edit.h"
#include "node/node.h"
#include "node/open.h"
#include "node/reserved.h"
#include "node/v2.h"
#include "util/list.h"
#include "util/wait.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

/* ---- Lists of documents ------------------------------------------------------------------- */

/* Takes over the document, also on failure. */
static enum zb_code entries_add(zb__entries *entries, const char *path, zb__document *document,
                                zb_error *err) {
    char *copy = strdup(path);
    if (!copy || !zb__list_grow(&entries->entry, entries->count, &entries->capacity,
                                sizeof *entries->entry)) {
        free(copy);
        zb__document_free(document);
        return zb_fail(err, ZB_ENOMEM, "out of memory for a list of documents");
    }
    entries->entry[entries->count++] = (zb__entry){.path = copy, .document = *document};
    return ZB_OK;
}

static void entries_free(zb__entries *entries) {
    for (size_t i = 0; i < entries->count; i++) {
        free(entries->entry[i].path);
        zb__document_free(&entries->entry[i].document);
        zb_node_release(entries->entry[i].group);
    }
    free(entries->entry);
    *entries = (zb__entries){.count = 0};
}

static bool contains(const zb__entries *entries, const char *path) {
    for (size_t i = 0; i < entries->count; i++) {
        if (strcmp(entries->entry[i].path, path) == 0)
            return true;
    }
    return false;
}

/* ---- Before ------------------------------------------------------------------------------- */

enum zb_code zb__change_begin(zb_hierarchy *hierarchy, zb__change *change, zb_error *err) {
    *change = (zb__change){.hierarchy = hierarchy};
    return zb__hierarchy_lock(hierarchy, &change->lock, err);
}

/* A file system that is read only has no place for new documents either. */
static bool may_do_without(const zb_store *store, enum zb_code code, const zb_error *why_not) {
    return code == ZB_EUNSUPPORTED && store->ops->put && store->hints.may_lack_locks &&
           why_not->sys_errno != EROFS;
}

enum zb_code zb__change_begin_new(zb_hierarchy *hierarchy, zb__change *change, zb_error *err) {
    zb_error why_not = {.code = ZB_OK};
    const enum zb_code code = zb__change_begin(hierarchy, change, &why_not);
    change->is_unlocked = may_do_without(hierarchy->store, code, &why_not);
    change->why_not = why_not;
    if (code && !change->is_unlocked && err)
        *err = why_not;
    return change->is_unlocked ? ZB_OK : code;
}

enum zb_code zb__change_refuse(const zb__change *change, const char *path, const char *what,
                               zb_error *err) {
    if (err)
        *err = change->why_not;
    return zb_error_prefix(err, ZB_EUNSUPPORTED, "/%s: %s", path, what);
}

static enum zb_code add_missing(zb__change *change, const char *path, zb_error *err) {
    zb__document document;
    zb__built built;
    if (contains(&change->missing, path))
        return ZB_OK;
    enum zb_code code = zb__path_check_new(path, err);
    if (!code)
        code = zb__build_group(NULL, &built, err);
    if (code)
        return code;
    zb_json_free(built.json); /* without places in the text */
    code = zb__document_parse(built.text, built.size, "the new group", &document, err);
    return code ? code : entries_add(&change->missing, path, &document, err);
}

/* Opens a group above that has a block, once and as it is in the store: what was read before may be
   outdated. One that cannot be opened describes nothing. Only where the store is local does a block
   describe what has no document (node/bare.h). */
static enum zb_code open_owner(const zb__change *change, zb__entry *owner, zb_error *err) {
    if (owner->group || !change->hierarchy->store->hints.is_local)
        return ZB_OK;
    enum zb_code code = zb__node_open_own(change->hierarchy, owner->path, &owner->group, err);
    if (code)
        owner->group = NULL;
    return code == ZB_EIO || zb__is_of_call(code) ? code : ZB_OK;
}

/* Where a group above has a block and no node below it has a document, the block is all that
   describes a node. */
static enum zb_code refuse_described(const zb__change *change, const char *path, zb_error *err) {
    for (size_t i = 0; i < change->owners.count; i++) {
        zb__entry *owner = &change->owners.entry[i];
        enum zb_code code = open_owner(change, owner, err);
        if (code)
            return code;
        if (owner->group && zb__cached_block_names(owner->group->cached_block, path))
            return zb_fail(err, ZB_ECONFLICT,
                           "store %s: there is a node at /%s already, which only consolidated "
                           "metadata describe: change a copy of the store, which `zarrbridge copy` "
                           "makes",
                           change->hierarchy->store->label, path);
    }
    return ZB_OK;
}

/* Nodes that have no document of version 3. */
static enum zb_code refuse_others(const zb__change *change, const char *path, zb_error *err) {
    enum zb_code code = zb__v2_refuse_older(change->hierarchy, path, err);
    return code ? code : refuse_described(change, path, err);
}

/* A change that moves looks at the groups above both paths, under one lock. */
static bool is_sound(const zb__change *change, const char *path) {
    for (size_t i = 0; i < change->sound.count; i++) {
        if (strcmp(change->sound.name[i].text, path) == 0)
            return true;
    }
    return false;
}

/* What a kill has left of the consolidated metadata of a group above, or another hierarchy is to
   write back. */
static enum zb_code join_dirty(const zb__change *change, const char *path, bool has_block,
                               zb_error *err) {
    bool is_dirty = false;
    if (!change->is_unlocked)
        return has_block ? zb__write_back_clean(change->hierarchy, path, err)
                         : zb__write_back_join(change->hierarchy, path, err);
    enum zb_code code =
        has_block ? ZB_OK : zb__write_back_find(change->hierarchy, path, &is_dirty, err);
    return code || !(has_block || is_dirty)
               ? code
               : zb__change_refuse(change, path,
                                   "the consolidated metadata of this group have to change with "
                                   "what is made below it",
                                   err);
}

static enum zb_code add_tracking(zb__change *change, const char *path, bool is_moving,
                                 zb_error *err) {
    enum zb_code code = zb__names_add(&change->tracking, (zb__name){.text = strdup(path)}, err);
    if (!code && is_moving)
        code = zb__names_add(&change->unsettled, (zb__name){.text = strdup(path)}, err);
    return code;
}

/* Looks at one group above. Only the members that matter here are checked: a group that we cannot
   open for other reasons may still have children. */
static enum zb_code look_at(zb__change *change, const char *path, bool create, zb_error *err) {
    zb__document document;
    uint64_t version;
    bool tracks;
    zb__moved_state moved;
    if (is_sound(change, path))
        return ZB_OK;
    enum zb_code code = zb__metadata_version(change->hierarchy, path, &version, err);
    if (!code && zb__metadata_is_plain(change->hierarchy, path, version, &tracks))
        return tracks ? add_tracking(change, path, false, err) : ZB_OK;
    if (!code)
        code = zb__node_outline(change->hierarchy, path, &document, err);
    if (code == ZB_ENOTFOUND && create) {
        code = refuse_others(change, path, err);
        return code ? code : add_missing(change, path, err);
    }
    if (code == ZB_ENOTFOUND)
        return ZB_OK;
    if (code)
        return zb__node_add_context(change->hierarchy, "group", path, code, err);
    const char *type = zb_json_string(zb_json_get(document.json, "node_type"));
    const bool is_group = type && strcmp(type, "group") == 0;
    if (create && !is_group) {
        zb__document_free(&document);
        return zb_fail(err, ZB_ECONFLICT, "store %s: /%s is no group, nothing can be created below",
                       change->hierarchy->store->label, path);
    }
    const bool has_block = zb__consolidated_has(&document);
    code = zb__moved_state_of(zb_json_get(document.json, "attributes"), &moved, err);
    if (!code)
        code = join_dirty(change, path, has_block, err);
    if (!code && moved.is_kept)
        code = add_tracking(change, path, moved.is_moving, err);
    if (!code && has_block && !contains(&change->owners, path))
        return entries_add(&change->owners, path, &document, err);
    zb__document_free(&document);
    if (code || has_block || !is_group)
        return code;
    if (!moved.is_moving)
        zb__metadata_keep_plain(change->hierarchy, path, version, moved.is_kept);
    return zb__names_add(&change->sound, (zb__name){.text = strdup(path)}, err);
}

/* What killed moves have left in groups above, before a node comes or goes below them. */
static enum zb_code settle_above(zb__change *change, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < change->unsettled.count && !code; i++) {
        const char *path = change->unsettled.name[i].text;
        code = change->is_unlocked
                   ? zb__change_refuse(change, path,
                                       "what a killed move has left has to be settled", err)
                   : zb__tracking_settle(change->hierarchy, path, err);
    }
    if (!code)
        zb__names_free(&change->unsettled);
    return code;
}

enum zb_code zb__change_above(zb__change *change, const char *path, bool create, zb_error *err) {
    if (*path == '\0')
        return ZB_OK;
    char *above = strdup(path);
    if (!above)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    /* "", then up to each slash in turn. */
    char *end = above;
    enum zb_code code = ZB_OK;
    while (end && !code) {
        char kept = *end;
        *end = '\0';
        code = look_at(change, above, create, err);
        *end = kept;
        end = strchr(end == above ? end : end + 1, '/');
    }
    free(above);
    /* A block has to go first, which zb__change_drop does. */
    return code || change->owners.count > 0 ? code : settle_above(change, err);
}

enum zb_code zb__change_expect_none(zb__change *change, const char *path, zb_error *err) {
    zb_object_info info;
    char *key = zb__path_join(path, "zarr.json");
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code = zb_store_stat(zb__place_of(change->hierarchy, key), key, &info, err);
    free(key);
    if (code == ZB_ENOTFOUND)
        return refuse_others(change, path, err);
    if (!code)
        return zb_fail(err, ZB_ECONFLICT, "store %s: there is a node at /%s already",
                       change->hierarchy->store->label, path);
    return zb__node_add_context(change->hierarchy, "node", path, code, err);
}

bool zb__change_finds_nothing(const zb__change *change, const char *path) {
    return change->owners.count == 0 && zb__is_absent(change->hierarchy, path);
}

/* ---- Changing ----------------------------------------------------------------------------- */

/* The marker first: a kill between leaves a block that is right and a marker that means nothing. */
static enum zb_code drop_block(zb_hierarchy *hierarchy, zb__entry *owner, zb_error *err) {
    zb__document bare;
    enum zb_code code = zb__document_without(&owner->document, ZB__CONSOLIDATED, &bare, err);
    if (code)
        return code;
    code = zb__write_back_add(hierarchy, owner->path, &owner->document, err);
    owner->document = (zb__document){.text = NULL};
    if (!code)
        code = zb__node_put(hierarchy, owner->path, bare.text, bare.size, err);
    zb__document_free(&bare);
    return code;
}

/* Where a block is all that describes the nodes below its group, they would go with it. */
static enum zb_code refuse_bare(const zb__change *change, zb_error *err) {
    for (size_t i = 0; i < change->owners.count; i++) {
        zb__entry *owner = &change->owners.entry[i];
        enum zb_code code = open_owner(change, owner, err);
        if (code)
            return code;
        if (owner->group && zb__group_says_all(owner->group))
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "store %s: only the consolidated metadata of /%s describe the nodes "
                           "below it, and a change there would take them out: change a copy of the "
                           "store, which `zarrbridge copy` makes",
                           change->hierarchy->store->label, owner->path);
    }
    return ZB_OK;
}

enum zb_code zb__change_drop(zb__change *change, zb_error *err) {
    enum zb_code code = refuse_bare(change, err);
    for (size_t i = 0; i < change->owners.count && !code; i++)
        code = drop_block(change->hierarchy, &change->owners.entry[i], err);
    return code ? code : settle_above(change, err);
}

void zb__change_note(zb__change *change, const char *path) {
    zb__write_back_put(change->hierarchy, path);
}

enum zb_code zb__change_put(zb__change *change, const char *path, const char *text, size_t size,
                            zb_error *err) {
    const zb_part part = {.data = text, .size = size};
    return zb__change_put_parts(change, path, &part, 1, err);
}

enum zb_code zb__change_put_first(zb__change *change, const char *path, const char *text,
                                  size_t size, zb_error *err) {
    if (!zb_store_is_tree(change->hierarchy->store) || !*path || change->owners.count > 0 ||
        change->missing.count > 0)
        return ZB_EUNSUPPORTED;
    zb__change_note(change, path);
    return zb__node_put_first(change->hierarchy, path, text, size, err);
}

enum zb_code zb__change_put_new(zb__change *change, const char *path, const char *text, size_t size,
                                zb_error *err) {
    zb__change_note(change, path);
    enum zb_code code = zb__node_put_new(change->hierarchy, path, text, size, err);
    return code != ZB_EUNSUPPORTED
               ? code
               : zb__change_refuse(change, path,
                                   "the file system has no hard links, by which a new node comes "
                                   "without a lock",
                                   err);
}

/* A group that another program has made meanwhile is as good, if it is one. */
static enum zb_code put_missing(zb__change *change, const zb__entry *group, zb_error *err) {
    const zb__document *document = &group->document;
    if (!change->is_unlocked)
        return zb__change_put(change, group->path, document->text, document->size, err);
    enum zb_code code =
        zb__change_put_new(change, group->path, document->text, document->size, err);
    return code == ZB_ECONFLICT ? look_at(change, group->path, true, err) : code;
}

enum zb_code zb__change_put_parts(zb__change *change, const char *path, const zb_part *parts,
                                  size_t count, zb_error *err) {
    zb__change_note(change, path);
    return zb__node_put_parts(change->hierarchy, path, parts, count, err);
}

enum zb_code zb__change_put_missing(zb__change *change, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < change->missing.count && !code; i++)
        code = put_missing(change, &change->missing.entry[i], err);
    return code;
}

/* Takes over the path. */
static void set_erased(zb__change *change, char *path) {
    free(change->erased);
    change->erased = path;
    zb__write_back_erased(change->hierarchy, path);
}

enum zb_code zb__change_note_erased(zb__change *change, const char *path, zb_error *err) {
    char *erased = strdup(path);
    if (!erased)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    set_erased(change, erased);
    return ZB_OK;
}

void zb__change_not_erased(zb__change *change) {
    zb__write_back_unsure(change->hierarchy, change->erased);
    free(change->erased);
    change->erased = NULL;
}

enum zb_code zb__change_erase(zb__change *change, const char *path, bool all, zb_error *err) {
    char *key = zb__path_join(path, "zarr.json");
    char *erased = all ? strdup(path) : NULL;
    enum zb_code code = key && (erased || !all)
                            ? zb__hierarchy_erase(change->hierarchy, key, err)
                            : zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    free(key);
    if (code) {
        free(erased);
        return zb__node_add_context(change->hierarchy, "node", path, code, err);
    }
    if (all)
        set_erased(change, erased);
    return ZB_OK;
}

/* ---- After -------------------------------------------------------------------------------- */

enum zb_code zb__change_end(zb__change *change, enum zb_code code, zb_error *err) {
    zb_hierarchy *hierarchy = change->hierarchy;
    const enum zb_code unlocked = zb__hierarchy_unlock(change->lock, code, err);
    entries_free(&change->owners);
    entries_free(&change->missing);
    zb__names_free(&change->sound);
    zb__names_free(&change->tracking);
    zb__names_free(&change->unsettled);
    free(change->erased);
    *change = (zb__change){.hierarchy = NULL};
    /* Erasing and moving become durable with a flush only, also where files of what was erased
       stay. */
    const bool at_once = code == ZB_OK && zb__hierarchy_sync(hierarchy) == ZB_SYNC_ALWAYS;
    const enum zb_code flushed =
        at_once ? zb_store_flush_batch(hierarchy->store, NULL, unlocked ? NULL : err) : ZB_OK;
    return unlocked ? unlocked : flushed;
}
