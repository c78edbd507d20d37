/* SPDX-License-Identifier: MIT */
/* What the layers above ask of a store besides its objects. */
#ifndef ZB_STORE_STORE_H
#define ZB_STORE_STORE_H

#include "util/lane.h"
#include "zarrbridge/sys/store.h"

/* ZB_EUNSUPPORTED, for a store that has no way to put objects. */
enum zb_code zb__store_fail_read_only(const zb_store *store, zb_error *err);

/* Counts a change: see zb_store_changes. */
static inline void zb__store_count_change(zb_store *store) {
    __atomic_fetch_add(&store->changes, 1, __ATOMIC_SEQ_CST);
}

/* A directory store has got its name just now: the next flush makes that durable, too. */
void zb__fs_note_new(zb_store *store);

/* Says that no other program knows of the directory, nor does a thread read what others put, until
   it is said not to be so any more. Each object that is put meanwhile, and is not there, is written
   under its own name, and nobody is asked whether it may be (zb_batch). Nothing of it is durable
   before a flush. */
void zb__fs_set_unseen(zb_store *store, bool is_unseen);

/* Whether that was said: objects need no lock to be put. False of all stores but directories. */
bool zb__store_is_unseen(const zb_store *store);

/* ---- Objects that come together (fs_unseen.c). */

typedef struct zb__unseen zb__unseen;

/* Begins what is to come below a prefix where nothing is: objects are put into zb__unseen_store,
   under their keys behind "PREFIX/", and out of sight. The directory that the prefix names lies in
   the home, whose key is that above. ZB_EUNSUPPORTED where there is something, in all stores but
   local directories. */
enum zb_code zb__unseen_begin(zb_store *store, const char *prefix, const zb_home *home,
                              zb__unseen **out, zb_error *err);
zb_store *zb__unseen_store(const zb__unseen *unseen);

/* Lets all come in one step; nothing comes where `code` is an error, which is returned. What is to
   be durable the caller has flushed; the step itself is as safe as `sync` says. ZB_ECONFLICT where
   others have put something below the prefix meanwhile. Frees `unseen`. The batch is asked
   nothing. */
enum zb_code zb__unseen_end(zb__unseen *unseen, zb_batch *batch, enum zb_sync sync,
                            enum zb_code code, zb_error *err);

/* ---- How much is under way at once to a store that answers after a round trip. */

/* Objects that wait to be sent are memory beside those that are being made. */
#define ZB__BYTES_UNDER_WAY ((uint64_t)64 << 20)
#define ZB__WIDTH_LEAST 4

/* The width of a lane (util/lane.h) for objects of that many bytes: those of some MiB together keep
   a link busy. 0 for a store whose puts wait for nothing. */
static inline size_t zb__store_width(const zb_store *store, uint64_t bytes) {
    if (store->hints.is_local)
        return 0;
    const uint64_t fit = ZB__BYTES_UNDER_WAY / (bytes ? bytes : 1);
    return fit < ZB__WIDTH_LEAST       ? ZB__WIDTH_LEAST
           : fit > ZB__LANE_WIDTH_MOST ? ZB__LANE_WIDTH_MOST
                                       : (size_t)fit;
}

#endif
