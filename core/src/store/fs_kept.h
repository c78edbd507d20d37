/* SPDX-License-Identifier: MIT */
/*
 * Files that are read again and again stay open between these reads: one question about the path is
 * then all that it takes to know that they are still what an open would find. Any thread.
 */
#ifndef ZB_STORE_FS_KEPT_H
#define ZB_STORE_FS_KEPT_H

#include "store/fs_store.h"

typedef struct zb__fs_kept zb__fs_kept;

/* The file that is kept for the key, or NULL; to be given back. The caller asks what the path leads
   to now, and forgets the file if it is none of that. */
zb__fs_kept *zb__fs_kept_take(const zb__fs *fs, const char *key);
bool zb__fs_kept_is(const zb__fs_kept *kept, const zb_object_info *info);
int zb__fs_kept_fd(const zb__fs_kept *kept);
void zb__fs_kept_give(zb__fs_kept *kept, bool forgets);

/* Keeps the file that was just opened for the key, not for the first time, as if it had been taken.
   NULL: it is not kept, and the descriptor stays the caller's. */
zb__fs_kept *zb__fs_keep(const zb__fs *fs, const char *key, int fd, const zb_object_info *info);

/* Forgets the file of a key, or with NULL all of the store. Those that are read now are closed
   afterwards. */
void zb__fs_kept_forget(const zb__fs *fs, const char *key);

/* Closes all that nobody reads, of all stores. True if it closed any. */
bool zb__fs_kept_clear(void);

#endif
