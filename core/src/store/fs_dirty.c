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

#include "base/list.h"
#include "store/fs_dirty.h"
#include "store/fs_path.h"
#include "store/fs_store.h"
#include "zarrbridge/error.h"

#define DIRTY_MAX 1024

bool zb__fs_is_below(const char *key, const char *prefix) {
    size_t length = strlen(prefix);
    return length == 0 || (strncmp(key, prefix, length) == 0 && key[length] == '/');
}

static unsigned *chain_of(zb__fs *fs, uint64_t hash) {
    return &fs->dirty_chain[hash % ZB__FS_DIRTY_CHAINS];
}

static zb__fs_dirty *find_dirty(zb__fs *fs, const char *path, uint64_t hash, bool is_file) {
    for (unsigned i = *chain_of(fs, hash); i > 0; i = fs->dirty[i - 1].next) {
        zb__fs_dirty *entry = &fs->dirty[i - 1];
        if (entry->hash == hash && entry->is_file == is_file && strcmp(entry->path, path) == 0)
            return entry;
    }
    return NULL;
}

/* Where its chain tells the index of an entry. */
static unsigned *link_to(zb__fs *fs, const zb__fs_dirty *entry) {
    unsigned *link = chain_of(fs, entry->hash);
    while (&fs->dirty[*link - 1] != entry)
        link = &fs->dirty[*link - 1].next;
    return link;
}

/* Room for one more; NULL when there are too many, or memory runs out. */
static zb__fs_dirty *add_dirty(zb__fs *fs, const char *path, uint64_t hash, bool is_file) {
    if (fs->dirty_count >= DIRTY_MAX ||
        !zb__list_grow(&fs->dirty, fs->dirty_count, &fs->dirty_capacity, sizeof *fs->dirty))
        return NULL;
    char *copy = strdup(path);
    if (!copy)
        return NULL;
    unsigned *chain = chain_of(fs, hash);
    zb__fs_dirty *added = &fs->dirty[fs->dirty_count++];
    *added = (zb__fs_dirty){.path = copy, .hash = hash, .next = *chain, .is_file = is_file};
    *chain = (unsigned)fs->dirty_count;
    return added;
}

/* The last one takes its place. */
static void remove_dirty(zb__fs *fs, zb__fs_dirty *entry) {
    zb__fs_dirty *last = &fs->dirty[fs->dirty_count - 1];
    free(entry->path);
    *link_to(fs, entry) = entry->next;
    if (last != entry) {
        *link_to(fs, last) = (unsigned)(entry - fs->dirty) + 1;
        *entry = *last;
    }
    fs->dirty_count--;
}

static void mark(zb__fs *fs, const char *path, bool is_file) {
    pthread_mutex_lock(&fs->lock);
    const uint64_t hash = fs->dirty_all ? 0 : zb__fs_hash(path);
    zb__fs_dirty *entry = fs->dirty_all ? NULL : find_dirty(fs, path, hash, is_file);
    if (!entry && !fs->dirty_all)
        entry = add_dirty(fs, path, hash, is_file);
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
    for (size_t i = 0; i < fs->dirty_count; i++) {
        if (zb__fs_is_below(fs->dirty[i].path, from))
            fs->dirty_all = ++fs->changes;
    }
    pthread_mutex_unlock(&fs->lock);
}

void zb__fs_free_dirty(zb__fs *fs) {
    for (size_t i = 0; i < fs->dirty_count; i++)
        free(fs->dirty[i].path);
    free(fs->dirty);
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
    for (size_t i = fs->dirty_count; i-- > 0;) {
        if (fs->dirty[i].change <= until)
            remove_dirty(fs, &fs->dirty[i]);
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

static bool concerns(const zb__fs_dirty *entry, const char *key) {
    return !key || (!entry->is_file &&
                    (strcmp(entry->path, "..") == 0 || zb__fs_is_below(key, entry->path)));
}

/* The next one that changed up to `until`: files before directories, so that no name is made to
   last before its file. Called with fs->lock. */
static zb__fs_dirty *next_dirty(const zb__fs *fs, const char *key, uint64_t until) {
    zb__fs_dirty *found = NULL;
    for (size_t i = 0; i < fs->dirty_count && !(found && found->is_file); i++) {
        zb__fs_dirty *entry = &fs->dirty[i];
        if (entry->change <= until && concerns(entry, key) && (!found || entry->is_file))
            found = entry;
    }
    return found;
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
        bool is_file = entry->is_file;
        pthread_mutex_unlock(&fs->lock);
        int failed = is_file ? sync_file(fs, path) : sync_directory(fs, path);
        if (failed)
            code = zb__fs_fail_write(err, failed, is_file ? "sync" : "sync the directory", path);
        pthread_mutex_lock(&fs->lock);
        entry = failed ? NULL : find_dirty(fs, path, zb__fs_hash(path), is_file);
        if (entry && entry->change == change)
            remove_dirty(fs, entry);
    }
    pthread_mutex_unlock(&fs->lock);
    return code;
}
