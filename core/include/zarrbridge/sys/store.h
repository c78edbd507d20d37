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

#include "zarrbridge/error.h"
#include "zarrbridge/location.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zb_store zb_store;
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

/* Answers a request for an object that is not open, while its caller waits, for a backend in which
   open() and read() take two round trips, and this one. ZB_EUNSUPPORTED, with no error filled in
   and the fetch as it was: open() and read() are the way for this one. */
typedef enum zb_code (*zb_fetch_serve_fn)(zb_store *store, zb_fetch *fetch);

/* What requests to a store cost. */
typedef struct zb_store_hints {
    /* A request costs microseconds, not a network round trip. */
    bool is_local;
    /* probe() costs microseconds: each read checks whether its array is still the one that was
       opened. */
    bool is_watched;
    /* list() works; else consolidated metadata is the only index. */
    bool can_list;
    /* put() takes files; else one is ZB_EUNSUPPORTED. */
    bool takes_files;
    /* A file's blocks are shared as a rule (ZB_FILE_SHARE) where it lies in the store. */
    bool shares_blocks;
    /* Where lock() has none to give (ZB_EUNSUPPORTED), nobody has any. Else that is a shortage that
       passes, while others have their locks. */
    bool may_lack_locks;
    /* Ranges closer than `gap` are merged into one request, which stays below max_request, single
       ranges excepted. With submit(), where a read would have more requests than in_flight; else
       while it asks for no more than 16 KiB in vain. Bytes. */
    uint64_t gap, max_request;

    /* ---- Counts with submit() */

    /* Requests, and bytes, worth having under way at once. As long as `reach` tells of no fast link
       64 MiB are enough. */
    uint32_t in_flight;
    uint64_t window;
    /* The bytes that come in the time of a round trip, as the answers so far have told, which the
       backend stores atomically; 0: they have not yet. NULL: never known. Lives as long as the
       store. */
    const uint64_t *reach;
    /* Longer ranges come faster as several requests of this length (bytes); 0: they do not. */
    uint64_t part;
    /* Shards of at most this decoded size (bytes) come faster whole than by their index first. */
    uint64_t small;
    /* For how long the version of an object that answered a request may be taken for the present
       one (nanoseconds). */
    int64_t fresh;
} zb_store_hints;

/* The longest range that comes as one request where others come in parts: a short rest costs more
   as a request of its own. */
static inline uint64_t zb_part_most(uint64_t part) {
    return part < UINT64_MAX / 2 ? part + part / 2 : part;
}

/* What an object has to lie in: the holder (ZB_ASK_HOLDER) that was at the first `length` bytes of
   its key when the caller looked. An operation that is given a home works in that holder or not at
   all: where another one is at that prefix, or none, it fails with ZB_ECONFLICT and sys_errno
   ESTALE. A node may be moved, deleted and made anew between any two calls, but never within one. A
   backend in which a holder cannot be moved away and come back takes no notice of it. */
typedef struct zb_home {
    uint64_t identity; /* 0: the holder that is there */
    size_t length;     /* of the prefix; counts with an identity */
} zb_home;

/* An object to open. */
typedef struct zb_open {
    const char *key;
    zb_home home; /* ZB_ENOTFOUND is true of that holder as well */
    /* To be changed under its key's lock, where there is change(). The handle is read and closed
       like any other, and sees its own changes; handles that other users have open may see them,
       too. ZB_EUNSUPPORTED for an object that has to be replaced whole: one that waits for a flush
       (sys_errno is EBUSY), or that other names lead to as well. */
    bool is_live;
} zb_open;

/* What is asked of a store; the first three are about an object. */
enum zb_question {
    /* Its size and version: `info`. ZB_ENOTFOUND when there is none. */
    ZB_ASK_INFO,
    /* The same, for a caller that has just put the object, or compares the answer with one that it
       got before and asks for ZB_ASK_INFO where they differ: where links lead need not be
       checked. */
    ZB_ASK_INFO_AGAIN,
    /* Whether there is anything of that name: the code alone is the answer. Where links lead need
       not be checked. */
    ZB_ASK_NAME,
    /* What holds the objects directly below the prefix (a directory): its `identity`, and whether
       it lacks those of some keys: `all_absent`. */
    ZB_ASK_HOLDER,
    /* Whether the prefix itself is a symbolic link: `is_so`. Erasing all below it then takes the
       link alone. */
    ZB_ASK_LINK,
    /* Whether there is surely nothing at the prefix, no object below it, and no link that could
       lead to one: `is_so`. */
    ZB_ASK_NOTHING,
    /* Whether the object is as the holder of its lock has read, put or erased it. ZB_ECONFLICT: it
       is not. Known where locks keep other programs out: a backend need not answer then. */
    ZB_ASK_STANDS
};

/* One question to a store, and its answer. */
typedef struct zb_probe {
    enum zb_question asks;
    const char *name;        /* a key, or a prefix ("" or "a/b") */
    const char *const *keys; /* with ZB_ASK_HOLDER: objects below the prefix, which begins them */
    size_t count;

    /* ---- Set by the store */

    zb_object_info info;
    /* Another holder at the same prefix, after this one was erased or moved away, has another one.
       0: there is none. */
    uint64_t identity;
    /* At one moment the holder of that identity was at the prefix, and none of the keys in it.
       Asked one by one, a holder may be moved away and back in between. */
    bool all_absent;
    bool is_so; /* false also where it is not known */
} zb_probe;

/* The names to list. */
typedef struct zb_list {
    const char *prefix; /* "" or "a/b", without a slash at its end */
    /* The keys of all objects below the prefix, without it, in place of the names directly below
       it. */
    bool is_recursive;
    /* Of each prefix it is told whether one of these is directly below it; NULL behind the last.
       Where links lead is not checked. NULL: that is of no interest. */
    const char *const *objects;
} zb_list;

/* A name directly below a prefix. */
typedef struct zb_list_entry {
    const char *name; /* valid during the call */
    bool is_prefix;   /* there are names below it */
    bool is_link;     /* a symbolic link: objects below it may be reached by other names, too */
    bool leads_back;  /* a link to a prefix above it: neither a prefix nor an object */
    bool holds;       /* a prefix, directly below which is one of the objects that were asked for;
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

/* What a put or an erase may take the place of. A backend that cannot keep to it touches nothing:
   ZB_EUNSUPPORTED, with no error filled in. */
enum zb_expected {
    ZB_EXPECT_ANYTHING,
    /* A put: nothing at the key's prefix (ZB_ASK_NOTHING), else ZB_ECONFLICT. It never waits. Trees
       alone keep to it (zb_store_is_tree), at a lower price than that question's. */
    ZB_EXPECT_NOTHING,
    /* A put by the holder of the key's lock, who has not looked: where a lock keeps no program out,
       ZB_ECONFLICT if another one has put an object there. */
    ZB_EXPECT_NO_OBJECT,
    /* An erase by the holder of the key's lock, who may have read the object under it: what another
       program has put there since stays. Where a lock keeps no program out, and an object cannot be
       compared and removed in one step, the caller has to put one that says as much. Puts under a
       lock are always as careful. */
    ZB_EXPECT_AS_READ,
    /* A put without a lock: no object of that key, else ZB_ECONFLICT, told in the step that makes
       the object visible, so that one of several programs succeeds. It never waits. Where that step
       cannot be had, directories may have been made all the same. */
    ZB_EXPECT_FREE
};

/* What becomes of a file whose content an object gets. */
enum zb_file_use {
    ZB_FILE_COPY,  /* its blocks are shared where the file system can, else the system copies its
                      bytes */
    ZB_FILE_SHARE, /* its blocks are shared, or nothing is put: ZB_EUNSUPPORTED */
    ZB_FILE_NAME   /* the object is a further name of the file, as it is: without parts, never
                      waiting, and as with ZB_EXPECT_FREE. ZB_EUNSUPPORTED where it can have none
                      there. Its content is the caller's to make durable */
};

/* A regular file of this machine, for stores that take files (zb_store_hints). */
typedef struct zb_put_file {
    int fd;                  /* open for reading */
    const zb_object *object; /* in its place: of this store, with ZB_FILE_SHARE; or NULL */
    enum zb_file_use use;
    uint64_t size; /* so many of its bytes, from the first one; counts without ZB_FILE_NAME */
} zb_put_file;

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
 *   become visible to listings and to other stores, while open and probe through the same store see
 *   it at once. The store takes the key's lock, where it has locks, while the object becomes
 *   visible: so the caller must not hold it.
 * - ZB_SYNC_ALWAYS: when the call returns.
 */
typedef struct zb_put {
    const char *key;
    const zb_part *parts; /* its content, in order */
    size_t count;
    const zb_put_file *file; /* its content in front of the parts; NULL: none */
    enum zb_sync sync;
    bool waits;    /* counts with ZB_SYNC_CLOSE */
    bool in_order; /* counts with ZB_SYNC_NONE */
    enum zb_expected expected;
    zb_home home;    /* what it has to lie in. One that waits is put there by the flush, or lost */
    zb_batch *batch; /* NULL: its losses are told to the caller that flushes the store as a whole */
} zb_put;

/* An object to erase, or all below a prefix. It is gone when the call returns; `sync` says when
   that is safe from a loss of power: ZB_SYNC_NONE and ZB_SYNC_CLOSE with the next flush(),
   ZB_SYNC_ALWAYS when the call returns. */
typedef struct zb_erase {
    const char *key;
    /* Everything below the key, which is a prefix ("" empties the store), goes, directories too,
       and nothing of what follows counts. No reader and no kill sees that half done in a tree
       (zb_store_is_tree), but with "": there the root's zarr.json goes first. */
    bool is_recursive;
    enum zb_sync sync;
    zb_home home; /* what it has to lie in */
    enum zb_expected expected;
    zb_batch *batch; /* whose check is called as before a put, and which is told when names are
                        lost; NULL: as of a put */
} zb_erase;

/* Objects to erase below a prefix, which are no documents. The caller has the lock of a document:
   while that stands (ZB_ASK_STANDS) each of them goes, and what another program puts at their keys
   once it does not stand any more stays, where the backend can. */
typedef struct zb_erase_chosen {
    const char *prefix, *document;
    /* Sets *chosen for a key that counts. An error ends the operation. */
    enum zb_code (*choose)(void *context, const char *key, bool *chosen, zb_error *err);
    void *context;
} zb_erase_chosen;

/* True if the object is left to a flush, to become visible and durable. */
static inline bool zb_put_waits(const zb_put *put) {
    return put->waits && put->sync == ZB_SYNC_CLOSE;
}

/* A change of a live object. */
typedef struct zb_change {
    uint64_t offset;      /* bytes */
    const zb_part *parts; /* go there, in order */
    size_t count;
    bool is_end; /* the object ends behind the parts: it is cut, or extended with zeros */
    enum zb_sync sync;
} zb_change;

/* A lock to take, or to wait for. */
typedef struct zb_locking {
    const char *key;
    /* The lock is of the object there, wherever the holder is moved while it is held, for those who
       ask with the same home. */
    zb_home home;
    /* Takes none, but waits until the locks of the key, and of all keys below it, that are held now
       have been let go of. Not the lock of "zarr.json", which the caller may hold. Locks that are
       taken meanwhile need not be waited for. Where locks keep no other program out there is
       nothing to wait for. */
    bool only_waits;
} zb_locking;

/* What is done with the leftovers of writers. */
enum zb_sweep {
    ZB_SWEEP_TELL,   /* those of killed ones are told */
    ZB_SWEEP_REMOVE, /* and removed */
    /* What erase() has only moved out of sight, as it may where the hierarchy's lock is held
       through this store, is freed: called when that lock has been let go of, so that others need
       not wait for it. Nothing is told, and the prefix is of no effect. An error: everything is
       erased, but something of it stays in a place that list() hides. */
    ZB_SWEEP_ERASED
};

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
    enum zb_code (*open)(zb_store *store, const zb_open *open, zb_object **out,
                         zb_object_info *info, zb_error *err);
    /* Reads all ranges of one call; fills each range's `got`. */
    enum zb_code (*read)(zb_object *object, zb_range *ranges, size_t count, zb_error *err);
    void (*close)(zb_object *object);
    /* Answers a question without opening anything. A backend answers the first three, by one and
       the same look where it has no cheaper ones. ZB_EUNSUPPORTED, with no error filled in, from
       ZB_ASK_HOLDER on: not known, or at no lower price than by asking for each object. */
    enum zb_code (*probe)(zb_store *store, zb_probe *probe, zb_error *err);
    /* The names, in any order. A prefix that does not exist lists nothing. A link that leads back
       to a prefix above it does not count as a prefix: no walk goes in circles. ZB_EUNSUPPORTED for
       a recursive list that costs no less than the lists of all levels. A backend that would have
       to look at each prefix for its objects may leave that to those who need it. */
    enum zb_code (*list)(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                         zb_error *err);
    /* Begins the requests of the list, in its order as far as it can, and returns without waiting
       for the network; `done` is called once for each, also before this returns. An error: none was
       begun, and done is never called. NULL in a store that answers in microseconds, or only while
       its caller waits. */
    enum zb_code (*submit)(zb_store *store, zb_fetch *list, zb_fetch_fn done, void *context,
                           zb_error *err);
    /* Ends the requests of this context: when it returns, done is not running for one of them, is
       not called for one again, and no buffer of them is touched. NULL as submit. */
    void (*cancel)(zb_store *store, void *context);
    void (*destroy)(zb_store *store);

    /* ---- Writing; all NULL in a read-only backend ---- */

    /* Replaces the whole object by the parts in order: at every instant a reader finds the old or
       the new one. On error the old one is untouched; only when ZB_SYNC_ALWAYS fails in its very
       last step, making the name durable, the new one stands already. With a batch that checks,
       ZB_ECONFLICT also when the key's place was moved or erased meanwhile. */
    enum zb_code (*put)(zb_store *store, const zb_put *put, zb_error *err);
    /* Removes an object, or all below a prefix; what is missing is not an error. With a batch that
       checks, ZB_ECONFLICT as with put. */
    enum zb_code (*erase)(zb_store *store, const zb_erase *erase, zb_error *err);
    /* ZB_ECONFLICT: the document does not stand, and some objects may be left. NULL where locks
       keep other programs out: each object is erased by itself. A slot of its own, as a backend
       that took no notice of what is chosen would erase all. */
    enum zb_code (*erase_chosen)(zb_store *store, const zb_erase_chosen *erase, zb_error *err);
    /* Makes all waiting objects of the batch (NULL: of all batches) visible, in the order of the
       puts, and durable; and durable all that was put with `in_order` or ZB_SYNC_CLOSE and all
       names that came or went through this store, by any writer. Objects of the batch that could
       not be stored keep their old content, and must be put again; the error is the first one, also
       of objects that went out since the last flush because too many waited. When names or visible
       objects could not be made durable, each batch with something at stake is told at its next
       flush. Objects that are never flushed are forgotten with the store. Takes locks of keys: not
       to be called while holding one.
       discards: the objects of the batch that still wait are given up instead, and nothing else is
       done. */
    enum zb_code (*flush)(zb_store *store, zb_batch *batch, bool discards, zb_error *err);
    /* Waits for the key's exclusive lock, among threads and processes, up to the limit
       lock_seconds: then ZB_ECONFLICT; likewise when the caller already holds the lock.
       ZB_EUNSUPPORTED where none can be had. The lock of the key "zarr.json" is that of the whole
       hierarchy of nodes that the store is in, whatever level of it the store was opened at. The
       lock goes with its process (and, where it is one of the system, with the children that it
       forked meanwhile; where it is one of the process, a child has those of the thread that forked
       alone). */
    enum zb_code (*lock)(zb_store *store, const zb_locking *locking, zb_lock **out, zb_error *err);
    void (*unlock)(zb_lock *lock);

    /* ---- Changing a live object; NULL where an object can only be replaced ---- */

    /* Changes it. Nothing of that is undone on error. The object's validator is another one
       afterwards, and as long as it lasts. Never waits for a flush: unless ZB_SYNC_NONE, all of the
       object is durable when this returns. */
    enum zb_code (*change)(zb_object *live, const zb_change *change, zb_error *err);

    /* ---- Housekeeping; NULL where there is nothing of the kind ---- */

    /* Moves all below the prefix `from` to `to`, in one step for readers and for a kill; durable
       after flush(). Objects at `to` stay there, beside those that come; ZB_ECONFLICT, and nothing
       is moved, when one is in the way. ZB_EUNSUPPORTED when it cannot be done in one step. NULL
       where prefixes are only beginnings of keys: see zb_store_is_tree. */
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
       hides. A backend that finds all of them at once tells them at the prefix "", with all of
       their keys. */
    enum zb_code (*sweep)(zb_store *store, const char *prefix, enum zb_sweep what, zb_list_fn fn,
                          void *context, zb_error *err);
} zb_store_ops;

#define ZB_STORE_OPS_VERSION 20

/* The head of every backend's own struct. */
struct zb_store {
    const zb_store_ops *ops;
    zb_store_hints hints;
    char *label; /* its name in error messages, e.g. the path; freed with the store */
    uint64_t id; /* unique in the process; part of every cache key */
    /* The core's own, which change while threads use the store. Plain types, so that the layout is
       the same in C and in C++. */
    uint64_t changes; /* made through the store */
    int refs;
};

/* The head of every backend's own object handle. */
struct zb_object {
    zb_store *store; /* not owned: a handle never outlives its store */
};

/* A store whose prefixes are things of their own (directories), which come, move and go in one
   step, for readers and for a kill: it has rename(). */
static inline bool zb_store_is_tree(const zb_store *store) {
    return store->ops->rename != NULL;
}

/* Objects can be changed in place. */
static inline bool zb_store_can_change(const zb_store *store) {
    return store->ops->change != NULL;
}

/* The bytes that come in the time of a round trip; 0: not known. */
static inline uint64_t zb_store_bandwidth_delay(const zb_store *store) {
    return store->hints.reach ? __atomic_load_n(store->hints.reach, __ATOMIC_RELAXED) : 0;
}

/* ---- Opening ---- */

/* A directory. Every key is opened beneath it: names and symbolic links that lead out of it are
   refused (ZB_EINVAL). ZB_ENOTFOUND when path is not a directory; ZB_EIO; ZB_ENOMEM. The caller
   releases *out. */
ZB_API enum zb_code zb_store_open_fs(const char *path, zb_store **out, zb_error *err);

/* A zip archive with a store in it, which is the object `key` of another store. The store lies in a
   folder of the archive ("a/b", or "" for its root); NULL: at the root, or in the one folder there
   that is a store. Entries are stored or deflated; of several of
   one name the last counts. It can only be read; a change of the archive is seen at the next
   question to the store. `label` names it in messages. ZB_EFORMAT for what is no archive, ZB_ELIMIT
   for a directory above the limit consolidated_bytes; errors of `outer`, which is retained. The
   caller releases *out. */
ZB_API enum zb_code zb_store_open_zip(zb_store *outer, const char *key, const char *folder,
                                      const char *label, zb_store **out, zb_error *err);

/* A store by its name, as zb_hierarchy_open_with takes it. */
ZB_API enum zb_code zb_store_open_with(const char *name, const zb_store_settings *settings,
                                       zb_store **out, zb_error *err);

/* An empty store in memory, filled by zb_store_mem_set or by writers. Only ZB_ENOMEM, and ZB_EINVAL
   for a key that is not valid. */
ZB_API enum zb_code zb_store_new_mem(const char *label, zb_store **out, zb_error *err);
ZB_API enum zb_code zb_store_mem_set(zb_store *mem, const char *key, const void *data, size_t size,
                                     zb_error *err);

/* One more reference, which is released like the first one; returns the store. The last release
   frees the store. Any thread. */
ZB_API zb_store *zb_store_retain(zb_store *store);
ZB_API void zb_store_release(zb_store *store); /* NULL is allowed */

/* For backends: sets up the head with one reference. label is copied. */
ZB_API enum zb_code zb_store_init(zb_store *store, const zb_store_ops *ops, zb_store_hints hints,
                                  const char *label, zb_error *err);

/* The only ways into a backend: they check the key and pass the call on. Arguments and errors as
   in zb_store_ops; a bad key is ZB_EINVAL. Those that end in "_as" take all that can be asked for;
   the others are short for what is asked for most. */
ZB_API enum zb_code zb_object_open(zb_store *store, const char *key, zb_object **out,
                                   zb_object_info *info, zb_error *err);
ZB_API enum zb_code zb_object_open_as(zb_store *store, const zb_open *open, zb_object **out,
                                      zb_object_info *info, zb_error *err);
ZB_API enum zb_code zb_object_read(zb_object *object, zb_range *ranges, size_t count,
                                   zb_error *err);
ZB_API void zb_object_close(zb_object *object); /* NULL is allowed */
ZB_API enum zb_code zb_store_probe(zb_store *store, zb_probe *probe, zb_error *err);
/* ZB_ASK_INFO. */
ZB_API enum zb_code zb_store_stat(zb_store *store, const char *key, zb_object_info *info,
                                  zb_error *err);
/* ZB_ASK_HOLDER: its identity. 0 where the backend cannot tell. */
ZB_API uint64_t zb_store_identify(zb_store *store, const char *prefix);
/* ZB_ASK_STANDS; ZB_OK where the backend cannot tell. */
ZB_API enum zb_code zb_store_stands(zb_store *store, const char *key, zb_error *err);
/* Whether the holder of that identity lacks all keys. True also where the backend cannot tell, and
   for an identity of 0. */
ZB_API bool zb_store_confirm_absent(zb_store *store, const char *prefix, uint64_t identity,
                                    const char *const *keys, size_t count);
/* ZB_ASK_LINK, ZB_ASK_NOTHING: false where that is not known, and of the root. */
ZB_API bool zb_store_is_link(zb_store *store, const char *prefix);
ZB_API bool zb_store_is_absent(zb_store *store, const char *prefix);
ZB_API enum zb_code zb_store_list(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                                  zb_error *err);
ZB_API enum zb_code zb_store_list_as(zb_store *store, const zb_list *list, zb_list_fn fn,
                                     void *context, zb_error *err);

/* The same for writing; ZB_EUNSUPPORTED for a read-only backend. Those without "_as" put an object
   that neither waits nor goes in order, and erase one, of no batch and in any home. */
ZB_API enum zb_code zb_store_put(zb_store *store, const char *key, const zb_part *parts,
                                 size_t count, enum zb_sync sync, zb_error *err);
ZB_API enum zb_code zb_store_put_as(zb_store *store, const zb_put *put, zb_error *err);
ZB_API enum zb_code zb_store_erase(zb_store *store, const char *key, zb_error *err);
ZB_API enum zb_code zb_store_erase_as(zb_store *store, const zb_erase *erase, zb_error *err);
ZB_API enum zb_code zb_store_erase_below(zb_store *store, const char *prefix, zb_error *err);
ZB_API enum zb_code zb_store_erase_chosen(zb_store *store, const zb_erase_chosen *erase,
                                          zb_error *err);
/* Flushes one batch (NULL: all, and each batch is told its own losses, too); the second one flushes
   all. */
ZB_API enum zb_code zb_store_flush_batch(zb_store *store, zb_batch *batch, zb_error *err);
ZB_API enum zb_code zb_store_flush(zb_store *store, zb_error *err);
ZB_API enum zb_code zb_store_lock(zb_store *store, const char *key, zb_lock **out, zb_error *err);
/* A store without locks has none to wait for. */
ZB_API enum zb_code zb_store_lock_as(zb_store *store, const zb_locking *locking, zb_lock **out,
                                     zb_error *err);
ZB_API void zb_store_unlock(zb_lock *lock); /* NULL is allowed */

/* Requests that go on while the caller does other things; ZB_EUNSUPPORTED for a store without
   submit(). The keys of all requests are checked first. */
ZB_API bool zb_store_can_submit(const zb_store *store);
ZB_API enum zb_code zb_store_submit(zb_store *store, zb_fetch *list, zb_fetch_fn done,
                                    void *context, zb_error *err);
ZB_API void zb_store_cancel(zb_store *store, void *context);

/* For backends that answer only while their caller waits, and not in microseconds: submit() and
   cancel() by at most 16 threads of the core, which call at_once(), if there is one, or open() and
   read(). Those of a distant store may take seconds, and cancel() waits for the calls under way.
   ZB_WHOLE is for requests that open their object. */
ZB_API enum zb_code zb_store_submit_by_threads(zb_store *store, zb_fetch *list, zb_fetch_fn done,
                                               void *context, zb_fetch_serve_fn at_once,
                                               zb_error *err);
ZB_API void zb_store_cancel_by_threads(zb_store *store, void *context);

/* Counts the changes made through the store: what was known of its objects before holds no more. */
ZB_API uint64_t zb_store_changes(zb_store *store);

/* Begins an empty batch on the store, which must outlive it. check may be NULL. */
ZB_API void zb_batch_begin(zb_batch *batch, zb_store *store, zb_batch_check_fn check,
                           void *context);
/* Forgets all that waits. */
ZB_API void zb_batch_end(zb_batch *batch);
/* For backends: calls the check of a put's or an erase's batch, if there is one. */
ZB_API enum zb_code zb_batch_check(const zb_batch *batch, const char *key, zb_error *err);

/* The same for live objects; ZB_EUNSUPPORTED where they cannot be changed. */
ZB_API enum zb_code zb_object_change(zb_object *live, const zb_change *change, zb_error *err);

/* The same for housekeeping: ZB_EUNSUPPORTED for a store that cannot rename, or not copy; where a
   store has no sweep(), there is nothing to sweep. */
ZB_API enum zb_code zb_store_rename(zb_store *store, const char *from, const char *to,
                                    zb_error *err);
ZB_API enum zb_code zb_store_copy(zb_store *store, const char *key, zb_store *from,
                                  const char *from_key, zb_error *err);
ZB_API enum zb_code zb_store_sweep(zb_store *store, const char *prefix, enum zb_sweep what,
                                   zb_list_fn fn, void *context, zb_error *err);

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
