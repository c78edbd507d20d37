/* SPDX-License-Identifier: MIT */
/*
 * Writing to services that have no locks, but whose requests may have conditions (S3, Azure): a
 * lock keeps other threads of the process out, and remembers which version of each object under it
 * was read first. A put (conditional_put.h) then asks the service to replace that version and no
 * other, so that what another program has put meanwhile is never lost: the put fails with
 * ZB_ECONFLICT. It is the same for what is erased (conditional_erase.h).
 */
#ifndef ZB_NET_CONDITIONAL_H
#define ZB_NET_CONDITIONAL_H

#include "listing.h"
#include "request.h"

/* What is known of an object that is to be put: the condition of its put. */
enum zb__seen {
    ZB__UNSEEN, /* nothing */
    ZB__ABSENT,
    ZB__PRESENT
};

/* An object on its way. */
typedef struct zb__sending {
    zb__remote *store;
    const zb_put *put;
    uint64_t size; /* of its parts together */
    bool in_parts;
    bool is_refused; /* by the check of its batch */
    int status;      /* HTTP's, of a whole put: of its last try; 0: there was no reply */
    enum zb__seen seen;
    zb__version version; /* in: the one to replace, with ZB__PRESENT; out: the new one */
} zb__sending;

/* How a service differs from others. All but the texts and measure() may wait. */
typedef struct zb__service {
    /* The header by which an object keeps the random id of its put: see conditional_put.h. */
    const char *mark;
    /* Whether it keeps to the conditions of puts: ZB_EUNSUPPORTED if not. NULL: it does. */
    enum zb_code (*check)(zb__remote *store, zb_error *err);
    /* Whether it keeps to those of DELETE. NULL: it does. */
    bool (*erases_as_seen)(zb__remote *store);
    /* Tells by the object's size whether it goes in parts. ZB_ELIMIT: it is too large. */
    enum zb_code (*measure)(zb__sending *sending, zb_error *err);
    /* Puts an object in parts. mark, condition: headers; the second may be NULL. *in_doubt: it may
       have been put in spite of an error. ZB_EUNSUPPORTED: nothing was put, and the object can go
       as a whole. NULL: none goes in parts. */
    enum zb_code (*send_in_parts)(zb__sending *sending, const char *mark, const char *condition,
                                  bool *in_doubt, zb_error *err);
    /* Adds all objects below a prefix, in the versions that are there. */
    enum zb_code (*find_below)(zb__remote *store, const char *prefix, zb__finds *finds,
                               zb_error *err);
    /* Whether there is surely nothing at a prefix. */
    bool (*is_absent)(zb__remote *store, const char *prefix);
    /* As in zb_store_ops; or NULL. */
    enum zb_code (*copy)(zb_store *store, const char *key, zb_store *from, const char *from_key,
                         zb_error *err);
    enum zb_code (*sweep)(zb_store *store, const char *prefix, enum zb_sweep what, zb_list_fn fn,
                          void *context, zb_error *err);
} zb__service;

/* As in zb_store_ops, by the protocol's service. An object is stored when its put has returned, so
   that nothing waits for a flush. What this thread has put under a lock that it holds is known
   without a request. */
enum zb_code zb__conditional_probe(zb_store *store, zb_probe *probe, zb_error *err);
enum zb_code zb__conditional_flush(zb_store *store, zb_batch *batch, bool discards, zb_error *err);

/* As lock() and unlock() of zb_store_ops. ZB_EUNSUPPORTED where the service takes no notice of
   conditions. */
enum zb_code zb__conditional_lock(zb_store *store, const zb_locking *locking, zb_lock **out,
                                  zb_error *err);
void zb__conditional_unlock(zb_lock *lock);

/* As is_locked() of zb__protocol. */
bool zb__conditional_is_locked(zb__remote *store, const char *key);

/* As answered() of zb__protocol: the first answer under a lock counts, or after
   zb__conditional_refused. */
void zb__conditional_answered(zb__remote *store, const char *key, enum zb_code code,
                              const zb__version *version);

/* What the holder of the key's lock knows of the object; ZB__UNSEEN also where no lock is held.
   *version is set with ZB__PRESENT. */
enum zb__seen zb__conditional_seen(zb__remote *store, const char *key, zb__version *version);

/* The object was put in this version, or erased (NULL): the holder of its lock has seen it. */
void zb__conditional_replaced(zb__remote *store, const char *key, const zb__version *version);

/* The service has refused to put the document in the place of what the holder has seen. Until it is
   read anew puts are refused as before; then that version is what they replace, so that a turn of
   many changes (zb_lock_scope_begin) can make one of them again. */
void zb__conditional_refused(zb__remote *store, const char *key);

/* Asks what the service says of an object that is there now. */
enum zb_code zb__conditional_ask(zb__remote *store, const char *key, zb__reply *out, zb_error *err);

/* ZB_ECONFLICT, with its message: a condition did not hold. */
enum zb_code zb__conditional_fail(const zb__remote *store, const char *key, zb_error *err);

/* The answer to ZB_ASK_STANDS. */
enum zb_code zb__conditional_stands(zb__remote *store, const char *key, zb_error *err);

#endif
