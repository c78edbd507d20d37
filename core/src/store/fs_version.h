/* SPDX-License-Identifier: MIT */
/* Telling versions of files, and directories, apart. */
#ifndef ZB_STORE_FS_VERSION_H
#define ZB_STORE_FS_VERSION_H

#include <sys/stat.h>

#include "store/fs_store.h"

zb_object_info zb__fs_info_of(const zb__fs *fs, const struct stat *st);
/* The identity of what a path leads to, or with "" of the directory of the descriptor; 0: there is
   none. */
uint64_t zb__fs_identify_at(int at, const char *path);
/* Answers ZB_ASK_HOLDER. */
void zb__fs_probe_holder(const zb__fs *fs, zb_probe *probe);

#endif
