/* SPDX-License-Identifier: MIT */
/*
 * A directory as a store: a key is a path below it.
 *
 * Every path is resolved beneath the root's descriptor. Where the kernel has openat2, RESOLVE_BENEATH
 * lets symbolic links work as long as they stay inside; elsewhere the path is walked part by part
 * and every link is refused. Only regular files are objects: a FIFO or device would block or worse.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "zarrbridge/store.h"

typedef struct fs_store {
    zb_store base;
    int root; /* descriptor of the directory */
} fs_store;

typedef struct fs_object {
    zb_object base;
    int fd;
    uint64_t size; /* at open */
} fs_object;

/* ---- Resolving paths beneath the root ---- */

static int openat_beneath_kernel(int root, const char *path, int flags) {
    struct open_how how = {.flags = (uint64_t)(unsigned)flags,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    /* EAGAIN: a rename elsewhere raced with a ".." of a link; a few tries settle it. */
    for (int tries = 0;; tries++) {
        int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
        if (fd >= 0 || tries == 16 || (errno != EAGAIN && errno != EINTR))
            return fd;
    }
}

/* Opens one part of a path without following it. A link in the place of a directory fails with ELOOP:
   with the ENOTDIR that the kernel gives, what lies behind it would pass for missing. */
static int open_part(int at, const char *part, int flags) {
    int fd = openat(at, part, flags | O_NOFOLLOW);
    struct stat st;
    if (fd < 0 && errno == ENOTDIR) {
        bool is_link = fstatat(at, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
        errno = is_link ? ELOOP : ENOTDIR;
    }
    return fd;
}

/* The walk for kernels without openat2. Returns a descriptor or -1 with errno. */
static int openat_beneath_walk(int root, const char *path, int flags) {
    int at = root;
    for (;;) {
        size_t length = strcspn(path, "/");
        bool last = path[length] == '\0';
        char part[NAME_MAX + 1];
        int fd = -1;
        if (length > NAME_MAX) {
            errno = ENAMETOOLONG;
        } else {
            memcpy(part, path, length);
            part[length] = '\0';
            fd = open_part(at, part, last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC);
        }
        int saved = errno;
        if (at != root)
            close(at);
        errno = saved;
        if (fd < 0 || last)
            return fd;
        at = fd;
        path += length + 1;
    }
}

static int openat_beneath(int root, const char *path, int flags) {
    static atomic_bool no_openat2;
    if (!atomic_load_explicit(&no_openat2, memory_order_relaxed)) {
        int fd = openat_beneath_kernel(root, path, flags);
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
            return fd;
        if (errno == ENOSYS)
            atomic_store(&no_openat2, true);
    }
    return openat_beneath_walk(root, path, flags);
}

static enum zb_code fail_path(zb_error *err, int sys_errno, const char *what, const char *key) {
    if (sys_errno == EXDEV || sys_errno == ELOOP)
        return zb_fail(err, ZB_EINVAL,
                       "'%s' is behind a symbolic link that leads out of the store or cannot be followed",
                       key);
    return zb_fail_errno(err, sys_errno, "cannot %s '%s'", what, key);
}

/* ---- Versions ---- */

/* A file that changed less than this ago may change again within one tick of the file system's
   clock, with the same time stamp: its version cannot be told apart yet. Nanoseconds. */
#define RACY_NS 50000000ll

static int64_t nanoseconds(struct timespec t) {
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static zb_object_info info_of(const struct stat *st) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    int64_t age_m = nanoseconds(now) - nanoseconds(st->st_mtim);
    int64_t age_c = nanoseconds(now) - nanoseconds(st->st_ctim);
    return (zb_object_info){
        .size = (uint64_t)st->st_size,
        .validator = {.word = {(uint64_t)st->st_ino ^ (uint64_t)st->st_dev << 40,
                               (uint64_t)st->st_size, (uint64_t)nanoseconds(st->st_mtim),
                               (uint64_t)nanoseconds(st->st_ctim)},
                      .valid = age_m > RACY_NS && age_c > RACY_NS}};
}

/* Stats fd and refuses what is no regular file. */
static enum zb_code stat_regular(int fd, const char *key, struct stat *st, zb_error *err) {
    if (fstat(fd, st) != 0)
        return zb_fail_errno(err, errno, "cannot stat '%s'", key);
    if (S_ISDIR(st->st_mode))
        return zb_fail(err, ZB_ENOTFOUND, "'%s' is a directory, not an object", key);
    if (!S_ISREG(st->st_mode))
        return zb_fail(err, ZB_EINVAL, "'%s' is no regular file", key);
    return ZB_OK;
}

/* ---- Operations ---- */

static enum zb_code fs_open(zb_store *store, const char *key, zb_object **out,
                            zb_object_info *info, zb_error *err) {
    fs_store *fs = (fs_store *)store;
    /* O_NONBLOCK keeps a FIFO from blocking; it does nothing to regular files. */
    int fd = openat_beneath(fs->root, key, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return fail_path(err, errno, "open", key);
    struct stat st;
    enum zb_code code = stat_regular(fd, key, &st, err);
    fs_object *object = code == ZB_OK ? malloc(sizeof *object) : NULL;
    if (!object) {
        close(fd);
        return code ? code : zb_fail(err, ZB_ENOMEM, "no memory for an object handle");
    }
    *object = (fs_object){.base.store = store, .fd = fd, .size = (uint64_t)st.st_size};
    *info = info_of(&st);
    *out = &object->base;
    return ZB_OK;
}

static enum zb_code read_range(const fs_object *object, zb_range *range, zb_error *err) {
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

static enum zb_code fs_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < count && code == ZB_OK; i++)
        code = read_range((const fs_object *)object, &ranges[i], err);
    return code;
}

static void fs_close(zb_object *object) {
    close(((fs_object *)object)->fd);
    free(object);
}

static enum zb_code fs_stat(zb_store *store, const char *key, zb_object_info *info,
                            zb_error *err) {
    int fd = openat_beneath(((fs_store *)store)->root, key, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return fail_path(err, errno, "stat", key);
    struct stat st;
    enum zb_code code = stat_regular(fd, key, &st, err);
    close(fd);
    if (code == ZB_OK)
        *info = info_of(&st);
    return code;
}

/* Does the entry lead to a directory inside the root? A link is followed only beneath it. */
static bool entry_is_directory(const fs_store *fs, const char *prefix, const struct dirent *entry) {
    if (entry->d_type == DT_DIR)
        return true;
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
        return false;
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "/" : "", entry->d_name);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    int fd = openat_beneath(fs->root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static enum zb_code fs_list(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                            zb_error *err) {
    const fs_store *fs = (const fs_store *)store;
    int fd = openat_beneath(fs->root, *prefix ? prefix : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return ZB_OK;
    if (fd < 0)
        return fail_path(err, errno, "list", prefix);
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int saved = errno;
        close(fd);
        return zb_fail_errno(err, saved, "cannot list '%s'", prefix);
    }
    const struct dirent *entry;
    int stop = 0;
    for (errno = 0; !stop && (entry = readdir(dir)) != NULL; errno = 0) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            stop = fn(context, entry->d_name, entry_is_directory(fs, prefix, entry));
    }
    int failed = stop ? 0 : errno;
    closedir(dir);
    return failed ? zb_fail_errno(err, failed, "cannot list '%s'", prefix) : ZB_OK;
}

static void fs_destroy(zb_store *store) {
    close(((fs_store *)store)->root);
    free(store);
}

static const zb_store_ops fs_ops = {
    .version = ZB_STORE_OPS_VERSION,
    .name = "fs",
    .open = fs_open,
    .read = fs_read,
    .close = fs_close,
    .stat = fs_stat,
    .list = fs_list,
    .destroy = fs_destroy,
};

/* A request costs about a microsecond locally: merge across gaps of a page, and keep merged reads small
   enough to stay in the processor's cache until they are decoded. */
static const zb_store_hints fs_hints = {
    .gap = 4096, .max_request = 1 << 20, .is_local = true, .can_list = true};

/* Equal for two stores on one directory, so that they share cached chunks. */
static uint64_t directory_id(const struct stat *st) {
    uint64_t id = ((uint64_t)st->st_dev << 32 ^ (uint64_t)st->st_ino) * 0x9e3779b97f4a7c15ull;
    return id | 1ull << 63; /* apart from the counted ids of other stores */
}

enum zb_code zb_store_open_fs(const char *path, zb_store **out, zb_error *err) {
    int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return zb_fail_errno(err, errno, "cannot open the directory '%s'", path);
    struct stat st;
    fs_store *fs = fstat(root, &st) == 0 ? malloc(sizeof *fs) : NULL;
    if (!fs) {
        int saved = errno;
        close(root);
        return zb_fail_errno(err, saved, "cannot open the store '%s'", path);
    }
    enum zb_code code = zb_store_init(&fs->base, &fs_ops, fs_hints, path, err);
    if (code != ZB_OK) {
        close(root);
        free(fs);
        return code;
    }
    fs->base.id = directory_id(&st);
    fs->root = root;
    *out = &fs->base;
    return ZB_OK;
}
