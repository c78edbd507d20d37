/* SPDX-License-Identifier: MIT */
/* Listing directories. */
#ifndef ZB_STORE_FS_LIST_H
#define ZB_STORE_FS_LIST_H

#include "zarrbridge/sys/store.h"

enum zb_code zb__fs_list(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                         zb_error *err);

#endif
