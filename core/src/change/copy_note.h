/* SPDX-License-Identifier: MIT */
/* The note at a path that a group is being copied to, and the nodes that a killed copy leaves
   there. */
#ifndef ZB_CHANGE_COPY_NOTE_H
#define ZB_CHANGE_COPY_NOTE_H

#include <stdbool.h>

#include "zarrbridge/store.h"

/* Puts the note at the path, or erases it. */
enum zb_code zb__copy_note(zb_store *store, const char *path, bool put, zb_error *err);

/* Before a node comes to the path, where there is none: erases the nodes that a killed copy has
   left below. */
enum zb_code zb__killed_copy_erase(zb_store *store, const char *path, zb_error *err);

#endif
