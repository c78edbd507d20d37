/* SPDX-License-Identifier: MIT */
/*
 * Changes that are not on disk yet, though every reader sees them: directories whose entries
 * changed, and files that were put to be durable with the next flush. Both are remembered by path;
 * when there are too many, the whole file system is synced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"
#include "zarrbridge/error.h"

#define DIRTY_MAX 1024

/* A directory whose entries changed, or a file that was put to be durable with the next flush. */
typedef struct dirty {
    zb__map_link link; /* by its path */
    uint64_t change;   /* grows with each change: an entry changed during its sync stays */
    bool is_file;
    char path[]; /* beneath the root, "" for the root itself, ".." for the root's own name */
} dirty;

bool zb__fs_is_below(const char *key, const char *prefix) {
    size_t length = strlen(prefix);
    return length == 0 || (strncmp(key, prefix, length) == 0 && key[length] == '/');
}

static dirty *after(const zb__fs *fs, const dirty *entry) {
    return (dirty *)(void *)zb__map_after(&fs->dirty, entry ? &entry->link : NULL);
}

static dirty *find(const zb__fs *fs, const char *path, bool is_file) {
    zb__map_link *link = zb__map_first(&fs->dirty, zb__hash(path, strlen(path)));
    for (; link; link = zb__map_next(link)) {
        dirty *entry = (dirty *)(void *)link;
        if (entry->is_file == is_file && strcmp(entry->path, path) == 0)
            return entry;
    }
    return NULL;
}

/* NULL when there are too many, or memory runs out. */
static dirty *add(zb__fs *fs, const char *path, bool is_file) {
    const size_t length = strlen(path);
    if (fs->dirty.count >= DIRTY_MAX || !zb__map_reserve(&fs->dirty))
        return NULL;
    dirty *added = malloc(sizeof *added + length + 1);
    if (!added)
        return NULL;
    added->is_file = is_file;
    memcpy(added->path, path, length + 1);
    zb__map_add(&fs->dirty, &added->link, zb__hash(path, length));
    return added;
}

static void drop(zb__fs *fs, dirty *entry) {
    zb__map_remove(&fs->dirty, &entry->link);
    free(entry);
}

static void mark(zb__fs *fs, const char *path, bool is_file) {
    pthread_mutex_lock(&fs->lock);
    dirty *entry = fs->dirty_all ? NULL : find(fs, path, is_file);
    if (!entry && !fs->dirty_all)
        entry = add(fs, path, is_file);
    *(entry ? &entry->change : &fs->dirty_all) = ++fs->changes;
    pthread_mutex_unlock(&fs->lock);
}

void zb__fs_mark_dirty(zb__fs *fs, const char *path) {
    mark(fs, path, false);
}

void zb__fs_mark_file(zb__fs *fs, const char *key) {
    mark(fs, key, true);
}

void zb__fs_mark_moved(zb__fs *fs, const char *from) {
    pthread_mutex_lock(&fs->lock);
    for (const dirty *entry = after(fs, NULL); entry; entry = after(fs, entry))
        if (zb__fs_is_below(entry->path, from))
            fs->dirty_all = ++fs->changes;
    pthread_mutex_unlock(&fs->lock);
}

void zb__fs_free_dirty(zb__fs *fs) {
    for (dirty *entry; (entry = after(fs, NULL)) != NULL;)
        drop(fs, entry);
    zb__map_free(&fs->dirty);
}

/* Syncs a directory; errno. A directory that is gone has nothing to keep; its removal is an entry
   of its parent. */
static int sync_directory(const zb__fs *fs, const char *path) {
    /* "..": the new store's own name, which is in a directory outside. */
    int fd = strcmp(path, "..") == 0
                 ? zb__fs_open_name(fs->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
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
    for (dirty *entry = after(fs, NULL), *next; entry; entry = next) {
        next = after(fs, entry);
        if (entry->change <= until)
            drop(fs, entry);
    }
    pthread_mutex_unlock(&fs->lock);
    return ZB_OK;
}

/* Syncs a file; errno. One that is gone was erased or moved with its directory. */
static int sync_file(const zb__fs *fs, const char *path) {
    int fd = zb__fs_openat(fs->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0)
        return ZB__UNINTERRUPTED(syncfs(fs->root)) == 0 ? 0 : errno;
    int failed = ZB__UNINTERRUPTED(fdatasync(fd)) == 0 ? 0 : errno;
    close(fd);
    return failed;
}

static bool concerns(const dirty *entry, const char *key) {
    return !key || (!entry->is_file &&
                    (strcmp(entry->path, "..") == 0 || zb__fs_is_below(key, entry->path)));
}

/* The next one that changed up to `until`: files before directories, so that no name is made to
   last before its file. Called with fs->lock. */
static const dirty *next_of(const zb__fs *fs, const char *key, uint64_t until) {
    const dirty *found = NULL;
    for (const dirty *entry = after(fs, NULL); entry && !(found && found->is_file);
         entry = after(fs, entry))
        if (entry->change <= until && concerns(entry, key) && (!found || entry->is_file))
            found = entry;
    return found;
}

enum zb_code zb__fs_sync_names(zb__fs *fs, const char *key, zb_error *err) {
    enum zb_code code = sync_all(fs, err);
    pthread_mutex_lock(&fs->lock);
    uint64_t until = fs->changes;
    const dirty *next;
    while (code == ZB_OK && (next = next_of(fs, key, until)) != NULL) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s", next->path);
        uint64_t change = next->change;
        bool is_file = next->is_file;
        pthread_mutex_unlock(&fs->lock);
        int failed = is_file ? sync_file(fs, path) : sync_directory(fs, path);
        if (failed)
            code = zb__fs_fail_write(err, failed, is_file ? "sync" : "sync the directory", path);
        pthread_mutex_lock(&fs->lock);
        dirty *entry = failed ? NULL : find(fs, path, is_file);
        if (entry && entry->change == change)
            drop(fs, entry);
    }
    pthread_mutex_unlock(&fs->lock);
    return code;
}
