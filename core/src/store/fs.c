/* SPDX-License-Identifier: MIT */
/*
 * A directory as a store: a key is a path below it.
 *
 * This file opens it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/foreign.h"
#include "store/fs_path.h"
#include "store/fs_store.h"
#include "store/store.h"
#include "util/hash.h"
#include "zarrbridge/sys/store.h"

static enum zb_code fs_open(zb_store *store, const zb_open *open, zb_object **out,
                            zb_object_info *info, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    if (open->is_live)
        return zb__fs_open_live(store, open->key, &open->home, out, info, err);
    return open->home.identity ? zb__fs_open_in(fs, open->key, &open->home, out, info, err)
                               : zb__fs_open_path(fs, open->key, out, info, err);
}

static enum zb_code fs_lock(zb_store *store, const zb_locking *locking, zb_lock **out,
                            zb_error *err) {
    return locking->only_waits ? zb__fs_await_locks((zb__fs *)store, locking->key, err)
                               : zb__fs_lock_key(store, locking, out, err);
}

/* ---- The store ---------------------------------------------------------------------------- */

static void fs_destroy(zb_store *store) {
    zb__fs *fs = (zb__fs *)store;
    zb__fork_guard_remove(&fs->guard);
    zb__fs_finish_all(fs);
    zb__fs_leave_no_lock(fs);
    zb__fs_forget_left(fs);
    zb__fs_drop_waiting_below(fs, "");
    zb__fs_free_dirty(fs);
    free(fs->cleaned);
    pthread_mutex_destroy(&fs->lock);
    pthread_mutex_destroy(&fs->flushing);
    pthread_rwlock_destroy(&fs->seeing);
    zb__fs_kept_forget(fs, NULL);
    close(fs->root);
    free(fs);
}

static const zb_store_ops fs_ops = {
    .version = ZB_STORE_OPS_VERSION,
    .name = "fs",
    .open = fs_open,
    .read = zb__fs_read,
    .close = zb__fs_close,
    .probe = zb__fs_probe,
    .list = zb__fs_list,
    .destroy = fs_destroy,
    .put = zb__fs_put,
    .erase = zb__fs_erase,
    .flush = zb__fs_flush,
    .lock = fs_lock,
    .unlock = zb__fs_unlock,
    .change = zb__fs_change,
    .rename = zb__fs_rename,
    .copy = zb__fs_copy,
    .sweep = zb__fs_sweep_all,
};

/* A request costs about a microsecond locally: merge across gaps of a page, and keep merged reads
   small enough to stay in the processor's cache until they are decoded. */
static const zb_store_hints fs_hints = {.gap = 4096,
                                        .max_request = 1 << 20,
                                        .is_local = true,
                                        .can_list = true,
                                        .is_watched = true,
                                        .takes_files = true};

/* Equal for two stores on one directory, so that they share cached chunks. */
static uint64_t directory_id(const struct stat *st) {
    const uint64_t id = zb__hash_add(zb__hash_add(0, (uint64_t)st->st_dev), (uint64_t)st->st_ino);
    return id | 1ull << 63; /* apart from the counted ids of other stores */
}

/* The child has no flush under way, whatever its parent was doing, and no part in the parent's
   lock, nor in what the parent takes apart. */
static void forget_parent(void *context) {
    zb__fs *fs = context;
    pthread_mutex_init(&fs->flushing, NULL);
    pthread_rwlock_init(&fs->seeing, NULL);
    atomic_store(&fs->is_unseen, false); /* the parent knows of it, too */
    zb__fs_forget_left(fs);
    zb__fs_forget_discarded(fs);
    fs->forks++;
}

enum zb_code zb__fs_open_root(int root, const char *label, zb_store **out, zb_error *err) {
    struct stat st;
    zb__fs *fs = fstat(root, &st) == 0 ? calloc(1, sizeof *fs) : NULL;
    if (!fs) {
        int saved = errno;
        close(root);
        return zb_fail_errno(err, saved, "cannot open the store '%s'", label);
    }
    enum zb_code code = zb_store_init(&fs->base, &fs_ops, fs_hints, label, err);
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
    pthread_rwlock_init(&fs->seeing, NULL);
    zb_batch_begin(&fs->own, &fs->base, NULL, NULL);
    fs->guard = (zb__fork_guard){.lock = &fs->lock, .in_child = forget_parent, .context = fs};
    zb__fork_guard_add(&fs->guard);
    *out = &fs->base;
    return ZB_OK;
}

enum zb_code zb_store_open_fs(const char *path, zb_store **out, zb_error *err) {
    int root = zb__fs_open_name(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (root >= 0)
        return zb__fs_open_root(root, path, out, err);
    const int saved = errno;
    enum zb_code foreign = zb__foreign_file(path, err);
    return foreign ? foreign : zb_fail_errno(err, saved, "cannot open the directory '%s'", path);
}

void zb__fs_note_new(zb_store *store) {
    zb__fs_mark_dirty((zb__fs *)store, "..");
}

void zb__fs_set_unseen(zb_store *store, bool is_unseen) {
    zb__fs *fs = (zb__fs *)store;
    pthread_rwlock_wrlock(&fs->seeing);
    atomic_store(&fs->is_unseen, is_unseen);
    pthread_rwlock_unlock(&fs->seeing);
}

bool zb__store_is_fs(const zb_store *store) {
    return store->ops == &fs_ops;
}

bool zb__store_is_unseen(const zb_store *store) {
    return zb__store_is_fs(store) && atomic_load(&((zb__fs *)(uintptr_t)store)->is_unseen);
}
