/* SPDX-License-Identifier: MIT */
/* Waiting until others have let go of the locks of chunks below a prefix. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"
#include "util/locks.h"
#include "zarrbridge/sys/store.h"

/* Whether a process holds the lock of this file, or may hold it: another user's cannot be opened
   in the moment in which it is made. */
static bool may_be_held(int dir, const char *name) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = zb__fs_open_name(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return errno == EACCES;
    bool held = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    close(fd);
    return held;
}

/* False when the time is up. A file that is made anew meanwhile is waited for as well. */
static bool await_file(int dir, const char *name, zb__fs_patience *patience) {
    while (may_be_held(dir, name)) {
        if (!zb__fs_has_patience(patience))
            return false;
    }
    return true;
}

/* A chunk's lock, and not the hierarchy's. */
static bool is_waited_for(const char *name) {
    return zb__fs_is_lock(name) && !zb__fs_is_hierarchy_lock(name);
}

/* All lock files in a directory and below, if it is one. As deep as the keys in the store. */
static bool await_below(const zb__fs *fs, int at, const char *name, zb__fs_patience *patience) {
    DIR *dir = zb__fs_open_dir(at, name);
    const struct dirent *entry;
    bool free_now = true;
    if (dir)
        zb__fs_refresh(fs, dirfd(dir));
    while (dir && free_now && (entry = readdir(dir)) != NULL) {
        bool is_file = entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN;
        if (is_waited_for(entry->d_name))
            free_now = await_file(dirfd(dir), entry->d_name, patience);
        else if (!is_file && !zb__fs_is_dots(entry->d_name))
            free_now = await_below(fs, dirfd(dir), entry->d_name, patience);
    }
    if (dir)
        closedir(dir);
    return free_now;
}

enum zb_code zb__fs_await_locks(zb__fs *fs, const char *prefix, zb_error *err) {
    zb__fs_place place;
    char name[NAME_MAX + 1];
    if (zb__locks_stated() == ZB__LOCKS_NONE)
        return ZB_OK;
    enum zb_code code = zb__fs_open_place(fs, prefix, false, &place, err);
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    zb__fs_patience patience = zb__fs_be_patient(fs);
    zb__fs_refresh(fs, place.dir);
    zb__fs_lock_name(place.name, name);
    bool free_now = await_file(place.dir, name, &patience);
    close(place.dir);
    int below = zb__fs_openat(fs->root, *prefix ? prefix : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    free_now = free_now && (below < 0 || await_below(fs, below, ".", &patience));
    if (below >= 0)
        close(below);
    return free_now ? ZB_OK : zb__fs_fail_held(prefix, err);
}
