/* SPDX-License-Identifier: MIT */
/* Locks of keys. */
#ifndef ZB_STORE_FS_LOCK_H
#define ZB_STORE_FS_LOCK_H

#include "zarrbridge/sys/store.h"

enum zb_code zb__fs_lock_key(zb_store *store, const char *key, zb_lock **out, zb_error *err);
void zb__fs_unlock(zb_lock *lock);
enum zb_code zb__fs_confirm_lock(const zb_lock *lock, zb_error *err);
/* Locks behind links are not waited for. */
enum zb_code zb__fs_await_locks(zb_store *store, const char *prefix, zb_error *err);
/* Tries for the exclusive lock of an open file; errno, EAGAIN when another process has it. */
int zb__fs_lock_file(int fd);
/* True if the errno is that of a file system without locks. */
bool zb__fs_no_locks(int failed);

#endif
