/* SPDX-License-Identifier: MIT */
/*
 * The directory store's inside: the declarations that its files share.
 *
 *   fs.c         opening and listing the store
 *   fs_object.c  opening and reading objects
 *   fs_version.c telling versions of files apart
 *   fs_path.c    paths beneath the root, and the names that we keep for ourselves
 *   fs_place.c   places to write
 *   fs_write.c   put and erase
 *   fs_live.c    changing objects in place
 *   fs_flush.c   objects that wait for a flush
 *   fs_dirty.c   names and files that are not durable yet
 *   fs_rename.c  moving trees
 *   fs_remove.c  erasing trees
 *   fs_sweep.c   cleaning up after writers that were killed
 *   fs_lock.c    locks of keys
 *
 * Names of ours begin with a dot and end in ZB__FS_TEMP or ZB__FS_LOCK. Listings hide them and keys
 * with such a part cannot be written.
 */
#ifndef ZB_STORE_FS_H
#define ZB_STORE_FS_H

#include <errno.h>
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/fork.h"
#include "zarrbridge/sys/store.h"

#define ZB__FS_TEMP ".zb-tmp"
#define ZB__FS_LOCK ".zb-lock"

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
    bool is_file;
} zb__fs_dirty;

typedef struct zb__fs_waiting zb__fs_waiting;
typedef struct zb__fs_lock zb__fs_lock;

typedef struct zb__fs {
    zb_store base;
    int root;       /* descriptor of the directory */
    bool is_remote; /* time stamps may come from another machine's clock */

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
    uint64_t dirty_all; /* the last change that was not remembered, there being too many; 0: none */
    uint64_t changes;
    uint64_t *swept; /* hashes of directories that were cleaned, see fs_sweep.c */
} zb__fs;

typedef struct zb__fs_object {
    zb_object base;
    int fd;
    uint64_t size; /* at open, or after our last change of it */
} zb__fs_object;

/* ---- fs_object.c ---- */

enum zb_code zb__fs_open(zb_store *store, const char *key, zb_object **out, zb_object_info *info,
                         zb_error *err);
enum zb_code zb__fs_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err);
void zb__fs_close(zb_object *object);
enum zb_code zb__fs_stat(zb_store *store, const char *key, zb_object_info *info, zb_error *err);

/* Makes a handle of an open file, which is closed on error; refuses all but regular ones. */
enum zb_code zb__fs_new_object(zb_store *store, const char *key, int fd, zb_object **out,
                               zb_object_info *info, zb_error *err);

/* ---- fs_version.c ---- */

/* Finds out the kind of the file system that the root is on. */
void zb__fs_look_at_system(zb__fs *fs);
zb_object_info zb__fs_info_of(const zb__fs *fs, const struct stat *st);
uint64_t zb__fs_identify(zb_store *store, const char *prefix);

/* ---- fs_path.c ---- */

/* Opens a path beneath the root; -1 with errno. A path that leads out of it gives EXDEV or ELOOP.
 */
int zb__fs_openat(int root, const char *path, int flags);

/* After ENOENT: true if a symbolic link on the path leads nowhere. An object behind it is not
   absent, but cannot be reached. */
bool zb__fs_dangles(int root, const char *path);

/* The error for a failed call on a key. */
enum zb_code zb__fs_fail(zb_error *err, int sys_errno, const char *what, const char *key);
/* The same for calls that write: never ZB_ENOTFOUND, which would mean that the object does not
   exist. */
enum zb_code zb__fs_fail_write(zb_error *err, int sys_errno, const char *what, const char *key);

/* The place of a key's file. */
typedef struct zb__fs_place {
    int dir;             /* O_PATH descriptor of its directory */
    const char *name;    /* in there; the tail of the key, not owned */
    bool made;           /* the directory is new */
    char path[PATH_MAX]; /* of the directory beneath the root, "" for the root */
} zb__fs_place;

/* Opens the directory of a key to be written; make: with all directories above it. ZB_ENOTFOUND
   when there is none, ZB_EINVAL for names that we keep for ourselves. Close place->dir. */
enum zb_code zb__fs_open_place(zb__fs *fs, const char *key, bool make, zb__fs_place *place,
                               zb_error *err);

/* The last part of a key: a pointer into it. */
const char *zb__fs_name_of(const char *key);

bool zb__fs_is_ours(const char *name);
bool zb__fs_is_lock(const char *name);
/* A new name in the directory of `name` that no other process will choose; and the name of its
   lock. */
void zb__fs_temp_name(const char *name, char out[NAME_MAX + 1]);
void zb__fs_lock_name(const char *name, char out[NAME_MAX + 1]);
/* True if the temporary name was made by a process that shares this kernel, and so its locks. */
bool zb__fs_is_local_temp(const char *name);
uint64_t zb__fs_hash(const char *text);

/* ---- fs_flush.c ---- */

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
enum zb_code zb__fs_flush(zb_store *store, zb_batch *batch, zb_error *err);
void zb__fs_forget(zb_store *store, zb_batch *batch);

/* ---- fs_dirty.c ---- */

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

/* ---- fs_write.c ---- */

/* Writes all parts at the descriptor's position; errno. */
int zb__fs_write_parts(int fd, const zb_part *parts, size_t count);
/* Has the file system report the errors that it keeps for the closing of a file, while the
   descriptor, and with it the lock, stays ours; errno. */
int zb__fs_check_close(int fd);

/* ---- fs_live.c ---- */

enum zb_code zb__fs_open_live(zb_store *store, const char *key, zb_object **out,
                              zb_object_info *info, zb_error *err);
enum zb_code zb__fs_write_at(zb_object *live, uint64_t offset, const zb_part *parts, size_t count,
                             enum zb_sync sync, zb_error *err);
enum zb_code zb__fs_truncate(zb_object *live, uint64_t size, enum zb_sync sync, zb_error *err);

/* ---- the rest ---- */

enum zb_code zb__fs_put(zb_store *store, const zb_put *put, zb_error *err);
enum zb_code zb__fs_erase(zb_store *store, const char *key, zb_error *err);
enum zb_code zb__fs_erase_below(zb_store *store, const char *prefix, zb_error *err);
enum zb_code zb__fs_rename(zb_store *store, const char *from, const char *to, zb_error *err);
enum zb_code zb__fs_sweep_all(zb_store *store, const char *prefix, bool remove, zb_list_fn fn,
                              void *context, zb_error *err);
/* Removes the directory `name` in `at` with all that is in it; errno. */
int zb__fs_remove_tree(int at, const char *name);
/* Opens the directory `name` in `at` for listing; no links. NULL with errno. */
DIR *zb__fs_open_dir(int at, const char *name);
/* Removes a directory in which there are directories and files of ours alone; errno, EEXIST when
   there is anything else. */
int zb__fs_remove_empty(int dir, const char *name);
/* Removes the leftovers of killed writers from the directory, the first time that this store writes
   there. */
void zb__fs_sweep(zb__fs *fs, const zb__fs_place *place);

enum zb_code zb__fs_lock_key(zb_store *store, const char *key, zb_lock **out, zb_error *err);
void zb__fs_unlock(zb_lock *lock);
/* Tries for the exclusive lock of an open file; errno, EAGAIN when another process has it. */
int zb__fs_lock_file(int fd);
/* True if the errno is that of a file system without locks. */
bool zb__fs_no_locks(int failed);

#endif
