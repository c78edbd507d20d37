/* SPDX-License-Identifier: MIT */
/*
 * The content of files of the directory store, from memory or from another file. Blocks of another
 * file are shared (reflinks: btrfs, XFS, bcachefs, NFS 4.2) where both are on one file system that
 * can; else the system copies bytes, within itself where it can, and through a small buffer where
 * it cannot.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"

#define BUFFER_SIZE ((size_t)1 << 20)

int zb__fs_write_parts(int fd, const zb_part *parts, size_t count) {
    enum { VECTORS = 64 };
    size_t skip = 0; /* bytes of parts[0] that are written */
    while (count > 0) {
        struct iovec vectors[VECTORS];
        int used = 0;
        for (size_t i = 0; i < count && used < VECTORS; i++) {
            size_t from = i == 0 ? skip : 0;
            /* writev takes pointers to non-const for the sake of readv. */
            vectors[used++] =
                (struct iovec){(void *)((uintptr_t)parts[i].data + from), parts[i].size - from};
        }
        ssize_t n = writev(fd, vectors, used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        size_t left = (size_t)n;
        bool moved = n > 0;
        while (count > 0 && left >= parts[0].size - skip) {
            left -= parts[0].size - skip;
            skip = 0;
            parts++;
            count--;
            moved = true;
        }
        skip += left;
        if (!moved)
            return EIO; /* nothing written and nothing wrong: no file system should, and we must end
                         */
    }
    return 0;
}

/* Behind `at`, where the system cannot by itself; errno, EIO for a file that has become shorter. */
static int copy_through_buffer(int fd, int from, uint64_t at, uint64_t end) {
    char *buffer = malloc(BUFFER_SIZE);
    int failed = buffer ? 0 : ENOMEM;
    while (at < end && !failed) {
        const size_t want = end - at < BUFFER_SIZE ? (size_t)(end - at) : BUFFER_SIZE;
        const ssize_t got = ZB__UNINTERRUPTED(pread(from, buffer, want, (off_t)at));
        const zb_part part = {.data = buffer, .size = got > 0 ? (size_t)got : 0};
        failed = got < 0 ? errno : got == 0 ? EIO : zb__fs_write_parts(fd, &part, 1);
        at += part.size;
    }
    free(buffer);
    return failed;
}

static int copy_bytes(int fd, int from, uint64_t size) {
    loff_t at = 0;
    while ((uint64_t)at < size) {
        const uint64_t left = size - (uint64_t)at;
        const ssize_t n = ZB__UNINTERRUPTED(
            copy_file_range(from, &at, fd, NULL, left < INT32_MAX ? (size_t)left : INT32_MAX, 0));
        if (n <= 0) /* among file systems, and of some: never; what is wrong shows again */
            return copy_through_buffer(fd, from, (uint64_t)at, size);
    }
    return 0;
}

/* Whether all of the file's blocks are shared. */
static bool share_blocks(int fd, int from) {
    return ioctl(fd, FICLONE, from) == 0;
}

int zb__fs_fill_from(int fd, const zb_put_file *file) {
    const int from = file->object ? ((const zb__fs_object *)file->object)->fd : file->fd;
    if (share_blocks(fd, from)) {
        const off_t size = (off_t)file->size;
        return ZB__UNINTERRUPTED(ftruncate(fd, size)) != 0 || lseek(fd, size, SEEK_SET) < 0 ? errno
                                                                                            : 0;
    }
    return file->use == ZB_FILE_SHARE ? EOPNOTSUPP : copy_bytes(fd, from, file->size);
}

/* A file that has no such name to give. */
static bool is_unlinkable(int failed) {
    return failed == EXDEV || failed == EPERM || failed == EMLINK || failed == EACCES ||
           failed == ENOENT || failed == EOPNOTSUPP;
}

enum zb_code zb__fs_put_name(zb__fs *fs, const zb_put *put, zb_error *err) {
    zb__fs_place place;
    char path[64];
    enum zb_code code = zb__fs_join(fs, put->batch, err);
    if (!code)
        code = zb__fs_open_place_in(fs, put->key, &put->home, true, &place, err);
    if (code)
        return code;
    snprintf(path, sizeof path, "/proc/self/fd/%d", put->file->fd);
    code = zb_batch_check(put->batch, put->key, err);
    const bool links = !code;
    int failed = 0;
    if (links && linkat(AT_FDCWD, path, place.dir, place.name, AT_SYMLINK_FOLLOW) != 0)
        failed = errno;
    if (failed == EEXIST)
        code = zb_fail(err, ZB_ECONFLICT, "'%s' is there already", put->key);
    else if (is_unlinkable(failed))
        code = zb_fail(err, ZB_EUNSUPPORTED, "'%s' cannot be a further name of the file: %s",
                       put->key, strerror(failed));
    else if (failed)
        code = zb__fs_fail_write(err, failed, "link", put->key);
    zb__fs_kept_forget(fs, put->key);
    if (!code)
        zb__fs_mark_dirty(fs, place.path);
    close(place.dir);
    return !code && put->sync == ZB_SYNC_ALWAYS ? zb__fs_sync_names(fs, put->key, err) : code;
}
