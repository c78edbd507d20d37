/* SPDX-License-Identifier: MIT */
/*
 * Removing the leftovers of killed writers from the directory store.
 *
 * A temporary file is left over when its writer is gone. Each writer holds the lock of its file, so
 * a free lock tells that it is gone; but only among processes on one kernel, since some network
 * file systems grant locks to each machine by itself. The kernel is part of the name: files of
 * another one, and files whose lock cannot be asked for, are taken for left over after a day, and
 * so are all of them where writers take no such locks (ZB__FS_SHARED: see fs_write.c). A tree that
 * was erased is left over when nobody takes it apart, which its lock tells likewise (fs_trash.c).
 * A lock file of a key that no process holds is left over at once. On file systems that other
 * machines may write as well it is once it is old, or where the user is alone; where lock files
 * stay (ZB__FS_SHARED) it never is. That of the hierarchy, which a store leaves between two
 * changes, is removed like the others, but nobody is told before it is a day old.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"
#include "util/locks.h"
#include "util/map.h"

#define LEFT_OVER_SECONDS (24 * 60 * 60)

static bool is_old(const struct stat *st) {
    return time(NULL) - st->st_mtim.tv_sec > LEFT_OVER_SECONDS;
}

/* True if a free lock of a temporary file, or of a tree, tells that its process has gone. The name
   tells which kernel it was made on. */
static bool temp_tells(const zb__fs *fs, const char *name) {
    return fs->reach != ZB__FS_SHARED && zb__fs_is_local_temp(name);
}

/* The same of any file of ours. */
static bool lock_tells(const zb__fs *fs, const char *name) {
    if (zb__fs_is_lock(name))
        return !fs->is_remote || zb__locks_stated() == ZB__LOCKS_NONE;
    return temp_tells(fs, name);
}

/* True if the file of ours is left over. The check, and with `remove` the unlinking, hold its
   lock. *failed: errno, where it stays all the same. */
static bool sweep_file(const zb__fs *fs, int dir, const char *name, bool remove, int *failed) {
    int fd = zb__fs_open_name(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0)
        return false; /* gone, or another user's */
    struct stat st, now;
    bool left_over = false;
    int refused = zb__fs_lock_file(fd);
    if (refused != EAGAIN && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        /* The lock of a key may have gone and come again before we had it. */
        bool is_same =
            fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && zb__fs_same_file(&now, &st);
        bool is_free = is_same && !refused && lock_tells(fs, name);
        left_over = is_same && (is_old(&st) || (is_free && !zb__fs_is_hierarchy_lock(name)));
        if (remove && (left_over || is_free))
            *failed = zb__fs_unlink_file(dir, name);
    }
    close(fd);
    return left_over;
}

/* The same for a tree. Its lock is held by whoever gave it such a name, to erase it or to look into
   it. That of another user, who may be at work, cannot be asked for. */
static bool sweep_tree(zb__fs *fs, int dir, const char *name, bool remove, bool may_be_at_work,
                       int *failed) {
    const int refused = zb__fs_ask_tree(fs, dir, name);
    if (refused == EAGAIN || refused == ENOENT || (refused == EACCES && may_be_at_work))
        return false;
    if (remove)
        *failed = zb__fs_remove_left_tree(fs, dir, name);
    return true;
}

/* The same for any entry of our names. On another machine it may belong to a process that we do not
   know. */
static bool sweep_entry(zb__fs *fs, int dir, const char *name, bool remove, int *failed) {
    struct stat st;
    *failed = 0;
    if (fs->reach == ZB__FS_SHARED && zb__fs_is_lock(name))
        return false;
    if (!zb__fs_is_ours(name) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (!S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode))
        return sweep_file(fs, dir, name, remove, failed);
    const bool may_be_at_work = !is_old(&st);
    if (may_be_at_work && !temp_tells(fs, name))
        return false;
    if (S_ISDIR(st.st_mode))
        return sweep_tree(fs, dir, name, remove, may_be_at_work, failed);
    if (remove)
        *failed = zb__fs_unlink_file(dir, name);
    return true;
}

/* True the first time for each directory. The table forgets when two directories share a place in
   it, which only costs a second look. */
static bool is_first_time(zb__fs *fs, const char *path) {
    enum { PLACES = 4096 };
    uint64_t hash = zb__hash(path, strlen(path)) | 1;
    bool first = true;
    pthread_mutex_lock(&fs->lock);
    if (!fs->cleaned)
        fs->cleaned = calloc(PLACES, sizeof *fs->cleaned);
    if (fs->cleaned) {
        uint64_t *at = &fs->cleaned[hash >> 32 & (PLACES - 1)];
        first = *at != hash;
        *at = hash;
    }
    pthread_mutex_unlock(&fs->lock);
    return first;
}

/* Failures do not matter: files that stay are hidden, and the next writer tries again. */
void zb__fs_sweep(zb__fs *fs, const zb__fs_place *place) {
    if (!is_first_time(fs, place->path))
        return;
    DIR *dir = zb__fs_open_dir(place->dir, ".");
    const struct dirent *entry;
    int failed;
    while (dir && (entry = readdir(dir)) != NULL)
        sweep_entry(fs, dirfd(dir), entry->d_name, true, &failed);
    if (dir)
        closedir(dir);
}

static enum zb_code fail(int failed, const char *prefix, const char *name, zb_error *err) {
    return zb_fail_errno(err, failed,
                         "'%s%s%s', left by a writer that was killed, cannot be removed", prefix,
                         *prefix ? "/" : "", name);
}

/* What cannot be removed is told at the end: it keeps nothing else from going. */
enum zb_code zb__fs_sweep_all(zb_store *store, const char *prefix, enum zb_sweep what,
                              zb_list_fn fn, void *context, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    if (what == ZB_SWEEP_ERASED)
        return zb__fs_finish_erasing(fs, err);
    int fd = zb__fs_openat(fs->root, *prefix ? prefix : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return ZB_OK;
    DIR *dir = fd >= 0 ? zb__fs_open_dir(fd, ".") : NULL;
    enum zb_code code = dir ? ZB_OK : zb__fs_fail(err, errno, "list", prefix);
    const struct dirent *entry;
    int stop = 0, failed;
    while (dir && !stop && (entry = readdir(dir)) != NULL) {
        const bool left_over =
            sweep_entry(fs, dirfd(dir), entry->d_name, what == ZB_SWEEP_REMOVE, &failed);
        zb_list_entry cleaned = {.name = entry->d_name};
        if (left_over && !failed)
            stop = fn(context, &cleaned);
        if (left_over && failed && !code)
            code = fail(failed, prefix, entry->d_name, err);
    }
    if (dir)
        closedir(dir);
    if (fd >= 0)
        close(fd);
    return code;
}
