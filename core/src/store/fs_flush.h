/* SPDX-License-Identifier: MIT */
/* Objects that wait for a flush. */
#ifndef ZB_STORE_FS_FLUSH_H
#define ZB_STORE_FS_FLUSH_H

#include "store/fs_place.h"

/* True when the key has an object that waits; path is then its file's beneath the root. */
bool zb__fs_find_waiting(zb__fs *fs, const char *key, char path[PATH_MAX]);
/* Lets a finished temporary file wait for the next flush of its batch; the descriptor is the
   store's from now on, also on error. */
enum zb_code zb__fs_wait(zb__fs *fs, const zb_put *put, const zb__fs_place *place, const char *temp,
                         int fd, zb_error *err);
/* Forgets the objects that wait for the key, or for keys below the prefix. Called with fs->lock. */
void zb__fs_drop_waiting(zb__fs *fs, const char *key);
void zb__fs_drop_waiting_below(zb__fs *fs, const char *prefix);
/* Stores the objects that wait below the prefix now; a failure is kept for its batch. */
void zb__fs_publish_below(zb__fs *fs, const char *prefix);
/* True if an object below the prefix waits for a flush. Called with fs->lock. */
bool zb__fs_any_waits_below(zb__fs *fs, const char *prefix);
/* Notes that a change which a flush has yet to make durable is made for this batch (NULL: for the
   store itself). ZB_OK, or the batch's loss, which its flush has yet to report. */
enum zb_code zb__fs_join(zb__fs *fs, zb_batch *batch, zb_error *err);
enum zb_code zb__fs_flush(zb_store *store, zb_batch *batch, bool discards, zb_error *err);

#endif
