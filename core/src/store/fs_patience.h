/* SPDX-License-Identifier: MIT */
/* Waiting for a lock that another holder has. */
#ifndef ZB_STORE_FS_PATIENCE_H
#define ZB_STORE_FS_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/fs_store.h"

typedef struct zb__fs_patience {
    int64_t end; /* of the limit lock_seconds, by the monotonic clock */
    bool is_shared;
    long pause, longest; /* nanoseconds */
} zb__fs_patience;

zb__fs_patience zb__fs_be_patient(const zb__fs *fs);
/* Pauses before another try; false when the time is up, or the thread is not to wait. */
bool zb__fs_has_patience(zb__fs_patience *p);

/* The error of a lock that was not to be had so. */
enum zb_code zb__fs_fail_held(const char *key, zb_error *err);

#endif
