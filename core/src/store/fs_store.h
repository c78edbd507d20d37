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
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "util/fork.h"
#include "util/map.h"
#include "zarrbridge/sys/store.h"

#define ZB__FS_TEMP ".zb-tmp"
#define ZB__FS_LOCK ".zb-lock"
#define ZB__FS_ASIDE ".zarrbridge-new" /* beside stores: sys/staging.h */

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

typedef struct zb__fs_waiting zb__fs_waiting;
typedef struct zb__fs_lock zb__fs_lock;

/* A tree out of sight that is taken apart later: see fs_trash.c. */
typedef struct zb__fs_tree {
    struct zb__fs_tree *next;
    uint64_t thread;         /* that takes it apart, in zb__fs.going; see zb__thread_id */
    int fd;                  /* of its directory, with the lock */
    char name[NAME_MAX + 1]; /* in the directory above it */
    char key[];              /* of what was erased; "": not known */
} zb__fs_tree;

/* Whom the locks of the store's file system keep out: see fs_mount.c and fs_lock.c. */
enum zb__fs_reach {
    ZB__FS_LOCAL, /* all who use it: one machine, or several that see at once what others do */
    ZB__FS_NODE,  /* the processes of this machine, while others may write as well */
    ZB__FS_SHARED /* all machines, each of which may take old names for present ones for a while */
};

typedef struct zb__fs {
    zb_store base;
    int root;       /* descriptor of the directory */
    bool is_remote; /* time stamps may come from another machine's clock */
    enum zb__fs_reach reach;
    atomic_bool
        leaves_lock; /* the file of the hierarchy's lock is there, and this store removes it */
    atomic_bool lost_root;   /* its document was erased: the next unlocking leaves no file */
    atomic_bool is_unseen;   /* see zb__fs_set_unseen (store.h) */
    pthread_rwlock_t seeing; /* of is_unseen; puts into what is unseen have it for reading, so that
                                they end before the directory is seen */

    zb__fork_guard guard;     /* of `lock` */
    pthread_mutex_t flushing; /* one flush at a time; taken before `lock` */
    pthread_mutex_t lock;     /* guards all below; never held while data are written or synced */
    zb__fs_waiting *waiting, **waiting_end; /* in the order of their puts */
    atomic_size_t waiting_count;
    pid_t waiting_owner; /* the process that put them: a forked child has no right to them */
    zb_batch own;        /* of puts without a batch */
    zb_error loss;       /* the last failure of making names and visible objects durable, */
    uint64_t losses;     /* and how many there were: each batch is told those since its puts */
    zb__map dirty;       /* changes that are not on disk yet, by path: fs_dirty.c */
    uint64_t dirty_all; /* the last change that was not remembered, there being too many; 0: none */
    uint64_t changes;
    uint64_t *cleaned; /* hashes of directories that were cleaned, see fs_sweep.c */
    int left; /* one more than the descriptor of the hierarchy's lock file, which nobody has
                 locked through it, see fs_lock.c; 0: none */
    struct stat left_file;           /* that file */
    bool has_hierarchy;              /* a thread holds the hierarchy's lock through this store */
    zb__fs_tree *erased, *left_over; /* they wait until it lets go; NULL: none */
    zb__fs_tree *going;              /* those that threads take apart, or are about to */
    unsigned forks;                  /* between the process that opened the store and this one */
} zb__fs;

/* A store over the directory of this descriptor, which it takes over (fs.c). */
enum zb_code zb__fs_open_root(int root, const char *label, zb_store **out, zb_error *err);

bool zb__store_is_fs(const zb_store *store);

/* ---- One function of a file of its own (fs_list.c, fs_await.c). */

enum zb_code zb__fs_list(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                         zb_error *err);

/* Waits for the locks of others. Locks behind links are not waited for. */
enum zb_code zb__fs_await_locks(zb__fs *fs, const char *prefix, zb_error *err);

/* ---- Places to write in (fs_place.c). */

/* The place of a key's file. */
typedef struct zb__fs_place {
    int dir;             /* O_PATH descriptor of its directory */
    const char *name;    /* in there; the tail of the key, not owned */
    bool made;           /* the directory is new */
    char path[PATH_MAX]; /* of the directory beneath the root, "" for the root */
} zb__fs_place;

/* Fills in all but the descriptor. ZB_EINVAL for names that we keep for ourselves. */
enum zb_code zb__fs_name_place(const char *key, zb__fs_place *place, zb_error *err);

/* Opens the directory of a key to be written; make: with all directories above it. ZB_ENOTFOUND
   when there is none, ZB_EINVAL for names that we keep for ourselves. Close place->dir. */
enum zb_code zb__fs_open_place(zb__fs *fs, const char *key, bool make, zb__fs_place *place,
                               zb_error *err);
/* The same in a home: the directory is surely within the one of that identity, and stays there
   whatever becomes of the path; ZB_ECONFLICT where another one, or none, is at the prefix, and
   nothing is made then. */
enum zb_code zb__fs_open_place_in(zb__fs *fs, const char *key, const zb_home *home, bool make,
                                  zb__fs_place *place, zb_error *err);

/* The same for a key whose directory is to be made, while the one above it is there. ZB_ECONFLICT
   when anything has its name. */
enum zb_code zb__fs_make_place(zb__fs *fs, const char *key, zb__fs_place *place, zb_error *err);

/* ZB_ECONFLICT unless the path beneath the root ("" for the root) leads to the directory of this
   descriptor, which it did when the key's place was opened. */
enum zb_code zb__fs_check_place(const zb__fs *fs, const char *path, int dir, const char *key,
                                zb_error *err);

/* ---- Telling versions of files, and directories, apart (fs_version.c). */

zb_object_info zb__fs_info_of(const zb__fs *fs, const struct stat *st);
/* The identity of what a path leads to, or with "" of the directory of the descriptor; 0: there is
   none. */
uint64_t zb__fs_identify_at(int at, const char *path);
/* Answers ZB_ASK_HOLDER. */
void zb__fs_probe_holder(const zb__fs *fs, zb_probe *probe);

/* ---- Names as other machines have left them (fs_fresh.c). */

/* Each of these does nothing unless the store is ZB__FS_SHARED. */

/* Asks the server for the attributes of what is open, so that no older ones are used from now on;
   those of a directory tell whether its names have changed. */
void zb__fs_refresh(const zb__fs *fs, int fd);
/* The same for each directory on the way to a path: from `at` itself to the one that has the
   path's last part. last: a path of the same `at` that this was done for a moment ago, whose
   directories are not asked for again; NULL: none. */
void zb__fs_refresh_way(const zb__fs *fs, int at, const char *path, const char *last);

/* True if the names on the way to a path are known to be as they are now: where the store is not
   ZB__FS_SHARED, and where the hierarchy's lock is held through it, whose holder has to change the
   documents that are there. Then the way is refreshed. Not to be called with fs->lock. */
bool zb__fs_is_sure(zb__fs *fs, const char *path);

/* True if a rename that has failed with this errno may succeed now, after a pause: servers refuse
   one while they are about to do something else with the file. *tries begins at 0. Never where the
   store is ZB__FS_LOCAL. */
bool zb__fs_rename_again(const zb__fs *fs, int failed, int *tries);

/* ---- Names and files that are not durable yet (fs_dirty.c). */

/* Remembers that entries of a directory changed, or that a file waits to be synced. */
void zb__fs_mark_dirty(zb__fs *fs, const char *path);
void zb__fs_mark_file(zb__fs *fs, const char *key);
/* The directory `from` has moved: changes remembered below it cannot be found any more, so that the
   next sync takes all. */
void zb__fs_mark_moved(zb__fs *fs, const char *from);
/* Makes the names in the directories above the key durable; NULL: in all directories, and all
   files. */
enum zb_code zb__fs_sync_names(zb__fs *fs, const char *key, zb_error *err);
void zb__fs_free_dirty(zb__fs *fs);
/* True if the key lies below the prefix. All keys lie below "". */
bool zb__fs_is_below(const char *key, const char *prefix);

/* ---- Locks of keys (fs_lock.c). */

enum zb_code zb__fs_lock_key(zb_store *store, const zb_locking *locking, zb_lock **out,
                             zb_error *err);
void zb__fs_unlock(zb_lock *lock);
/* Removes the file of the hierarchy's lock, if this store has left it. A holder, or a store that
   waits for it, leaves it again, and removes it in turn. */
void zb__fs_leave_no_lock(zb__fs *fs);
/* Closes the descriptor that is kept for the next holder: at the end, and in a child, since it is
   the parent's. Called with fs->lock, or without other threads. */
void zb__fs_forget_left(zb__fs *fs);
/* True of the name of the hierarchy's lock file. */
bool zb__fs_is_hierarchy_lock(const char *name);
/* Tries for the exclusive lock of an open file; errno, EAGAIN when another process has it. */
int zb__fs_lock_file(int fd);
/* True if the errno is that of a file system without locks. */
bool zb__fs_no_locks(int failed);

/* ---- Waiting for a lock that another holder has (fs_lock.c). */

typedef struct zb__fs_patience {
    int64_t end; /* of the limit lock_seconds, by the monotonic clock */
    bool is_shared;
    long pause, longest; /* nanoseconds */
} zb__fs_patience;

zb__fs_patience zb__fs_be_patient(const zb__fs *fs);
/* Pauses before another try; false when the time is up, or the thread is not to wait. */
bool zb__fs_has_patience(zb__fs_patience *p);

/* The error of a lock that was not to be had so. */
enum zb_code zb__fs_fail_held(const char *key, zb_error *err);

/* ---- Objects that wait for a flush (fs_flush.c). */

/* True when the key has an object that waits; path is then its file's beneath the root. */
bool zb__fs_find_waiting(zb__fs *fs, const char *key, char path[PATH_MAX]);
/* Lets a finished temporary file wait for the next flush of its batch; the descriptor is the
   store's from now on, also on error. */
enum zb_code zb__fs_wait(zb__fs *fs, const zb_put *put, const zb__fs_place *place, const char *temp,
                         int fd, zb_error *err);
/* Forgets the objects that wait for the key, or for keys below the prefix. Called with fs->lock. */
void zb__fs_drop_waiting(zb__fs *fs, const char *key);
void zb__fs_drop_waiting_below(zb__fs *fs, const char *prefix);
/* Stores the objects that wait below the prefix now; a failure is kept for its batch. */
void zb__fs_publish_below(zb__fs *fs, const char *prefix);
/* True if an object below the prefix waits for a flush. Called with fs->lock. */
bool zb__fs_any_waits_below(zb__fs *fs, const char *prefix);
/* Notes that a change which a flush has yet to make durable is made for this batch (NULL: for the
   store itself). ZB_OK, or the batch's loss, which its flush has yet to report. */
enum zb_code zb__fs_join(zb__fs *fs, zb_batch *batch, zb_error *err);
enum zb_code zb__fs_flush(zb_store *store, zb_batch *batch, bool discards, zb_error *err);

/* ---- Trees that are out of sight, and have still to be taken apart (fs_trash.c). */

/* Moves the entry of this key out of sight in one step; errno. discarded: its new name in its
   directory, for zb__fs_remove_discarded, or "" where it waits for zb__fs_finish_erasing. Called
   with fs->lock. */
int zb__fs_trash(zb__fs *fs, const zb__fs_place *place, const char *key,
                 char discarded[NAME_MAX + 1]);

/* Removes an entry that has a name of ours; errno. */
int zb__fs_remove_discarded(zb__fs *fs, int at, const char *name);

/* Takes the lock of a directory, as whoever takes a tree apart does: a descriptor that holds it, or
   -1 with errno, EAGAIN where another one has it. Called with fs->lock, and closed before that
   goes: a child that is forked would keep the lock. */
int zb__fs_claim_tree(int at, const char *name);

/* The same, to ask whether it is free: errno. */
int zb__fs_ask_tree(zb__fs *fs, int at, const char *name);

/* Removes a tree that a killed process has left out of sight, or lets it wait for
   zb__fs_finish_erasing; errno. */
int zb__fs_remove_left_tree(zb__fs *fs, int at, const char *name);

/* What waits becomes the calling thread's, which lets go of the hierarchy's lock now. Called with
   fs->lock. */
void zb__fs_take_discarded(zb__fs *fs);

/* Takes apart what is the calling thread's. Failures with what killed processes have left do not
   matter. */
enum zb_code zb__fs_finish_erasing(zb__fs *fs, zb_error *err);
/* The same for all threads, when the store ends. */
void zb__fs_finish_all(zb__fs *fs);

/* Leaves all trees to others: in a child, whose parent takes them apart. */
void zb__fs_forget_discarded(zb__fs *fs);

/* ---- Removing trees from the disk (fs_trash.c). */

/* Unlinks anything but a directory; links are not followed. 0, EISDIR, or another errno. */
int zb__fs_unlink_file(int dir, const char *name);

/* Removes a file, a link or a whole directory; errno. A missing one is not an error: another
   process was faster. */
int zb__fs_remove_tree(int at, const char *name);

/* ---- Files that stay open (fs_kept.c). */

/* Files that are read again and again stay open between these reads: one question about the path is
   then all that it takes to know that they are still what an open would find. Any thread. */

typedef struct zb__fs_kept zb__fs_kept;

/* The file that is kept for the key, or NULL; to be given back. The caller asks what the path leads
   to now, and forgets the file if it is none of that. */
zb__fs_kept *zb__fs_kept_take(const zb__fs *fs, const char *key);
bool zb__fs_kept_is(const zb__fs_kept *kept, const zb_object_info *info);
int zb__fs_kept_fd(const zb__fs_kept *kept);
void zb__fs_kept_give(zb__fs_kept *kept, bool forgets);

/* Keeps the file that was just opened for the key, not for the first time, as if it had been taken.
   NULL: it is not kept, and the descriptor stays the caller's. */
zb__fs_kept *zb__fs_keep(const zb__fs *fs, const char *key, int fd, const zb_object_info *info);

/* Forgets the file of a key, or with NULL all of the store. Those that are read now are closed
   afterwards. */
void zb__fs_kept_forget(const zb__fs *fs, const char *key);

/* Closes all that nobody reads, of all stores. True if it closed any. */
bool zb__fs_kept_clear(void);

/* ---- Opening and reading objects (fs_object.c). */

typedef struct zb__fs_object {
    zb_object base;
    int fd;
    zb__fs_kept *kept; /* whose descriptor it is; NULL: its own */
    uint64_t size;     /* at open, or after our last change of it */
} zb__fs_object;

enum zb_code zb__fs_open_path(zb__fs *fs, const char *key, zb_object **out, zb_object_info *info,
                              zb_error *err);
enum zb_code zb__fs_open_in(zb__fs *fs, const char *key, const zb_home *home, zb_object **out,
                            zb_object_info *info, zb_error *err);
enum zb_code zb__fs_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err);
void zb__fs_close(zb_object *object);
enum zb_code zb__fs_probe(zb_store *store, zb_probe *probe, zb_error *err);

/* Makes a handle of an open file, which is closed on error; refuses all but regular ones. */
enum zb_code zb__fs_new_object(zb_store *store, const char *key, int fd, zb_object **out,
                               zb_object_info *info, zb_error *err);

/* ---- Putting objects (fs_write.c). */

enum zb_code zb__fs_put(zb_store *store, const zb_put *put, zb_error *err);

/* Has the file system report the errors that it keeps for the closing of a file, while the
   descriptor, and with it the lock, stays ours; errno. */
int zb__fs_check_close(int fd);

/* ---- The content of files (fs_fill.c). */

/* Writes all parts at the descriptor's position; errno. */
int zb__fs_write_parts(int fd, const zb_part *parts, size_t count);
/* Fills a new file, which is open for writing, with the first bytes of another one: its position is
   behind them then. Errno; EOPNOTSUPP where blocks have to be shared, and cannot be. */
int zb__fs_fill_from(int fd, const zb_put_file *file);
/* Puts an object that is a further name of a file. */
enum zb_code zb__fs_put_name(zb__fs *fs, const zb_put *put, zb_error *err);

/* ---- Copying objects (fs_copy.c). */

enum zb_code zb__fs_copy(zb_store *store, const char *key, zb_store *from, const char *from_key,
                         zb_error *err);

/* ---- Changing objects in place (fs_write.c). */

enum zb_code zb__fs_open_live(zb_store *store, const char *key, const zb_home *home,
                              zb_object **out, zb_object_info *info, zb_error *err);
enum zb_code zb__fs_change(zb_object *live, const zb_change *change, zb_error *err);

/* ---- Removing objects and trees (fs_remove.c). */

enum zb_code zb__fs_erase(zb_store *store, const zb_erase *erase, zb_error *err);
/* Removes a directory in which there are directories and files of ours alone; errno, EEXIST when
   there is anything else. Called with the store's lock, as zb__fs_claim_tree is. */
int zb__fs_remove_empty(int dir, const char *name);

/* ---- Moving trees (fs_remove.c). */

enum zb_code zb__fs_rename(zb_store *store, const char *from, const char *to, zb_error *err);

/* ---- Removing what killed writers left (fs_sweep.c). */

/* Removes the leftovers of killed writers from the directory, the first time that this store writes
   there. */
void zb__fs_sweep(zb__fs *fs, const zb__fs_place *place);
enum zb_code zb__fs_sweep_all(zb_store *store, const char *prefix, enum zb_sweep what,
                              zb_list_fn fn, void *context, zb_error *err);

/* ---- The file system that a store is on (fs_mount.c). */

/* Finds out what kind of file system the root is on, and how far its locks reach. Once a store. */
void zb__fs_look_at_system(zb__fs *fs);

/* True of the file systems that take their time stamps from this machine's clock, by the number
   that statfs(2) gives. All others, FUSE included, may take theirs from elsewhere, and may be used
   by other machines. */
bool zb__fs_is_local_type(unsigned type);
/* How far the locks of a file system reach. options: those of the mount, with commas; NULL: not
   known. */
enum zb__fs_reach zb__fs_reach_of(unsigned type, const char *options);
/* The options of a file system by a line of /proc/self/mountinfo: the last word of it. NULL unless
   the line is of this device. */
const char *zb__fs_mount_options(const char *line, dev_t device);

/* ---- How far the locks of BeeGFS reach (fs_mount.c). */

/* True if locks keep out all machines, by the configuration that a mount's options name. options:
   separated by commas; NULL: not known. */
bool zb__fs_beegfs_is_shared(const char *options);

/* The same by the text of a configuration. */
bool zb__fs_beegfs_says_shared(const char *text, size_t size);

#endif
