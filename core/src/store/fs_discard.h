/* SPDX-License-Identifier: MIT */
/* Trees that are out of sight, and have still to be taken apart. */
#ifndef ZB_STORE_FS_DISCARD_H
#define ZB_STORE_FS_DISCARD_H

#include "store/fs_place.h"

/* Moves the entry of this key out of sight in one step; errno. discarded: its new name in its
   directory, for zb__fs_remove_discarded, or "" where it waits for zb__fs_finish_erasing. Called
   with fs->lock. */
int zb__fs_discard(zb__fs *fs, const zb__fs_place *place, const char *key,
                   char discarded[NAME_MAX + 1]);

/* Removes an entry that has a name of ours; errno. */
int zb__fs_remove_discarded(zb__fs *fs, int at, const char *name);

/* Takes the lock of a directory, as whoever takes a tree apart does: a descriptor that holds it, or
   -1 with errno, EAGAIN where another one has it. Called with fs->lock, and closed before that
   goes: a child that is forked would keep the lock. */
int zb__fs_claim_tree(int at, const char *name);

/* The same, to ask whether it is free: errno. */
int zb__fs_ask_tree(zb__fs *fs, int at, const char *name);

/* Removes a tree that a killed process has left out of sight, or lets it wait for
   zb__fs_finish_erasing; errno. */
int zb__fs_remove_left_tree(zb__fs *fs, int at, const char *name);

/* What waits becomes the calling thread's, which lets go of the hierarchy's lock now. Called with
   fs->lock. */
void zb__fs_take_discarded(zb__fs *fs);

/* Takes apart what is the calling thread's. Failures with what killed processes have left do not
   matter. */
enum zb_code zb__fs_finish_erasing(zb__fs *fs, zb_error *err);
/* The same for all threads, when the store ends. */
void zb__fs_finish_all(zb__fs *fs);

/* Leaves all trees to others: in a child, whose parent takes them apart. */
void zb__fs_forget_discarded(zb__fs *fs);

#endif
