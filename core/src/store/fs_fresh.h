/* SPDX-License-Identifier: MIT */
/* Names as other machines have left them, where a machine keeps in mind what it has seen. */
#ifndef ZB_STORE_FS_FRESH_H
#define ZB_STORE_FS_FRESH_H

#include "store/fs_store.h"

/* Each of these does nothing unless the store is ZB__FS_SHARED. */

/* Asks the server for the attributes of what is open, so that no older ones are used from now on;
   those of a directory tell whether its names have changed. */
void zb__fs_refresh(const zb__fs *fs, int fd);
/* The same for each directory on the way to a path: from `at` itself to the one that has the
   path's last part. last: a path of the same `at` that this was done for a moment ago, whose
   directories are not asked for again; NULL: none. */
void zb__fs_refresh_way(const zb__fs *fs, int at, const char *path, const char *last);

/* True if the names on the way to a path are known to be as they are now: where the store is not
   ZB__FS_SHARED, and where the hierarchy's lock is held through it, whose holder has to change the
   documents that are there. Then the way is refreshed. Not to be called with fs->lock. */
bool zb__fs_is_sure(zb__fs *fs, const char *path);

/* True if a rename that has failed with this errno may succeed now, after a pause: servers refuse
   one while they are about to do something else with the file. *tries begins at 0. Never where the
   store is ZB__FS_LOCAL. */
bool zb__fs_rename_again(const zb__fs *fs, int failed, int *tries);

#endif
