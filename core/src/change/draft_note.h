/* SPDX-License-Identifier: MIT */
/* The note at a draft's root, which tells programs from each other that make a store there. */
#ifndef ZB_CHANGE_DRAFT_NOTE_H
#define ZB_CHANGE_DRAFT_NOTE_H

#include "change/draft_state.h"

/* Notes that another program makes a store there: ZB_ECONFLICT, which it returns. */
enum zb_code zb__draft_lose(zb__draft *d, zb_error *err);

/* *is_there: a note; *is_ours: this draft's. */
enum zb_code zb__draft_note_look(const zb__draft *d, bool *is_there, bool *is_ours, zb_error *err);

/* A program that begins later takes the note over, and this one must not put anything any more:
   it has lost. */
enum zb_code zb__draft_note_check(zb__draft *d, zb_error *err);

/* Puts the note, before the first object that is no document: with it, what a kill leaves is no
   file of the user's. takes_over: that of a killed program. */
enum zb_code zb__draft_note_put(zb__draft *d, bool takes_over, zb_error *err);

/* Erases the note if it is this draft's. */
void zb__draft_note_drop(zb__draft *d);

#endif
