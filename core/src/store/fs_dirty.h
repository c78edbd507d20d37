/* SPDX-License-Identifier: MIT */
/* Names and files that are not durable yet. */
#ifndef ZB_STORE_FS_DIRTY_H
#define ZB_STORE_FS_DIRTY_H

#include "store/fs_store.h"

/* Remembers that entries of a directory changed, or that a file waits to be synced. */
void zb__fs_mark_dirty(zb__fs *fs, const char *path);
void zb__fs_mark_file(zb__fs *fs, const char *key);
/* The directory `from` has moved: changes remembered below it cannot be found any more, so that the
   next sync takes all. */
void zb__fs_mark_moved(zb__fs *fs, const char *from);
/* Makes the names in the directories above the key durable; NULL: in all directories, and all
   files. */
enum zb_code zb__fs_sync_names(zb__fs *fs, const char *key, zb_error *err);
void zb__fs_free_dirty(zb__fs *fs);
/* True if the key lies below the prefix. All keys lie below "". */
bool zb__fs_is_below(const char *key, const char *prefix);

#endif
