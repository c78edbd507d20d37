/* SPDX-License-Identifier: MIT */
/*
 * Removing objects and trees from the directory store.
 *
 * A tree is first renamed to a temporary name, in one step that no reader and no kill can see half
 * done, and then taken apart (fs_trash.c): where the hierarchy's lock is held, when it has gone
 * (fs_trash.c). Where it was killed in between, the next writer goes on with it (fs_sweep.c).
 */
#include "store/fs_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "zarrbridge/sys/store.h"

/* ---- Objects ------------------------------------------------------------------------------ */

/* Unlinks it in the directory at hand. An object of the key that waits for a flush goes as well. */
static enum zb_code unlink_object(zb__fs *fs, const zb_erase *erase, const zb__fs_place *place,
                                  bool *is_gone, zb_error *err) {
    enum zb_code code = zb_batch_check(erase->batch, erase->key, err);
    if (code != ZB_OK)
        return code;
    pthread_mutex_lock(&fs->lock);
    zb__fs_drop_waiting(fs, erase->key);
    int failed = unlinkat(place->dir, place->name, 0) == 0 ? 0 : errno;
    pthread_mutex_unlock(&fs->lock);
    *is_gone = !failed;
    if (failed && failed != ENOENT && failed != EISDIR) /* a directory is not an object */
        return zb__fs_fail_write(err, failed, "erase", erase->key);
    if (!erase->batch || !erase->batch->check)
        return ZB_OK;
    return zb__fs_check_place(fs, place->path, place->dir, erase->key, err);
}

static enum zb_code erase_object(zb__fs *fs, const zb_erase *erase, zb_error *err) {
    zb__fs_place place;
    bool is_gone = false;
    enum zb_code code = zb__fs_open_place_in(fs, erase->key, &erase->home, false, &place, err);
    if (code != ZB_OK)
        return code == ZB_ENOTFOUND ? zb_batch_check(erase->batch, erase->key, err) : code;
    code = zb__fs_join(fs, erase->batch, err);
    if (code == ZB_OK)
        code = unlink_object(fs, erase, &place, &is_gone, err);
    close(place.dir);
    zb__fs_kept_forget(fs, erase->key);
    if (is_gone && strcmp(erase->key, "zarr.json") == 0)
        atomic_store(&fs->lost_root, true);
    if (is_gone)
        zb__fs_mark_dirty(fs, place.path);
    return is_gone && code == ZB_OK && erase->sync == ZB_SYNC_ALWAYS
               ? zb__fs_sync_names(fs, erase->key, err)
               : code;
}

/* ---- Trees -------------------------------------------------------------------------------- */

/* Renames an entry to a name of ours, then removes it; errno. */
static int remove_at_once(zb__fs *fs, int at, const char *name) {
    char trash[NAME_MAX + 1];
    zb__fs_temp_name(name, trash);
    if (renameat(at, name, at, trash) != 0)
        return errno == ENOENT ? 0 : errno;
    return zb__fs_remove_discarded(fs, at, trash);
}

/* Names of ours belong to writers that are at work, or to the next sweep. Where no sweep takes lock
   files they go with the store; that of the hierarchy when its lock, if it is held here, goes. */
static bool stays_in_root(const zb__fs *fs, const char *name, bool has_hierarchy) {
    const bool goes = fs->reach == ZB__FS_SHARED && zb__fs_is_lock(name) &&
                      !(has_hierarchy && zb__fs_is_hierarchy_lock(name));
    return zb__fs_is_ours(name) && !goes;
}

/* The root itself stays: its entries are removed one by one, the document before all else. */
static enum zb_code empty_root(zb__fs *fs, zb_error *err) {
    enum zb_code code = erase_object(fs, &(zb_erase){.key = "zarr.json"}, err);
    if (code != ZB_OK)
        return code;
    pthread_mutex_lock(&fs->lock);
    zb__fs_drop_waiting_below(fs, "");
    const bool has_hierarchy = fs->has_hierarchy;
    pthread_mutex_unlock(&fs->lock);
    DIR *dir = zb__fs_open_dir(fs->root, ".");
    if (!dir)
        return zb_fail_errno(err, errno, "cannot empty the store '%s'", fs->base.label);
    const struct dirent *entry;
    int failed = 0;
    for (errno = 0; !failed && (entry = readdir(dir)) != NULL; errno = 0) {
        if (zb__fs_is_dots(entry->d_name) || stays_in_root(fs, entry->d_name, has_hierarchy))
            continue;
        failed = zb__fs_unlink_file(fs->root, entry->d_name);
        if (failed == EISDIR)
            failed = remove_at_once(fs, fs->root, entry->d_name);
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

static enum zb_code erase_below(zb__fs *fs, const char *prefix, zb_error *err) {
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
    char discarded[NAME_MAX + 1];
    pthread_mutex_lock(&fs->lock); /* no flush may rename anything into it in between */
    zb__fs_drop_waiting_below(fs, prefix);
    int failed = zb__fs_trash(fs, &place, prefix, discarded);
    pthread_mutex_unlock(&fs->lock);
    if (!failed) {
        zb__fs_mark_dirty(fs, place.path);
        failed = *discarded ? zb__fs_remove_discarded(fs, place.dir, discarded) : 0;
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

enum zb_code zb__fs_erase(zb_store *store, const zb_erase *erase, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    return erase->is_recursive ? erase_below(fs, erase->key, err) : erase_object(fs, erase, err);
}

/* ---- Directories without objects ---------------------------------------------------------- */

/* True if it holds nothing but directories and files of ours; what was erased counts as nothing. */
static bool holds_nothing(int at, const char *name) {
    DIR *dir = zb__fs_open_dir(at, name);
    const struct dirent *entry;
    bool nothing = dir != NULL;
    while (nothing && (entry = readdir(dir)) != NULL) {
        struct stat st;
        if (zb__fs_is_dots(entry->d_name))
            continue;
        nothing = fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                  (zb__fs_is_ours(entry->d_name) ||
                   (S_ISDIR(st.st_mode) && holds_nothing(dirfd(dir), entry->d_name)));
    }
    if (dir)
        closedir(dir);
    return nothing;
}

/* The directory is checked under a name that no other process finds: an object that came in between
   is seen, and put back. */
static int remove_if_empty(int at, const char *name) {
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

/* No sweep takes it for a tree that was erased: its lock is had before it gets such a name. */
int zb__fs_remove_empty(int at, const char *name) {
    const int claim = zb__fs_claim_tree(at, name);
    const int failed = remove_if_empty(at, name);
    if (claim >= 0)
        close(claim);
    return failed;
}

/* ---- Moving trees ------------------------------------------------------------------------- */

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

/* ---- A target that holds files ------------------------------------------------------------ */

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

/* ---- Renaming ----------------------------------------------------------------------------- */

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
