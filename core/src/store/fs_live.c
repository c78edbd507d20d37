/* SPDX-License-Identifier: MIT */
/*
 * Changing objects of the directory store in place. A kill may come at any byte here, and readers
 * see half a write: the callers make that detectable and recoverable.
 *
 * A file that has a second name is never changed: copies made of hard links are meant to keep their
 * content. The same goes for one that a symbolic link leads to.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_flush.h"
#include "store/fs_live.h"
#include "store/fs_object.h"
#include "store/fs_path.h"
#include "store/fs_place.h"
#include "store/fs_store.h"
#include "store/fs_write.h"
#include "zarrbridge/sys/store.h"

/* Opens the key's own file; -1 with errno. */
static int open_own(zb__fs *fs, const char *key, const zb_home *home, zb_error *err,
                    enum zb_code *code) {
    zb__fs_place place;
    *code = zb__fs_open_place_in(fs, key, home, false, &place, err);
    if (*code != ZB_OK)
        return -1;
    int fd = zb__fs_open_name(place.dir, place.name,
                              O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0);
    int failed = errno;
    close(place.dir);
    if (fd < 0 && (failed == ELOOP || failed == EACCES || failed == EPERM))
        *code = zb_fail(err, ZB_EUNSUPPORTED, "'%s' cannot be opened for changing it", key);
    else if (fd < 0)
        *code = zb__fs_fail(err, failed, "open", key);
    return fd;
}

enum zb_code zb__fs_open_live(zb_store *store, const char *key, const zb_home *home,
                              zb_object **out, zb_object_info *info, zb_error *err) {
    char path[PATH_MAX];
    enum zb_code code;
    if (zb__fs_find_waiting((zb__fs *)store, key, path)) {
        code = zb_fail(err, ZB_EUNSUPPORTED, "'%s' waits for a flush", key);
        if (err)
            err->sys_errno = EBUSY;
        return code;
    }
    int fd = open_own((zb__fs *)store, key, home, err, &code);
    if (fd < 0)
        return code;
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_nlink > 1) {
        close(fd);
        return zb_fail(err, ZB_EUNSUPPORTED, "'%s' has several names", key);
    }
    return zb__fs_new_object(store, key, fd, out, info, err);
}

/* The end of a change. */
static enum zb_code finish(zb__fs_object *object, enum zb_sync sync, zb_error *err) {
    struct stat st;
    /* The time stamp of a write is taken when it begins. A reader that saw it while the write went
       on must not take the bytes read then for those that are there now. Without the right to set
       times, which the owner of a file has, the stamp of the write itself has to serve. */
    (void)futimens(object->fd, NULL);
    if (sync != ZB_SYNC_NONE && ZB__UNINTERRUPTED(fdatasync(object->fd)) != 0)
        return zb_fail_errno(err, errno, "cannot sync");
    int failed = zb__fs_check_close(object->fd);
    if (failed)
        return zb_fail_errno(err, failed, "cannot close");
    if (fstat(object->fd, &st) != 0)
        return zb_fail_errno(err, errno, "cannot stat");
    object->size = (uint64_t)st.st_size;
    return ZB_OK;
}

static enum zb_code write_parts(const zb__fs_object *object, const zb_change *change,
                                zb_error *err) {
    int failed = lseek(object->fd, (off_t)change->offset, SEEK_SET) < 0 ? errno : 0;
    if (!failed)
        failed = zb__fs_write_parts(object->fd, change->parts, change->count);
    return failed ? zb_fail_errno(err, failed, "cannot write at %llu",
                                  (unsigned long long)change->offset)
                  : ZB_OK;
}

static enum zb_code set_size(const zb__fs_object *object, const zb_change *change, zb_error *err) {
    uint64_t size = change->offset;
    for (size_t i = 0; i < change->count; i++)
        size += change->parts[i].size;
    return ZB__UNINTERRUPTED(ftruncate(object->fd, (off_t)size)) == 0
               ? ZB_OK
               : zb_fail_errno(err, errno, "cannot set the size to %llu", (unsigned long long)size);
}

enum zb_code zb__fs_change(zb_object *live, const zb_change *change, zb_error *err) {
    zb__fs_object *object = (zb__fs_object *)live;
    enum zb_code code = ZB_OK;
    if (change->count > 0 || !change->is_end)
        code = write_parts(object, change, err);
    if (!code && change->is_end)
        code = set_size(object, change, err);
    return code ? code : finish(object, change->sync, err);
}
