/* SPDX-License-Identifier: MIT */
/*
 * Objects of the directory store. Only regular files are objects: a FIFO or device would block or
 * worse. An object that this store has put and not flushed is read from its temporary file, so that
 * a writer finds its own data again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"

/* Stats fd and refuses all but regular files. */
static enum zb_code stat_regular(int fd, const char *key, struct stat *st, zb_error *err) {
    if (fstat(fd, st) != 0)
        return zb_fail_errno(err, errno, "cannot stat '%s'", key);
    if (S_ISREG(st->st_mode))
        return ZB_OK;
    return zb_fail(err, ZB_EINVAL, "'%s' is %s, not a regular file", key,
                   S_ISDIR(st->st_mode) ? "a directory" : "a device, pipe or socket");
}

/* ---- Operations ---- */

/* Opens the file that holds the key's object as this store sees it. A link to nothing on the way is
   not a missing object, which would read as fill values: ELOOP. Nor is one of which this machine
   has not heard yet; is_sure: its way has been looked up anew. */
static int open_key(zb__fs *fs, const char *key, bool is_sure, int flags) {
    for (int tries = 0;; tries++) {
        char path[PATH_MAX];
        bool waits = zb__fs_find_waiting(fs, key, path);
        int fd = zb__fs_open_read(fs->root, waits ? path : key, flags);
        if (fd < 0 && !is_sure && (errno == ENOENT || errno == ESTALE)) {
            zb__fs_refresh_way(fs, fs->root, key, NULL);
            is_sure = true;
            continue;
        }
        if (fd >= 0 || errno != ENOENT)
            return fd;
        /* A flush may have renamed it in between. Else its directory has gone, and the object with
           it: that is a loss, which passes for no missing object. */
        if (!waits || tries == ZB__FS_TRIES) {
            errno = waits ? ESTALE : zb__fs_dangles(fs->root, key) ? ELOOP : ENOENT;
            return -1;
        }
    }
}

enum zb_code zb__fs_new_object(zb_store *store, const char *key, int fd, zb_object **out,
                               zb_object_info *info, zb_error *err) {
    struct stat st;
    enum zb_code code = stat_regular(fd, key, &st, err);
    zb__fs_object *object = code == ZB_OK ? malloc(sizeof *object) : NULL;
    if (!object) {
        close(fd);
        return code ? code : zb_fail(err, ZB_ENOMEM, "no memory for an object handle");
    }
    *object = (zb__fs_object){.base.store = store, .fd = fd, .size = (uint64_t)st.st_size};
    *info = zb__fs_info_of((const zb__fs *)store, &st);
    *out = &object->base;
    return ZB_OK;
}

/* What the path leads to, by one system call. False when that does not tell. */
static bool look(const zb__fs *fs, const char *key, zb_object_info *info) {
    struct stat st;
    if (fstatat(fs->root, key, &st, AT_NO_AUTOMOUNT) != 0 || !S_ISREG(st.st_mode))
        return false;
    *info = zb__fs_info_of(fs, &st);
    return true;
}

/* An object of a file that is open already. False: it has to be opened. What waits for a flush is
   in another file. */
static bool open_kept(zb__fs *fs, const char *key, zb_object **out, zb_object_info *info) {
    char path[PATH_MAX];
    zb__fs_kept *kept = zb__fs_find_waiting(fs, key, path) ? NULL : zb__fs_kept_take(fs, key);
    if (!kept)
        return false;
    const bool is_current = look(fs, key, info) && zb__fs_kept_is(kept, info);
    zb__fs_object *object = is_current ? malloc(sizeof *object) : NULL;
    if (!object) {
        zb__fs_kept_give(kept, true);
        return false;
    }
    *object = (zb__fs_object){
        .base.store = &fs->base, .fd = zb__fs_kept_fd(kept), .kept = kept, .size = info->size};
    *out = &object->base;
    return true;
}

enum zb_code zb__fs_open_path(zb__fs *fs, const char *key, zb_object **out, zb_object_info *info,
                              zb_error *err) {
    if (open_kept(fs, key, out, info))
        return ZB_OK;
    /* O_NONBLOCK keeps a FIFO from blocking; it does nothing to regular files. */
    int fd =
        open_key(fs, key, zb__fs_is_sure(fs, key), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return zb__fs_fail(err, errno, "open", key);
    enum zb_code code = zb__fs_new_object(&fs->base, key, fd, out, info, err);
    if (code == ZB_OK)
        ((zb__fs_object *)*out)->kept = zb__fs_keep(fs, key, fd, info);
    return code;
}

/* The object that a link in the home leads to: as open, and by a path that still leads to the
   home. */
static enum zb_code open_link_in(zb__fs *fs, const char *key, const zb__fs_place *place,
                                 zb_object **out, zb_object_info *info, zb_error *err) {
    enum zb_code code = zb__fs_open_path(fs, key, out, info, err);
    if (code != ZB_OK)
        return code == ZB_ENOTFOUND ? zb__fs_fail(err, ESTALE, "open", key) : code;
    code = zb__fs_check_place(fs, place->path, place->dir, key, err);
    if (code != ZB_OK)
        zb__fs_close(*out);
    return code;
}

/* Files that are kept open between reads are known by their paths, and not taken here. */
enum zb_code zb__fs_open_in(zb__fs *fs, const char *key, const zb_home *home, zb_object **out,
                            zb_object_info *info, zb_error *err) {
    zb__fs_place place;
    for (int tries = 0;; tries++) {
        char path[PATH_MAX];
        bool waits = zb__fs_find_waiting(fs, key, path);
        enum zb_code code = zb__fs_open_place_in(fs, key, home, false, &place, err);
        if (code != ZB_OK)
            return code;
        const char *name = waits ? zb__fs_name_of(path) : place.name;
        const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
        int fd = zb__fs_open_name(place.dir, name, flags, 0);
        if (fd < 0 && fs->reach == ZB__FS_SHARED && (errno == ENOENT || errno == ESTALE)) {
            zb__fs_refresh(fs, place.dir);
            fd = zb__fs_open_name(place.dir, name, flags, 0);
        }
        int failed = fd < 0 ? errno : 0;
        if (failed == ELOOP)
            code = open_link_in(fs, key, &place, out, info, err);
        close(place.dir);
        if (failed == ELOOP)
            return code;
        if (!failed)
            return zb__fs_new_object(&fs->base, key, fd, out, info, err);
        /* A flush may have renamed it in between. */
        if (failed != ENOENT || !waits || tries == ZB__FS_TRIES)
            return zb__fs_fail(err, waits ? ESTALE : failed, "open", key);
    }
}

static enum zb_code read_range(const zb__fs_object *object, zb_range *range, zb_error *err) {
    uint64_t offset = range->offset;
    size_t length = range->length;
    if (offset == ZB_FROM_END) {
        if (length > object->size)
            length = (size_t)object->size;
        offset = object->size - length;
    }
    range->got = 0;
    if (offset >= object->size)
        return ZB_OK;
    while (range->got < length) {
        ssize_t n = pread(object->fd, (char *)range->buffer + range->got, length - range->got,
                          (off_t)(offset + range->got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return zb_fail_errno(err, errno, "cannot read %zu bytes at %llu", length,
                                 (unsigned long long)offset);
        if (n == 0)
            break;
        range->got += (size_t)n;
    }
    return ZB_OK;
}

enum zb_code zb__fs_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < count && code == ZB_OK; i++)
        code = read_range((const zb__fs_object *)object, &ranges[i], err);
    return code;
}

void zb__fs_close(zb_object *object) {
    const zb__fs_object *own = (const zb__fs_object *)object;
    if (own->kept)
        zb__fs_kept_give(own->kept, false);
    else
        close(own->fd);
    free(object);
}

/* ---- Questions ---- */

static enum zb_code probe_object(zb__fs *fs, zb_probe *probe, zb_error *err) {
    zb__fs_refresh_way(fs, fs->root, probe->name, NULL);
    int fd = open_key(fs, probe->name, true, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return zb__fs_fail(err, errno, "stat", probe->name);
    struct stat st;
    zb__fs_refresh(fs, fd);
    enum zb_code code = stat_regular(fd, probe->name, &st, err);
    close(fd);
    if (code == ZB_OK)
        probe->info = zb__fs_info_of(fs, &st);
    return code;
}

/* One system call in place of three. A file that is not the caller's, wherever a link has led, has
   another inode. Whether there is a name at all is the cheapest question. Where other machines may
   have changed it, neither is an answer. */
static enum zb_code probe_quickly(zb__fs *fs, zb_probe *probe, zb_error *err) {
    char path[PATH_MAX];
    const bool is_told = fs->reach != ZB__FS_SHARED;
    if (is_told && probe->asks == ZB_ASK_NAME && faccessat(fs->root, probe->name, F_OK, 0) == 0)
        return ZB_OK;
    return is_told && !zb__fs_find_waiting(fs, probe->name, path) &&
                   look(fs, probe->name, &probe->info)
               ? ZB_OK
               : probe_object(fs, probe, err);
}

static bool is_link(zb__fs *fs, const char *prefix) {
    zb__fs_place place;
    struct stat st;
    if (zb__fs_open_place(fs, prefix, false, &place, NULL) != ZB_OK)
        return false;
    bool is_link =
        fstatat(place.dir, place.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
    close(place.dir);
    return is_link;
}

static bool is_absent(const zb__fs *fs, const char *prefix) {
    zb__fs_refresh_way(fs, fs->root, prefix, NULL);
    return zb__fs_is_absent(fs->root, prefix);
}

enum zb_code zb__fs_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    switch (probe->asks) {
    case ZB_ASK_INFO:
        return probe_object(fs, probe, err);
    case ZB_ASK_INFO_AGAIN:
    case ZB_ASK_NAME:
        return probe_quickly(fs, probe, err);
    case ZB_ASK_HOLDER:
        zb__fs_probe_holder(fs, probe);
        break;
    case ZB_ASK_LINK:
        probe->is_so = is_link(fs, probe->name);
        break;
    case ZB_ASK_NOTHING:
        probe->is_so = is_absent(fs, probe->name);
        break;
    case ZB_ASK_STANDS:
        return ZB_EUNSUPPORTED;
    }
    return ZB_OK;
}
