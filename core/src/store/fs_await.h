/* SPDX-License-Identifier: MIT */
/* Waiting for the locks of others. */
#ifndef ZB_STORE_FS_AWAIT_H
#define ZB_STORE_FS_AWAIT_H

#include "store/fs_store.h"

/* Locks behind links are not waited for. */
enum zb_code zb__fs_await_locks(zb__fs *fs, const char *prefix, zb_error *err);

#endif
