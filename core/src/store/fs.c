/* SPDX-License-Identifier: MIT */
/*
 * A directory as a store: a key is a path below it.
 *
 * This file opens and lists it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mix.h"
#include "store/foreign.h"
#include "store/fs_dirty.h"
#include "store/fs_flush.h"
#include "store/fs_live.h"
#include "store/fs_lock.h"
#include "store/fs_object.h"
#include "store/fs_path.h"
#include "store/fs_place.h"
#include "store/fs_remove.h"
#include "store/fs_rename.h"
#include "store/fs_store.h"
#include "store/fs_sweep.h"
#include "store/fs_version.h"
#include "store/fs_write.h"
#include "zarrbridge/sys/store.h"

/* ---- Listing ---- */

/* True if the directory `st` is the one at prefix, or above it up to the root. */
static bool is_above(const zb__fs *fs, const char *prefix, const struct stat *st) {
    char path[PATH_MAX];
    struct stat above;
    size_t length = strlen(prefix);
    memcpy(path, prefix, length);
    for (;; length--) {
        path[length] = '\0';
        int fd = zb__fs_openat(fs->root, length ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        bool found = fd >= 0 && fstat(fd, &above) == 0 && zb__fs_same_file(&above, st);
        if (fd >= 0)
            close(fd);
        if (found || length == 0)
            return found;
        while (length > 1 && path[length - 1] != '/')
            length--;
    }
}

/* A link is a prefix when it leads to a directory inside the root, but not to one that it lies
   in. */
static void follow(const zb__fs *fs, const char *prefix, zb_list_entry *entry) {
    char path[PATH_MAX];
    struct stat st;
    int length = snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "/" : "", entry->name);
    if (length < 0 || (size_t)length >= sizeof path)
        return;
    int fd = zb__fs_openat(fs->root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0) {
        entry->leads_back = is_above(fs, prefix, &st);
        entry->is_prefix = !entry->leads_back;
    }
    close(fd);
}

static zb_list_entry describe(const zb__fs *fs, int dir, const char *prefix,
                              const struct dirent *entry) {
    unsigned char type = entry->d_type;
    struct stat st;
    if (type == DT_UNKNOWN && fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ? DT_LNK : DT_REG;
    zb_list_entry described = {
        .name = entry->d_name, .is_prefix = type == DT_DIR, .is_link = type == DT_LNK};
    if (described.is_link)
        follow(fs, prefix, &described);
    return described;
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
        if (zb__fs_is_dots(entry->d_name) || zb__fs_is_ours(entry->d_name))
            continue;
        zb_list_entry listed = describe(fs, fd, prefix, entry);
        stop = fn(context, &listed);
    }
    int failed = stop ? 0 : errno;
    closedir(dir);
    return failed ? zb_fail_errno(err, failed, "cannot list '%s'", prefix) : ZB_OK;
}

static bool fs_is_link(zb_store *store, const char *prefix) {
    zb__fs_place place;
    struct stat st;
    if (zb__fs_open_place((zb__fs *)store, prefix, false, &place, NULL) != ZB_OK)
        return false;
    bool is_link =
        fstatat(place.dir, place.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
    close(place.dir);
    return is_link;
}

static bool fs_is_absent(zb_store *store, const char *prefix) {
    return zb__fs_is_absent(((zb__fs *)store)->root, prefix);
}

/* ---- The store ---- */

static void fs_destroy(zb_store *store) {
    zb__fs *fs = (zb__fs *)store;
    zb__fork_guard_remove(&fs->guard);
    zb__fs_leave_no_lock(fs);
    zb__fs_drop_waiting_below(fs, "");
    zb__fs_free_dirty(fs);
    free(fs->swept);
    pthread_mutex_destroy(&fs->lock);
    pthread_mutex_destroy(&fs->flushing);
    close(fs->root);
    free(fs);
}

static const zb_store_ops fs_ops = {
    .version = ZB_STORE_OPS_VERSION,
    .name = "fs",
    .open = zb__fs_open,
    .read = zb__fs_read,
    .close = zb__fs_close,
    .stat = zb__fs_stat,
    .list = fs_list,
    .identify = zb__fs_identify,
    .lacks = zb__fs_lacks,
    .is_link = fs_is_link,
    .is_absent = fs_is_absent,
    .peek = zb__fs_peek,
    .destroy = fs_destroy,
    .put = zb__fs_put,
    .erase = zb__fs_erase,
    .erase_below = zb__fs_erase_below,
    .flush = zb__fs_flush,
    .forget = zb__fs_forget,
    .lock = zb__fs_lock_key,
    .unlock = zb__fs_unlock,
    .confirm_lock = zb__fs_confirm_lock,
    .await_locks = zb__fs_await_locks,
    .open_live = zb__fs_open_live,
    .write_at = zb__fs_write_at,
    .truncate = zb__fs_truncate,
    .rename = zb__fs_rename,
    .sweep = zb__fs_sweep_all,
};

/* A request costs about a microsecond locally: merge across gaps of a page, and keep merged reads
   small enough to stay in the processor's cache until they are decoded. */
static const zb_store_hints fs_hints = {.gap = 4096,
                                        .max_request = 1 << 20,
                                        .is_local = true,
                                        .can_list = true,
                                        .can_change = true,
                                        .is_watched = true};

/* Equal for two stores on one directory, so that they share cached chunks. */
static uint64_t directory_id(const struct stat *st) {
    const uint64_t id = zb__mix(zb__mix(0, (uint64_t)st->st_dev), (uint64_t)st->st_ino);
    return id | 1ull << 63; /* apart from the counted ids of other stores */
}

/* The child has no flush under way, whatever its parent was doing. */
static void forget_flush(void *context) {
    pthread_mutex_init(&((zb__fs *)context)->flushing, NULL);
}

enum zb_code zb_store_open_fs(const char *path, zb_store **out, zb_error *err) {
    int root = ZB__UNINTERRUPTED(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root < 0) {
        const int saved = errno;
        enum zb_code foreign = zb__foreign_file(path, err);
        return foreign ? foreign
                       : zb_fail_errno(err, saved, "cannot open the directory '%s'", path);
    }
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
    zb__fs_look_at_system(fs);
    pthread_mutex_init(&fs->lock, NULL);
    pthread_mutex_init(&fs->flushing, NULL);
    zb_batch_begin(&fs->own, &fs->base, NULL, NULL);
    fs->guard = (zb__fork_guard){.lock = &fs->lock, .in_child = forget_flush, .context = fs};
    zb__fork_guard_add(&fs->guard);
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
