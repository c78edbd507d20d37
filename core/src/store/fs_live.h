/* SPDX-License-Identifier: MIT */
/* Changing objects in place. */
#ifndef ZB_STORE_FS_LIVE_H
#define ZB_STORE_FS_LIVE_H

#include "zarrbridge/sys/store.h"

enum zb_code zb__fs_open_live(zb_store *store, const char *key, const zb_home *home,
                              zb_object **out, zb_object_info *info, zb_error *err);
enum zb_code zb__fs_write_at(zb_object *live, uint64_t offset, const zb_part *parts, size_t count,
                             enum zb_sync sync, zb_error *err);
enum zb_code zb__fs_truncate(zb_object *live, uint64_t size, enum zb_sync sync, zb_error *err);

#endif
