/* SPDX-License-Identifier: MIT */
/* Removing what killed writers left. */
#ifndef ZB_STORE_FS_SWEEP_H
#define ZB_STORE_FS_SWEEP_H

#include "store/fs_place.h"

/* Removes the leftovers of killed writers from the directory, the first time that this store writes
   there. */
void zb__fs_sweep(zb__fs *fs, const zb__fs_place *place);
enum zb_code zb__fs_sweep_all(zb_store *store, const char *prefix, enum zb_sweep what,
                              zb_list_fn fn, void *context, zb_error *err);

#endif
