/* SPDX-License-Identifier: MIT */
/* Dimensions that arrays name: see dimension_uses.h. */
#include "scales/dimension_uses.h"

#include "links/links.h"
#include "scales/dimension_set.h"
#include "scales/scales.h"
#include "tree/side.h"

#include "zarrbridge/limits.h"
#include "zarrbridge/sys/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const char *text, size_t size, const char *word) {
    return memmem(text, size, word, strlen(word)) != NULL;
}

/* Whether the document at a path surely names no dimension: most of a group's do not where this is
   asked, and opening a node takes several times as long as looking for the word. A name may be
   written with escapes. Distant stores have other ways to a document than its key. */
static bool names_nothing(zb_hierarchy *hierarchy, const char *path) {
    char *key = NULL, *text = NULL;
    size_t size;
    if (!zb_hierarchy_is_local(hierarchy) || asprintf(&key, "%s/zarr.json", path) < 0)
        return false;
    const bool is_read =
        zb_store_get(zb_hierarchy_place(hierarchy, key), key, zb_limits_get()->document_bytes,
                     "document_bytes", &text, &size, NULL, NULL) == ZB_OK;
    const bool nothing = is_read && !has(text, size, "dimension_names") &&
                         !has(text, size, zb_hdf5_member_name(ZB_HDF5_SCALES)) &&
                         !has(text, size, "\\u");
    if (is_read)
        free(text);
    free(key);
    return nothing;
}

static int by_name(const void *name, const void *child) {
    return strcmp(name, ((const zb_child *)child)->name);
}

/* The child at a path among those that were read together. */
static const zb_child *find_child(const zb_children *children, const char *path) {
    const char *slash = strrchr(path, '/');
    return children->count ? bsearch(slash ? slash + 1 : path, children->child, children->count,
                                     sizeof *children->child, by_name)
                           : NULL;
}

/* Opens a child, by what has been read where it is there: a name that a node should not have is
   not. */
static enum zb_code open_child(zb_hierarchy *hierarchy, const zb_children *children,
                               const char *path, zb_node **out) {
    const zb_child *child = find_child(children, path);
    if (!child)
        return zb_node_open(hierarchy, path, out, NULL);
    *out = child->node ? zb_node_retain(child->node) : NULL;
    return child->node ? ZB_OK : ZB_EFORMAT;
}

/* Looks at a child that is not opened, and lets it go, unless scales may have been stated. */
static bool add_unopened(vol_dimension_set *uses, const vol_node *group, const char *name,
                         const zb_children *children, bool *stated) {
    zb_node *zarr;
    char *path;
    if (vol_node_child_path(group, name, &path, NULL) != ZB_OK)
        return false;
    if (names_nothing(group->file->hierarchy, path)) {
        free(path);
        return true;
    }
    const enum zb_code code = open_child(group->file->hierarchy, children, path, &zarr);
    free(path);
    if (code)
        return code != ZB_ENOMEM &&
               code != ZB_ECANCELLED; /* a node that cannot be read names nothing */
    zb_hdf5_extension *side;
    const bool is_read = zb_hdf5_extension_of(zarr, &side, NULL) == ZB_OK;
    *stated = zb_hdf5_extension_get(side, ZB_HDF5_SCALES);
    zb_hdf5_extension_free(side);
    const bool added = *stated || (is_read && vol_dimension_set_add(uses, zb_node_array(zarr)));
    zb_node_release(zarr);
    return added;
}

/* Of an array whose scales an HDF5 program has stated, the names say nothing. */
static bool add_opened(vol_dimension_set *uses, vol_node *node) {
    return node->kind != VOL_DATASET || vol_scales_get(node) ||
           vol_dimension_set_add(uses, zb_node_array(node->zarr));
}

/* A file that is written keeps the nodes that it has opened: so the next look, after a change,
   finds most of them. Half of what it may keep is left for those that programs ask for. */
static bool add_link(vol_dimension_set *uses, vol_link *link, const zb_children *children) {
    const vol_file *file = link->group->file;
    if (file->writable && file->node_count < zb_limits_get()->open_nodes / 2)
        vol_link_open(link, NULL);
    bool stated = false;
    if (vol_link_is_unopened(link) &&
        !add_unopened(uses, link->group, link->name, children, &stated))
        return false;
    if (stated)
        vol_link_open(link, NULL);
    return !link->node || add_opened(uses, link->node);
}

/* The documents of a distant group that is only read, asked for together: one by one each would
   cost a round trip. Not those of a group that has more than a file keeps. */
static void read_together(const vol_node *group, zb_children *out) {
    const vol_file *file = group->file;
    size_t unopened = 0;
    for (size_t i = 0; i < vol_links_count(group); i++)
        unopened += vol_link_is_unopened(vol_links_at(group, i));
    if (unopened > 1 && !zb_hierarchy_is_local(file->hierarchy) && !file->writable && group->zarr &&
        vol_links_count(group) <= zb_limits_get()->open_nodes)
        zb_group_children(group->zarr, out, NULL); /* without: one by one */
}

static vol_dimension_set *look(vol_node *group) {
    vol_dimension_set *uses = calloc(1, sizeof *uses);
    bool complete = uses && vol_node_list(group, NULL) == ZB_OK;
    zb_children children = {.count = 0};
    if (complete)
        read_together(group, &children);
    for (size_t i = 0; complete && i < vol_links_count(group); i++)
        complete = add_link(uses, vol_links_at(group, i), &children);
    zb_children_free(&children);
    if (complete) {
        uses->change = group->file->changes;
        return uses;
    }
    vol_dimension_set_free(uses);
    return NULL;
}

bool vol_uses_dimension(vol_node *group, const char *name, uint64_t length) {
    if (!group->uses || group->uses->change != group->file->changes) {
        vol_dimension_set_free(group->uses);
        group->uses = look(group);
    }
    return group->uses && vol_dimension_set_has(group->uses, name, length);
}
