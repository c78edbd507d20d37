/* SPDX-License-Identifier: MIT */
/*
 * Staged documents: those of a new store on a network, which its hierarchy holds in memory until
 * the commit (commit.h). Chunks go to their places at once, documents after all of them, and the
 * root's last of all. So a program that is killed leaves nothing that opens, and what was written
 * opens as a whole.
 *
 * As long as objects lie in the store without the root's document, the marker of an unfinished copy
 * stands at the root (markers.h): the next program makes a new store there.
 *
 * Documents and markers, and all that may lie where they come, are asked for, put and erased by
 * these functions in place of the store's. A hierarchy without staged documents pays one branch for
 * that. Chunks are read from the store itself.
 */
#ifndef ZB_HIERARCHY_STAGED_H
#define ZB_HIERARCHY_STAGED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "hierarchy/hierarchy.h"
#include "util/names.h"
#include "util/token.h"

enum zb__staged_state {
    ZB__STAGES,    /* all documents */
    ZB__COMMITS,   /* those that are not stored yet: a commit has begun, and may have failed */
    ZB__COMMITTED, /* none: all goes through to the store */
};

/* Keys of this name in `tried` are below those of documents. */
#define ZB__FOUND "found"

typedef struct zb__staged {
    zb_commit commit; /* the commit */
    zb_store *store;  /* the hierarchy's, not owned */
    /* In memory: documents and markers; the keys of documents of nodes at which something lies in
       the store; documents as they were last put into the store, and below the key of each, in
       ZB__FOUND, as it was found there by then. One reference each. */
    zb_store *documents, *touched, *tried;
    bool is_rooted;       /* the root's document was put into the store */
    bool was_empty;       /* there was nothing in the store: what was not put there is not there */
    atomic_int state;     /* enum zb__staged_state */
    atomic_bool is_noted; /* the marker stands at the root, with the token, and has to go */
    atomic_bool is_lost;  /* another program makes a store there, or has made one */
    char token[ZB__TOKEN_SIZE];
} zb__staged;

/* Without anything staged yet; zb__staged_free also takes NULL. */
enum zb_code zb__staged_new(zb_store *store, bool was_empty, zb__staged **out, zb_error *err);
void zb__staged_free(zb__staged *staged);

/* ---- Questions ---- */

/* The names of staged documents and markers directly below a prefix, and of prefixes of others:
   sorted, to be freed also after an error. */
enum zb_code zb__staged_names(const zb__staged *staged, const char *prefix, zb__names *out,
                              zb_error *err);

bool zb__staged_stages(const zb__staged *staged); /* until it is committed */
zb_store *zb__staged_place(const zb__staged *staged, const char *key);

static inline bool zb__is_staging(const zb_hierarchy *hierarchy) {
    return hierarchy->staged && zb__staged_stages(hierarchy->staged);
}

/* The store to ask for the object of a key: the hierarchy's, or one in memory, which has the
   document or note, or lacks what surely is not there. */
static inline zb_store *zb__place_of(const zb_hierarchy *hierarchy, const char *key) {
    return hierarchy->staged ? zb__staged_place(hierarchy->staged, key) : hierarchy->store;
}

/* As zb_store_is_absent. */
static inline bool zb__is_absent(const zb_hierarchy *hierarchy, const char *prefix) {
    return !zb__is_staging(hierarchy) && zb_store_is_absent(hierarchy->store, prefix);
}

/* As zb_store_list_as. Staged documents are listed level by level. */
enum zb_code zb__hierarchy_list(zb_hierarchy *hierarchy, const zb_list *list, zb_list_fn fn,
                                void *context, zb_error *err);

/* ---- Changes ---- */

/* As zb_store_put_as, also for chunks: the marker comes to the store before the first of them, and
   is looked at with each. A program that begins later takes it over: ZB_ECONFLICT then, and nothing
   is put any more. */
enum zb_code zb__hierarchy_put(zb_hierarchy *hierarchy, const zb_put *put, zb_error *err);

/* As zb_store_copy from the place of from_key in another hierarchy, or in this one. */
enum zb_code zb__hierarchy_copy(zb_hierarchy *hierarchy, const char *key, const zb_hierarchy *from,
                                const char *from_key, zb_error *err);

/* As zb_store_erase_as; nothing of another program's. The second one erases one object, the third
   one all below a prefix that is not the root. */
enum zb_code zb__hierarchy_erase_as(zb_hierarchy *hierarchy, const zb_erase *erase, zb_error *err);
enum zb_code zb__hierarchy_erase(zb_hierarchy *hierarchy, const char *key, zb_error *err);
enum zb_code zb__hierarchy_erase_below(zb_hierarchy *hierarchy, const char *prefix, zb_error *err);

/* ---- The marker at the root ---- */

/* Notes that another program makes a store there: ZB_ECONFLICT, which it returns. */
enum zb_code zb__staged_lose(zb__staged *staged, zb_error *err);

/* A document of the store, or one in memory. malloc'ed. */
enum zb_code zb__staged_get(zb_store *store, const char *key, char **text, size_t *size,
                            zb_error *err);

/* Loses where the store has a document of this key, unless an earlier try of the commit has put it:
   without an answer, or before it failed. */
enum zb_code zb__staged_free_check(zb__staged *staged, const char *key, zb_error *err);

/* Puts the marker, unless it stands. takes_over: that of a killed program. Loses where the root has
   a document by then: another program has made its store, and its marker has gone. */
enum zb_code zb__staged_note_put(zb__staged *staged, bool takes_over, zb_error *err);

/* Loses where the marker is not this hierarchy's any more. */
enum zb_code zb__staged_note_check(zb__staged *staged, zb_error *err);

/* Loses where there is another program's marker; for a hierarchy that may have put none. */
enum zb_code zb__staged_others_check(zb__staged *staged, zb_error *err);

/* All documents are in the store: it is committed if the marker is still this hierarchy's, and then
   that goes. Called again it erases one that is left. */
enum zb_code zb__staged_win(zb__staged *staged, zb_error *err);

/* Erases the marker if it is this hierarchy's. */
void zb__staged_note_drop(zb__staged *staged);

#endif
