/* SPDX-License-Identifier: MIT */
/*
 * Durability in batches. A sync costs milliseconds, most of them waiting, so objects put with
 * ZB_DURABLE_FLUSH wait under their temporary names until a flush: all are synced, then all
 * renamed in the order of their puts, then each directory is synced once. Renaming before syncing
 * would let a loss of power leave an empty file where the old object was.
 *
 * Their descriptors stay open meanwhile: only who has a file open is sure to be told that the
 * system could not write it back. BATCH bounds them; when so many wait, a batch goes out by itself.
 *
 * Directories whose entries changed are remembered by path and synced at the flush; when there are
 * too many, the whole file system is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/fs.h"

#define BATCH 64
#define DIRTY_MAX 1024

struct zb__fs_waiting {
    zb__fs_waiting *next;
    char *key;
    char *path; /* of the temporary file beneath the root: directory, '/', name */
    int fd;
    int failed;   /* errno of its sync */
    bool busy;    /* in the hands of a flush, which frees it */
    bool dropped; /* no longer in the list */
};

/* ---- Objects that wait ---- */

static void free_waiting(zb__fs_waiting *w) {
    close(w->fd);
    free(w->key);
    free(w->path);
    free(w);
}

/* Opens the directory of a waiting file and finds its name there. */
static int open_directory_of(const zb__fs *fs, const zb__fs_waiting *w, const char **name) {
    char path[PATH_MAX];
    const char *slash = strrchr(w->path, '/');
    *name = slash ? slash + 1 : w->path;
    snprintf(path, sizeof path, "%.*s", slash ? (int)(slash - w->path) : 1, slash ? w->path : ".");
    return zb__fs_openat(fs->root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void unlink_temp(const zb__fs *fs, const zb__fs_waiting *w) {
    const char *name;
    int dir = open_directory_of(fs, w, &name);
    if (dir >= 0) {
        unlinkat(dir, name, 0);
        close(dir);
    }
}

/* Takes *at out of the list. Called with fs->lock. */
static zb__fs_waiting *take_out(zb__fs *fs, zb__fs_waiting **at) {
    zb__fs_waiting *w = *at;
    *at = w->next;
    if (!*at)
        fs->waiting_end = at;
    atomic_fetch_sub(&fs->waiting_count, 1);
    return w;
}

/* After a fork the objects that wait are the parent's, which is going to rename them: the child
   only forgets them. Called with fs->lock. */
static void keep_to_own(zb__fs *fs) {
    if (fs->waiting_owner != getpid()) {
        while (fs->waiting)
            free_waiting(take_out(fs, &fs->waiting));
        fs->waiting_owner = getpid();
    }
}

static void drop(zb__fs *fs, zb__fs_waiting **at) {
    zb__fs_waiting *w = take_out(fs, at);
    unlink_temp(fs, w);
    if (w->busy)
        w->dropped = true;
    else
        free_waiting(w);
}

void zb__fs_drop_waiting(zb__fs *fs, const char *key) {
    if (atomic_load(&fs->waiting_count) == 0)
        return;
    keep_to_own(fs);
    for (zb__fs_waiting **at = &fs->waiting; *at; at = &(*at)->next) {
        if (strcmp((*at)->key, key) == 0) {
            drop(fs, at); /* there is never a second one */
            return;
        }
    }
}

static bool is_below(const char *key, const char *prefix) {
    size_t length = strlen(prefix);
    return length == 0 || (strncmp(key, prefix, length) == 0 && key[length] == '/');
}

void zb__fs_drop_waiting_below(zb__fs *fs, const char *prefix) {
    keep_to_own(fs);
    for (zb__fs_waiting **at = &fs->waiting; *at;) {
        if (is_below((*at)->key, prefix))
            drop(fs, at);
        else
            at = &(*at)->next;
    }
}

bool zb__fs_any_waits_below(zb__fs *fs, const char *prefix) {
    keep_to_own(fs);
    const zb__fs_waiting *w = fs->waiting;
    while (w && !is_below(w->key, prefix))
        w = w->next;
    return w != NULL;
}

bool zb__fs_find_waiting(zb__fs *fs, const char *key, char path[PATH_MAX]) {
    if (atomic_load_explicit(&fs->waiting_count, memory_order_acquire) == 0)
        return false;
    pthread_mutex_lock(&fs->lock);
    keep_to_own(fs);
    zb__fs_waiting *w = fs->waiting;
    while (w && strcmp(w->key, key) != 0)
        w = w->next;
    if (w)
        strcpy(path, w->path);
    pthread_mutex_unlock(&fs->lock);
    return w != NULL;
}

/* ---- Batches ---- */

/* Takes up to BATCH objects into the hands of a flush. */
static size_t begin_batch(zb__fs *fs, zb__fs_waiting *batch[BATCH]) {
    size_t count = 0;
    pthread_mutex_lock(&fs->lock);
    keep_to_own(fs);
    for (zb__fs_waiting *w = fs->waiting; w && count < BATCH; w = w->next) {
        w->busy = true;
        batch[count++] = w;
    }
    pthread_mutex_unlock(&fs->lock);
    return count;
}

/* Renames one object unless it was replaced or erased meanwhile, and frees it. Under the key's
   lock: a merge must not read the old object and replace ours. */
static enum zb_code publish(zb__fs *fs, zb__fs_waiting *w, zb_error *err) {
    zb_lock *lock = NULL;
    enum zb_code code = w->failed ? zb__fs_fail_write(err, w->failed, "sync", w->key)
                                  : zb__fs_lock_key(&fs->base, w->key, &lock, err);
    code = code == ZB_EUNSUPPORTED ? ZB_OK : code;
    pthread_mutex_lock(&fs->lock);
    if (!w->dropped) {
        const char *name, *slash = strrchr(w->key, '/');
        int dir = code ? -1 : open_directory_of(fs, w, &name);
        if (code == ZB_OK && (dir < 0 || renameat(dir, name, dir, slash ? slash + 1 : w->key) != 0))
            code = zb__fs_fail_write(err, errno, "replace", w->key);
        if (dir >= 0)
            close(dir);
        if (code != ZB_OK)
            unlink_temp(fs, w);
        zb__fs_waiting **at = &fs->waiting;
        while (*at != w)
            at = &(*at)->next;
        take_out(fs, at);
    } else {
        code = ZB_OK;
    }
    pthread_mutex_unlock(&fs->lock);
    zb_store_unlock(lock);
    if (code == ZB_OK && !w->dropped) {
        char *slash = strrchr(w->path, '/');
        *(slash ? slash : w->path) = '\0';
        zb__fs_mark_dirty(fs, w->path);
    }
    free_waiting(w);
    return code;
}

/* Syncs and renames what waits now. One object's failure does not keep the others back; the first
   error is returned. Called with fs->flushing. */
static enum zb_code flush_waiting(zb__fs *fs, zb_error *err) {
    enum zb_code first = ZB_OK;
    zb__fs_waiting *batch[BATCH];
    size_t left = atomic_load(&fs->waiting_count);
    for (size_t count = 1; left > 0 && count > 0; left -= count < left ? count : left) {
        count = begin_batch(fs, batch);
        for (size_t i = 0; i < count; i++)
            batch[i]->failed = ZB__UNINTERRUPTED(fdatasync(batch[i]->fd)) == 0 ? 0 : errno;
        for (size_t i = 0; i < count; i++) {
            zb_error error;
            enum zb_code code = publish(fs, batch[i], &error);
            if (code != ZB_OK && first == ZB_OK) {
                first = code;
                if (err)
                    *err = error;
            }
        }
    }
    return first;
}

enum zb_code zb__fs_wait(zb__fs *fs, const char *key, const zb__fs_place *place, const char *temp,
                         int fd, zb_error *err) {
    zb__fs_waiting *w = malloc(sizeof *w);
    char *own_key = strdup(key), *path = NULL;
    if (asprintf(&path, "%s%s%s", place->path, *place->path ? "/" : "", temp) < 0)
        path = NULL;
    if (!w || !own_key || !path || strlen(path) >= PATH_MAX) {
        free(w);
        free(own_key);
        free(path);
        unlinkat(place->dir, temp, 0);
        close(fd);
        return zb_fail(err, ZB_ENOMEM, "no memory to let '%s' wait for a flush", key);
    }
    *w = (zb__fs_waiting){.key = own_key, .path = path, .fd = fd};
    pthread_mutex_lock(&fs->lock);
    keep_to_own(fs);
    zb__fs_drop_waiting(fs, key);
    *fs->waiting_end = w;
    fs->waiting_end = &w->next;
    bool full = atomic_fetch_add(&fs->waiting_count, 1) + 1 >= BATCH;
    pthread_mutex_unlock(&fs->lock);
    if (full) {
        /* What fails in here may be somebody else's: the flush tells. */
        zb_error error;
        pthread_mutex_lock(&fs->flushing);
        bool failed = flush_waiting(fs, &error) != ZB_OK;
        pthread_mutex_lock(&fs->lock);
        if (failed && fs->failed.code == ZB_OK)
            fs->failed = error;
        pthread_mutex_unlock(&fs->lock);
        pthread_mutex_unlock(&fs->flushing);
    }
    return ZB_OK;
}

enum zb_code zb__fs_check_failed(zb__fs *fs, zb_error *err) {
    pthread_mutex_lock(&fs->lock);
    enum zb_code code = fs->failed.code;
    if (code != ZB_OK && err)
        *err = fs->failed;
    pthread_mutex_unlock(&fs->lock);
    return code;
}

enum zb_code zb__fs_flush(zb_store *store, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    pthread_mutex_lock(&fs->flushing);
    enum zb_code code = flush_waiting(fs, err);
    pthread_mutex_lock(&fs->lock);
    if (fs->failed.code != ZB_OK) { /* it came first */
        code = fs->failed.code;
        if (err)
            *err = fs->failed;
        fs->failed.code = ZB_OK;
    }
    pthread_mutex_unlock(&fs->lock);
    pthread_mutex_unlock(&fs->flushing);
    zb_error error;
    enum zb_code names = zb__fs_sync_names(fs, NULL, &error);
    if (code == ZB_OK && names != ZB_OK && err)
        *err = error;
    return code ? code : names;
}

/* ---- Names that are not durable yet ---- */

static zb__fs_dirty *find_dirty(const zb__fs *fs, const char *path) {
    uint64_t hash = zb__fs_hash(path);
    for (size_t i = 0; i < fs->dirty_count; i++) {
        if (fs->dirty[i].hash == hash && strcmp(fs->dirty[i].path, path) == 0)
            return &fs->dirty[i];
    }
    return NULL;
}

/* Room for one more, or NULL: there are too many, or no memory. */
static zb__fs_dirty *add_dirty(zb__fs *fs, const char *path) {
    if (fs->dirty_count == fs->dirty_capacity) {
        size_t capacity = fs->dirty_capacity ? fs->dirty_capacity * 2 : 16;
        zb__fs_dirty *grown =
            capacity <= DIRTY_MAX ? realloc(fs->dirty, capacity * sizeof *grown) : NULL;
        if (!grown)
            return NULL;
        fs->dirty = grown;
        fs->dirty_capacity = capacity;
    }
    char *copy = strdup(path);
    if (!copy)
        return NULL;
    fs->dirty[fs->dirty_count] = (zb__fs_dirty){.path = copy, .hash = zb__fs_hash(path)};
    return &fs->dirty[fs->dirty_count++];
}

static void remove_dirty(zb__fs *fs, zb__fs_dirty *entry) {
    free(entry->path);
    *entry = fs->dirty[--fs->dirty_count];
}

void zb__fs_mark_dirty(zb__fs *fs, const char *path) {
    pthread_mutex_lock(&fs->lock);
    zb__fs_dirty *entry = fs->dirty_all ? NULL : find_dirty(fs, path);
    if (!entry && !fs->dirty_all)
        entry = add_dirty(fs, path);
    *(entry ? &entry->change : &fs->dirty_all) = ++fs->changes;
    pthread_mutex_unlock(&fs->lock);
}

/* Syncs a directory; errno. One that is gone has nothing to keep; that it went is its parent's. */
static int sync_directory(const zb__fs *fs, const char *path) {
    /* "..": the new store's own name, which is in a directory outside. */
    int fd = strcmp(path, "..") == 0
                 ? ZB__UNINTERRUPTED(openat(fs->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
                 : zb__fs_openat(fs->root, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0) /* it may be written but not read */
        return ZB__UNINTERRUPTED(syncfs(fs->root)) == 0 ? 0 : errno;
    /* EINVAL: a file system that cannot sync directories has no other way to offer. */
    int failed = ZB__UNINTERRUPTED(fsync(fd)) == 0 || errno == EINVAL ? 0 : errno;
    close(fd);
    return failed;
}

/* Syncs everything when there was too much to remember. */
static enum zb_code sync_all(zb__fs *fs, zb_error *err) {
    pthread_mutex_lock(&fs->lock);
    uint64_t change = fs->dirty_all, until = fs->changes;
    pthread_mutex_unlock(&fs->lock);
    if (!change)
        return ZB_OK;
    if (ZB__UNINTERRUPTED(syncfs(fs->root)) != 0)
        return zb_fail_errno(err, errno, "cannot sync the file system of '%s'", fs->base.label);
    pthread_mutex_lock(&fs->lock);
    if (fs->dirty_all == change)
        fs->dirty_all = 0;
    for (size_t i = fs->dirty_count; i-- > 0;) {
        if (fs->dirty[i].change <= until)
            remove_dirty(fs, &fs->dirty[i]);
    }
    pthread_mutex_unlock(&fs->lock);
    return ZB_OK;
}

/* The first directory above the key that changed up to `until`. Called with fs->lock. */
static zb__fs_dirty *next_dirty(const zb__fs *fs, const char *key, uint64_t until) {
    for (size_t i = 0; i < fs->dirty_count; i++) {
        const char *path = fs->dirty[i].path;
        if (fs->dirty[i].change <= until &&
            (!key || strcmp(path, "..") == 0 || is_below(key, path)))
            return &fs->dirty[i];
    }
    return NULL;
}

enum zb_code zb__fs_sync_names(zb__fs *fs, const char *key, zb_error *err) {
    enum zb_code code = sync_all(fs, err);
    pthread_mutex_lock(&fs->lock);
    uint64_t until = fs->changes;
    zb__fs_dirty *entry;
    while (code == ZB_OK && (entry = next_dirty(fs, key, until)) != NULL) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s", entry->path);
        uint64_t change = entry->change;
        pthread_mutex_unlock(&fs->lock);
        int failed = sync_directory(fs, path);
        if (failed)
            code = zb__fs_fail_write(err, failed, "sync the directory", path);
        pthread_mutex_lock(&fs->lock);
        entry = failed ? NULL : find_dirty(fs, path);
        if (entry && entry->change == change)
            remove_dirty(fs, entry);
    }
    pthread_mutex_unlock(&fs->lock);
    return code;
}
