/* SPDX-License-Identifier: MIT */
/*
 * A new store on the network, whose documents stay in memory until it is sealed: chunks go to their
 * places at once, documents after all of them, and the root's last of all. So a program that is
 * killed leaves nothing that opens, and what was written opens as a whole.
 *
 * As long as chunks lie there without documents, the note of an unfinished copy stands at the root
 * (node/notes.h): the next program makes a new store there.
 */
#ifndef ZB_CHANGE_DRAFT_H
#define ZB_CHANGE_DRAFT_H

#include "zarrbridge/store.h"

/* Puts a draft around the store, whose reference it takes over, where there is no store yet:
   nothing is below the prefix, or what a killed program has left. Otherwise *store stays as it is.
   After an error, too. */
enum zb_code zb__draft_begin(zb_store **store, zb_error *err);

#endif
