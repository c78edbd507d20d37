/* SPDX-License-Identifier: MIT */
/* The file system that a store is on. */
#ifndef ZB_STORE_FS_MOUNT_H
#define ZB_STORE_FS_MOUNT_H

#include <sys/types.h>

#include "store/fs_store.h"

/* Finds out what kind of file system the root is on, and how far its locks reach. Once a store. */
void zb__fs_look_at_system(zb__fs *fs);

/* True of the file systems that take their time stamps from this machine's clock, by the number
   that statfs(2) gives. All others, FUSE included, may take theirs from elsewhere, and may be used
   by other machines. */
bool zb__fs_is_local_type(unsigned type);
/* How far the locks of a file system reach. options: those of the mount, with commas; NULL: not
   known. */
enum zb__fs_reach zb__fs_reach_of(unsigned type, const char *options);
/* The options of a file system by a line of /proc/self/mountinfo: the last word of it. NULL unless
   the line is of this device. */
const char *zb__fs_mount_options(const char *line, dev_t device);

#endif
