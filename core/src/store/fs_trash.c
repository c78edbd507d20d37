/* SPDX-License-Identifier: MIT */
/*
 * Trees that are out of sight, under names of ours, and have still to be taken apart: those that
 * were erased, and what killed processes have left of such.
 *
 * To rename a tree takes microseconds, to unlink its thousands of files may take seconds. So where
 * a thread holds the hierarchy's lock, for which others wait, the tree waits until it has let go
 * (zb__fs_finish_erasing). It stays open meanwhile, with a lock on its directory (of flock(2), as
 * the other kind wants files that can be written): sweeps take only trees whose lock is free, since
 * they may hold the hierarchy's lock themselves. Of those that are erased under one lock, the first
 * takes in the others, so that they take one descriptor, however many they are.
 *
 * Each tree belongs to one thread: to that which held the hierarchy's lock when it was erased. So
 * a call that has deleted a node returns when its files are gone, whatever other threads do.
 *
 * The descriptors are known to the store until their trees are gone: a child that is forked
 * meanwhile closes its copies, with which it would hold the locks for as long as it lives.
 */
#include "store/fs_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "util/thread.h"

/* ---- Removing trees from the disk --------------------------------------------------------- */

/*
 * Taking a directory apart, whatever it holds. Several processes may do it at once: each takes what
 * it finds.
 */

int zb__fs_unlink_file(int dir, const char *name) {
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EPERM) /* the errno that POSIX prescribes for directories */
        return errno;
    struct stat st;
    bool is_directory = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    return is_directory ? EISDIR : EPERM;
}

/* The document of a node goes before all else in its directory: a reader that still has the
   directory open, and misses chunks from now on, can find out why. */
static void unlink_document(DIR *dir) {
    (void)unlinkat(dirfd(dir), "zarr.json", 0);
}

/* What becomes of a directory `name` in `dir`; errno. *progress: something was moved or removed. */
typedef int directory_act(int dir, const char *name, int top, bool *progress);

/* Unlinks the files in a directory, and gives its directories to act, with `top`. */
static int empty(int at, const char *name, directory_act *act, int top, bool *progress) {
    DIR *dir = zb__fs_open_dir(at, name);
    if (!dir)
        return errno == ENOENT ? 0 : errno;
    const struct dirent *entry;
    int failed = 0;
    unlink_document(dir);
    for (errno = 0; !failed && (entry = readdir(dir)) != NULL; errno = 0) {
        if (zb__fs_is_dots(entry->d_name))
            continue;
        failed = zb__fs_unlink_file(dirfd(dir), entry->d_name);
        if (failed == EISDIR)
            failed = act(dirfd(dir), entry->d_name, top, progress);
    }
    if (!failed)
        failed = errno;
    closedir(dir);
    return failed;
}

static int move_up(int dir, const char *name, int top, bool *progress) {
    char unique[NAME_MAX + 1];
    zb__fs_temp_name("d", unique);
    *progress = true;
    return renameat(dir, name, top, unique) == 0 || errno == ENOENT ? 0 : errno;
}

/* Removes a directory in `dir`, its own directories having been moved up into that. So trees of any
   depth come apart with two open descriptors. */
static int lift(int dir, const char *name, int top, bool *progress) {
    (void)top;
    const int failed = empty(dir, name, move_up, dir, progress);
    if (!failed && unlinkat(dir, name, AT_REMOVEDIR) == 0)
        *progress = true;
    return failed;
}

int zb__fs_remove_tree(int at, const char *name) {
    int failed = zb__fs_unlink_file(at, name);
    if (failed != EISDIR)
        return failed;
    /* Files that come back as often as they go (network file systems keep open ones by another
       name) must not keep us here for ever. */
    for (int idle = 0; idle < 4;) {
        if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
            return 0;
        if (errno != ENOTEMPTY && errno != EEXIST)
            return errno;
        bool progress = false;
        failed = empty(at, name, lift, -1, &progress);
        if (failed)
            return failed;
        idle = progress ? 0 : idle + 1;
    }
    return ENOTEMPTY;
}

/* ---- Trees out of sight ------------------------------------------------------------------- */

int zb__fs_claim_tree(int at, const char *name) {
    const int fd = zb__fs_open_name(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0 || ZB__UNINTERRUPTED(flock(fd, LOCK_EX | LOCK_NB)) == 0 || errno != EWOULDBLOCK)
        return fd; /* without a lock where there are none */
    close(fd);
    errno = EAGAIN;
    return -1;
}

int zb__fs_ask_tree(zb__fs *fs, int at, const char *name) {
    pthread_mutex_lock(&fs->lock);
    const int claim = zb__fs_claim_tree(at, name);
    const int failed = claim < 0 ? errno : 0;
    if (claim >= 0)
        close(claim);
    pthread_mutex_unlock(&fs->lock);
    return failed;
}

/* ---- Trees that the store knows ----------------------------------------------------------- */

/* NULL where the lock cannot be had. Called with fs->lock, and put into one of the store's places
   before that goes. */
static zb__fs_tree *claim(int at, const char *name, const char *key) {
    zb__fs_tree *tree = malloc(sizeof *tree + strlen(key) + 1);
    if (!tree)
        return NULL;
    *tree = (zb__fs_tree){.fd = zb__fs_claim_tree(at, name)};
    if (tree->fd < 0) {
        free(tree);
        return NULL;
    }
    strcpy(tree->name, name);
    strcpy(tree->key, key);
    return tree;
}

static void release(zb__fs_tree *tree) {
    if (tree)
        close(tree->fd);
    free(tree);
}

/* Gives the tree to the calling thread. Called with fs->lock. */
static void take(zb__fs *fs, zb__fs_tree *tree) {
    if (!tree)
        return;
    tree->thread = zb__thread_id();
    tree->next = fs->going;
    fs->going = tree;
}

void zb__fs_take_discarded(zb__fs *fs) {
    take(fs, fs->left_over);
    take(fs, fs->erased);
    fs->left_over = fs->erased = NULL;
}

/* ---- Out of sight ------------------------------------------------------------------------- */

/* False for a directory whose entries cannot be unlinked, for want of rights: out of sight it would
   stay for ever. */
static bool can_be_emptied(const zb__fs_place *place) {
    struct stat st;
    return faccessat(place->dir, place->name, R_OK | W_OK | X_OK, AT_EACCESS) == 0 ||
           errno != EACCES || fstatat(place->dir, place->name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
           !S_ISDIR(st.st_mode);
}

/* The document goes at once: programs that know none of our names would take it for a node's. */
static bool lets_wait(zb__fs *fs, int at, const char *name, const char *key) {
    if (fs->has_hierarchy && !fs->erased) {
        fs->erased = claim(at, name, key);
        if (fs->erased)
            (void)unlinkat(fs->erased->fd, "zarr.json", 0);
        return fs->erased != NULL;
    }
    return false;
}

int zb__fs_trash(zb__fs *fs, const zb__fs_place *place, const char *key,
                 char discarded[NAME_MAX + 1]) {
    const int at = place->dir;
    if (!can_be_emptied(place))
        return EACCES;
    zb__fs_temp_name(place->name, discarded);
    const bool joins = fs->erased && renameat(at, place->name, fs->erased->fd, discarded) == 0;
    const bool holds_erased = fs->erased && !joins && errno == EINVAL; /* the first is inside */
    if (!joins && renameat(at, place->name, at, discarded) != 0)
        return errno;
    if (holds_erased) { /* and goes with it */
        release(fs->erased);
        fs->erased = NULL;
    }
    if (joins || lets_wait(fs, at, discarded, key))
        *discarded = '\0';
    return 0;
}

/* ---- Taking apart ------------------------------------------------------------------------- */

/* Removes a tree in `going`, wherever its directory is by now, and forgets it; errno. Another
   machine may have removed it. */
static int take_apart(zb__fs *fs, zb__fs_tree *tree) {
    const int above = zb__fs_open_name(tree->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    const int failed = above >= 0 ? zb__fs_remove_tree(above, tree->name) : errno;
    if (above >= 0)
        close(above);
    pthread_mutex_lock(&fs->lock);
    zb__fs_tree **at = &fs->going;
    while (*at != tree)
        at = &(*at)->next;
    *at = tree->next;
    (void)flock(tree->fd, LOCK_UN); /* a child without our handlers may have a copy */
    close(tree->fd);
    pthread_mutex_unlock(&fs->lock);
    return failed == ENOENT || failed == ESTALE ? 0 : failed;
}

int zb__fs_remove_discarded(zb__fs *fs, int at, const char *name) {
    pthread_mutex_lock(&fs->lock);
    zb__fs_tree *tree = claim(at, name, "");
    take(fs, tree);
    pthread_mutex_unlock(&fs->lock);
    const int failed = tree ? take_apart(fs, tree) : zb__fs_remove_tree(at, name);
    free(tree);
    return failed;
}

int zb__fs_remove_left_tree(zb__fs *fs, int at, const char *name) {
    pthread_mutex_lock(&fs->lock);
    const bool can_wait = fs->has_hierarchy && !fs->left_over;
    if (can_wait)
        fs->left_over = claim(at, name, "");
    const bool waits = can_wait && fs->left_over;
    pthread_mutex_unlock(&fs->lock);
    return waits ? 0 : zb__fs_remove_discarded(fs, at, name);
}

static zb__fs_tree *next_of(zb__fs *fs, uint64_t thread) {
    pthread_mutex_lock(&fs->lock);
    zb__fs_tree *tree = fs->going;
    while (tree && tree->thread != thread)
        tree = tree->next;
    pthread_mutex_unlock(&fs->lock);
    return tree;
}

static enum zb_code fail(const zb_store *store, const zb__fs_tree *tree, int failed,
                         zb_error *err) {
    const int length = (int)(zb__fs_name_of(tree->key) - tree->key);
    return zb_fail_errno(err, failed,
                         "store %s: '%s' is deleted, but its files stay on the disk, as '%.*s%s': "
                         "`zarrbridge repair` tries again to remove them",
                         store->label, tree->key, length, tree->key, tree->name);
}

enum zb_code zb__fs_finish_erasing(zb__fs *fs, zb_error *err) {
    const uint64_t thread = zb__thread_id();
    enum zb_code code = ZB_OK;
    for (zb__fs_tree *tree; (tree = next_of(fs, thread)) != NULL; free(tree)) {
        const int failed = take_apart(fs, tree);
        if (failed && *tree->key && !code)
            code = fail(&fs->base, tree, failed, err);
    }
    return code;
}

void zb__fs_finish_all(zb__fs *fs) {
    zb__fs_take_discarded(fs);
    for (zb__fs_tree *tree; (tree = fs->going) != NULL; free(tree))
        (void)take_apart(fs, tree);
}

void zb__fs_forget_discarded(zb__fs *fs) {
    zb__fs_take_discarded(fs);
    for (zb__fs_tree *tree; (tree = fs->going) != NULL;) {
        fs->going = tree->next;
        release(tree);
    }
    fs->has_hierarchy = false;
}
