/* SPDX-License-Identifier: MIT */
/* Moving trees. */
#ifndef ZB_STORE_FS_RENAME_H
#define ZB_STORE_FS_RENAME_H

#include "zarrbridge/sys/store.h"

enum zb_code zb__fs_rename(zb_store *store, const char *from, const char *to, zb_error *err);

#endif
