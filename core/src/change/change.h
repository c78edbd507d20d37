/* SPDX-License-Identifier: MIT */
/*
 * One change of a hierarchy: the lock, the groups above, and their consolidated metadata.
 *
 * A change goes like this, and stops at the first error:
 *
 *     zb__change_begin   takes the lock
 *     zb__change_above   reads the groups above each path that is going to change
 *     (checks)
 *     zb__change_drop    takes the blocks of consolidated metadata out of those groups
 *     zb__change_put, zb__change_erase, ...
 *     zb__change_end     always: lets go of the lock
 *
 * The next flush puts the blocks back, brought up to date (write_back.h). So a block is in the
 * store only while it tells the truth: a process that is killed before leaves groups without a
 * block, which is always right.
 */
#ifndef ZB_CHANGE_CHANGE_H
#define ZB_CHANGE_CHANGE_H

#include "change/put.h"
#include "hierarchy/lock_scope.h"
#include "node/edit.h"
#include "util/names.h"
#include "zarrbridge/node.h"

/* How often a change is made again that another program's change has met. */
enum { ZB__EDIT_ATTEMPTS = 10 };

/* A group above, and its document. */
typedef struct zb__entry {
    char *path;
    zb__document document;
    zb_node *group; /* of one that has a block, as soon as that was asked for more; or NULL */
} zb__entry;

/* A growing list of entries. */
typedef struct zb__entries {
    zb__entry *entry;
    size_t count, capacity;
} zb__entries;

typedef struct zb__change {
    zb_hierarchy *hierarchy; /* not owned */
    zb_lock *lock;           /* of the hierarchy; NULL: the store has none */
    bool is_unlocked;        /* it should have one: see zb__change_begin_new */
    zb_error why_not;        /* with that: what zb__change_begin would have said */
    zb__entries owners;      /* groups above with a block, and their documents as they were */
    zb__entries missing;     /* groups above without a document, to be created; parents first */
    zb__names sound;     /* groups above that were looked at, and from which nothing is wanted */
    zb__names tracking;  /* groups above that keep track of nodes that move (moved_note.h) */
    zb__names unsettled; /* those of them where a killed move has left something */
    char *erased;        /* erased path, with all nodes at and below it, or NULL */
} zb__change;

/* ZB_EUNSUPPORTED when the store cannot be written. After success only zb__change_end ends it. */
enum zb_code zb__change_begin(zb_hierarchy *hierarchy, zb__change *change, zb_error *err);

/* The same for a change that only adds nodes. Where nobody has a lock, it begins without one, and
   then documents come by zb__change_put_new alone, none changes, and nothing is erased: whatever
   another program does at the same time, it cannot be undone. */
enum zb_code zb__change_begin_new(zb_hierarchy *hierarchy, zb__change *change, zb_error *err);

/* For a change without a lock, when more is needed: its error, with the path and what that is in
   front. */
enum zb_code zb__change_refuse(const zb__change *change, const char *path, const char *what,
                               zb_error *err);

/* Reads the groups above path. With create, those that are missing will be created by
   zb__change_put_missing, and an array above is ZB_ECONFLICT. */
enum zb_code zb__change_above(zb__change *change, const char *path, bool create, zb_error *err);

/* ZB_ECONFLICT when there is a node at path. */
enum zb_code zb__change_expect_none(zb__change *change, const char *path, zb_error *err);

/* True if there is neither a node nor anything else at path, which groups above with a block may
   describe: one question in place of zb__change_expect_none and those for left-overs. */
bool zb__change_finds_nothing(const zb__change *change, const char *path);

enum zb_code zb__change_drop(zb__change *change, zb_error *err);
enum zb_code zb__change_put_missing(zb__change *change, zb_error *err);

/* Puts a node's document: a text, or the parts of one. */
enum zb_code zb__change_put(zb__change *change, const char *path, const char *text, size_t size,
                            zb_error *err);
enum zb_code zb__change_put_parts(zb__change *change, const char *path, const zb_part *parts,
                                  size_t count, zb_error *err);

/* Puts the document of a node in one step with the question whether anything is at its place: then
   ZB_ECONFLICT, and nothing is changed. ZB_EUNSUPPORTED, without an error filled in, where the
   store cannot, or where groups above have to be changed before. */
enum zb_code zb__change_put_first(zb__change *change, const char *path, const char *text,
                                  size_t size, zb_error *err);

/* Puts the document of a node where none may be, else ZB_ECONFLICT, told in the step in which it
   comes: safe without a lock. */
enum zb_code zb__change_put_new(zb__change *change, const char *path, const char *text, size_t size,
                                zb_error *err);

/* Notes that a document comes to path without a put of ours: a move brings it there. */
void zb__change_note(zb__change *change, const char *path);

/* Erases a node's document. With `all` the node and those below leave consolidated metadata; the
   caller erases these, too. */
enum zb_code zb__change_erase(zb__change *change, const char *path, bool all, zb_error *err);
/* The second half alone, for nodes that are erased in another way. */
enum zb_code zb__change_note_erased(zb__change *change, const char *path, zb_error *err);
/* After that: they could not be erased after all, as far as it is known. */
void zb__change_not_erased(zb__change *change);

/* Returns code; with ZB_SYNC_ALWAYS the error of making the change durable. */
enum zb_code zb__change_end(zb__change *change, enum zb_code code, zb_error *err);

#endif
