/* SPDX-License-Identifier: MIT */
#include "hierarchy/consolidated_cache.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "array/block.h"
#include "hierarchy/age.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"

/* Shared by the hierarchy and the node that it came with. Its document is the node's, too. */
struct zb__cached_block {
    atomic_int refs;
    char *owner; /* path of the group that has the block */
    zb_json *document;
    const zb_json **entries; /* of its map, by name */
    size_t count;
    int format;  /* of the group */
    zb__age age; /* it is as of the moment when its group was opened, however long ago */
};

void zb__cached_block_release(zb__cached_block *cached_block) {
    if (!cached_block || atomic_fetch_sub(&cached_block->refs, 1) != 1)
        return;
    zb_json_free(cached_block->document);
    free(cached_block->entries);
    free(cached_block->owner);
    free(cached_block);
}

static bool is_covered(const char *path, const char *owner) {
    return strcmp(path, owner) == 0 || zb__path_below(path, owner) != NULL;
}

/* The store's block, with a reference for the caller, if it is not outdated and covers the path. */
static zb__cached_block *find(zb_hierarchy *hierarchy, const char *path) {
    zb__metadata_lock();
    zb__cached_block *cached_block = hierarchy->metadata.cached_block;
    if (cached_block && zb__age_is_unchanged(&cached_block->age, hierarchy->store) &&
        is_covered(path, cached_block->owner))
        atomic_fetch_add(&cached_block->refs, 1);
    else
        cached_block = NULL;
    zb__metadata_unlock();
    return cached_block;
}

/* NULL when memory runs out. */
static zb__cached_block *new_cached_block(const char *path, zb_json *document, int format,
                                          uint64_t changes) {
    const zb_json *block = zb_json_get(document, ZB__CONSOLIDATED);
    zb__cached_block *cached_block = calloc(1, sizeof *cached_block);
    if (!cached_block)
        return NULL;
    atomic_init(&cached_block->refs, 1);
    cached_block->owner = strdup(path);
    cached_block->entries = zb__block_entries(zb_json_get(block, "metadata"), &cached_block->count);
    if (!cached_block->owner || !cached_block->entries) {
        zb__cached_block_release(cached_block);
        return NULL;
    }
    cached_block->document = document;
    cached_block->format = format;
    cached_block->age = zb__age_now(changes);
    return cached_block;
}

/* Puts `cached_block` (NULL: none) in the place of what the store has, unless that is of a group
   above. A group without a block takes away the one that it had. */
static void attach(zb_hierarchy *hierarchy, const char *owner, zb__cached_block *cached_block) {
    zb__metadata_lock();
    zb__cached_block *old = hierarchy->metadata.cached_block;
    bool is_current = old && zb__age_is_unchanged(&old->age, hierarchy->store);
    bool is_same = old && strcmp(old->owner, owner) == 0;
    bool stays =
        old && !is_same && (!cached_block || (is_current && is_covered(owner, old->owner)));
    if (!stays) {
        hierarchy->metadata.cached_block = cached_block;
        if (cached_block)
            atomic_fetch_add(&cached_block->refs, 1);
    }
    zb__metadata_unlock();
    if (!stays)
        zb__cached_block_release(old);
}

zb__cached_block *zb__cached_block_keep(zb_hierarchy *hierarchy, const char *path,
                                        zb_json *document, int format, bool is_bare,
                                        uint64_t changes) {
    const zb_json *map = zb_json_get(zb_json_get(document, ZB__CONSOLIDATED), "metadata");
    const bool serves = (is_bare || !hierarchy->store->hints.is_local) &&
                        zb_json_kind_of(map) == ZB_JSON_OBJECT && zb_json_first(map);
    zb__cached_block *cached_block =
        serves ? new_cached_block(path, document, format, changes) : NULL;
    attach(hierarchy, path, cached_block);
    return cached_block;
}

const zb_json *const *zb__cached_block_entries(zb_hierarchy *hierarchy, const char *path,
                                               size_t *count, const char **relative,
                                               zb__cached_block **hold) {
    *hold = find(hierarchy, path);
    if (!*hold)
        return NULL;
    const char *below = zb__path_below(path, (*hold)->owner);
    *relative = below ? below : "";
    *count = (*hold)->count;
    return (*hold)->entries;
}

bool zb__cached_block_covers(zb_hierarchy *hierarchy, const char *path) {
    zb__cached_block *cached_block = find(hierarchy, path);
    zb__cached_block_release(cached_block);
    return cached_block != NULL;
}

/* The document at path in the block (NULL: none). A name alone is none that could serve. */
static const zb_json *document_in(const zb__cached_block *cached_block, const char *path) {
    const char *relative = cached_block ? zb__path_below(path, cached_block->owner) : NULL;
    const zb_json *entry =
        relative ? zb__block_find(cached_block->entries, cached_block->count, relative) : NULL;
    return zb_json_get(entry, "zarr_format") ? entry : NULL;
}

bool zb__cached_block_names(const zb__cached_block *cached_block, const char *path) {
    return document_in(cached_block, path) != NULL;
}

char *zb__cached_block_text(zb_hierarchy *hierarchy, const char *path, size_t *size, int *format) {
    zb__cached_block *cached_block = find(hierarchy, path);
    const zb_json *entry = document_in(cached_block, path);
    char *text = entry ? zb_json_print(entry) : NULL;
    if (text) {
        *size = strlen(text);
        *format = cached_block->format;
    }
    zb__cached_block_release(cached_block);
    return text;
}

zb_json *zb__cached_block_owner(zb_hierarchy *hierarchy, const char *path, int *format,
                                zb__cached_block **hold) {
    *hold = find(hierarchy, path);
    if (!*hold || strcmp((*hold)->owner, path) != 0)
        return NULL;
    *format = (*hold)->format;
    return (*hold)->document;
}

bool zb__cached_block_confirms_absent(zb_hierarchy *hierarchy, const char *path) {
    zb__cached_block *cached_block = find(hierarchy, path);
    const char *relative = cached_block ? zb__path_below(path, cached_block->owner) : NULL;
    const bool lacks =
        relative && !zb__block_knows(cached_block->entries, cached_block->count, relative);
    zb__cached_block_release(cached_block);
    return lacks;
}

char *zb__cached_block_key(zb_hierarchy *hierarchy, const char *path) {
    zb__cached_block *cached_block = find(hierarchy, path);
    char *key = cached_block ? zb__path_join(cached_block->owner,
                                             cached_block->format == 2 ? ".zgroup" : "zarr.json")
                             : NULL;
    zb__cached_block_release(cached_block);
    return key;
}

bool zb__cached_block_stands(zb_hierarchy *hierarchy, const char *path) {
    char *key = hierarchy->store->hints.is_local ? zb__cached_block_key(hierarchy, path) : NULL;
    const bool gone = key && zb__is_absent(hierarchy, key);
    free(key);
    return !gone;
}

int zb__cached_block_format(zb_hierarchy *hierarchy, const char *path) {
    zb__cached_block *cached_block = find(hierarchy, path);
    const int format =
        cached_block && zb__path_below(path, cached_block->owner) ? cached_block->format : 0;
    zb__cached_block_release(cached_block);
    return format;
}
