/* SPDX-License-Identifier: MIT */
/*
 * Locks of keys in the directory store: an open-file-description lock of a file beside the key's.
 * The kernel drops it with the last descriptor, so that no holder can be killed and leave it
 * behind; and since each lock opens its own description, threads exclude each other as processes
 * do.
 *
 * The file is there only while somebody holds the lock or waits for it. The holder unlinks it
 * before letting go; who gets the lock after that has one of a file without a name, which the next
 * would not see. So the winner looks whether the name still leads to its file, and else begins
 * anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs.h"

struct zb__fs_lock {
    zb_lock base;
    int fd, dir; /* dir: of the key */
    char *key;
    char name[NAME_MAX + 1]; /* of the file in dir */
};

int zb__fs_lock_file(int fd, bool wait) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    while (fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &whole) != 0) {
        if (errno != EINTR)
            return errno == EACCES ? EAGAIN : errno; /* POSIX allows either for "held" */
    }
    return 0;
}

static bool names_this_file(int dir, const char *name, int fd) {
    struct stat file, named;
    return fstat(fd, &file) == 0 && fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           file.st_ino == named.st_ino && file.st_dev == named.st_dev;
}

/* Gets the lock of l->name in l->dir; errno. */
static int acquire(zb__fs_lock *l) {
    for (;;) {
        l->fd =
            openat(l->dir, l->name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (l->fd < 0 && errno == EINTR)
            continue;
        if (l->fd < 0)
            return errno;
        int failed = zb__fs_lock_file(l->fd, true);
        if (!failed && names_this_file(l->dir, l->name, l->fd))
            return 0;
        if (failed == EOPNOTSUPP || failed == ENOSYS || failed == EINVAL)
            unlinkat(l->dir, l->name, 0); /* no locks here: nobody can hold it */
        close(l->fd);
        if (failed)
            return failed;
    }
}

/* Opens the key's directory, which may be erased at any time, and gets the lock. */
static enum zb_code acquire_key(zb__fs *fs, zb__fs_lock *l, zb_error *err) {
    for (int tries = 0;; tries++) {
        zb__fs_place place;
        enum zb_code code = zb__fs_open_place(fs, l->key, true, &place, err);
        if (code != ZB_OK)
            return code;
        l->dir = place.dir;
        zb__fs_lock_name(place.name, l->name);
        int failed = acquire(l);
        if (!failed)
            return ZB_OK;
        close(l->dir);
        if (failed == ENOENT && tries < ZB__FS_TRIES)
            continue;
        zb__fs_fail_write(err, failed, "lock", l->key);
        bool never = failed == ENOLCK || failed == EOPNOTSUPP || failed == ENOSYS ||
                     failed == EROFS || failed == EINVAL;
        if (never && err)
            err->code = ZB_EUNSUPPORTED;
        return never ? ZB_EUNSUPPORTED : err ? err->code : ZB_EIO;
    }
}

enum zb_code zb__fs_lock_key(zb_store *store, const char *key, zb_lock **out, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    zb__fs_lock *l = malloc(sizeof *l);
    char *copy = strdup(key);
    if (!l || !copy) {
        free(l);
        free(copy);
        return zb_fail(err, ZB_ENOMEM, "no memory for a lock of '%s'", key);
    }
    *l = (zb__fs_lock){.base.store = store, .key = copy};
    enum zb_code code = acquire_key(fs, l, err);
    if (code != ZB_OK) {
        free(copy);
        free(l);
        return code;
    }
    *out = &l->base;
    return ZB_OK;
}

void zb__fs_unlock(zb_lock *lock) {
    zb__fs_lock *l = (zb__fs_lock *)lock;
    /* By its name only while it leads to our file: the directory may have been erased and made
     * anew. */
    if (names_this_file(l->dir, l->name, l->fd))
        unlinkat(l->dir, l->name, 0);
    close(l->fd);
    close(l->dir);
    free(l->key);
    free(l);
}
