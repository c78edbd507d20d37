/* SPDX-License-Identifier: MIT */
/* Locks of keys. */
#ifndef ZB_STORE_FS_LOCK_H
#define ZB_STORE_FS_LOCK_H

#include "store/fs_store.h"
#include "zarrbridge/sys/store.h"

enum zb_code zb__fs_lock_key(zb_store *store, const zb_locking *locking, zb_lock **out,
                             zb_error *err);
void zb__fs_unlock(zb_lock *lock);
/* Removes the file of the hierarchy's lock, if this store has left it. A holder, or a store that
   waits for it, leaves it again, and removes it in turn. */
void zb__fs_leave_no_lock(zb__fs *fs);
/* Closes the descriptor that is kept for the next holder: at the end, and in a child, since it is
   the parent's. Called with fs->lock, or without other threads. */
void zb__fs_forget_left(zb__fs *fs);
/* True of the name of the hierarchy's lock file. */
bool zb__fs_is_hierarchy_lock(const char *name);
/* Tries for the exclusive lock of an open file; errno, EAGAIN when another process has it. */
int zb__fs_lock_file(int fd);
/* True if the errno is that of a file system without locks. */
bool zb__fs_no_locks(int failed);

#endif
