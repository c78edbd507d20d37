/* SPDX-License-Identifier: MIT */
/*
 * Taking a directory apart, whatever it holds. Several processes may do it at once: each takes what
 * it finds.
 */
#include "store/fs_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_path.h"

int zb__fs_unlink_file(int dir, const char *name) {
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

/* What becomes of a directory `name` in `dir`; errno. *progress: something was moved or removed. */
typedef int directory_act(int dir, const char *name, int top, bool *progress);

/* Unlinks the files in a directory, and gives its directories to act, with `top`. */
static int empty(int at, const char *name, directory_act *act, int top, bool *progress) {
    DIR *dir = zb__fs_open_dir(at, name);
    if (!dir)
        return errno == ENOENT ? 0 : errno;
    const struct dirent *entry;
    int failed = 0;
    unlink_document(dir);
    for (errno = 0; !failed && (entry = readdir(dir)) != NULL; errno = 0) {
        if (zb__fs_is_dots(entry->d_name))
            continue;
        failed = zb__fs_unlink_file(dirfd(dir), entry->d_name);
        if (failed == EISDIR)
            failed = act(dirfd(dir), entry->d_name, top, progress);
    }
    if (!failed)
        failed = errno;
    closedir(dir);
    return failed;
}

static int move_up(int dir, const char *name, int top, bool *progress) {
    char unique[NAME_MAX + 1];
    zb__fs_temp_name("d", unique);
    *progress = true;
    return renameat(dir, name, top, unique) == 0 || errno == ENOENT ? 0 : errno;
}

/* Removes a directory in `dir`, its own directories having been moved up into that. So trees of any
   depth come apart with two open descriptors. */
static int lift(int dir, const char *name, int top, bool *progress) {
    (void)top;
    const int failed = empty(dir, name, move_up, dir, progress);
    if (!failed && unlinkat(dir, name, AT_REMOVEDIR) == 0)
        *progress = true;
    return failed;
}

int zb__fs_remove_tree(int at, const char *name) {
    int failed = zb__fs_unlink_file(at, name);
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
        failed = empty(at, name, lift, -1, &progress);
        if (failed)
            return failed;
        idle = progress ? 0 : idle + 1;
    }
    return ENOTEMPTY;
}
