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
 */
#include "store/fs_discard.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_tree.h"

int zb__fs_claim_tree(int at, const char *name) {
    const int fd = zb__fs_open_name(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0 || ZB__UNINTERRUPTED(flock(fd, LOCK_EX | LOCK_NB)) == 0 || errno != EWOULDBLOCK)
        return fd; /* without a lock where there are none */
    close(fd);
    errno = EAGAIN;
    return -1;
}

/* Called with fs->lock. True if somebody will let go of the hierarchy's lock, and no other tree is
   in this place. */
static bool can_wait(const zb__fs *fs, const zb__fs_tree *place) {
    return fs->has_hierarchy && !place->fd;
}

/* Takes over the claim. Called with fs->lock. */
static void wait_in(zb__fs_tree *place, int claim, const char *name) {
    place->fd = claim + 1;
    strcpy(place->name, name);
}

/* The document goes at once: programs that know none of our names would take it for a node's. */
static bool lets_wait(zb__fs *fs, int at, const char *name) {
    const int claim = can_wait(fs, &fs->erased) ? zb__fs_claim_tree(at, name) : -1;
    if (claim < 0)
        return false;
    (void)unlinkat(claim, "zarr.json", 0);
    wait_in(&fs->erased, claim, name);
    return true;
}

int zb__fs_discard(zb__fs *fs, int at, const char *name, char discarded[NAME_MAX + 1]) {
    zb__fs_temp_name(name, discarded);
    const bool joins = fs->erased.fd && renameat(at, name, fs->erased.fd - 1, discarded) == 0;
    if (!joins && renameat(at, name, at, discarded) != 0)
        return errno;
    if (joins || lets_wait(fs, at, discarded))
        *discarded = '\0';
    return 0;
}

void zb__fs_remove_left_tree(zb__fs *fs, int at, const char *name, int claim) {
    pthread_mutex_lock(&fs->lock);
    const bool waits = claim >= 0 && can_wait(fs, &fs->left_over);
    if (waits)
        wait_in(&fs->left_over, claim, name);
    pthread_mutex_unlock(&fs->lock);
    if (waits)
        return;
    (void)zb__fs_remove_tree(at, name);
    if (claim >= 0)
        close(claim);
}

/* Removes the tree, wherever its directory is by now; errno. */
static int remove_tree(const zb__fs_tree *tree) {
    if (!tree->fd)
        return 0;
    const int claim = tree->fd - 1;
    const int above = zb__fs_open_name(claim, "..", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    const int failed = above >= 0 ? zb__fs_remove_tree(above, tree->name) : errno;
    if (above >= 0)
        close(above);
    close(claim);
    return failed == ENOENT ? 0 : failed;
}

static zb__fs_tree take(zb__fs *fs, zb__fs_tree *place) {
    pthread_mutex_lock(&fs->lock);
    const zb__fs_tree tree = *place;
    place->fd = 0;
    pthread_mutex_unlock(&fs->lock);
    return tree;
}

enum zb_code zb__fs_finish_erasing(zb_store *store, zb_error *err) {
    zb__fs *fs = (zb__fs *)store;
    const zb__fs_tree erased = take(fs, &fs->erased), left_over = take(fs, &fs->left_over);
    const int failed = remove_tree(&erased);
    (void)remove_tree(&left_over);
    if (!failed)
        return ZB_OK;
    return zb_fail_errno(err, failed,
                         "store %s: a node is deleted, but its files stay on the disk as '%s': "
                         "`zarrbridge repair` tries again to remove them",
                         store->label, erased.name);
}

void zb__fs_forget_discarded(zb__fs *fs) {
    zb__fs_tree *const places[] = {&fs->erased, &fs->left_over};
    for (size_t i = 0; i < 2; i++) {
        if (places[i]->fd)
            close(places[i]->fd - 1);
        places[i]->fd = 0;
    }
    fs->has_hierarchy = false;
}
