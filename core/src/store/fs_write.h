/* SPDX-License-Identifier: MIT */
/* Putting objects. */
#ifndef ZB_STORE_FS_WRITE_H
#define ZB_STORE_FS_WRITE_H

#include "zarrbridge/sys/store.h"

enum zb_code zb__fs_put(zb_store *store, const zb_put *put, zb_error *err);

/* Writes all parts at the descriptor's position; errno. */
int zb__fs_write_parts(int fd, const zb_part *parts, size_t count);
/* Has the file system report the errors that it keeps for the closing of a file, while the
   descriptor, and with it the lock, stays ours; errno. */
int zb__fs_check_close(int fd);

#endif
