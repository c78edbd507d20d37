/* SPDX-License-Identifier: MIT */
/*
 * Locks of keys in the directory store: an open-file-description lock of a file beside the key's.
 * The kernel drops it with the last descriptor, so that no killed holder leaves it behind; and
 * since each lock opens its own description, threads exclude each other as processes do.
 *
 * Except for the hierarchy's, the file is there only while a thread holds the lock or waits for it.
 * The holder unlinks it before letting go; a waiter that gets the lock after that has one of a file
 * without a name, which the next waiter would not see. So the winner checks whether the name still
 * leads to its file, and else begins anew.
 *
 * The lock file of the hierarchy stays, and stays open (zb__fs.left), until the store is flushed or
 * released: on some file systems it takes longer to make and unlink that file than to make a node.
 * The next holder locks the same descriptor again if the name still leads to its file. Only one
 * holder at a time uses the descriptor, since an open file description excludes nobody from itself;
 * a child of fork() gives it up for the same reason. On network file systems the file is unlinked
 * each time, as an open file without a name may keep its directory from being removed.
 *
 * Every user that may write in the directory may take the lock: the file gets the directory's
 * rights, whatever the umask says. A lock file that cannot be opened all the same was made by
 * another user a moment ago, or left by a kill in that moment; when no process has it locked it is
 * removed.
 *
 * The file lies in the directory of the key, and moves with it: so the lock of a chunk is that of
 * the array in whose home it was asked for, by whatever path others come to that array.
 *
 * A waiter tries again after a pause: a wait in the kernel has no time limit, and one for a lock at
 * a server ends seconds late.
 *
 * Where several machines take locks (ZB__FS_SHARED), each of them answers from its memory whether
 * the name still leads to the file: two could hold locks of two files. There no lock file is ever
 * unlinked but with its directory, or by a user who is alone, and each has one for as long as its
 * key's directory is there. The holder looks up the names in its directory anew before it goes on:
 * the lock keeps others from changing them from now on, and not from having changed them.
 *
 * Where locks keep out the processes of one machine alone (ZB__FS_NODE), and several are said to
 * write, the lock of a chunk is worth nothing, and none is given.
 */
#include "store/fs_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "util/back_off.h"
#include "util/clock.h"
#include "util/locks.h"
#include "util/wait.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

struct zb__fs_lock {
    zb_lock base;
    int fd, dir;       /* dir: of the key; may be the store's own */
    struct stat file;  /* that of fd, from when its lock was got; known then only */
    bool is_hierarchy; /* whose file stays */
    unsigned forks;    /* zb__fs.forks when it was taken */
    zb_home home;      /* that the key has to lie in */
    char *key;
    char name[NAME_MAX + 1]; /* of the file in dir */
};

/* POSIX allows either errno for a lock that another holder has. */
static bool is_held(int failed) {
    return failed == EAGAIN || failed == EACCES;
}

int zb__fs_lock_file(int fd) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int failed = ZB__UNINTERRUPTED(fcntl(fd, F_OFD_SETLK, &whole)) == 0 ? 0 : errno;
    return is_held(failed) ? EAGAIN : failed;
}

bool zb__fs_no_locks(int failed) {
    enum {
        NFS_ENOTSUPP = 524
    }; /* the kernel's own number, which leaks out of network file systems */
    return failed == ENOLCK || failed == EOPNOTSUPP || failed == ENOSYS || failed == EINVAL ||
           failed == NFS_ENOTSUPP;
}

/* ---- Lock files --------------------------------------------------------------------------- */

#define LOCK_FLAGS (O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

bool zb__fs_is_hierarchy_lock(const char *name) {
    char hierarchy[NAME_MAX + 1];
    zb__fs_lock_name("zarr.json", hierarchy);
    return strcmp(name, hierarchy) == 0;
}

static bool names_this_file(int dir, const char *name, const struct stat *file) {
    struct stat named;
    return fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && zb__fs_same_file(file, &named);
}

/* Gives a file that was just made the rights of its directory. */
static void share(const struct stat *above, int fd) {
    struct stat own;
    mode_t mode = above->st_mode & 0666;
    if (fstat(fd, &own) != 0)
        return;
    if (above->st_gid != own.st_gid && fchown(fd, (uid_t)-1, above->st_gid) != 0)
        mode |= (mode & 020) >> 3; /* the group is "others" of this file */
    if (mode != (own.st_mode & 0777))
        (void)fchmod(fd, mode | 0600);
}

/* The same for one that stays, while its directory may have got other rights. */
static void share_again(int dir, int fd) {
    struct stat above;
    if (fstatat(dir, "", &above, AT_EMPTY_PATH) == 0)
        share(&above, fd);
}

/* Makes the file, which nobody has made yet: a descriptor, or -1 with errno. The rights that the
   umask leaves of the directory's are often all of them. */
static int make_lock_file(int dir, const char *name) {
    struct stat above;
    if (fstatat(dir, "", &above, AT_EMPTY_PATH) != 0)
        return -1;
    int fd =
        zb__fs_open_name(dir, name, LOCK_FLAGS | O_CREAT | O_EXCL, 0600 | (above.st_mode & 0666));
    if (fd >= 0)
        share(&above, fd);
    return fd;
}

static int open_made(int dir, const char *name) {
    return zb__fs_open_name(dir, name, LOCK_FLAGS, 0);
}

/* By making it and by opening it in turn. stays: it is likely to be there. */
static int open_lock_file(int dir, const char *name, bool stays) {
    bool makes = !stays;
    for (int tries = 0; tries < 2 * ZB__FS_TRIES; tries++, makes = !makes) {
        int fd = makes ? make_lock_file(dir, name) : open_made(dir, name);
        if (fd >= 0 || errno != (makes ? EEXIST : ENOENT))
            return fd;
    }
    errno = EAGAIN; /* it comes and goes */
    return -1;
}

/* Removes a lock file that we may not open, when no process has it locked. None gets the lock
   meanwhile: a lock for reading, which a descriptor for reading may have, keeps it from them. */
static void remove_orphaned(int dir, const char *name) {
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct stat file;
    int fd = zb__fs_open_name(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (fcntl(fd, F_OFD_SETLK, &whole) == 0 && fstat(fd, &file) == 0 &&
        names_this_file(dir, name, &file))
        unlinkat(dir, name, 0);
    close(fd);
}

/* ---- The hierarchy's file between two holders --------------------------------------------- */

/* The descriptor that was left, which is the caller's then, or -1. */
static int take_left(zb__fs *fs, struct stat *file) {
    pthread_mutex_lock(&fs->lock);
    const int fd = fs->left - 1;
    *file = fs->left_file;
    fs->left = 0;
    pthread_mutex_unlock(&fs->lock);
    return fd;
}

/* Lets go of the lock, and leaves its descriptor to the next holder where it can. To close it would
   not do: a child that lives on has its copy of the description. A child that has it from its
   parent only closes it, as the lock may still be the parent's. */
static void leave(zb__fs *fs, const zb__fs_lock *l) {
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    bool left = l->forks == fs->forks && fcntl(l->fd, F_OFD_SETLK, &whole) == 0 && !fs->is_remote;
    pthread_mutex_lock(&fs->lock);
    atomic_store(&fs->leaves_lock, fs->reach != ZB__FS_SHARED);
    left = left && fs->left == 0;
    if (left) {
        fs->left = l->fd + 1;
        fs->left_file = l->file;
    }
    pthread_mutex_unlock(&fs->lock);
    if (!left)
        close(l->fd);
}

static bool try_left(zb__fs *fs, zb__fs_lock *l) {
    l->fd = take_left(fs, &l->file);
    if (l->fd < 0)
        return false;
    if (zb__fs_lock_file(l->fd) == 0 && names_this_file(l->dir, l->name, &l->file))
        return true;
    close(l->fd);
    return false;
}

/* ---- Taking a lock ------------------------------------------------------------------------ */

/* Locks the open file; errno. A file that stays is asked for its lock until the time is up: to open
   it again would be two requests more for each try. */
static int lock_open_file(const zb__fs *fs, int fd, zb__fs_patience *patience) {
    int failed;
    do
        failed = zb__fs_lock_file(fd);
    while (failed == EAGAIN && fs->reach == ZB__FS_SHARED && zb__fs_has_patience(patience));
    return failed;
}

/* One try for the lock of l->name in l->dir; errno, EAGAIN when another holder has it. */
static int try_once(zb__fs *fs, zb__fs_lock *l, zb__fs_patience *patience, bool *orphaned) {
    const bool stays = fs->reach == ZB__FS_SHARED;
    if (l->is_hierarchy && try_left(fs, l))
        return 0;
    l->fd = open_lock_file(l->dir, l->name, l->is_hierarchy || stays);
    if (l->fd < 0 && errno == EACCES) {
        if (*orphaned && !stays) /* its maker has had a pause to give it its rights */
            remove_orphaned(l->dir, l->name);
        *orphaned = faccessat(l->dir, ".", W_OK, AT_EACCESS) == 0;
        return *orphaned ? EAGAIN : EACCES;
    }
    *orphaned = false;
    if (l->fd < 0)
        return errno;
    int failed = lock_open_file(fs, l->fd, patience);
    if (!failed)
        zb__fs_refresh(fs, l->dir);
    if (!failed && fstat(l->fd, &l->file) == 0 && names_this_file(l->dir, l->name, &l->file)) {
        if (stays)
            share_again(l->dir, l->fd);
        return 0;
    }
    if (zb__fs_no_locks(failed))
        unlinkat(l->dir, l->name, 0); /* no process can hold it */
    close(l->fd);
    return failed ? failed : EAGAIN;
}

static int acquire(zb__fs *fs, zb__fs_lock *l) {
    zb__fs_patience patience = zb__fs_be_patient(fs);
    bool orphaned = false;
    int failed;
    do
        failed = try_once(fs, l, &patience, &orphaned);
    while (failed == EAGAIN && zb__fs_has_patience(&patience));
    const bool is_refused = failed == EAGAIN && orphaned && fs->reach == ZB__FS_SHARED &&
                            !zb__stopper_mine()->is_stopped;
    return is_refused ? EACCES : failed;
}

/* ---- Locks of keys ------------------------------------------------------------------------ */

/* The directory whose "zarr.json" stands for the whole hierarchy: from the store's own upwards as
   long as there is a document. It may be the store's own descriptor. -1 with errno. */
static int open_hierarchy(const zb__fs *fs) {
    struct stat st;
    zb__fs_refresh_way(fs, fs->root, "../", "");
    /* The usual case: the store is a hierarchy's root. */
    if (fstatat(fs->root, "../zarr.json", &st, 0) != 0 && errno == ENOENT)
        return fs->root;
    int at = zb__fs_open_name(fs->root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    for (int levels = 0; at >= 0 && levels < PATH_MAX / 2; levels++) {
        int above = zb__fs_open_name(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
        struct stat here;
        if (above >= 0)
            zb__fs_refresh(fs, above);
        bool is_node = above >= 0 && fstat(above, &st) == 0 && fstat(at, &here) == 0 &&
                       !zb__fs_same_file(&st, &here) && fstatat(above, "zarr.json", &st, 0) == 0 &&
                       S_ISREG(st.st_mode);
        if (!is_node) {
            if (above >= 0)
                close(above);
            break;
        }
        close(at);
        at = above;
    }
    return at;
}

static void close_directory(const zb__fs *fs, const zb__fs_lock *l) {
    if (l->dir != fs->root)
        close(l->dir);
}

static enum zb_code open_directory(zb__fs *fs, zb__fs_lock *l, zb_error *err) {
    zb__fs_place place;
    if (!l->is_hierarchy) {
        enum zb_code code = zb__fs_open_place_in(fs, l->key, &l->home, true, &place, err);
        l->dir = place.dir;
        if (code == ZB_OK)
            zb__fs_lock_name(place.name, l->name);
        return code;
    }
    l->dir = open_hierarchy(fs);
    zb__fs_lock_name(l->key, l->name);
    return l->dir >= 0 ? ZB_OK : zb__fs_fail_write(err, errno, "find the directory of", l->key);
}

static enum zb_code fail(const zb__fs_lock *l, int failed, zb_error *err) {
    if (failed == EAGAIN)
        return zb__fs_fail_held(l->key, err);
    enum zb_code code = zb__fs_fail_write(err, failed, "lock", l->key);
    if (!zb__fs_no_locks(failed) && failed != EROFS)
        return code;
    if (err)
        err->code = ZB_EUNSUPPORTED;
    return failed == EROFS
               ? ZB_EUNSUPPORTED
               : zb_error_prefix(err, ZB_EUNSUPPORTED,
                                 "the file system gives no locks (start the program with "
                                 "ZARRBRIDGE_LOCKS=none where nobody else writes the store)");
}

/* True if other machines write, whom the locks of the file system do not keep out. */
static bool keeps_out_no_other(const zb__fs *fs) {
    return fs->reach == ZB__FS_NODE && zb__machines_are_many();
}

static enum zb_code fail_alone(const char *key, zb_error *err) {
    return zb_fail(
        err, ZB_EUNSUPPORTED,
        "cannot lock '%s': the locks of this file system hold on one machine, and several "
        "may write (start the program with ZARRBRIDGE_MACHINES=one where no other does, or with "
        "ZARRBRIDGE_LOCKS=shared where the locks do hold on all machines)",
        key);
}

/* Opens the key's directory, which may be erased at any time, and gets the lock. */
static enum zb_code acquire_key(zb__fs *fs, zb__fs_lock *l, zb_error *err) {
    for (int tries = 0;; tries++) {
        enum zb_code code = open_directory(fs, l, err);
        if (code != ZB_OK)
            return code;
        int failed = acquire(fs, l);
        if (!failed)
            return ZB_OK;
        close_directory(fs, l);
        if (failed != ENOENT || tries == ZB__FS_TRIES)
            return fail(l, failed, err);
    }
}

/* Known while others cannot have the lock: from after it was got until before it goes. What waits
   for that is this thread's, and nothing of the next holder's joins it. */
static void set_has_hierarchy(zb__fs *fs, bool has) {
    pthread_mutex_lock(&fs->lock);
    fs->has_hierarchy = has;
    if (!has)
        zb__fs_take_discarded(fs);
    pthread_mutex_unlock(&fs->lock);
}

enum zb_code zb__fs_lock_key(zb_store *store, const zb_locking *locking, zb_lock **out,
                             zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    const char *key = locking->key;
    zb__fs_lock *l = malloc(sizeof *l);
    char *copy = strdup(key);
    if (!l || !copy) {
        free(l);
        free(copy);
        return zb_fail(err, ZB_ENOMEM, "no memory for a lock of '%s'", key);
    }
    *l = (zb__fs_lock){.base.store = store,
                       .key = copy,
                       .home = locking->home,
                       .fd = -1,
                       .dir = -1,
                       .forks = fs->forks,
                       .is_hierarchy = strcmp(key, "zarr.json") == 0};
    enum zb_code code = !l->is_hierarchy && keeps_out_no_other(fs) ? fail_alone(key, err)
                        : zb__locks_stated() == ZB__LOCKS_NONE     ? ZB_OK
                                                                   : acquire_key(fs, l, err);
    if (code != ZB_OK) {
        free(copy);
        free(l);
        return code;
    }
    if (l->is_hierarchy && l->fd >= 0)
        set_has_hierarchy(fs, true);
    *out = &l->base;
    return ZB_OK;
}

/* The name is unlinked only while it leads to our file: the directory may have been erased and made
   anew. */
static void unlink_own(const zb__fs_lock *l) {
    if (names_this_file(l->dir, l->name, &l->file))
        unlinkat(l->dir, l->name, 0);
}

void zb__fs_unlock(zb_lock *lock) {
    zb__fs_lock *l = (zb__fs_lock *)lock;
    zb__fs *fs = (zb__fs *)lock->store;
    if (l->fd >= 0 && l->is_hierarchy)
        set_has_hierarchy(fs, false);
    if (l->fd >= 0 && l->is_hierarchy && !atomic_exchange(&fs->lost_root, false)) {
        leave(fs, l);
    } else if (l->fd >= 0) {
        if (l->is_hierarchy || fs->reach != ZB__FS_SHARED)
            unlink_own(l);
        close(l->fd);
    }
    if (l->fd >= 0)
        close_directory(fs, l);
    free(l->key);
    free(l);
}

void zb__fs_leave_no_lock(zb__fs *fs) {
    zb__fs_lock l = {.is_hierarchy = true, .key = "zarr.json"};
    if (!atomic_exchange(&fs->leaves_lock, false) || open_directory(fs, &l, NULL) != ZB_OK)
        return;
    l.fd = take_left(fs, &l.file);
    if (l.fd >= 0 && !names_this_file(l.dir, l.name, &l.file)) {
        close(l.fd);
        l.fd = -1;
    }
    if (l.fd < 0)
        l.fd = open_made(l.dir, l.name);
    if (l.fd >= 0 && zb__fs_lock_file(l.fd) == 0 && fstat(l.fd, &l.file) == 0)
        unlink_own(&l);
    if (l.fd >= 0)
        close(l.fd);
    close_directory(fs, &l);
}

void zb__fs_forget_left(zb__fs *fs) {
    if (fs->left)
        close(fs->left - 1);
    fs->left = 0;
}

/* ---- Patience ----------------------------------------------------------------------------- */

#define FIRST_PAUSE_NS 20000
#define LONGEST_PAUSE_NS 5000000
/* Where a server is asked. */
#define FIRST_PAUSE_SHARED_NS 2000000
#define LONGEST_PAUSE_SHARED_NS 50000000

zb__fs_patience zb__fs_be_patient(const zb__fs *fs) {
    const bool is_shared = fs->reach == ZB__FS_SHARED;
    return (zb__fs_patience){.end = zb__deadline(zb_limits_get()->lock_seconds),
                             .is_shared = is_shared,
                             .pause = is_shared ? FIRST_PAUSE_SHARED_NS : FIRST_PAUSE_NS,
                             .longest = is_shared ? LONGEST_PAUSE_SHARED_NS : LONGEST_PAUSE_NS};
}

bool zb__fs_has_patience(zb__fs_patience *p) {
    if (zb__now() >= p->end ||
        !zb__pause(zb__stopper_mine(), p->is_shared ? zb__jitter(p->pause) : p->pause))
        return false;
    p->pause = p->pause < p->longest / 2 ? 2 * p->pause : p->longest;
    return true;
}

enum zb_code zb__fs_fail_held(const char *key, zb_error *err) {
    if (zb__stopper_mine()->is_stopped)
        return zb__fail_stopped(err);
    return zb_fail(err, ZB_ECONFLICT,
                   "'%s' is locked by another writer for longer than %llu seconds, the limit "
                   "lock_seconds",
                   key, (unsigned long long)zb_limits_get()->lock_seconds);
}
