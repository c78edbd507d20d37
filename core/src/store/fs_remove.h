/* SPDX-License-Identifier: MIT */
/* Removing objects and trees. */
#ifndef ZB_STORE_FS_REMOVE_H
#define ZB_STORE_FS_REMOVE_H

#include "zarrbridge/sys/store.h"

enum zb_code zb__fs_erase(zb_store *store, const char *key, zb_error *err);
enum zb_code zb__fs_erase_below(zb_store *store, const char *prefix, zb_error *err);
/* Removes the directory `name` in `at` with all that is in it; errno. */
int zb__fs_remove_tree(int at, const char *name);
/* Removes a directory in which there are directories and files of ours alone; errno, EEXIST when
   there is anything else. */
int zb__fs_remove_empty(int dir, const char *name);

#endif
