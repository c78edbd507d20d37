/* SPDX-License-Identifier: MIT */
/*
 * Locks of keys in S3, which has none: a lock keeps other threads of the process out, and remembers
 * which version of each object under it was read first. A put then asks the service to replace that
 * version and no other, so that what another program has put meanwhile is never lost: the put fails
 * with ZB_ECONFLICT.
 */
#ifndef ZB_REMOTE_S3_LOCK_H
#define ZB_REMOTE_S3_LOCK_H

#include "request.h"
#include "s3_send.h"

/* As lock() and unlock() of zb_store_ops. ZB_EUNSUPPORTED where the service takes no notice of
   conditions. */
enum zb_code zb__s3_lock(zb_store *store, const zb_locking *locking, zb_lock **out, zb_error *err);
void zb__s3_unlock(zb_lock *lock);

/* As is_locked() of zb__protocol. */
bool zb__s3_is_locked(zb__remote *store, const char *key);

/* As answered() of zb__protocol: the first answer under a lock counts, or after zb__s3_refused. */
void zb__s3_answered(zb__remote *store, const char *key, enum zb_code code,
                     const zb__version *version);

/* What the holder of the key's lock knows of the object; ZB__UNSEEN also where no lock is held.
   *version is set with ZB__PRESENT. */
enum zb__seen zb__s3_seen(zb__remote *store, const char *key, zb__version *version);

/* The object was put in this version, or erased (NULL): the holder of its lock has seen it. */
void zb__s3_replaced(zb__remote *store, const char *key, const zb__version *version);

/* The service has refused to put the document in the place of what the holder has seen. Until it is
   read anew puts are refused as before; then that version is what they replace, so that a turn of
   many changes (zb_turn_begin) can make one of them again. */
void zb__s3_refused(zb__remote *store, const char *key);

/* There is nothing at the prefix: the holder of the root's lock has seen that of all documents at
   and below it, but for those of which it knows more. */
void zb__s3_found_none(zb__remote *store, const char *prefix);

/* True if this thread holds the key's lock and has put the object under it: *version is what it has
   put. */
bool zb__s3_own_put(zb__remote *store, const char *key, zb__version *version);

#endif
