/* SPDX-License-Identifier: MIT */
/*
 * The inside of stores: objects, and the interface of backends. The author of a backend embeds
 * zb_store as its first member and fills a zb_store_ops.
 *
 * An *object handle* (zb_object) pins one version of one object: its ranges all come from the same
 * version although the key may be replaced meanwhile, so that an index and the chunks it points at
 * always belong together. Handles and stores may be used from any number of threads at once.
 */
#ifndef ZARRBRIDGE_SYS_STORE_H
#define ZARRBRIDGE_SYS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zb_object zb_object;

/* Identifies a version of an object: equal validators of one key mean equal content. `valid` is
   false when the backend cannot promise that (no ETag; a file changed so recently that another
   change could share its time stamp); nothing is cached then. */
typedef struct zb_validator {
    uint64_t word[4];
    bool valid;
} zb_validator;

static inline bool zb_validator_same(const zb_validator *a, const zb_validator *b) {
    return a->valid && b->valid && a->word[0] == b->word[0] && a->word[1] == b->word[1] &&
           a->word[2] == b->word[2] && a->word[3] == b->word[3];
}

typedef struct zb_object_info {
    uint64_t size; /* bytes */
    zb_validator validator;
    int64_t age;    /* nanoseconds since the last change, by this machine's clock, so that it can be
                    negative; 0 where that is not known */
    bool is_packed; /* a compressed entry of an archive: its first read makes all of it in memory,
                       so that its size is compared before with what it may be */
} zb_object_info;

#define ZB_FROM_END UINT64_MAX

/* A byte range to read. offset == ZB_FROM_END means the last `length` bytes. `got` is set to the
   bytes that the object really had there: less than length only at the object's end (or, from the
   end, when the object is shorter; the bytes are then its whole content). */
typedef struct zb_range {
    uint64_t offset;
    size_t length;
    void *buffer; /* owned by the caller, at least `length` bytes */
    size_t got;
} zb_range;

/* A length that stands for all of an object. */
#define ZB_WHOLE SIZE_MAX

/* A request that goes on while its caller does other things: a range of an object, or all of it.
   The struct is the caller's; from zb_store_submit until `done` is called with it, or
   zb_store_cancel has returned, it is the store's, and so is its buffer. */
typedef struct zb_fetch zb_fetch;
struct zb_fetch {
    zb_object *object;   /* to read from. NULL: the store opens `key` and sets this, pinned to the
                            version that answered; the caller closes it, also when code is an
                            error */
    const char *key;     /* counts where object is NULL; the caller's until the end */
    zb_range range;      /* with a NULL buffer the store sets one of malloc, which the caller frees,
                            also when code is an error. Length ZB_WHOLE: from offset 0 to the end,
                            and the buffer is always the store's */
    uint64_t most;       /* with ZB_WHOLE, and of an object that is packed: a larger one that the
                            store opens is ZB_ELIMIT. Bytes */
    zb_object_info info; /* set where the store opened the object */
    enum zb_code code;   /* set: ZB_ENOTFOUND without an object, ZB_ECONFLICT when the object is not
                            the version any more that the handle pins; ZB_EIO, ZB_ENOMEM,
                            ZB_ELIMIT */
    zb_error error;      /* set with code */
    zb_fetch *next;      /* in the list that is submitted */
};

/* Called once for each request, in any order, from a thread of the store that has others to serve:
   it may put the fetch on a list and wake a thread, and nothing that waits. */
typedef void (*zb_fetch_fn)(void *context, zb_fetch *fetch);

/* The facts that the planner needs to make good requests. */
typedef struct zb_store_hints {
    uint64_t gap;         /* ranges closer than this are merged into one request (bytes) */
    uint64_t max_request; /* merged requests stay below this (bytes), single ranges excepted */
    bool is_local;        /* a request costs microseconds, not a network round trip */
    bool can_list;        /* list() works; else consolidated metadata is the only index */
    bool can_change;      /* open_live() works: writers may change objects in place */
    bool is_watched;      /* stat() costs microseconds: each read checks whether its array is still
                             the one that was opened */
    uint32_t in_flight;   /* requests worth having under way at once; counts with submit() */
    uint64_t part;        /* longer ranges come faster as several requests of this length (bytes);
                             0: they do not. Counts with submit() */
    uint64_t window;      /* bytes worth having under way at once, at most; as long as reach() tells
                             of no fast link, 64 MiB are enough. Counts with submit() */
    int64_t fresh;        /* for how long the version of an object that answered a request may be
                             taken for the present one (nanoseconds); counts with submit() */
    uint64_t small;       /* shards of at most this decoded size (bytes) come faster whole than by
                             their index first; counts with submit() */
    bool erases_whole;    /* erase_below() takes away all below a prefix in one step, for readers
                             and for a kill */
    bool tells_first; /* put() heeds is_first, which costs less than to ask is_absent() before */
    bool tells_late;  /* the validator of an object that was put a moment ago is hardly ever valid:
                         asking for it is worth nothing, except on slow disks */
} zb_store_hints;

/* The longest range that comes as one request where others come in parts: a short rest costs more
   as a request of its own. */
static inline uint64_t zb_part_most(uint64_t part) {
    return part < UINT64_MAX / 2 ? part + part / 2 : part;
}

/* A name directly below a prefix. */
typedef struct zb_list_entry {
    const char *name; /* valid during the call */
    bool is_prefix;   /* there are names below it */
    bool is_link;     /* a symbolic link: objects below it may be reached by other names, too */
    bool leads_back;  /* a link to a prefix above it: neither a prefix nor an object */
    bool holds;       /* a prefix, directly below which is one of the objects of list_holding();
                         false where that is not known */
} zb_list_entry;

/* Called once for each name; returns 0 to go on, anything else to stop the listing. */
typedef int (*zb_list_fn)(void *context, const zb_list_entry *entry);

/* A part of an object's new content. */
typedef struct zb_part {
    const void *data;
    size_t size;
} zb_part;

/*
 * A batch: the objects that one writer has put, and whose loss it is to be told. Two writers on one
 * store flush their own batches, and neither is told the other's failures in its place.
 *
 * The struct belongs to the caller, which begins it with zb_batch_begin and ends it with
 * zb_batch_end; the store may write to its second part at any time in between.
 */
typedef struct zb_batch zb_batch;

/* Called as the last thing before an object of the batch becomes visible, when its place is
   certain: tells whether it still may. An error keeps the old object. Called from any thread. */
typedef enum zb_code (*zb_batch_check_fn)(void *context, const char *key, zb_error *err);

struct zb_batch {
    zb_store *store;
    zb_batch_check_fn check; /* NULL: every object may */
    void *context;           /* for check */
    /* The store's: */
    zb_error lost;   /* first object that waited and could not be stored, until a flush tells */
    uint64_t losses; /* the last loss of names that this batch has been told */
    bool at_stake;   /* something was put since the last flush */
};

/* What an object has to lie in: the holder (identify()) that was at the first `length` bytes of its
   key when the caller looked. An operation that is given a home works in that holder or not at all:
   where another one is at that prefix, or none, it fails with ZB_ECONFLICT and sys_errno ESTALE.
   A node may be moved, deleted and made anew between any two calls, but never within one. */
typedef struct zb_home {
    uint64_t identity; /* 0: the holder that is there */
    size_t length;     /* of the prefix; counts with an identity */
} zb_home;

/* An object to put.
 *
 * Unless it waits it is visible when the call returns. `sync` says when it is safe from a loss of
 * power:
 * - ZB_SYNC_NONE: when the operating system sees fit. A loss of power may leave a part of it. With
 *   `in_order` its content is on the way to the disk before its name leads to it, so that a loss of
 *   power leaves the old object or the new one, if the file system makes changes durable in their
 *   order (where there was no old one, it may leave a part of the new one); and flush() makes it
 *   durable.
 * - ZB_SYNC_CLOSE: its content is on the disk before its name leads to it; the name is durable when
 *   flush() has returned. With `waits` all of that is left to flush(): only then the object may
 *   become visible to listings and to other stores, while open and stat through the same store see
 *   it at once. The store takes the key's lock, where it has locks, while the object becomes
 *   visible: so the caller must not hold it.
 * - ZB_SYNC_ALWAYS: when the call returns.
 */
typedef struct zb_put {
    const char *key;
    const zb_part *parts; /* its content, in order */
    size_t count;
    enum zb_sync sync;
    bool waits;    /* counts with ZB_SYNC_CLOSE */
    bool in_order; /* counts with ZB_SYNC_NONE */
    bool is_first; /* counts where tells_first: ZB_ECONFLICT, and nothing is touched, unless there
                        is nothing at the key's prefix (is_absent). It never waits */
    bool expects_none; /* the caller has the key's lock, and has not looked: where a lock keeps no
                          program out, ZB_ECONFLICT if another one has put an object there */
    zb_home home;    /* what it has to lie in. One that waits is put there by the flush, or lost */
    zb_batch *batch; /* NULL: its losses are told to the caller that flushes the store as a whole */
} zb_put;

/* An object to erase. It is gone when the call returns; `sync` says when that is safe from a loss
   of power: ZB_SYNC_NONE and ZB_SYNC_CLOSE with the next flush(), ZB_SYNC_ALWAYS when the call
   returns. */
typedef struct zb_erase {
    const char *key;
    enum zb_sync sync;
    zb_home home;    /* what it has to lie in */
    bool as_read;    /* the caller has the key's lock, and may have read the object under it: what
                        another program has put there since stays. Where a lock keeps no program
                        out, and an object cannot be compared and removed in one step, the caller
                        has to put one that says as much (ZB_EUNSUPPORTED) */
    zb_batch *batch; /* whose check is called as before a put, and which is told when names are
                        lost; NULL: as of a put */
} zb_erase;

/* True if the object is left to a flush, to become visible and durable. */
static inline bool zb_put_waits(const zb_put *put) {
    return put->waits && put->sync == ZB_SYNC_CLOSE;
}

/* Sets *chosen for a key that counts. An error ends the operation. */
typedef enum zb_code (*zb_choose_fn)(void *context, const char *key, bool *chosen, zb_error *err);

/* A held lock of one key. */
typedef struct zb_lock zb_lock;
struct zb_lock {
    zb_store *store; /* not owned */
};

/* A backend. Keys are relative UTF-8 paths without leading slash, checked before the call. */
typedef struct zb_store_ops {
    uint32_t version; /* ZB_STORE_OPS_VERSION */
    const char *name; /* "fs", "mem", ... */
    /* Opens an object and fills info. ZB_ENOTFOUND when there is none. */
    enum zb_code (*open)(zb_store *store, const char *key, zb_object **out, zb_object_info *info,
                         zb_error *err);
    /* As open, of the object in this home, of which ZB_ENOTFOUND is then true as well. NULL where a
       holder cannot be moved away and come back: open does. */
    enum zb_code (*open_in)(zb_store *store, const char *key, const zb_home *home, zb_object **out,
                            zb_object_info *info, zb_error *err);
    /* Reads all ranges of one call; fills each range's `got`. */
    enum zb_code (*read)(zb_object *object, zb_range *ranges, size_t count, zb_error *err);
    void (*close)(zb_object *object);
    /* Size and validator without opening. */
    enum zb_code (*stat)(zb_store *store, const char *key, zb_object_info *info, zb_error *err);
    /* The names directly below prefix ("" or "a/b", no trailing slash), unsorted. A prefix that
       does not exist lists nothing. A link that leads back to a prefix above it does not count as a
       prefix: no walk goes in circles. */
    enum zb_code (*list)(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                         zb_error *err);
    /* As list, and asks of each prefix whether one of these objects is directly below it; their
       names end with NULL. Where links lead is not checked. NULL: that costs no less than a peek
       for each. */
    enum zb_code (*list_holding)(zb_store *store, const char *prefix, const char *const *objects,
                                 zb_list_fn fn, void *context, zb_error *err);
    /* The keys of all objects below prefix, without it and in any order. NULL: list() tells them
       level by level, and at no higher price. */
    enum zb_code (*list_below)(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                               zb_error *err);
    /* Identifies the holder of the objects directly below prefix (a directory): another one at the
       same prefix, after it was erased or moved away, has another identity. 0: not known. May be
       NULL. */
    uint64_t (*identify)(zb_store *store, const char *prefix);
    /* True if the holder of that identity is at the prefix, and none of the objects is in it; their
       keys begin with the prefix. It answers at one moment what open and identify could tell only
       one after the other, between which a holder may be moved away and back. NULL where none can
       come back. */
    bool (*lacks)(zb_store *store, const char *prefix, uint64_t identity, const char *const *keys,
                  size_t count);
    /* True if the prefix itself is a symbolic link. Erasing it then takes the link alone. NULL:
       never. */
    bool (*is_link)(zb_store *store, const char *prefix);
    /* True if there is surely nothing at the prefix: no object below it, and no link that could
       lead to one. False where that is not known. NULL: never known at a lower price than by asking
       for each object. */
    bool (*is_absent)(zb_store *store, const char *prefix);
    /* As stat, for a caller that has just put the object, or compares the validator with one that
       it got from open or stat, and calls stat where they differ, or asks only whether there is
       anything of that name (info is NULL): where links lead is not checked. NULL: stat costs no
       more. */
    enum zb_code (*peek)(zb_store *store, const char *key, zb_object_info *info, zb_error *err);
    /* Answers a request for an object that is not open, while its caller waits: for a backend in
       which open() and read() take two round trips, and this one. zb_store_submit_by_threads calls
       it. ZB_EUNSUPPORTED, with no error filled in and the fetch as it was: open() and read() are
       the way for this one. NULL: for all. */
    enum zb_code (*fetch)(zb_store *store, zb_fetch *fetch);
    /* Begins the requests of the list, in its order as far as it can, and returns without waiting
       for the network; `done` is called once for each, also before this returns. An error: none was
       begun, and done is never called. NULL in a store that answers in microseconds, or only while
       its caller waits. */
    enum zb_code (*submit)(zb_store *store, zb_fetch *list, zb_fetch_fn done, void *context,
                           zb_error *err);
    /* Ends the requests of this context: when it returns, done is not running for one of them, is
       not called for one again, and no buffer of them is touched. NULL as submit. */
    void (*cancel)(zb_store *store, void *context);
    /* The bytes that come in the time of a round trip, as the answers so far have told; 0: they
       have not yet. From any thread. NULL: never known. */
    uint64_t (*reach)(zb_store *store);
    void (*destroy)(zb_store *store);

    /* ---- Writing; all NULL in a read-only backend ---- */

    /* Replaces the whole object by the parts in order: at every instant a reader finds the old or
       the new one. On error the old one is untouched; only when ZB_SYNC_ALWAYS fails in its very
       last step, making the name durable, the new one stands already. With a batch that checks,
       ZB_ECONFLICT also when the key's place was moved or erased meanwhile. */
    enum zb_code (*put)(zb_store *store, const zb_put *put, zb_error *err);
    /* Removes an object; a missing one is not an error. With a batch that checks, ZB_ECONFLICT as
       with put. ZB_EUNSUPPORTED, with no error filled in, where as_read cannot be kept to. */
    enum zb_code (*erase)(zb_store *store, const zb_erase *erase, zb_error *err);
    /* Removes everything below prefix ("a/b"; "" empties the store), directories too. With a prefix
       no reader and no kill sees it half done where the backend can (erases_whole); with "" the
       root's zarr.json goes first. */
    enum zb_code (*erase_below)(zb_store *store, const char *prefix, zb_error *err);
    /* Removes those objects below the prefix that are chosen, which are no documents. The caller
       has the lock of the document: while that stands (see below) each of them goes, and what
       another program puts at their keys once it does not stand any more stays, where the backend
       can. ZB_ECONFLICT: it does not stand, and some of them may be left. NULL where locks keep
       other programs out. */
    enum zb_code (*erase_chosen)(zb_store *store, const char *prefix, const char *document,
                                 zb_choose_fn choose, void *context, zb_error *err);
    /* ZB_ECONFLICT if the object is not any more as the holder of its lock has read, put or erased
       it. NULL where locks keep other programs out. */
    enum zb_code (*stands)(zb_store *store, const char *key, zb_error *err);
    /* Makes all waiting objects of the batch (NULL: of all batches) visible, in the order of the
       puts, and durable; and durable all that was put with `in_order` or ZB_SYNC_CLOSE and all
       names that came or went through this store, by any writer. Objects of the batch that could
       not be stored keep their old content, and must be put again; the error is the first one, also
       of objects that went out since the last flush because too many waited. When names or visible
       objects could not be made durable, each batch with something at stake is told at its next
       flush. Objects that are never flushed are forgotten with the store. Takes locks of keys: not
       to be called while holding one. */
    enum zb_code (*flush)(zb_store *store, zb_batch *batch, zb_error *err);
    /* Forgets the objects of the batch that still wait. NULL in a backend where nothing waits. */
    void (*forget)(zb_store *store, zb_batch *batch);
    /* Waits for the key's exclusive lock, among threads and processes, up to the limit
       lock_seconds: then ZB_ECONFLICT; likewise when the caller already holds the lock.
       ZB_EUNSUPPORTED where none can be had. The lock of the key "zarr.json" is that of the whole
       hierarchy of nodes that the store is in, whatever level of it the store was opened at. The
       lock goes with its process (and, where it is one of the system, with the children that it
       forked meanwhile; where it is one of the process, a child has those of the thread that forked
       alone). With a home it is the lock of the object there, wherever the holder is moved while it
       is held, for those who ask with the same home. */
    enum zb_code (*lock)(zb_store *store, const char *key, const zb_home *home, zb_lock **out,
                         zb_error *err);
    void (*unlock)(zb_lock *lock);
    /* Waits until the locks of the key `prefix`, and of all keys below it, that are held now have
       been let go, up to the limit lock_seconds: then ZB_ECONFLICT. Not the lock of "zarr.json",
       which the caller may hold. Locks that are taken meanwhile need not be waited for. NULL in a
       backend without locks. */
    enum zb_code (*await_locks)(zb_store *store, const char *prefix, zb_error *err);

    /* ---- Changing a live object; NULL where an object can only be replaced ---- */

    /* Opens an object to be changed under its key's lock. The handle is read and closed like any
       other, and sees its own changes; handles that other users have open may see them, too.
       ZB_EUNSUPPORTED for an object that has to be replaced whole: one that waits for a flush
       (sys_errno is EBUSY), or that other names lead to as well. */
    enum zb_code (*open_live)(zb_store *store, const char *key, const zb_home *home,
                              zb_object **out, zb_object_info *info, zb_error *err);
    /* Writes the parts in order from offset on. Nothing of it is undone on error. The object's
       validator is another one afterwards, and as long as it lasts. Never waits for a flush:
       unless ZB_SYNC_NONE, all of the object is durable when this returns. */
    enum zb_code (*write_at)(zb_object *live, uint64_t offset, const zb_part *parts, size_t count,
                             enum zb_sync sync, zb_error *err);
    /* Cuts the object to `size` bytes, or extends it with zeros. */
    enum zb_code (*truncate)(zb_object *live, uint64_t size, enum zb_sync sync, zb_error *err);

    /* ---- Housekeeping; NULL where there is nothing of the kind ---- */

    /* Moves all below the prefix `from` to `to`, in one step for readers and for a kill; durable
       after flush(). Objects at `to` stay there, beside those that come; ZB_ECONFLICT, and nothing
       is moved, when one is in the way. ZB_EUNSUPPORTED when it cannot be done in one step. */
    enum zb_code (*rename)(zb_store *store, const char *from, const char *to, zb_error *err);
    /* Makes the object at `key` a copy of that at from_key in `from`, which is this store or
       another one of the same kind, without passing its bytes through the program. All of them are
       of one version of the source; readers of `key` find the old object or the new one, as with
       put, and it is durable after flush(). ZB_ENOTFOUND when there is no such object.
       ZB_EUNSUPPORTED: not between these stores, or not this object; the caller puts what it reads,
       which replaces anything that the try has left at `key`. NULL: never. */
    enum zb_code (*copy)(zb_store *store, const char *key, zb_store *from, const char *from_key,
                         zb_error *err);
    /* Calls fn for each leftover of killed writers directly below prefix, under names that list()
       hides, and removes it if told so. A backend that finds all of them at once tells them at the
       prefix "", with all of their keys. */
    enum zb_code (*sweep)(zb_store *store, const char *prefix, bool remove, zb_list_fn fn,
                          void *context, zb_error *err);
    /* Frees what erase_below() has only moved out of sight, as it may where the hierarchy's lock is
       held through this store. Called when the lock has been let go of, so that others need not
       wait for it. An error: everything is erased, but something of it stays in a place that list()
       hides. NULL where erase_below() leaves nothing. */
    enum zb_code (*finish_erasing)(zb_store *store, zb_error *err);
} zb_store_ops;

#define ZB_STORE_OPS_VERSION 19

/* Work on documents that users of the store have left to zb_store_settle, or to the end of the
   store. Its owner embeds this. */
typedef struct zb_later zb_later;
struct zb_later {
    enum zb_code (*run)(zb_store *store, zb_error *err); /* what fails is left again */
    void (*free)(zb_later *later);
};

/* Brings what was put into a store to its place, all at once, where that is not the store itself:
   see zb_store_seal. Its owner embeds this. */
typedef struct zb_seal zb_seal;
struct zb_seal {
    enum zb_code (*run)(zb_store *store, zb_error *err);
    void (*end)(zb_store *store); /* with the store's last reference; frees this */
};

/* What the core keeps with a store, and gives up with it. Its owner embeds this. */
typedef struct zb_attachment zb_attachment;
struct zb_attachment {
    void (*release)(zb_attachment *attached);
};

/* The head of every backend's own struct. */
struct zb_store {
    const zb_store_ops *ops;
    zb_store_hints hints;
    char *label;           /* its name in error messages, e.g. the path; freed with the store */
    uint64_t id;           /* unique in the process; part of every cache key */
    unsigned kinds;        /* of elements that arrays may have: see zb_store_set_kinds */
    bool trusts_list;      /* see zb_store_trust_list; set before other threads use the store */
    zb_attachment *served; /* consolidated metadata that was read, or NULL: the core's own */
    zb_attachment *lately; /* what a distant store has told of its nodes, or NULL: the core's own */
    zb_seal *seal;         /* or NULL; set before other threads use the store */
    /* The core's own, which changes while threads use the store: store/state.h is the only way to
       it. Plain types, so that the layout is the same in C and in C++. */
    zb_later *later;  /* NULL: nothing is left; stays when there is something once */
    uint64_t changes; /* made through the store */
    int refs;
    int sync;        /* enum zb_sync: see zb_store_set_sync */
    bool has_older;  /* a node of version 2 was found */
    uint64_t turn;   /* the thread that has a turn (zb_turn_begin), by its number; 0: none */
    uint64_t serial; /* of this struct: two stores at one place have one id, and two serials */
};

/* The head of every backend's own object handle. */
struct zb_object {
    zb_store *store; /* not owned: a handle never outlives its store */
};

/* For backends: sets up the head with one reference. label is copied. */
ZB_API enum zb_code zb_store_init(zb_store *store, const zb_store_ops *ops, zb_store_hints hints,
                                  const char *label, zb_error *err);

/* The only ways into a backend: they check the key and pass the call on. Arguments and errors as
   in zb_store_ops; a bad key is ZB_EINVAL. */
ZB_API enum zb_code zb_object_open(zb_store *store, const char *key, zb_object **out,
                                   zb_object_info *info, zb_error *err);
ZB_API enum zb_code zb_object_open_in(zb_store *store, const char *key, const zb_home *home,
                                      zb_object **out, zb_object_info *info, zb_error *err);
ZB_API enum zb_code zb_object_read(zb_object *object, zb_range *ranges, size_t count,
                                   zb_error *err);
ZB_API void zb_object_close(zb_object *object); /* NULL is allowed */
ZB_API enum zb_code zb_store_stat(zb_store *store, const char *key, zb_object_info *info,
                                  zb_error *err);
ZB_API enum zb_code zb_store_list(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                                  zb_error *err);
/* A store without list_holding() tells of no prefix what it holds. */
ZB_API enum zb_code zb_store_list_holding(zb_store *store, const char *prefix,
                                          const char *const *objects, zb_list_fn fn, void *context,
                                          zb_error *err);
/* ZB_EUNSUPPORTED for a store without list_below(). */
ZB_API enum zb_code zb_store_list_below(zb_store *store, const char *prefix, zb_list_fn fn,
                                        void *context, zb_error *err);

/* The same for writing; ZB_EUNSUPPORTED for a read-only backend. Those without "_as" put an object
   that neither waits nor goes in order, and erase one, of no batch and in any home. */
ZB_API enum zb_code zb_store_put(zb_store *store, const char *key, const zb_part *parts,
                                 size_t count, enum zb_sync sync, zb_error *err);
ZB_API enum zb_code zb_store_put_as(zb_store *store, const zb_put *put, zb_error *err);
ZB_API enum zb_code zb_store_erase(zb_store *store, const char *key, zb_error *err);
ZB_API enum zb_code zb_store_erase_as(zb_store *store, const zb_erase *erase, zb_error *err);
ZB_API enum zb_code zb_store_erase_below(zb_store *store, const char *prefix, zb_error *err);
/* ZB_EUNSUPPORTED for a store without erase_chosen(); stands() is then ZB_OK. */
ZB_API enum zb_code zb_store_erase_chosen(zb_store *store, const char *prefix, const char *document,
                                          zb_choose_fn choose, void *context, zb_error *err);
ZB_API enum zb_code zb_store_stands(zb_store *store, const char *key, zb_error *err);
/* Flushes one batch; the second one flushes all, and each batch is told its own losses, too. */
ZB_API enum zb_code zb_store_flush_batch(zb_store *store, zb_batch *batch, zb_error *err);
ZB_API enum zb_code zb_store_lock(zb_store *store, const char *key, zb_lock **out, zb_error *err);
ZB_API enum zb_code zb_store_lock_in(zb_store *store, const char *key, const zb_home *home,
                                     zb_lock **out, zb_error *err);
ZB_API void zb_store_unlock(zb_lock *lock); /* NULL is allowed */
ZB_API enum zb_code zb_store_await_locks(zb_store *store, const char *prefix, zb_error *err);

/* 0 where the backend cannot tell. */
ZB_API uint64_t zb_store_identify(zb_store *store, const char *prefix);
/* True also where the backend cannot tell, and for an identity of 0. */
ZB_API bool zb_store_lacks(zb_store *store, const char *prefix, uint64_t identity,
                           const char *const *keys, size_t count);
ZB_API bool zb_store_is_link(zb_store *store, const char *prefix);
ZB_API bool zb_store_is_absent(zb_store *store, const char *prefix);
ZB_API enum zb_code zb_store_peek(zb_store *store, const char *key, zb_object_info *info,
                                  zb_error *err);

/* Requests that go on while the caller does other things; ZB_EUNSUPPORTED for a store without
   submit(). The keys of all requests are checked first. */
ZB_API bool zb_store_can_submit(const zb_store *store);
ZB_API enum zb_code zb_store_submit(zb_store *store, zb_fetch *list, zb_fetch_fn done,
                                    void *context, zb_error *err);
ZB_API void zb_store_cancel(zb_store *store, void *context);

/* For backends that answer only while their caller waits, and not in microseconds: submit() and
   cancel() by at most 16 threads of the core, which call fetch(), or open() and read(). Those of a
   distant store may take seconds, and cancel() waits for the calls under way. ZB_WHOLE is for
   requests that open their object. */
ZB_API enum zb_code zb_store_submit_by_threads(zb_store *store, zb_fetch *list, zb_fetch_fn done,
                                               void *context, zb_error *err);
ZB_API void zb_store_cancel_by_threads(zb_store *store, void *context);

/* Counts the changes made through the store: what was known of its objects before holds no more. */
ZB_API uint64_t zb_store_changes(zb_store *store);

/* Begins an empty batch on the store, which must outlive it. check may be NULL. */
ZB_API void zb_batch_begin(zb_batch *batch, zb_store *store, zb_batch_check_fn check,
                           void *context);
/* Forgets all that waits. */
ZB_API void zb_batch_end(zb_batch *batch);
/* For backends: calls the check of the put's batch, if there is one. */
ZB_API enum zb_code zb_put_check(const zb_put *put, zb_error *err);
ZB_API enum zb_code zb_erase_check(const zb_erase *erase, zb_error *err);

/* The same for live objects; ZB_EUNSUPPORTED where they cannot be changed. */
ZB_API enum zb_code zb_object_open_live(zb_store *store, const char *key, const zb_home *home,
                                        zb_object **out, zb_object_info *info, zb_error *err);
ZB_API enum zb_code zb_object_write_at(zb_object *live, uint64_t offset, const zb_part *parts,
                                       size_t count, enum zb_sync sync, zb_error *err);
ZB_API enum zb_code zb_object_truncate(zb_object *live, uint64_t size, enum zb_sync sync,
                                       zb_error *err);

/* The same for housekeeping: ZB_EUNSUPPORTED for a store that cannot rename, or not copy; where a
   store has no sweep(), there is nothing to sweep. */
ZB_API enum zb_code zb_store_rename(zb_store *store, const char *from, const char *to,
                                    zb_error *err);
ZB_API enum zb_code zb_store_copy(zb_store *store, const char *key, zb_store *from,
                                  const char *from_key, zb_error *err);
ZB_API enum zb_code zb_store_sweep(zb_store *store, const char *prefix, bool remove, zb_list_fn fn,
                                   void *context, zb_error *err);
ZB_API enum zb_code zb_store_finish_erasing(zb_store *store, zb_error *err);

/* Removes the local directory of a store that was deleted, where it holds nothing but files of
   ours: what killed processes have left goes with it, and for what a live one still takes apart
   there the limit lock_seconds is waited. False: the directory stays. */
ZB_API bool zb_store_remove_directory(const char *path);

/* Reads a whole object of at most `limit` bytes (ZB_ELIMIT above, naming limit_name). *data is
   malloc'ed with a NUL after its *size bytes; the caller frees. info may be NULL. */
ZB_API enum zb_code zb_store_get(zb_store *store, const char *key, uint64_t limit,
                                 const char *limit_name, char **data, size_t *size,
                                 zb_object_info *info, zb_error *err);
/* The same of the object in a home. */
ZB_API enum zb_code zb_store_get_in(zb_store *store, const char *key, const zb_home *home,
                                    uint64_t limit, const char *limit_name, char **data,
                                    size_t *size, zb_object_info *info, zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
