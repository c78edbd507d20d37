/* SPDX-License-Identifier: MIT */
#include "hierarchy/served.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "array/block.h"
#include "hierarchy/age.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"

/* Shared by the hierarchy and the node that it came with. Its document is the node's, too. */
struct zb__served {
    atomic_int refs;
    char *owner; /* path of the group that has the block */
    zb_json *document;
    const zb_json **entries; /* of its map, by name */
    size_t count;
    int format;  /* of the group */
    zb__age age; /* it is as of the moment when its group was opened, however long ago */
};

void zb__served_release(zb__served *served) {
    if (!served || atomic_fetch_sub(&served->refs, 1) != 1)
        return;
    zb_json_free(served->document);
    free(served->entries);
    free(served->owner);
    free(served);
}

static bool is_covered(const char *path, const char *owner) {
    return strcmp(path, owner) == 0 || zb__path_below(path, owner) != NULL;
}

/* The store's block, with a reference for the caller, if it is not outdated and covers the path. */
static zb__served *find(zb_hierarchy *hierarchy, const char *path) {
    zb__metadata_lock();
    zb__served *served = hierarchy->metadata.served;
    if (served && zb__age_is_unchanged(&served->age, hierarchy->store) &&
        is_covered(path, served->owner))
        atomic_fetch_add(&served->refs, 1);
    else
        served = NULL;
    zb__metadata_unlock();
    return served;
}

/* NULL when memory runs out. */
static zb__served *new_served(const char *path, zb_json *document, int format, uint64_t changes) {
    const zb_json *block = zb_json_get(document, ZB__CONSOLIDATED);
    zb__served *served = calloc(1, sizeof *served);
    if (!served)
        return NULL;
    atomic_init(&served->refs, 1);
    served->owner = strdup(path);
    served->entries = zb__block_entries(zb_json_get(block, "metadata"), &served->count);
    if (!served->owner || !served->entries) {
        zb__served_release(served);
        return NULL;
    }
    served->document = document;
    served->format = format;
    served->age = zb__age_now(changes);
    return served;
}

/* Puts `served` (NULL: none) in the place of what the store has, unless that is of a group above. A
   group without a block takes away the one that it had. */
static void attach(zb_hierarchy *hierarchy, const char *owner, zb__served *served) {
    zb__metadata_lock();
    zb__served *old = hierarchy->metadata.served;
    bool is_current = old && zb__age_is_unchanged(&old->age, hierarchy->store);
    bool is_same = old && strcmp(old->owner, owner) == 0;
    bool stays = old && !is_same && (!served || (is_current && is_covered(owner, old->owner)));
    if (!stays) {
        hierarchy->metadata.served = served;
        if (served)
            atomic_fetch_add(&served->refs, 1);
    }
    zb__metadata_unlock();
    if (!stays)
        zb__served_release(old);
}

zb__served *zb__served_keep(zb_hierarchy *hierarchy, const char *path, zb_json *document,
                            int format, bool is_bare, uint64_t changes) {
    const zb_json *map = zb_json_get(zb_json_get(document, ZB__CONSOLIDATED), "metadata");
    const bool serves = (is_bare || !hierarchy->store->hints.is_local) &&
                        zb_json_kind_of(map) == ZB_JSON_OBJECT && zb_json_first(map);
    zb__served *served = serves ? new_served(path, document, format, changes) : NULL;
    attach(hierarchy, path, served);
    return served;
}

const zb_json *const *zb__served_entries(zb_hierarchy *hierarchy, const char *path, size_t *count,
                                         const char **relative, zb__served **hold) {
    *hold = find(hierarchy, path);
    if (!*hold)
        return NULL;
    const char *below = zb__path_below(path, (*hold)->owner);
    *relative = below ? below : "";
    *count = (*hold)->count;
    return (*hold)->entries;
}

bool zb__served_covers(zb_hierarchy *hierarchy, const char *path) {
    zb__served *served = find(hierarchy, path);
    zb__served_release(served);
    return served != NULL;
}

/* The document at path in the block (NULL: none). A name alone is none that could serve. */
static const zb_json *document_in(const zb__served *served, const char *path) {
    const char *relative = served ? zb__path_below(path, served->owner) : NULL;
    const zb_json *entry =
        relative ? zb__block_find(served->entries, served->count, relative) : NULL;
    return zb_json_get(entry, "zarr_format") ? entry : NULL;
}

bool zb__served_names(const zb__served *served, const char *path) {
    return document_in(served, path) != NULL;
}

char *zb__served_text(zb_hierarchy *hierarchy, const char *path, size_t *size, int *format) {
    zb__served *served = find(hierarchy, path);
    const zb_json *entry = document_in(served, path);
    char *text = entry ? zb_json_print(entry) : NULL;
    if (text) {
        *size = strlen(text);
        *format = served->format;
    }
    zb__served_release(served);
    return text;
}

zb_json *zb__served_owner(zb_hierarchy *hierarchy, const char *path, int *format,
                          zb__served **hold) {
    *hold = find(hierarchy, path);
    if (!*hold || strcmp((*hold)->owner, path) != 0)
        return NULL;
    *format = (*hold)->format;
    return (*hold)->document;
}

bool zb__served_lacks(zb_hierarchy *hierarchy, const char *path) {
    zb__served *served = find(hierarchy, path);
    const char *relative = served ? zb__path_below(path, served->owner) : NULL;
    const bool lacks = relative && !zb__block_knows(served->entries, served->count, relative);
    zb__served_release(served);
    return lacks;
}

char *zb__served_key(zb_hierarchy *hierarchy, const char *path) {
    zb__served *served = find(hierarchy, path);
    char *key =
        served ? zb__path_join(served->owner, served->format == 2 ? ".zgroup" : "zarr.json") : NULL;
    zb__served_release(served);
    return key;
}

bool zb__served_stands(zb_hierarchy *hierarchy, const char *path) {
    char *key = hierarchy->store->hints.is_local ? zb__served_key(hierarchy, path) : NULL;
    const bool gone = key && zb__is_absent(hierarchy, key);
    free(key);
    return !gone;
}

int zb__served_format(zb_hierarchy *hierarchy, const char *path) {
    zb__served *served = find(hierarchy, path);
    const int format = served && zb__path_below(path, served->owner) ? served->format : 0;
    zb__served_release(served);
    return format;
}
