/* SPDX-License-Identifier: MIT */
/*
 * The directory store. Names of its own begin with a dot and end in ZB__FS_TEMP or ZB__FS_LOCK:
 * listings hide them, and keys with such a part cannot be written.
 */
#ifndef ZB_STORE_FS_STORE_H
#define ZB_STORE_FS_STORE_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/fork.h"
#include "zarrbridge/sys/store.h"

#define ZB__FS_TEMP ".zb-tmp"
#define ZB__FS_LOCK ".zb-lock"
#define ZB__FS_ASIDE ".zarrbridge-new" /* beside stores: sys/aside.h */

/* A directory or temporary file may vanish under our hands (another process erases the node, or
   sweeps): we begin anew that many times. */
#define ZB__FS_TRIES 16

/* The value of a system call, made again as long as signals interrupt it. */
#define ZB__UNINTERRUPTED(call)                                                                    \
    ({                                                                                             \
        long result_;                                                                              \
        do                                                                                         \
            result_ = (call);                                                                      \
        while (result_ < 0 && errno == EINTR);                                                     \
        (int)result_;                                                                              \
    })

/* A change that is not on disk yet: a directory whose entries changed, or a file that was put to be
   durable with the next flush. */
typedef struct zb__fs_dirty {
    char *path; /* beneath the root, "" for the root itself, ".." for the root's own name */
    uint64_t hash;
    uint64_t change; /* grows with each change: an entry changed during its sync stays */
    unsigned next;   /* one more than the index of the next one in its chain; 0: none */
    bool is_file;
} zb__fs_dirty;

/* Chains by hash, in which an entry is found. */
#define ZB__FS_DIRTY_CHAINS 256

typedef struct zb__fs_waiting zb__fs_waiting;
typedef struct zb__fs_lock zb__fs_lock;

/* A tree out of sight that is taken apart later: see fs_discard.c. */
typedef struct zb__fs_tree {
    struct zb__fs_tree *next;
    uint64_t thread;         /* that takes it apart, in zb__fs.going; see zb__thread_id */
    int fd;                  /* of its directory, with the lock */
    char name[NAME_MAX + 1]; /* in the directory above it */
    char key[];              /* of what was erased; "": not known */
} zb__fs_tree;

typedef struct zb__fs {
    zb_store base;
    int root;       /* descriptor of the directory */
    bool is_remote; /* time stamps may come from another machine's clock */
    atomic_bool
        leaves_lock; /* the file of the hierarchy's lock is there, and this store removes it */
    atomic_bool lost_root; /* its document was erased: the next unlocking leaves no file */

    zb__fork_guard guard;     /* of `lock` */
    pthread_mutex_t flushing; /* one flush at a time; taken before `lock` */
    pthread_mutex_t lock;     /* guards all below; never held while data are written or synced */
    zb__fs_waiting *waiting, **waiting_end; /* in the order of their puts */
    atomic_size_t waiting_count;
    pid_t waiting_owner; /* the process that put them: a forked child has no right to them */
    zb_batch own;        /* of puts without a batch */
    zb_error loss;       /* the last failure of making names and visible objects durable, */
    uint64_t losses;     /* and how many there were: each batch is told those since its puts */
    zb__fs_dirty *dirty;
    size_t dirty_count, dirty_capacity;
    unsigned dirty_chain[ZB__FS_DIRTY_CHAINS]; /* where each begins, as `next` says it */
    uint64_t dirty_all; /* the last change that was not remembered, there being too many; 0: none */
    uint64_t changes;
    uint64_t *swept; /* hashes of directories that were cleaned, see fs_sweep.c */
    int left;        /* one more than the descriptor of the hierarchy's lock file, which nobody has
                        locked through it, see fs_lock.c; 0: none */
    struct stat left_file;           /* that file */
    bool has_hierarchy;              /* a thread holds the hierarchy's lock through this store */
    zb__fs_tree *erased, *left_over; /* they wait until it lets go; NULL: none */
    zb__fs_tree *going;              /* those that threads take apart, or are about to */
    unsigned forks;                  /* between the process that opened the store and this one */
} zb__fs;

#endif
