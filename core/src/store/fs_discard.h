/* SPDX-License-Identifier: MIT */
/* Trees that are out of sight, and have still to be taken apart. */
#ifndef ZB_STORE_FS_DISCARD_H
#define ZB_STORE_FS_DISCARD_H

#include "store/fs_store.h"

/* Moves an entry out of sight in one step; errno. discarded: its new name in `at`, by which the
   caller removes it, or "" where it waits for zb__fs_finish_erasing. Called with fs->lock. */
int zb__fs_discard(zb__fs *fs, int at, const char *name, char discarded[NAME_MAX + 1]);

/* Takes the lock of a tree out of sight, as whoever takes it apart does: a descriptor that holds
   it, or -1 with errno, EAGAIN where another one has it. */
int zb__fs_claim_tree(int at, const char *name);

/* Removes a tree that a killed process has left out of sight, or lets it wait for
   zb__fs_finish_erasing. Takes over the descriptor of zb__fs_claim_tree; -1: there is none. */
void zb__fs_remove_left_tree(zb__fs *fs, int at, const char *name, int claim);

/* Takes apart what waits. Failures with what killed processes have left do not matter. */
enum zb_code zb__fs_finish_erasing(zb_store *store, zb_error *err);

/* Leaves what waits to others: in a child, whose parent takes it apart. */
void zb__fs_forget_discarded(zb__fs *fs);

#endif
