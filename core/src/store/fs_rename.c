/* SPDX-License-Identifier: MIT */
/*
 * Moving a tree of the directory store: one rename of its directory, whatever it holds. Trees that
 * cannot be moved in one step are refused, and the caller copies: links (a relative one would lead
 * elsewhere), and trees on several file systems. Objects of the tree that wait for a flush go out
 * before, since their store knows them by their old names.
 *
 * At the target there may be directories that late writers and waiters for locks have made again
 * after a node was deleted there. They do not count. A rename of a directory takes the place of an
 * empty one, and of nothing else.
 */
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
#include "zarrbridge/store.h"

/* Renames the directory; errno. */
static int rename_directory(const zb__fs_place *from, const zb__fs_place *to) {
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
            return failed;
    }
    return EEXIST;
}

static enum zb_code fail(int failed, const char *from, const char *to, zb_error *err) {
    if (failed == EEXIST || failed == ENOTEMPTY)
        return zb_fail(err, ZB_ECONFLICT, "there is something at '%s'", to);
    if (failed == EXDEV)
        return zb_fail(err, ZB_EUNSUPPORTED, "'%s' cannot be renamed to '%s'", from, to);
    return zb__fs_fail_write(err, failed, "rename", from);
}

enum zb_code zb__fs_rename(zb_store *store, const char *from, const char *to, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    zb__fs_place source, target;
    enum zb_code code = zb__fs_open_place(fs, from, false, &source, err);
    if (code != ZB_OK)
        return code;
    code = zb__fs_open_place(fs, to, true, &target, err);
    if (code == ZB_OK) {
        zb__fs_publish_below(fs, from);
        pthread_mutex_lock(&fs->lock); /* nothing begins to wait in between */
        int failed = zb__fs_any_waits_below(fs, from) ? EXDEV : rename_directory(&source, &target);
        pthread_mutex_unlock(&fs->lock);
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
    }
    return code;
}
