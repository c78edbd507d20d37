/* SPDX-License-Identifier: MIT */
/* The members `moved` and `moving` of groups above a node that moves or is deleted (the public
   moved.h). */
#ifndef ZB_CHANGE_MOVED_NOTE_H
#define ZB_CHANGE_MOVED_NOTE_H

#include "change/change.h"

/* The document of a group, as it was and as it is to be. */
typedef struct zb__noted_group {
    char *path;
    zb__document before, after; /* after: without a text where it has been put already */
} zb__noted_group;

/* What a change has noted, to end it or to take it back. All zeros is nothing. */
typedef struct zb__moved_note {
    zb__noted_group *group;
    size_t count, capacity;
} zb__moved_note;

/* Notes in all groups above `from` that keep track that the node is going to `to` (NULL, or out of
   the group: its names lead nowhere from now on). Before that happens, so that no name leads to
   another node later, wherever a kill comes between: what is undecided then, the next change
   settles. The groups above have lost their blocks of consolidated metadata. */
enum zb_code zb__moved_take_note(zb__change *change, const char *from, const char *to,
                                 zb__moved_note *note, zb_error *err);

/* Ends it, and frees the note: the node has gone, or (undo) is still where it was. The documents
   are put as far as that can be done. */
void zb__moved_note_end(zb__change *change, zb__moved_note *note, bool undo);

#endif
