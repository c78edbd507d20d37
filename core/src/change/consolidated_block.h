/* SPDX-License-Identifier: MIT */
/* Blocks of consolidated metadata. */
#ifndef ZB_CHANGE_CONSOLIDATED_BLOCK_H
#define ZB_CHANGE_CONSOLIDATED_BLOCK_H

#include "change/text_parts.h"
#include "node/edit.h"
#include "util/names.h"
#include "zarrbridge/hierarchy.h"

/* True if this group document has a block. */
bool zb__consolidated_has(const zb__document *group);

/* Makes the document of the group at `path` with a block that is `old` (the group's document with
   its block of then) made current: nodes at or below a path of `erased` leave it, and those of
   `put` are described by the documents that the store has now, if it has any. Both lists are of
   paths in the store, and get sorted. ZB_EUNSUPPORTED when the old block has a form that is not
   known. Both documents are outlines; `group` is given an empty block. *text is the document, to be
   freed by zb__text_parts_free on success: it borrows from both, among them all old entries that
   stay. */
enum zb_code zb__consolidated_update(zb_hierarchy *hierarchy, const char *path, zb__document *group,
                                     const zb__document *old, zb__names *put, zb__names *erased,
                                     zb__text_parts *text, zb_error *err);

/* The same with a block of all nodes below it that the store has now. Documents that are not JSON
   have no place in a block. */
enum zb_code zb__consolidated_rebuild(zb_hierarchy *hierarchy, const char *path,
                                      zb__document *group, zb__text_parts *text, zb_error *err);

#endif
