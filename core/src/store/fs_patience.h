/* SPDX-License-Identifier: MIT */
/* Waiting for a lock that another holder has. */
#ifndef ZB_STORE_FS_PATIENCE_H
#define ZB_STORE_FS_PATIENCE_H

#include <stdbool.h>
#include <time.h>

#include "store/fs_store.h"

typedef struct zb__fs_patience {
    struct timespec end; /* of the limit lock_seconds */
    bool is_shared;
    long pause, longest; /* nanoseconds */
} zb__fs_patience;

zb__fs_patience zb__fs_be_patient(const zb__fs *fs);
/* Pauses before another try; false when the time is up. */
bool zb__fs_has_patience(zb__fs_patience *p);

/* The error of a lock that was not to be had in that time. */
enum zb_code zb__fs_fail_held(const char *key, zb_error *err);

#endif
