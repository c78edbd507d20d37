/* SPDX-License-Identifier: MIT */
/*
 * Telling apart the versions of a file, and directories that come one after the other at one path.
 *
 * A version is known by inode, size, modification and change time. Two changes within one tick of
 * the file system's clock may share all four (a rename brings another inode, but the inode after
 * that can be the first one again), so a version counts only when a later change is sure to have
 * another time: when the file is older than a tick, by a clock that can be compared with the
 * file's.
 *
 * The time stamps tell the length of a tick: ext4 with small inodes counts seconds, vfat counts
 * two, exfat ten milliseconds, and none of them fills the digits below. A file whose stamp ends in
 * zeros by chance is taken for one of those, which only costs a cache entry.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"
#include "util/hash.h"
#include "zarrbridge/sys/store.h"

#define SECOND_NS 1000000000ll

/* The kernel takes the time of its last timer interrupt, which may be 10 ms old; the rest is
   reserve. */
#define KERNEL_TICK_NS 50000000ll

/* The difference that the clock of another machine may have from ours. Where machines have no
   common time, this is a guess; being wrong takes two changes within a tick of that machine. */
#define SKEW_NS (300 * SECOND_NS)

static int64_t nanoseconds(struct timespec t) {
    return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* The largest power of ten that divides the stamp, up to a second. */
static int64_t tick_of(struct timespec t) {
    int64_t tick = 1;
    while (tick < SECOND_NS && t.tv_nsec % (tick * 10) == 0)
        tick *= 10;
    return tick;
}

/* Another program may have set the modification time to a whole second; it cannot set the change
   time. */
static int64_t certain_after(const zb__fs *fs, const struct stat *st) {
    int64_t tick = tick_of(st->st_ctim);
    return 2 * tick + KERNEL_TICK_NS + (fs->is_remote ? SKEW_NS : 0);
}

zb_object_info zb__fs_info_of(const zb__fs *fs, const struct stat *st) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    int64_t modified = nanoseconds(st->st_mtim), changed = nanoseconds(st->st_ctim);
    int64_t last = modified > changed ? modified : changed;
    int64_t age = nanoseconds(now) - last;
    return (zb_object_info){
        .size = (uint64_t)st->st_size,
        .age = age != 0 ? age : 1, /* 0 would say that it is not known */
        .validator = {.word = {(uint64_t)st->st_ino ^ (uint64_t)st->st_dev << 40,
                               (uint64_t)st->st_size, (uint64_t)modified, (uint64_t)changed},
                      .valid = age > certain_after(fs, st)}};
}

/* ---- Directories ---- */

#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID AT_REMOVEDIR
#endif

/* The handle that a file system gives its directories, for servers of files: with the number of the
   inode it has a generation, since a number is given to another directory once it is free. 0 where
   there is none. */
static uint64_t identify_by_handle(int at, const char *path, int flags) {
    union {
        struct file_handle handle;
        unsigned char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } u = {.handle.handle_bytes = MAX_HANDLE_SZ};
    int mount;
    if (name_to_handle_at(at, path, &u.handle, &mount, flags) != 0)
        return 0;
    /* The handle is read through the union, whose bytes the compiler knows to be there. */
    const unsigned char *handle = u.bytes + offsetof(struct file_handle, f_handle);
    uint64_t hash = zb__hash_add(1, (uint64_t)u.handle.handle_type);
    for (unsigned i = 0; i < u.handle.handle_bytes; i++)
        hash = zb__hash_add(hash, handle[i]);
    return hash;
}

/* The identity without handles: the number and, where it is known, the time of birth. */
static uint64_t identify_by_number(int at, const char *path, int flags) {
    struct statx info;
    flags |= AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
    if (statx(at, path, flags, STATX_INO | STATX_BTIME, &info) != 0 || !S_ISDIR(info.stx_mode))
        return 0;
    uint64_t hash =
        zb__hash_add(zb__hash_add(info.stx_ino, info.stx_dev_major), info.stx_dev_minor);
    if (info.stx_mask & STATX_BTIME)
        hash = zb__hash_add(zb__hash_add(hash, (uint64_t)info.stx_btime.tv_sec),
                            info.stx_btime.tv_nsec);
    return hash;
}

uint64_t zb__fs_identify_at(int at, const char *path) {
    const int flags = *path ? AT_SYMLINK_FOLLOW : AT_EMPTY_PATH;
    uint64_t id = identify_by_handle(at, path, flags);
    if (!id && (errno == EOPNOTSUPP || errno == EOVERFLOW)) /* overlayfs */
        id = identify_by_handle(at, path, flags | AT_HANDLE_FID);
    bool gone = !id && (errno == ENOENT || errno == ENOTDIR);
    return id || gone ? id : identify_by_number(at, path, flags & AT_EMPTY_PATH);
}

/* Whatever happens to its path, the descriptor stays with the directory whose identity it has. Keys
   come in the order of their directories. */
static void look_for_keys(const zb__fs *fs, zb_probe *probe) {
    const size_t above = *probe->name ? strlen(probe->name) + 1 : 0;
    struct stat st;
    const int dir = zb__fs_open_read(fs->root, *probe->name ? probe->name : ".",
                                     O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return;
    probe->identity = zb__fs_identify_at(dir, "");
    probe->all_absent = true;
    for (size_t i = 0; i < probe->count && probe->all_absent; i++) {
        const char *key = probe->keys[i] + above;
        zb__fs_refresh_way(fs, dir, key, i ? probe->keys[i - 1] + above : NULL);
        probe->all_absent = fstatat(dir, key, &st, AT_NO_AUTOMOUNT) != 0;
    }
    close(dir);
}

void zb__fs_probe_holder(const zb__fs *fs, zb_probe *probe) {
    zb__fs_refresh_way(fs, fs->root, probe->name, NULL);
    if (probe->count > 0) {
        look_for_keys(fs, probe);
    } else {
        probe->identity = zb__fs_identify_at(fs->root, *probe->name ? probe->name : ".");
        probe->all_absent = true;
    }
}
