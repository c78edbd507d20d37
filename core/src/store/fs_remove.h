/* SPDX-License-Identifier: MIT */
/* Removing objects and trees. */
#ifndef ZB_STORE_FS_REMOVE_H
#define ZB_STORE_FS_REMOVE_H

#include "zarrbridge/sys/store.h"

enum zb_code zb__fs_erase(zb_store *store, const zb_erase *erase, zb_error *err);
/* Removes a directory in which there are directories and files of ours alone; errno, EEXIST when
   there is anything else. Called with the store's lock, as zb__fs_claim_tree is. */
int zb__fs_remove_empty(int dir, const char *name);

#endif
