/* SPDX-License-Identifier: MIT */
/* Paths beneath the root, and the names that the store keeps for itself. */
#ifndef ZB_STORE_FS_PATH_H
#define ZB_STORE_FS_PATH_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "zarrbridge/error.h"

/* Opens a path beneath the root; -1 with errno. A path that leads out of it gives EXDEV or ELOOP.
   Where descriptors lack, files that are kept (fs_kept.c) give way. */
int zb__fs_openat(int root, const char *path, int flags);
/* The same for reading and listing: a path may also lead, by links, into a directory that the
   variable ZARRBRIDGE_LINKS_TO names, where the kernel has openat2. */
int zb__fs_open_read(int root, const char *path, int flags);
/* openat, uninterrupted, for which they give way as well: for paths that may lead anywhere. */
int zb__fs_open_name(int at, const char *name, int flags, mode_t mode);
/* After a call that has failed, with its errno, which stays: true if descriptors lacked, and files
   that are kept were closed for it. */
bool zb__fs_made_room(void);
/* Opens the directory `name` in `at` for listing; no links. NULL with errno. */
DIR *zb__fs_open_dir(int at, const char *name);

/* After ENOENT: true if a symbolic link on the path leads nowhere. An object behind it is not
   absent, but cannot be reached. */
bool zb__fs_dangles(int root, const char *path);

/* True if a path leads nowhere, and has no symbolic link that might; false where that is not
   known. */
bool zb__fs_is_absent(int root, const char *path);

/* The error for a failed call on a key. */
enum zb_code zb__fs_fail(zb_error *err, int sys_errno, const char *what, const char *key);
/* The same for calls that write: never ZB_ENOTFOUND, which would mean that the object does not
   exist. */
enum zb_code zb__fs_fail_write(zb_error *err, int sys_errno, const char *what, const char *key);

/* True if both are of one file, or one directory. */
static inline bool zb__fs_same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* True for the two names that every directory has of itself and of the one above. */
static inline bool zb__fs_is_dots(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The last part of a key: a pointer into it. */
const char *zb__fs_name_of(const char *key);

bool zb__fs_is_ours(const char *name);
bool zb__fs_is_lock(const char *name);
bool zb__fs_is_staging(const char *name);
/* A new name in the directory of `name` that no other process will choose; and the name of its
   lock. */
void zb__fs_temp_name(const char *name, char out[NAME_MAX + 1]);
void zb__fs_lock_name(const char *name, char out[NAME_MAX + 1]);
/* True if the temporary name was made by a process that shares this kernel, and so its locks. */
bool zb__fs_is_local_temp(const char *name);

#endif
