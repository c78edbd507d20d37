/* SPDX-License-Identifier: MIT */
/*
 * Blocks of consolidated metadata that a hierarchy has to write back: changes have taken them out
 * of their groups' documents, and the next flush, or the end of the hierarchy, puts them back,
 * brought up to date. So a thousand changes write a block once.
 *
 * A *marker* beside the group's document says so to other processes: the token of the hierarchy
 * that has to write back the block. A hierarchy that finds another one's marker puts its own in
 * place of it before it changes anything, and has to write back the block, too. One that puts a
 * block back makes it of the old one and of the changes that it has made, as long as its marker
 * still stands; otherwise of all documents.
 *
 * All calls but zb__write_back_run are made under the hierarchy's lock.
 */
#ifndef ZB_CHANGE_WRITE_BACK_H
#define ZB_CHANGE_WRITE_BACK_H

#include "node/edit.h"
#include "zarrbridge/hierarchy.h"

/* Before the block is taken out of the document of the group at path: puts the marker. Takes over
   the document, with its block. */
enum zb_code zb__write_back_add(zb_hierarchy *hierarchy, const char *path, zb__document *document,
                                zb_error *err);

/* Before a change below the group at path, which has no block: when a marker says that one is dirty
   by another hierarchy, this one has to write it back, too. */
enum zb_code zb__write_back_join(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* Whether a block is dirty, by whatever hierarchy. */
enum zb_code zb__write_back_find(zb_hierarchy *hierarchy, const char *path, bool *out,
                                 zb_error *err);

/* The group at path has a block: a marker beside it, which a kill has left, goes. */
enum zb_code zb__write_back_clean(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* For the blocks that are dirty above: a document is going to come to the path, or to change there;
   all at or below the path has gone; or it is not sure what has happened. They do not fail. */
void zb__write_back_put(zb_hierarchy *hierarchy, const char *path);
void zb__write_back_erased(zb_hierarchy *hierarchy, const char *path);
void zb__write_back_unsure(zb_hierarchy *hierarchy, const char *path);

/* Puts back the blocks that are dirty at or below the path. Takes the lock. Blocks that cannot be
   written are still dirty; those that cannot be made (a form that is not known, larger than
   consolidated_bytes) stay out. */
enum zb_code zb__write_back_run(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* Erases the marker of the group at path. */
enum zb_code zb__write_back_forget(zb_hierarchy *hierarchy, const char *path, zb_error *err);

#endif
