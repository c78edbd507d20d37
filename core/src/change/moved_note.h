/* SPDX-License-Identifier: MIT */
/* The member `moved` of groups above a node that moves or is deleted (the public moved.h). */
#ifndef ZB_CHANGE_MOVED_NOTE_H
#define ZB_CHANGE_MOVED_NOTE_H

#include "change/change.h"

/* What a change has noted, to take it back. All zeros is nothing. */
typedef struct zb__moved_note {
    zb__entries before; /* the documents of groups as they were */
} zb__moved_note;

/* Notes in all groups above `from` that keep track that the node has gone to `to` (NULL: deleted).
   Before that happens, so that a kill between leaves names that lead nowhere, and none that leads
   to another node later. The groups above have lost their blocks of consolidated metadata. */
enum zb_code zb__moved_take_note(zb__change *change, const char *from, const char *to,
                                 zb__moved_note *note, zb_error *err);

/* Frees the marker. undo: the node is still where it was; the documents are put back, as far as
   that can be done. */
void zb__moved_note_end(zb__change *change, zb__moved_note *note, bool undo);

#endif
