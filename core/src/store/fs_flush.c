/* SPDX-License-Identifier: MIT */
/*
 * Durability in batches. A sync costs milliseconds, most of them waiting, so objects put with
 * `waits` lie under their temporary names until a flush: all are synced, then all
 * renamed in the order of their puts, then each directory is synced once. Renaming before syncing
 * would let a loss of power leave an empty file where the old object was.
 *
 * Their descriptors stay open meanwhile: only a process that has a file open is sure to be told
 * that the system could not write it back. MOST_WAITING bounds them; when that many wait, or the
 * process has few descriptors left, they go out by themselves, whichever writer put them.
 *
 * Each object belongs to a batch. The loss of an object is told to its batch alone, at its next put
 * or flush.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"
#include "zarrbridge/sys/store.h"

#define MOST_WAITING 64
/* Descriptors that are left for everything else: this many, or a quarter of those that a process
   with a low limit may have. */
#define MOST_LEFT 64

struct zb__fs_waiting {
    zb__fs_waiting *next;
    zb_batch *batch; /* not owned; only as long as it is not dropped */
    char *key;
    zb_home home; /* of the put */
    char *path;   /* of the temporary file beneath the root: directory, '/', name */
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

/* A file whose directory was moved is found by the path that the system gives for its
   descriptor. */
static void unlink_moved(int fd) {
    char link[40], path[PATH_MAX];
    struct stat ours, named;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    if (fstat(fd, &ours) == 0 && lstat(path, &named) == 0 && zb__fs_same_file(&ours, &named))
        unlink(path);
}

static void unlink_temp(const zb__fs *fs, const zb__fs_waiting *w) {
    const char *name;
    int dir = open_directory_of(fs, w, &name);
    bool gone = dir >= 0 && unlinkat(dir, name, 0) == 0;
    if (dir >= 0)
        close(dir);
    if (!gone)
        unlink_moved(w->fd);
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

void zb__fs_drop_waiting_below(zb__fs *fs, const char *prefix) {
    keep_to_own(fs);
    for (zb__fs_waiting **at = &fs->waiting; *at;) {
        if (zb__fs_is_below((*at)->key, prefix))
            drop(fs, at);
        else
            at = &(*at)->next;
    }
}

bool zb__fs_any_waits_below(zb__fs *fs, const char *prefix) {
    keep_to_own(fs);
    const zb__fs_waiting *w = fs->waiting;
    while (w && !zb__fs_is_below(w->key, prefix))
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

/* ---- Flushing ---- */

/* The objects that a flush is about: those of a batch (NULL: any), below a prefix. */
typedef struct choice {
    const zb_batch *batch;
    const char *prefix;
} choice;

static bool is_chosen(const choice *c, const zb__fs_waiting *w) {
    return (!c->batch || w->batch == c->batch) && zb__fs_is_below(w->key, c->prefix);
}

/* Takes up to `most` objects into the hands of a flush. */
static size_t take_waiting(zb__fs *fs, const choice *c, zb__fs_waiting **taken, size_t most) {
    size_t count = 0;
    pthread_mutex_lock(&fs->lock);
    keep_to_own(fs);
    for (zb__fs_waiting *w = fs->waiting; w && count < most; w = w->next) {
        if (!is_chosen(c, w))
            continue;
        w->busy = true;
        taken[count++] = w;
    }
    pthread_mutex_unlock(&fs->lock);
    return count;
}

static size_t count_waiting(zb__fs *fs, const choice *c) {
    size_t count = 0;
    pthread_mutex_lock(&fs->lock);
    keep_to_own(fs);
    for (const zb__fs_waiting *w = fs->waiting; w; w = w->next)
        count += is_chosen(c, w);
    pthread_mutex_unlock(&fs->lock);
    return count;
}

/* Asks the object's batch whether it may take its place. Called with fs->flushing: no thread ends a
   batch meanwhile. */
static enum zb_code check_waiting(zb__fs *fs, const zb__fs_waiting *w, zb_error *err) {
    pthread_mutex_lock(&fs->lock);
    zb_put put = {.key = w->key, .batch = w->dropped ? NULL : w->batch};
    pthread_mutex_unlock(&fs->lock);
    return zb_batch_check(put.batch, put.key, err);
}

/* Renames an object in its directory (dir, a descriptor); errno. Called with fs->lock, which is let
   go of between two tries. */
static int move_in(zb__fs *fs, const zb__fs_waiting *w, int dir) {
    int tries = 0;
    while (!w->dropped &&
           renameat(dir, zb__fs_name_of(w->path), dir, zb__fs_name_of(w->key)) != 0) {
        const int failed = errno;
        pthread_mutex_unlock(&fs->lock);
        const bool again = zb__fs_rename_again(fs, failed, &tries);
        pthread_mutex_lock(&fs->lock);
        if (!again)
            return failed == ENOENT ? ESTALE : failed;
    }
    return 0;
}

/* Records the outcome for an object that waited. Called with fs->lock. */
static void end_wait(zb__fs *fs, zb__fs_waiting *w, enum zb_code code, const zb_error *error) {
    if (code != ZB_OK) {
        unlink_temp(fs, w);
        if (w->batch->lost.code == ZB_OK)
            w->batch->lost = *error;
    }
    zb__fs_waiting **at = &fs->waiting;
    while (*at != w)
        at = &(*at)->next;
    take_out(fs, at);
}

/* Renames one object unless it was replaced or erased meanwhile, and frees it. Under the key's
   lock: a merge must not read the old object and replace ours. */
static enum zb_code publish(zb__fs *fs, zb__fs_waiting *w, zb_error *err) {
    zb_lock *lock = NULL;
    zb__fs_place place = {.dir = -1};
    zb_error error;
    const zb_locking locking = {.key = w->key, .home = w->home};
    enum zb_code code = w->failed ? zb__fs_fail_write(&error, w->failed, "sync", w->key)
                                  : zb__fs_lock_key(&fs->base, &locking, &lock, &error);
    code = code == ZB_EUNSUPPORTED ? ZB_OK : code;
    if (code == ZB_OK)
        code = zb__fs_open_place_in(fs, w->key, &w->home, false, &place, &error);
    code = code == ZB_ENOTFOUND ? zb__fs_fail(&error, ESTALE, "replace", w->key) : code;
    if (code == ZB_OK)
        code = check_waiting(fs, w, &error);
    pthread_mutex_lock(&fs->lock);
    const int failed = code == ZB_OK ? move_in(fs, w, place.dir) : 0;
    const bool dropped = w->dropped;
    if (failed && !dropped)
        code = zb__fs_fail_write(&error, failed, "replace", w->key);
    if (!dropped)
        end_wait(fs, w, code, &error);
    pthread_mutex_unlock(&fs->lock);
    if (place.dir >= 0)
        close(place.dir);
    zb_store_unlock(lock);
    code = dropped ? ZB_OK : code;
    if (code != ZB_OK && err)
        *err = error;
    if (code == ZB_OK && !dropped) {
        char *slash = strrchr(w->path, '/');
        *(slash ? slash : w->path) = '\0';
        zb__fs_mark_dirty(fs, w->path);
    }
    free_waiting(w);
    return code;
}

/* Syncs and renames the objects that wait now. One object's failure does not keep the others back;
   the first error is returned, and each kept for its batch. Called with fs->flushing. */
static enum zb_code flush_waiting(zb__fs *fs, const choice *c, zb_error *err) {
    enum zb_code first = ZB_OK;
    zb__fs_waiting *taken[MOST_WAITING];
    size_t left = atomic_load(&fs->waiting_count) ? count_waiting(fs, c) : 0;
    for (size_t count = 1; left > 0 && count > 0; left -= count) {
        count = take_waiting(fs, c, taken, left < MOST_WAITING ? left : MOST_WAITING);
        for (size_t i = 0; i < count; i++)
            taken[i]->failed = ZB__UNINTERRUPTED(fdatasync(taken[i]->fd)) == 0 ? 0 : errno;
        for (size_t i = 0; i < count; i++) {
            enum zb_code code = publish(fs, taken[i], first ? NULL : err);
            first = first ? first : code;
        }
    }
    return first;
}

/* True if few descriptors are left besides this one. The system gives the lowest number that is
   free. The limit may change at any time. */
static bool are_scarce(int fd) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    rlim_t left = limit.rlim_cur / 4 < MOST_LEFT ? limit.rlim_cur / 4 : MOST_LEFT;
    return (rlim_t)fd >= limit.rlim_cur - left;
}

enum zb_code zb__fs_wait(zb__fs *fs, const zb_put *put, const zb__fs_place *place, const char *temp,
                         int fd, zb_error *err) {
    zb__fs_waiting *w = malloc(sizeof *w);
    char *own_key = strdup(put->key), *path = NULL;
    if (asprintf(&path, "%s%s%s", place->path, *place->path ? "/" : "", temp) < 0)
        path = NULL;
    if (!w || !own_key || !path || strlen(path) >= PATH_MAX) {
        free(w);
        free(own_key);
        free(path);
        unlinkat(place->dir, temp, 0);
        close(fd);
        return zb_fail(err, ZB_ENOMEM, "no memory to let '%s' wait for a flush", put->key);
    }
    *w = (zb__fs_waiting){.batch = put->batch ? put->batch : &fs->own,
                          .key = own_key,
                          .home = put->home,
                          .path = path,
                          .fd = fd};
    pthread_mutex_lock(&fs->lock);
    keep_to_own(fs);
    zb__fs_drop_waiting(fs, put->key);
    *fs->waiting_end = w;
    fs->waiting_end = &w->next;
    bool full = atomic_fetch_add(&fs->waiting_count, 1) + 1 >= MOST_WAITING || are_scarce(fd);
    pthread_mutex_unlock(&fs->lock);
    if (full)
        zb__fs_publish_below(fs, "");
    return ZB_OK;
}

void zb__fs_publish_below(zb__fs *fs, const char *prefix) {
    choice c = {.prefix = prefix};
    pthread_mutex_lock(&fs->flushing);
    (void)flush_waiting(fs, &c, NULL);
    pthread_mutex_unlock(&fs->flushing);
}

/* ---- Telling losses ---- */

enum zb_code zb__fs_join(zb__fs *fs, zb_batch *batch, zb_error *err) {
    pthread_mutex_lock(&fs->lock);
    batch = batch ? batch : &fs->own;
    if (!batch->at_stake)
        batch->losses = fs->losses;
    batch->at_stake = true;
    enum zb_code code = batch->lost.code;
    if (code != ZB_OK && err)
        *err = batch->lost;
    pthread_mutex_unlock(&fs->lock);
    return code;
}

/* Tells the batch of a loss since its last flush. */
static enum zb_code report(zb__fs *fs, zb_batch *batch, zb_error *err) {
    pthread_mutex_lock(&fs->lock);
    const zb_error *told = batch->lost.code != ZB_OK                        ? &batch->lost
                           : batch->at_stake && batch->losses != fs->losses ? &fs->loss
                                                                            : NULL;
    enum zb_code code = told ? told->code : ZB_OK;
    if (told && err)
        *err = *told;
    batch->lost.code = ZB_OK;
    batch->losses = fs->losses;
    batch->at_stake = false;
    pthread_mutex_unlock(&fs->lock);
    return code;
}

static enum zb_code flush(zb__fs *fs, zb_batch *batch, zb_error *err) {
    zb_error names;
    choice c = {.batch = batch, .prefix = ""};
    pthread_mutex_lock(&fs->flushing);
    enum zb_code code = flush_waiting(fs, &c, err);
    pthread_mutex_unlock(&fs->flushing);
    if (!batch)
        zb__fs_leave_no_lock(fs);
    if (zb__fs_sync_names(fs, NULL, &names) != ZB_OK) {
        pthread_mutex_lock(&fs->lock);
        fs->loss = names;
        fs->losses++;
        zb_batch *mine = batch ? batch : &fs->own;
        mine->losses = mine->at_stake ? mine->losses : fs->losses - 1;
        mine->at_stake = true; /* the caller that asked for it is told */
        pthread_mutex_unlock(&fs->lock);
    }
    zb_error lost;
    enum zb_code told = report(fs, batch ? batch : &fs->own, &lost);
    if (told != ZB_OK && (batch || code == ZB_OK)) {
        code = told;
        if (err)
            *err = lost;
    }
    return code;
}

static void discard(zb__fs *fs, const zb_batch *batch) {
    if (atomic_load(&fs->waiting_count) == 0)
        return;
    pthread_mutex_lock(&fs->flushing); /* none of it is in the hands of a flush */
    pthread_mutex_lock(&fs->lock);
    keep_to_own(fs);
    for (zb__fs_waiting **at = &fs->waiting; *at;) {
        if ((*at)->batch == batch)
            drop(fs, at);
        else
            at = &(*at)->next;
    }
    pthread_mutex_unlock(&fs->lock);
    pthread_mutex_unlock(&fs->flushing);
}

enum zb_code zb__fs_flush(zb_store *store, zb_batch *batch, bool discards, zb_error *err) {
    if (!discards)
        return flush((zb__fs *)store, batch, err);
    discard((zb__fs *)store, batch);
    return ZB_OK;
}
