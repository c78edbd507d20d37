/* SPDX-License-Identifier: MIT */
/*
 * Blocks of consolidated metadata that a hierarchy owes: changes have taken them out of their
 * groups' documents, and the next flush, or the end of the hierarchy, puts them back, brought up to
 * date. So a thousand changes write a block once.
 *
 * A *note* beside the group's document says so to other processes: the token of the hierarchy that
 * owes the block. A hierarchy that finds another one's note puts its own in place of it before it
 * changes anything, and owes the block, too. One that puts a block back makes it of the old one and
 * of the changes that it has made, as long as its note still stands; otherwise of all documents.
 *
 * All calls but zb__owed_settle are made under the hierarchy's lock.
 */
#ifndef ZB_CHANGE_OWED_H
#define ZB_CHANGE_OWED_H

#include "node/edit.h"
#include "zarrbridge/hierarchy.h"

/* Before the block is taken out of the document of the group at path: puts the note. Takes over the
   document, with its block. */
enum zb_code zb__owed_add(zb_hierarchy *hierarchy, const char *path, zb__document *document,
                          zb_error *err);

/* Before a change below the group at path, which has no block: when a note says that one is owed by
   another hierarchy, this one owes it, too. */
enum zb_code zb__owed_join(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* Whether a block is owed, by whatever hierarchy. */
enum zb_code zb__owed_find(zb_hierarchy *hierarchy, const char *path, bool *out, zb_error *err);

/* The group at path has a block: a note beside it, which a kill has left, goes. */
enum zb_code zb__owed_tidy(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* For the blocks that are owed above: a document is going to come to the path, or to change there;
   all at or below the path has gone; or it is not sure what has happened. They do not fail. */
void zb__owed_put(zb_hierarchy *hierarchy, const char *path);
void zb__owed_erased(zb_hierarchy *hierarchy, const char *path);
void zb__owed_unsure(zb_hierarchy *hierarchy, const char *path);

/* Puts back the blocks that are owed at or below the path. Takes the lock. Blocks that cannot be
   written are still owed; those that cannot be made (a form that is not known, larger than
   consolidated_bytes) stay out. */
enum zb_code zb__owed_settle(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* Erases the note of the group at path. */
enum zb_code zb__owed_forget(zb_hierarchy *hierarchy, const char *path, zb_error *err);

#endif
