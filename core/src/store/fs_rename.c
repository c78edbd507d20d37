/* SPDX-License-Identifier: MIT */
/*
 * Moving a tree of the directory store: one rename of its directory, whatever it holds. Trees that
 * cannot be moved in one step are refused: links (a relative one would lead elsewhere), and trees
 * on several file systems. Objects of the tree that wait for a flush go out before, since their
 * store knows them by their old names.
 *
 * At the target there may be directories that late writers and waiters for locks have made again
 * after a node was deleted there. They do not count. A rename of a directory takes the place of an
 * empty one, and of nothing else. Where there are files, as a README of the user's, the two
 * directories change places in one step, and the files are then moved back to where they were, into
 * the directory that is there now. A kill in between leaves them at the old place of the tree.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_dirty.h"
#include "store/fs_flush.h"
#include "store/fs_kept.h"
#include "store/fs_path.h"
#include "store/fs_place.h"
#include "store/fs_remove.h"
#include "store/fs_rename.h"
#include "store/fs_store.h"
#include "zarrbridge/sys/store.h"

/* ---- A target that holds files ---- */

static bool is_directory(int at, const char *name) {
    struct stat st;
    return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Whether the entry may be moved to that directory: errno, EEXIST where its name is taken. To move
   a directory takes the right to change it. */
static int may_move(int at, const char *name, int to) {
    struct stat st;
    if (fstatat(to, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return EEXIST;
    if (errno != ENOENT)
        return errno;
    return is_directory(at, name) && faccessat(at, name, W_OK, AT_EACCESS) != 0 ? errno : 0;
}

static int move_entry(int at, const char *name, int to) {
    return renameat2(at, name, to, name, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

/* Does that for each entry in a directory, and in the directories that both have; errno. Names of
   ours stay. */
static int each_entry(int at, const char *name, int to_at, const char *to,
                      int (*fn)(int at, const char *name, int to)) {
    DIR *dir = zb__fs_open_dir(at, name);
    int target = zb__fs_open_name(to_at, to, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    int failed = dir && target >= 0 ? 0 : errno;
    const struct dirent *entry;
    while (!failed && (entry = readdir(dir)) != NULL) {
        const char *own = entry->d_name;
        if (zb__fs_is_dots(own) || zb__fs_is_ours(own))
            continue;
        failed = fn(dirfd(dir), own, target);
        if (failed == EEXIST && is_directory(dirfd(dir), own) && is_directory(target, own))
            failed = each_entry(dirfd(dir), own, target, own, fn);
    }
    if (dir)
        closedir(dir);
    if (target >= 0)
        close(target);
    return failed;
}

/* The two change places; *beside: they have, and the target holds both. Files that cannot be moved
   then, which has been asked before, stay where the tree was. */
static int exchange(const zb__fs_place *from, const zb__fs_place *to, bool *beside) {
    int failed = each_entry(to->dir, to->name, from->dir, from->name, may_move);
    if (failed)
        return failed;
    if (renameat2(from->dir, from->name, to->dir, to->name, RENAME_EXCHANGE) != 0)
        return errno == EINVAL || errno == ENOSYS ? EXDEV : errno;
    *beside = true;
    if (each_entry(from->dir, from->name, to->dir, to->name, move_entry) == 0)
        (void)zb__fs_remove_empty(from->dir, from->name);
    return 0;
}

/* ---- Renaming ---- */

/* Renames the directory; errno. */
static int rename_directory(const zb__fs_place *from, const zb__fs_place *to, bool *beside) {
    struct stat st;
    if (fstatat(from->dir, from->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    if (!S_ISDIR(st.st_mode))
        return S_ISLNK(st.st_mode) ? EXDEV : ENOENT;
    for (int tries = 0; tries < ZB__FS_TRIES; tries++) {
        if (ZB__UNINTERRUPTED(renameat(from->dir, from->name, to->dir, to->name)) == 0)
            return 0;
        if (errno != EEXIST && errno != ENOTEMPTY)
            return errno == ENOTDIR ? EEXIST : errno;
        int failed = zb__fs_remove_empty(to->dir, to->name);
        if (failed)
            return failed == EEXIST ? exchange(from, to, beside) : failed;
    }
    return EEXIST;
}

/* What waits goes out first, and nothing begins to wait in between; EBUSY where others of this
   process put objects all the time. */
static int publish_and_rename(zb__fs *fs, const char *key, const zb__fs_place *from,
                              const zb__fs_place *to, bool *beside) {
    int failed = EBUSY;
    for (int tries = 0; failed == EBUSY && tries < ZB__FS_TRIES; tries++) {
        zb__fs_publish_below(fs, key);
        pthread_mutex_lock(&fs->lock);
        if (!zb__fs_any_waits_below(fs, key))
            failed = rename_directory(from, to, beside);
        pthread_mutex_unlock(&fs->lock);
    }
    return failed;
}

static enum zb_code fail(int failed, const char *from, const char *to, zb_error *err) {
    if (failed == EEXIST || failed == ENOTEMPTY)
        return zb_fail(err, ZB_ECONFLICT,
                       "there is something at '%s' that is in the way of '%s': move it away first",
                       to, from);
    if (failed == EBUSY)
        return zb_fail(err, ZB_ECONFLICT, "'%s' is being written all the time", from);
    if (failed == EXDEV)
        return zb_fail(err, ZB_EUNSUPPORTED, "'%s' cannot be renamed to '%s'", from, to);
    return zb__fs_fail_write(err, failed, "rename", from);
}

enum zb_code zb__fs_rename(zb_store *store, const char *from, const char *to, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    zb__fs_place source, target;
    bool beside = false;
    enum zb_code code = zb__fs_open_place(fs, from, false, &source, err);
    if (code != ZB_OK)
        return code;
    code = zb__fs_open_place(fs, to, true, &target, err);
    if (code == ZB_OK) {
        int failed = publish_and_rename(fs, from, &source, &target, &beside);
        if (failed)
            code = fail(failed, from, to, err);
        close(target.dir);
    }
    close(source.dir);
    if (code == ZB_OK) {
        zb__fs_kept_forget(fs, NULL); /* changes by the new name would not find them */
        (void)zb__fs_join(fs, NULL, NULL);
        zb__fs_mark_moved(fs, from);
        zb__fs_mark_dirty(fs, source.path);
        zb__fs_mark_dirty(fs, target.path);
        if (beside)
            zb__fs_mark_dirty(fs, to);
    }
    return code;
}
