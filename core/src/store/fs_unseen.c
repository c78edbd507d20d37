/* SPDX-License-Identifier: MIT */
/*
 * Objects that come together: they are written into a directory of a temporary name, which nobody
 * looks into, and which gets its own name in one step. So none of them needs a lock, a temporary
 * name and a look at the array. What a kill leaves is swept as other trees of such names are
 * (fs_sweep.c), whose lock, that of the directory, is held until they come.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"
#include "store/store.h"

struct zb__unseen {
    zb__fs *fs;
    zb_store *inside; /* a store over the directory */
    zb__fs_place place;
    char *prefix;
    char temp[NAME_MAX + 1];
};

/* Makes the directory and takes its lock; a descriptor, or -1 with errno. A sweep may have come in
   between: then the directory is locked, or has gone. */
static int make_locked(zb__unseen *u) {
    for (int tries = 0; tries < ZB__FS_TRIES; tries++) {
        struct stat info;
        zb__fs_temp_name(u->place.name, u->temp);
        if (mkdirat(u->place.dir, u->temp, 0777) != 0) {
            if (errno != EEXIST)
                return -1;
            continue;
        }
        const int fd = zb__fs_claim_tree(u->place.dir, u->temp);
        if (fd >= 0 && fstat(fd, &info) == 0 && info.st_nlink > 0)
            return fd;
        if (fd >= 0)
            close(fd);
    }
    errno = EEXIST;
    return -1;
}

static enum zb_code make(zb__unseen *u, zb_error *err) {
    struct stat info;
    if (fstatat(u->place.dir, u->place.name, &info, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
        return zb_fail(err, ZB_EUNSUPPORTED, "there is something at '%s'", u->prefix);
    zb__fs_sweep(u->fs, &u->place);
    const int root = make_locked(u);
    if (root < 0)
        return zb__fs_fail_write(err, errno, "make the directory of", u->prefix);
    const enum zb_code code = zb__fs_open_root(root, u->fs->base.label, &u->inside, err);
    if (code) {
        (void)zb__fs_remove_tree(u->place.dir, u->temp);
        return code;
    }
    zb__fs_set_unseen(u->inside, true);
    return ZB_OK;
}

static void end(zb__unseen *u) {
    if (u->inside)
        zb_store_release(u->inside);
    if (u->place.dir >= 0)
        close(u->place.dir);
    free(u->prefix);
    free(u);
}

enum zb_code zb__unseen_begin(zb_store *store, const char *prefix, const zb_home *home,
                              zb__unseen **out, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    if (!zb__store_is_fs(store) || fs->reach == ZB__FS_SHARED)
        return zb_fail(err, ZB_EUNSUPPORTED, "no local directory");
    zb__unseen *u = calloc(1, sizeof *u);
    if (!u || !(u->prefix = strdup(prefix))) {
        free(u);
        return zb_fail(err, ZB_ENOMEM, "no memory for new objects");
    }
    u->fs = fs;
    u->place.dir = -1;
    enum zb_code code = zb__fs_open_place_in(fs, u->prefix, home, false, &u->place, err);
    if (!code)
        code = make(u, err);
    if (code)
        end(u);
    else
        *out = u;
    return code;
}

zb_store *zb__unseen_store(const zb__unseen *u) {
    return u->inside;
}

/* A directory of that name is replaced where it is empty. */
static enum zb_code come(const zb__unseen *u, zb_error *err) {
    if (renameat(u->place.dir, u->temp, u->place.dir, u->place.name) == 0)
        return zb__fs_check_place(u->fs, u->place.path, u->place.dir, u->prefix, err);
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
        return zb_fail(err, ZB_ECONFLICT, "another program has written below '%s' meanwhile",
                       u->prefix);
    return zb__fs_fail_write(err, errno == ENOENT ? ESTALE : errno, "replace", u->prefix);
}

enum zb_code zb__unseen_end(zb__unseen *u, zb_batch *batch, enum zb_sync sync, enum zb_code code,
                            zb_error *err) {
    zb__fs *fs = u->fs;
    const bool is_flushed = sync != ZB_SYNC_NONE;
    if (!code && is_flushed)
        code = zb__fs_join(fs, batch, err);
    if (!code)
        code = come(u, err);
    if (code)
        (void)zb__fs_remove_tree(u->place.dir, u->temp);
    else if (is_flushed)
        zb__fs_mark_dirty(fs, u->place.path);
    zb__store_count_change(&fs->base);
    if (!code && sync == ZB_SYNC_ALWAYS)
        code = zb__fs_sync_names(fs, u->prefix, err);
    end(u);
    return code;
}
