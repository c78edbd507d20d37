/* SPDX-License-Identifier: MIT */
/*
 * A descriptor holds its inode, so that the number of it belongs to no other file meanwhile. What
 * may differ is the version: a file of an overlay file system is another one below once it was
 * changed, with the same number, while a descriptor from before still reads the old one. So all of
 * the version counts, and only what has a certain one is kept. File systems whose attributes may
 * come late, those of networks, have none of it.
 *
 * The slots are of the process, as its descriptors are. A file gets one when it is opened a second
 * time, soon after the first: reads that go through an array once leave nothing open. A deleted
 * file takes its place on the disk until its slot serves another one: what this program deletes or
 * replaces is forgotten at once.
 */
#include "store/fs_store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/map.h"

/* A window lies in a few shards. */
#define SLOTS 16
/* Files whose first opening is remembered. */
#define SEEN 64
/* Smaller files are mostly documents, which are read once. Bytes. */
#define SMALLEST 4096

struct zb__fs_kept {
    const zb__fs *fs;
    char *key;     /* NULL: the slot is free */
    uint64_t hash; /* of both */
    int fd;
    zb_validator version;
    unsigned readers;
    uint64_t used;     /* grows with each use of any slot */
    bool is_forgotten; /* nobody finds it any more */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static zb__fs_kept slots[SLOTS];
static uint64_t uses;
static uint64_t seen[SEEN]; /* hashes */
/* Slots that are not free; read without the lock. Above 0 only once there is the guard for forks:
   until then nobody takes the lock but those who have made it. */
static atomic_size_t taken;

/* In a child, slots that other threads of the parent were reading stay as they are. */
static void init(void) {
    static zb__fork_guard guard = {.lock = &lock};
    zb__fork_guard_add(&guard);
}

/* ---- With the lock held --------------------------------------------------------------------- */

static zb__fs_kept *find(const zb__fs *fs, const char *key, uint64_t hash) {
    for (size_t i = 0; i < SLOTS; i++) {
        if (slots[i].key && slots[i].hash == hash && slots[i].fs == fs && !slots[i].is_forgotten &&
            strcmp(slots[i].key, key) == 0)
            return &slots[i];
    }
    return NULL;
}

/* False the first time, as far as that is remembered. */
static bool was_seen(uint64_t hash) {
    uint64_t *place = &seen[hash % SEEN];
    const bool was = *place == hash;
    *place = hash;
    return was;
}

/* Empties a slot that nobody reads; returns the descriptor, which is closed without the lock: that
   may free a large file. */
static int empty(zb__fs_kept *slot) {
    const int fd = slot->fd;
    free(slot->key);
    *slot = (zb__fs_kept){.fd = -1};
    atomic_fetch_sub(&taken, 1);
    return fd;
}

/* A free slot, or the one whose last use is longest ago: *fd becomes its descriptor, or -1. NULL
   when all are read. */
static zb__fs_kept *make_room(int *fd) {
    zb__fs_kept *best = NULL;
    *fd = -1;
    for (size_t i = 0; i < SLOTS; i++) {
        if (!slots[i].key)
            return &slots[i];
        if (slots[i].readers == 0 && (!best || slots[i].used < best->used))
            best = &slots[i];
    }
    if (best)
        *fd = empty(best);
    return best;
}

/* ---- Any thread ----------------------------------------------------------------------------- */

static uint64_t hash_of(const zb__fs *fs, const char *key) {
    return zb__hash(key, strlen(key)) ^ (uintptr_t)fs;
}

/* What another thread keeps at the same moment may be missed: a version tells whether it serves. */
static bool keeps_any(void) {
    return atomic_load_explicit(&taken, memory_order_acquire) > 0;
}

zb__fs_kept *zb__fs_kept_take(const zb__fs *fs, const char *key) {
    if (!keeps_any())
        return NULL;
    const uint64_t hash = hash_of(fs, key);
    pthread_mutex_lock(&lock);
    zb__fs_kept *kept = find(fs, key, hash);
    if (kept) {
        kept->readers++;
        kept->used = ++uses;
    }
    pthread_mutex_unlock(&lock);
    return kept;
}

void zb__fs_kept_give(zb__fs_kept *kept, bool forgets) {
    int fd = -1;
    pthread_mutex_lock(&lock);
    kept->is_forgotten |= forgets;
    if (--kept->readers == 0 && kept->is_forgotten)
        fd = empty(kept);
    pthread_mutex_unlock(&lock);
    if (fd >= 0)
        close(fd);
}

int zb__fs_kept_fd(const zb__fs_kept *kept) {
    return kept->fd;
}

bool zb__fs_kept_is(const zb__fs_kept *kept, const zb_object_info *info) {
    return zb_validator_same(&info->validator, &kept->version);
}

/* Fills a slot. Its old descriptor, or -1, goes to *old. */
static zb__fs_kept *fill(const zb__fs *fs, const char *key, uint64_t hash, int *old) {
    char *name = strdup(key);
    zb__fs_kept *slot = name ? make_room(old) : NULL;
    if (!slot) {
        free(name);
        return NULL;
    }
    *slot = (zb__fs_kept){.fs = fs, .key = name, .hash = hash, .readers = 1, .used = ++uses};
    atomic_fetch_add(&taken, 1);
    return slot;
}

zb__fs_kept *zb__fs_keep(const zb__fs *fs, const char *key, int fd, const zb_object_info *info) {
    if (fs->is_remote || !info->validator.valid || info->size < SMALLEST)
        return NULL;
    const uint64_t hash = hash_of(fs, key);
    int old = -1;
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
    zb__fs_kept *kept = was_seen(hash) && !find(fs, key, hash) ? fill(fs, key, hash, &old) : NULL;
    if (kept) {
        kept->fd = fd;
        kept->version = info->validator;
    }
    pthread_mutex_unlock(&lock);
    if (old >= 0)
        close(old);
    return kept;
}

void zb__fs_kept_forget(const zb__fs *fs, const char *key) {
    int closed[SLOTS];
    size_t count = 0;
    if (!keeps_any())
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SLOTS; i++) {
        if (!slots[i].key || slots[i].fs != fs || (key && strcmp(slots[i].key, key) != 0))
            continue;
        slots[i].is_forgotten = true;
        if (slots[i].readers == 0)
            closed[count++] = empty(&slots[i]);
    }
    pthread_mutex_unlock(&lock);
    while (count > 0)
        close(closed[--count]);
}

/* Where the lock is taken, another thread is about to close one, or has just got one. */
bool zb__fs_kept_clear(void) {
    int closed[SLOTS];
    size_t count = 0;
    if (!keeps_any() || pthread_mutex_trylock(&lock) != 0)
        return false;
    for (size_t i = 0; i < SLOTS; i++) {
        if (slots[i].key && slots[i].readers == 0)
            closed[count++] = empty(&slots[i]);
    }
    pthread_mutex_unlock(&lock);
    const bool any = count > 0;
    while (count > 0)
        close(closed[--count]);
    return any;
}
