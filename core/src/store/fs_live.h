/* SPDX-License-Identifier: MIT */
/* Changing objects in place. */
#ifndef ZB_STORE_FS_LIVE_H
#define ZB_STORE_FS_LIVE_H

#include "zarrbridge/sys/store.h"

enum zb_code zb__fs_open_live(zb_store *store, const char *key, const zb_home *home,
                              zb_object **out, zb_object_info *info, zb_error *err);
enum zb_code zb__fs_change(zb_object *live, const zb_change *change, zb_error *err);

#endif
