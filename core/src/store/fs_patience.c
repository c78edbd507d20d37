/* SPDX-License-Identifier: MIT */
#include "store/fs_patience.h"

#include <stdint.h>

#include "base/clock.h"
#include "base/pause.h"
#include "base/wait.h"
#include "zarrbridge/limits.h"

#define FIRST_PAUSE_NS 20000
#define LONGEST_PAUSE_NS 5000000
/* Where a server is asked. */
#define FIRST_PAUSE_SHARED_NS 2000000
#define LONGEST_PAUSE_SHARED_NS 50000000

zb__fs_patience zb__fs_be_patient(const zb__fs *fs) {
    const bool is_shared = fs->reach == ZB__FS_SHARED;
    return (zb__fs_patience){.end = zb__deadline(zb_limits_get()->lock_seconds),
                             .is_shared = is_shared,
                             .pause = is_shared ? FIRST_PAUSE_SHARED_NS : FIRST_PAUSE_NS,
                             .longest = is_shared ? LONGEST_PAUSE_SHARED_NS : LONGEST_PAUSE_NS};
}

bool zb__fs_has_patience(zb__fs_patience *p) {
    if (zb__now() >= p->end ||
        !zb__pause(zb__stopper_mine(), p->is_shared ? zb__part_of(p->pause) : p->pause))
        return false;
    p->pause = p->pause < p->longest / 2 ? 2 * p->pause : p->longest;
    return true;
}

enum zb_code zb__fs_fail_held(const char *key, zb_error *err) {
    if (zb__stopper_mine()->is_stopped)
        return zb__fail_stopped(err);
    return zb_fail(err, ZB_ECONFLICT,
                   "'%s' is locked by another writer for longer than %llu seconds, the limit "
                   "lock_seconds",
                   key, (unsigned long long)zb_limits_get()->lock_seconds);
}
