/* SPDX-License-Identifier: MIT */
/* Blocks of consolidated metadata. */
#ifndef ZB_CHANGE_CONSOLIDATED_H
#define ZB_CHANGE_CONSOLIDATED_H

#include "base/names.h"
#include "node/edit.h"
#include "zarrbridge/store.h"

/* True if this group document has a block. */
bool zb__consolidated_has(const zb__document *group);

/* Gives the document of the group at `path` a block that is `old` (the group's document with its
   block of then) made current: nodes at or below a path of `erased` leave it, and those of `put`
   are described by the documents that the store has now, if it has any. Both lists are of paths in
   the store, and get sorted. All other entries are copied as text. ZB_EUNSUPPORTED when the old
   block has a form that is not known. Both documents are outlines; of `group`, only the text is left
   (json is NULL). */
enum zb_code zb__consolidated_update(zb_store *store, const char *path, zb__document *group,
                                     const zb__document *old, zb__names *put, zb__names *erased,
                                     zb_error *err);

/* Gives it a block of all nodes below it that the store has now, likewise. Documents that are not
   JSON have no place in a block. */
enum zb_code zb__consolidated_rebuild(zb_store *store, const char *path, zb__document *group,
                                      zb_error *err);

#endif
