/* SPDX-License-Identifier: MIT */
/*
 * Removing objects and trees from the directory store.
 *
 * A tree is first renamed to a temporary name, in one step that no reader and no kill can see half
 * done, and then taken apart. Where it was killed in between, the next writer goes on with it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/fs_dirty.h"
#include "store/fs_flush.h"
#include "store/fs_kept.h"
#include "store/fs_path.h"
#include "store/fs_place.h"
#include "store/fs_remove.h"
#include "store/fs_store.h"
#include "zarrbridge/sys/store.h"

/* ---- Trees ---- */

/* Unlinks anything but a directory; links are not followed. 0, EISDIR, or another errno. */
static int unlink_file(int dir, const char *name) {
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EPERM) /* the errno that POSIX prescribes for directories */
        return errno;
    struct stat st;
    bool is_directory = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    return is_directory ? EISDIR : EPERM;
}

/* The document of a node goes before all else in its directory: a reader that still has the
   directory open, and misses chunks from now on, can find out why. */
static void unlink_document(DIR *dir) {
    (void)unlinkat(dirfd(dir), "zarr.json", 0);
}

/* Removes a directory in `top`, its own directories having been moved up into `top`. So trees of
   any depth come apart with two open descriptors. *progress: something was moved or removed. */
static int lift(int top, const char *name, bool *progress) {
    DIR *dir = zb__fs_open_dir(top, name);
    if (!dir)
        return errno == ENOENT ? 0 : errno;
    const struct dirent *entry;
    int failed = 0;
    unlink_document(dir);
    for (errno = 0; !failed && (entry = readdir(dir)) != NULL; errno = 0) {
        if (zb__fs_is_dots(entry->d_name))
            continue;
        failed = unlink_file(dirfd(dir), entry->d_name);
        if (failed != EISDIR)
            continue;
        char unique[NAME_MAX + 1];
        zb__fs_temp_name("d", unique);
        failed =
            renameat(dirfd(dir), entry->d_name, top, unique) == 0 || errno == ENOENT ? 0 : errno;
        *progress = true;
    }
    if (!failed)
        failed = errno;
    closedir(dir);
    if (!failed && unlinkat(top, name, AT_REMOVEDIR) == 0)
        *progress = true;
    return failed;
}

/* Unlinks the files in a directory and lifts its directories' content into it. */
static int take_apart(int at, const char *name, bool *progress) {
    DIR *dir = zb__fs_open_dir(at, name);
    if (!dir)
        return errno == ENOENT ? 0 : errno;
    const struct dirent *entry;
    int failed = 0;
    unlink_document(dir);
    for (errno = 0; !failed && (entry = readdir(dir)) != NULL; errno = 0) {
        if (zb__fs_is_dots(entry->d_name))
            continue;
        failed = unlink_file(dirfd(dir), entry->d_name);
        if (failed == EISDIR)
            failed = lift(dirfd(dir), entry->d_name, progress);
    }
    if (!failed)
        failed = errno;
    closedir(dir);
    return failed;
}

/* Removes a file, a link or a whole directory; errno. A missing one is not an error: another
   process was faster. */
int zb__fs_remove_tree(int at, const char *name) {
    int failed = unlink_file(at, name);
    if (failed != EISDIR)
        return failed;
    /* Files that come back as often as they go (network file systems keep open ones by another
       name) must not keep us here for ever. */
    for (int idle = 0; idle < 4;) {
        if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
            return 0;
        if (errno != ENOTEMPTY && errno != EEXIST)
            return errno;
        bool progress = false;
        failed = take_apart(at, name, &progress);
        if (failed)
            return failed;
        idle = progress ? 0 : idle + 1;
    }
    return ENOTEMPTY;
}

/* Renames an entry to a name of ours, then removes it; errno. *gone: the first step was done. */
static int remove_at_once(int at, const char *name, bool *gone) {
    char trash[NAME_MAX + 1];
    zb__fs_temp_name(name, trash);
    if (renameat(at, name, at, trash) != 0)
        return errno == ENOENT ? 0 : errno;
    *gone = true;
    return zb__fs_remove_tree(at, trash);
}

/* ---- Erasing ---- */

/* The root itself stays: its entries are removed one by one, the document before all else. */
static enum zb_code empty_root(zb__fs *fs, zb_error *err) {
    enum zb_code code = zb__fs_erase(&fs->base, "zarr.json", err);
    if (code != ZB_OK)
        return code;
    pthread_mutex_lock(&fs->lock);
    zb__fs_drop_waiting_below(fs, "");
    pthread_mutex_unlock(&fs->lock);
    DIR *dir = zb__fs_open_dir(fs->root, ".");
    if (!dir)
        return zb_fail_errno(err, errno, "cannot empty the store '%s'", fs->base.label);
    const struct dirent *entry;
    int failed = 0;
    bool gone = false;
    for (errno = 0; !failed && (entry = readdir(dir)) != NULL; errno = 0) {
        /* Names of ours belong to writers that are at work, or to the next sweep. */
        if (zb__fs_is_dots(entry->d_name) || zb__fs_is_ours(entry->d_name))
            continue;
        failed = unlink_file(fs->root, entry->d_name);
        if (failed == EISDIR)
            failed = remove_at_once(fs->root, entry->d_name, &gone);
    }
    if (!failed)
        failed = errno;
    closedir(dir);
    zb__fs_mark_dirty(fs, "");
    return failed ? zb__fs_fail_write(err, failed, "empty the store", fs->base.label) : ZB_OK;
}

/* True if anything lies below the prefix. A link counts when it leads to a directory inside the
   store. */
static enum zb_code is_prefix(const zb__fs *fs, const char *prefix, bool *is_one, zb_error *err) {
    int fd = zb__fs_openat(fs->root, prefix, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *is_one = fd >= 0;
    if (fd >= 0)
        close(fd);
    else if (errno != ENOENT && errno != ENOTDIR)
        return zb__fs_fail_write(err, errno, "erase", prefix);
    return ZB_OK;
}

enum zb_code zb__fs_erase_below(zb_store *store, const char *prefix, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    zb__fs_kept_forget(fs, NULL); /* else what they take on the disk would stay taken */
    if (*prefix == '\0')
        return empty_root(fs, err);
    bool is_one;
    enum zb_code code = is_prefix(fs, prefix, &is_one, err);
    if (code != ZB_OK || !is_one)
        return code;
    zb__fs_place place;
    code = zb__fs_open_place(fs, prefix, false, &place, err);
    if (code != ZB_OK)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    char trash[NAME_MAX + 1];
    zb__fs_temp_name(place.name, trash);
    pthread_mutex_lock(&fs->lock); /* no flush may rename anything into it in between */
    zb__fs_drop_waiting_below(fs, prefix);
    int failed = renameat(place.dir, place.name, place.dir, trash) == 0 ? 0 : errno;
    pthread_mutex_unlock(&fs->lock);
    if (!failed) {
        zb__fs_mark_dirty(fs, place.path);
        failed = zb__fs_remove_tree(place.dir, trash);
    }
    close(place.dir);
    if (failed == EXDEV)
        return zb_fail(
            err, ZB_EUNSUPPORTED,
            "'%s' cannot be erased in one step: it is in a lower layer of an overlay file "
            "system, or on another file system",
            prefix);
    return failed && failed != ENOENT ? zb__fs_fail_write(err, failed, "erase", prefix) : ZB_OK;
}

/* ---- Directories without objects ---- */

/* True if it holds nothing but directories and files of ours. */
static bool holds_nothing(int at, const char *name) {
    DIR *dir = zb__fs_open_dir(at, name);
    const struct dirent *entry;
    bool nothing = dir != NULL;
    while (nothing && (entry = readdir(dir)) != NULL) {
        struct stat st;
        if (zb__fs_is_dots(entry->d_name))
            continue;
        nothing = fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                  (S_ISDIR(st.st_mode) ? holds_nothing(dirfd(dir), entry->d_name)
                                       : zb__fs_is_ours(entry->d_name));
    }
    if (dir)
        closedir(dir);
    return nothing;
}

/* The directory is checked under a name that no other process finds: an object that came in between
   is seen, and put back. */
int zb__fs_remove_empty(int at, const char *name) {
    char trash[NAME_MAX + 1];
    zb__fs_temp_name(name, trash);
    if (renameat(at, name, at, trash) != 0)
        return errno == ENOENT ? 0 : errno;
    if (holds_nothing(at, trash))
        return zb__fs_remove_tree(at, trash);
    return renameat2(at, trash, at, name, RENAME_NOREPLACE) == 0 ||
                   renameat(at, trash, at, name) == 0
               ? EEXIST
               : errno;
}

/* ---- Objects ---- */

enum zb_code zb__fs_erase(zb_store *store, const char *key, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    zb__fs_place place;
    enum zb_code code = zb__fs_open_place(fs, key, false, &place, err);
    if (code != ZB_OK)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    pthread_mutex_lock(&fs->lock);
    zb__fs_drop_waiting(fs, key);
    int failed = unlinkat(place.dir, place.name, 0) == 0 ? 0 : errno;
    pthread_mutex_unlock(&fs->lock);
    close(place.dir);
    zb__fs_kept_forget(fs, key);
    if (!failed && strcmp(key, "zarr.json") == 0)
        atomic_store(&fs->lost_root, true);
    if (!failed)
        zb__fs_mark_dirty(fs, place.path);
    (void)zb__fs_join(fs, NULL, NULL);
    if (!failed || failed == ENOENT || failed == EISDIR) /* a directory is not an object */
        return ZB_OK;
    return zb__fs_fail_write(err, failed, "erase", key);
}
