/* SPDX-License-Identifier: MIT */
/*
 * Writing to the directory store: an object is written under a temporary name in the directory
 * where it belongs, closed, and renamed. A writer that is killed meanwhile leaves the old object
 * and a temporary file, which the next writer removes: the writer holds a lock of the file for as
 * long as it lives, so that a free lock means that the writer is gone (fs_sweep.c). Where several
 * machines write (ZB__FS_SHARED), a thousand writers would each look at a million names: there
 * repair alone removes such files.
 *
 * An object that may take the place of none (ZB_EXPECT_FREE) gets its name by link(), which no
 * other program's object can be lost by, with locks or without.
 *
 * All that can fail fails before the rename: writing, syncing, and closing too, where network file
 * systems report the data that they could not write.
 *
 * In a directory that no other program knows (zb__fs_set_unseen) an object is written under its own
 * name: nobody meets it before it is whole, and what a kill leaves goes with the directory.
 */
#include "store/fs_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "zarrbridge/sys/store.h"

/* Creates a temporary file for `name` and locks it; its descriptor, or -1 with errno. Where other
   machines write, nobody takes one that is not old for left over, and its lock would cost two
   requests. */
static int create_temp(const zb__fs *fs, int dir, const char *name, char temp[NAME_MAX + 1]) {
    for (int tries = 0; tries < ZB__FS_TRIES; tries++) {
        zb__fs_temp_name(name, temp);
        int fd =
            zb__fs_open_name(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd < 0)
            continue;
        if (fs->reach == ZB__FS_SHARED)
            return fd;
        int refused = zb__fs_lock_file(fd);
        struct stat st;
        /* A sweep may have come between creation and lock: it has the lock, or the file has gone.
           Where there are no locks at all, sweeps only take files that are a day old. */
        if (refused != EAGAIN && fstat(fd, &st) == 0 && st.st_nlink > 0)
            return fd;
        close(fd);
    }
    errno = EEXIST;
    return -1;
}

/* Lets the new file have the rights of the one that it is going to replace: rewriting a chunk must
   not open it to others, nor close it to the group. Where we may not give the file its old group,
   the group gets the rights of others, so that no other group gains any. Returns whether there is
   one. */
static bool keep_rights(int dir, const char *name, int fd) {
    struct stat old, new;
    if (fstatat(dir, name, &old, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(old.st_mode) ||
        fstat(fd, &new) != 0)
        return false;
    mode_t mode = old.st_mode & 0777;
    if ((old.st_uid != new.st_uid || old.st_gid != new.st_gid) &&
        fchown(fd, old.st_uid, old.st_gid) != 0 && old.st_gid != new.st_gid &&
        fchown(fd, (uid_t)-1, old.st_gid) != 0)
        mode = (mode & ~(mode_t)070) | (mode & 007) << 3;
    if (mode != (new.st_mode & 0777))
        (void)fchmod(fd, mode);
    return true;
}

/* Opens the key's directory and a temporary file in it. *replaces: there is an object. */
static enum zb_code begin(zb__fs *fs, const zb_put *put, zb__fs_place *place, bool *replaces,
                          char temp[NAME_MAX + 1], int *fd, zb_error *err) {
    const char *key = put->key;
    for (int tries = 0;; tries++) {
        enum zb_code code = put->expected == ZB_EXPECT_NOTHING
                                ? zb__fs_make_place(fs, key, place, err)
                                : zb__fs_open_place_in(fs, key, &put->home, true, place, err);
        if (code != ZB_OK)
            return code;
        if (!place->made && fs->reach != ZB__FS_SHARED)
            zb__fs_sweep(fs, place);
        *fd = create_temp(fs, place->dir, place->name, temp);
        if (*fd >= 0) {
            *replaces = !place->made && keep_rights(place->dir, place->name, *fd);
            return ZB_OK;
        }
        int failed = errno;
        close(place->dir);
        if (failed != ENOENT || tries == ZB__FS_TRIES)
            return zb__fs_fail_write(err, failed, "create a temporary file for", key);
    }
}

int zb__fs_check_close(int fd) {
    for (;;) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        if (copy >= 0 && close(copy) == 0)
            return 0;
        /* Interrupted, the copy is gone with its report: another one asks again. */
        if (errno != EINTR && !zb__fs_made_room())
            return errno;
    }
}

/* True if its name leads to the content in the order of time, without being safe before a flush. */
static bool is_in_order(const zb_put *put) {
    return put->in_order && put->sync == ZB_SYNC_NONE;
}

/* True if a flush has anything to do for it. */
static bool is_flushed(const zb_put *put) {
    return put->in_order || put->sync != ZB_SYNC_NONE;
}

static enum zb_code write_content(int fd, const zb_put *put, zb_error *err) {
    int failed = put->file ? zb__fs_fill_from(fd, put->file) : 0;
    if (!failed)
        failed = zb__fs_write_parts(fd, put->parts, put->count);
    if (failed == EOPNOTSUPP && put->file)
        return zb_fail(err, ZB_EUNSUPPORTED, "'%s' cannot share the blocks of a file", put->key);
    return failed ? zb__fs_fail_write(err, failed, "write", put->key) : ZB_OK;
}

/* Fills a temporary file up to the point where it only has to be renamed. */
static enum zb_code fill(int fd, const zb_put *put, bool replaces, zb_error *err) {
    const enum zb_code code = write_content(fd, put, err);
    if (code)
        return code;
    if (zb_put_waits(put)) {
        /* Only a hint: when the batch is synced, most of it is then on disk already, and one commit
           of the file system's journal serves all its files. */
        sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    } else if (is_in_order(put) && replaces) {
        /* The data are on the disk before the name leads to them, so that no loss of power leaves
           an empty object in the place of one that was durable. The disk's own cache and the file
           system's journal keep that order; neither has to be flushed for it. */
        sync_file_range(fd, 0, 0,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                            SYNC_FILE_RANGE_WAIT_AFTER);
    } else if (put->sync != ZB_SYNC_NONE && ZB__UNINTERRUPTED(fdatasync(fd)) != 0) {
        return zb__fs_fail_write(err, errno, "sync", put->key);
    }
    const int failed = zb__fs_check_close(fd);
    return failed ? zb__fs_fail_write(err, failed, "close", put->key) : ZB_OK;
}

/* Gives the file its second name, unless there is one of that name; errno. A server that has done
   so may be asked again when its answer is lost, and then finds the file there: it is ours. */
static int link_new(const zb__fs_place *place, const char *temp) {
    struct stat own, named;
    if (linkat(place->dir, temp, place->dir, place->name, 0) == 0)
        return 0;
    const int failed = errno;
    return failed == EEXIST && fstatat(place->dir, temp, &own, AT_SYMLINK_NOFOLLOW) == 0 &&
                   fstatat(place->dir, place->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                   zb__fs_same_file(&own, &named)
               ? 0
               : failed;
}

/* Makes the object visible where none is. What a kill leaves before the end is a second name, which
   a sweep removes. */
static enum zb_code come_first(const zb__fs *fs, const zb_put *put, const zb__fs_place *place,
                               const char *temp, zb_error *err) {
    enum zb_code code = zb_batch_check(put->batch, put->key, err);
    if (code)
        return code;
    int failed, tries = 0;
    do
        failed = link_new(place, temp);
    while (failed && zb__fs_rename_again(fs, failed, &tries));
    if (failed == EPERM || failed == EMLINK || zb__fs_no_locks(failed))
        return ZB_EUNSUPPORTED; /* the file system has no links */
    if (failed == EEXIST)
        return zb_fail(err, ZB_ECONFLICT, "'%s' is there already", put->key);
    if (failed)
        return zb__fs_fail_write(err, failed == ENOENT ? ESTALE : failed, "link", put->key);
    (void)unlinkat(place->dir, temp, 0);
    return ZB_OK;
}

/* Puts the temporary file in the key's place. An object of the key that waits for a flush is older,
   and goes. */
static enum zb_code replace(zb__fs *fs, const zb_put *put, const zb__fs_place *place,
                            const char *temp, zb_error *err) {
    if (put->expected == ZB_EXPECT_FREE)
        return come_first(fs, put, place, temp, err);
    enum zb_code code = zb_batch_check(put->batch, put->key, err);
    if (code != ZB_OK)
        return code;
    int failed, tries = 0;
    do {
        pthread_mutex_lock(&fs->lock);
        failed = renameat(place->dir, temp, place->dir, place->name) == 0 ? 0 : errno;
        if (!failed)
            zb__fs_drop_waiting(fs, put->key);
        pthread_mutex_unlock(&fs->lock);
    } while (failed && zb__fs_rename_again(fs, failed, &tries));
    if (failed) /* ENOENT: the file has gone with its directory */
        return zb__fs_fail_write(err, failed == ENOENT ? ESTALE : failed, "replace", put->key);
    if (!put->batch || !put->batch->check)
        return ZB_OK;
    /* When the directory was erased or moved away meanwhile, the object went with it. */
    return zb__fs_check_place(fs, place->path, place->dir, put->key, err);
}

/* Does the rest of the work for an object that is visible. */
static enum zb_code remember(zb__fs *fs, const zb_put *put, const zb__fs_place *place,
                             zb_error *err) {
    if (!is_flushed(put))
        return ZB_OK;
    if (is_in_order(put))
        zb__fs_mark_file(fs, put->key);
    zb__fs_mark_dirty(fs, place->path);
    return put->sync == ZB_SYNC_ALWAYS ? zb__fs_sync_names(fs, put->key, err) : ZB_OK;
}

/* ---- Where nobody looks ------------------------------------------------------------------- */

/* A new file under the key's own name; -1: the ordinary way is left to go, or to fail. */
static int create_unseen(zb__fs *fs, const char *key, zb__fs_place *place) {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int fd = zb__fs_open_name(fs->root, key, flags, 0666);
    if (fd < 0 && errno == ENOENT && zb__fs_open_place(fs, key, true, place, NULL) == ZB_OK) {
        fd = zb__fs_open_name(place->dir, place->name, flags, 0666);
        close(place->dir);
    }
    return fd;
}

/* Called with fs->seeing. *is_put: in this way. */
static enum zb_code put_unseen(zb__fs *fs, const zb_put *put, bool *is_put, zb_error *err) {
    zb__fs_place place;
    enum zb_code code = zb__fs_name_place(put->key, &place, err);
    if (!code && is_flushed(put))
        code = zb__fs_join(fs, put->batch, err);
    const int fd = code ? -1 : create_unseen(fs, put->key, &place);
    *is_put = fd >= 0;
    if (fd < 0)
        return code;
    code = write_content(fd, put, err);
    if (!code && put->sync != ZB_SYNC_NONE) /* as in fill */
        sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    if (close(fd) != 0 && errno != EINTR && !code)
        code = zb__fs_fail_write(err, errno, "close", put->key);
    if (code) {
        unlinkat(fs->root, put->key, 0);
    } else if (is_flushed(put)) {
        zb__fs_mark_file(fs, put->key);
        zb__fs_mark_dirty(fs, place.path);
    }
    return code;
}

/* The same where the directory is unseen, the put does not depend on what is there, and nothing
   older waits. */
static enum zb_code put_if_unseen(zb__fs *fs, const zb_put *put, bool *is_put, zb_error *err) {
    enum zb_code code = ZB_OK;
    *is_put = false;
    if (!atomic_load(&fs->is_unseen) || atomic_load(&fs->waiting_count) > 0 ||
        (put->expected != ZB_EXPECT_ANYTHING && put->expected != ZB_EXPECT_NO_OBJECT))
        return ZB_OK;
    pthread_rwlock_rdlock(&fs->seeing);
    if (atomic_load(&fs->is_unseen))
        code = put_unseen(fs, put, is_put, err);
    pthread_rwlock_unlock(&fs->seeing);
    return code;
}

/* ---- All puts ----------------------------------------------------------------------------- */

enum zb_code zb__fs_put(zb_store *store, const zb_put *put, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    bool is_put;
    if (put->file && put->file->use == ZB_FILE_NAME)
        return zb__fs_put_name(fs, put, err);
    enum zb_code done = put_if_unseen(fs, put, &is_put, err);
    if (done || is_put)
        return done;
    bool later = zb_put_waits(put);
    zb__fs_place place;
    char temp[NAME_MAX + 1];
    int fd;
    bool replaces = false;
    enum zb_code code = is_flushed(put) ? zb__fs_join(fs, put->batch, err) : ZB_OK;
    if (code == ZB_OK)
        code = begin(fs, put, &place, &replaces, temp, &fd, err);
    if (code != ZB_OK)
        return code;
    code = fill(fd, put, replaces, err);
    if (code == ZB_OK && !later)
        code = replace(fs, put, &place, temp, err);
    if (code != ZB_OK)
        unlinkat(place.dir, temp, 0);
    if (code == ZB_OK && later)
        code = zb__fs_wait(fs, put, &place, temp, fd, err);
    else
        close(fd);
    close(place.dir);
    zb__fs_kept_forget(fs, put->key);
    return code == ZB_OK && !later ? remember(fs, put, &place, err) : code;
}

/* ---- Changing objects in place ------------------------------------------------------------ */

/*
 * Changing objects of the directory store in place. A kill may come at any byte here, and readers
 * see half a write: the callers make that detectable and recoverable.
 *
 * A file that has a second name is never changed: copies made of hard links are meant to keep their
 * content. The same goes for one that a symbolic link leads to.
 */

/* Opens the key's own file; -1 with errno. */
static int open_own(zb__fs *fs, const char *key, const zb_home *home, zb_error *err,
                    enum zb_code *code) {
    zb__fs_place place;
    *code = zb__fs_open_place_in(fs, key, home, false, &place, err);
    if (*code != ZB_OK)
        return -1;
    int fd = zb__fs_open_name(place.dir, place.name,
                              O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0);
    int failed = errno;
    close(place.dir);
    if (fd < 0 && (failed == ELOOP || failed == EACCES || failed == EPERM))
        *code = zb_fail(err, ZB_EUNSUPPORTED, "'%s' cannot be opened for changing it", key);
    else if (fd < 0)
        *code = zb__fs_fail(err, failed, "open", key);
    return fd;
}

enum zb_code zb__fs_open_live(zb_store *store, const char *key, const zb_home *home,
                              zb_object **out, zb_object_info *info, zb_error *err) {
    char path[PATH_MAX];
    enum zb_code code;
    if (zb__fs_find_waiting((zb__fs *)store, key, path)) {
        code = zb_fail(err, ZB_EUNSUPPORTED, "'%s' waits for a flush", key);
        if (err)
            err->sys_errno = EBUSY;
        return code;
    }
    int fd = open_own((zb__fs *)store, key, home, err, &code);
    if (fd < 0)
        return code;
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_nlink > 1) {
        close(fd);
        return zb_fail(err, ZB_EUNSUPPORTED, "'%s' has several names", key);
    }
    return zb__fs_new_object(store, key, fd, out, info, err);
}

/* The end of a change. */
static enum zb_code finish(zb__fs_object *object, enum zb_sync sync, zb_error *err) {
    struct stat st;
    /* The time stamp of a write is taken when it begins. A reader that saw it while the write went
       on must not take the bytes read then for those that are there now. Without the right to set
       times, which the owner of a file has, the stamp of the write itself has to serve. */
    (void)futimens(object->fd, NULL);
    if (sync != ZB_SYNC_NONE && ZB__UNINTERRUPTED(fdatasync(object->fd)) != 0)
        return zb_fail_errno(err, errno, "cannot sync");
    int failed = zb__fs_check_close(object->fd);
    if (failed)
        return zb_fail_errno(err, failed, "cannot close");
    if (fstat(object->fd, &st) != 0)
        return zb_fail_errno(err, errno, "cannot stat");
    object->size = (uint64_t)st.st_size;
    return ZB_OK;
}

static enum zb_code write_parts(const zb__fs_object *object, const zb_change *change,
                                zb_error *err) {
    int failed = lseek(object->fd, (off_t)change->offset, SEEK_SET) < 0 ? errno : 0;
    if (!failed)
        failed = zb__fs_write_parts(object->fd, change->parts, change->count);
    return failed ? zb_fail_errno(err, failed, "cannot write at %llu",
                                  (unsigned long long)change->offset)
                  : ZB_OK;
}

static enum zb_code set_size(const zb__fs_object *object, const zb_change *change, zb_error *err) {
    uint64_t size = change->offset;
    for (size_t i = 0; i < change->count; i++)
        size += change->parts[i].size;
    return ZB__UNINTERRUPTED(ftruncate(object->fd, (off_t)size)) == 0
               ? ZB_OK
               : zb_fail_errno(err, errno, "cannot set the size to %llu", (unsigned long long)size);
}

enum zb_code zb__fs_change(zb_object *live, const zb_change *change, zb_error *err) {
    zb__fs_object *object = (zb__fs_object *)live;
    enum zb_code code = ZB_OK;
    if (change->count > 0 || !change->is_end)
        code = write_parts(object, change, err);
    if (!code && change->is_end)
        code = set_size(object, change, err);
    return code ? code : finish(object, change->sync, err);
}
