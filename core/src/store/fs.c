/* SPDX-License-Identifier: MIT */
/*
 * A directory as a store: a key is a path below it.
 *
 * Here it is opened, read and listed; fs.h tells what else there is. Only regular files are
 * objects: a FIFO or device would block or worse. What this store has put and not flushed is read
 * from its temporary file, so that a writer finds again what it wrote.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/fs.h"
#include "zarrbridge/write.h"

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

/* Opens the file that holds the key's object as this store sees it. */
static int open_key(zb__fs *fs, const char *key, int flags) {
    for (int tries = 0;; tries++) {
        char path[PATH_MAX];
        bool waits = zb__fs_find_waiting(fs, key, path);
        int fd = zb__fs_openat(fs->root, waits ? path : key, flags);
        /* A flush may have renamed it in between. */
        if (fd >= 0 || !waits || errno != ENOENT || tries == ZB__FS_TRIES)
            return fd;
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
    *info = info_of(&st);
    *out = &object->base;
    return ZB_OK;
}

static enum zb_code fs_open(zb_store *store, const char *key, zb_object **out, zb_object_info *info,
                            zb_error *err) {
    /* O_NONBLOCK keeps a FIFO from blocking; it does nothing to regular files. */
    int fd = open_key((zb__fs *)store, key, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return zb__fs_fail(err, errno, "open", key);
    return zb__fs_new_object(store, key, fd, out, info, err);
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

static enum zb_code fs_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < count && code == ZB_OK; i++)
        code = read_range((const zb__fs_object *)object, &ranges[i], err);
    return code;
}

static void fs_close(zb_object *object) {
    close(((zb__fs_object *)object)->fd);
    free(object);
}

static enum zb_code fs_stat(zb_store *store, const char *key, zb_object_info *info, zb_error *err) {
    int fd = open_key((zb__fs *)store, key, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return zb__fs_fail(err, errno, "stat", key);
    struct stat st;
    enum zb_code code = stat_regular(fd, key, &st, err);
    close(fd);
    if (code == ZB_OK)
        *info = info_of(&st);
    return code;
}

/* Does the entry lead to a directory inside the root? A link is followed only beneath it. */
static bool entry_is_directory(const zb__fs *fs, const char *prefix, const struct dirent *entry) {
    if (entry->d_type == DT_DIR)
        return true;
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
        return false;
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "/" : "", entry->d_name);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    int fd = zb__fs_openat(fs->root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static enum zb_code fs_list(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                            zb_error *err) {
    const zb__fs *fs = (const zb__fs *)store;
    int fd = zb__fs_openat(fs->root, *prefix ? prefix : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return ZB_OK;
    if (fd < 0)
        return zb__fs_fail(err, errno, "list", prefix);
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int saved = errno;
        close(fd);
        return zb_fail_errno(err, saved, "cannot list '%s'", prefix);
    }
    const struct dirent *entry;
    int stop = 0;
    for (errno = 0; !stop && (entry = readdir(dir)) != NULL; errno = 0) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !zb__fs_is_ours(entry->d_name))
            stop = fn(context, entry->d_name, entry_is_directory(fs, prefix, entry));
    }
    int failed = stop ? 0 : errno;
    closedir(dir);
    return failed ? zb_fail_errno(err, failed, "cannot list '%s'", prefix) : ZB_OK;
}

static void fs_destroy(zb_store *store) {
    zb__fs *fs = (zb__fs *)store;
    zb__fs_drop_waiting_below(fs, "");
    for (size_t i = 0; i < fs->dirty_count; i++)
        free(fs->dirty[i].path);
    free(fs->dirty);
    free(fs->swept);
    pthread_mutex_destroy(&fs->lock);
    pthread_mutex_destroy(&fs->flushing);
    close(fs->root);
    free(fs);
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
    .put = zb__fs_put,
    .erase = zb__fs_erase,
    .erase_below = zb__fs_erase_below,
    .flush = zb__fs_flush,
    .lock = zb__fs_lock_key,
    .unlock = zb__fs_unlock,
    .open_live = zb__fs_open_live,
    .write_at = zb__fs_write_at,
    .truncate = zb__fs_truncate,
    .rename = zb__fs_rename,
    .sweep = zb__fs_sweep_all,
};

/* A request costs about a microsecond locally: merge across gaps of a page, and keep merged reads
   small enough to stay in the processor's cache until they are decoded. */
static const zb_store_hints fs_hints = {
    .gap = 4096, .max_request = 1 << 20, .is_local = true, .can_list = true, .can_change = true};

/* Equal for two stores on one directory, so that they share cached chunks. */
static uint64_t directory_id(const struct stat *st) {
    uint64_t id = ((uint64_t)st->st_dev << 32 ^ (uint64_t)st->st_ino) * 0x9e3779b97f4a7c15ull;
    return id | 1ull << 63; /* apart from the counted ids of other stores */
}

enum zb_code zb_store_open_fs(const char *path, zb_store **out, zb_error *err) {
    int root = ZB__UNINTERRUPTED(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root < 0)
        return zb_fail_errno(err, errno, "cannot open the directory '%s'", path);
    struct stat st;
    zb__fs *fs = fstat(root, &st) == 0 ? calloc(1, sizeof *fs) : NULL;
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
    fs->waiting_end = &fs->waiting;
    pthread_mutex_init(&fs->lock, NULL);
    pthread_mutex_init(&fs->flushing, NULL);
    *out = &fs->base;
    return ZB_OK;
}

enum zb_code zb_store_create_fs(const char *path, zb_store **out, zb_error *err) {
    bool is_new = mkdir(path, 0777) == 0;
    if (!is_new && errno != EEXIST)
        return zb_fail_errno(err, errno, "cannot make the directory '%s'", path);
    enum zb_code code = zb_store_open_fs(path, out, err);
    if (code == ZB_OK && is_new)
        zb__fs_mark_dirty((zb__fs *)*out, "..");
    return code;
}
