/* SPDX-License-Identifier: MIT */
/*
 * A client of a network file system answers from its memory what it has asked its server lately:
 * where a name leads, that there is no such name, how long a file is. What another machine has made
 * or replaced since then is not seen for up to a minute. NFS asks again where it is told to by
 * AT_STATX_FORCE_SYNC; a directory that has changed since makes it look up all of its names anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "store/fs_store.h"
#include "util/back_off.h"

/* The mask is that of attributes that are worth asking for. */
static bool refresh_at(int at, const char *path, int flags) {
    struct statx unwanted;
    return statx(at, path, flags | AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT, STATX_BASIC_STATS,
                 &unwanted) == 0;
}

void zb__fs_refresh(const zb__fs *fs, int fd) {
    const int saved = errno;
    if (fs->reach == ZB__FS_SHARED)
        (void)refresh_at(fd, "", AT_EMPTY_PATH);
    errno = saved;
}

/* Bytes that both begin with. */
static size_t common(const char *a, const char *b) {
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    return i;
}

void zb__fs_refresh_way(const zb__fs *fs, int at, const char *path, const char *last) {
    const size_t known = last ? common(path, last) : 0;
    const int saved = errno;
    char prefix[PATH_MAX];
    if (fs->reach != ZB__FS_SHARED)
        return;
    bool goes_on = last || refresh_at(at, "", AT_EMPTY_PATH);
    for (size_t i = 0; goes_on && path[i] && i < sizeof prefix; i++) {
        if (path[i] == '/' && i >= known) {
            prefix[i] = '\0';
            goes_on = refresh_at(at, prefix, 0);
        }
        prefix[i] = path[i];
    }
    errno = saved;
}

bool zb__fs_is_sure(zb__fs *fs, const char *path) {
    if (fs->reach != ZB__FS_SHARED)
        return true;
    pthread_mutex_lock(&fs->lock);
    const bool is_sure = fs->has_hierarchy;
    pthread_mutex_unlock(&fs->lock);
    if (is_sure)
        zb__fs_refresh_way(fs, fs->root, path, NULL);
    return is_sure;
}

bool zb__fs_rename_again(const zb__fs *fs, int failed, int *tries) {
    enum { MOST_TRIES = 10, PAUSE_NS = 50000000 };
    if (fs->reach == ZB__FS_LOCAL || (failed != ETXTBSY && failed != EBUSY && failed != ESTALE) ||
        ++*tries == MOST_TRIES)
        return false;
    zb__back_off(PAUSE_NS);
    return true;
}
