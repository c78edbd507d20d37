/* SPDX-License-Identifier: MIT */
/* Opening and reading objects. */
#ifndef ZB_STORE_FS_OBJECT_H
#define ZB_STORE_FS_OBJECT_H

#include "store/fs_kept.h"
#include "store/fs_store.h"

typedef struct zb__fs_object {
    zb_object base;
    int fd;
    zb__fs_kept *kept; /* whose descriptor it is; NULL: its own */
    uint64_t size;     /* at open, or after our last change of it */
} zb__fs_object;

enum zb_code zb__fs_open_path(zb__fs *fs, const char *key, zb_object **out, zb_object_info *info,
                              zb_error *err);
enum zb_code zb__fs_open_in(zb__fs *fs, const char *key, const zb_home *home, zb_object **out,
                            zb_object_info *info, zb_error *err);
enum zb_code zb__fs_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err);
void zb__fs_close(zb_object *object);
enum zb_code zb__fs_probe(zb_store *store, zb_probe *probe, zb_error *err);

/* Makes a handle of an open file, which is closed on error; refuses all but regular ones. */
enum zb_code zb__fs_new_object(zb_store *store, const char *key, int fd, zb_object **out,
                               zb_object_info *info, zb_error *err);

#endif
