/* SPDX-License-Identifier: MIT */
/* Places to write in. */
#ifndef ZB_STORE_FS_PLACE_H
#define ZB_STORE_FS_PLACE_H

#include "store/fs_store.h"

/* The place of a key's file. */
typedef struct zb__fs_place {
    int dir;             /* O_PATH descriptor of its directory */
    const char *name;    /* in there; the tail of the key, not owned */
    bool made;           /* the directory is new */
    char path[PATH_MAX]; /* of the directory beneath the root, "" for the root */
} zb__fs_place;

/* Opens the directory of a key to be written; make: with all directories above it. ZB_ENOTFOUND
   when there is none, ZB_EINVAL for names that we keep for ourselves. Close place->dir. */
enum zb_code zb__fs_open_place(zb__fs *fs, const char *key, bool make, zb__fs_place *place,
                               zb_error *err);
/* The same in a home: the directory is surely within the one of that identity, and stays there
   whatever becomes of the path; ZB_ECONFLICT where another one, or none, is at the prefix, and
   nothing is made then. */
enum zb_code zb__fs_open_place_in(zb__fs *fs, const char *key, const zb_home *home, bool make,
                                  zb__fs_place *place, zb_error *err);

/* The same for a key whose directory is to be made, while the one above it is there. ZB_ECONFLICT
   when anything has its name. */
enum zb_code zb__fs_make_place(zb__fs *fs, const char *key, zb__fs_place *place, zb_error *err);

/* ZB_ECONFLICT unless the path beneath the root ("" for the root) leads to the directory of this
   descriptor, which it did when the key's place was opened. */
enum zb_code zb__fs_check_place(const zb__fs *fs, const char *path, int dir, const char *key,
                                zb_error *err);

#endif
