/* SPDX-License-Identifier: MIT */
/*
 * A new store on the network, whose documents stay in memory until it is sealed: chunks go to their
 * places at once, documents after all of them, and the root's last of all. So a program that is
 * killed leaves nothing that opens, and what was written opens as a whole.
 *
 * As long as chunks lie there without documents, the note of an unfinished copy stands at the root
 * (hierarchy/notes.h): the next program makes a new store there.
 */
#ifndef ZB_CHANGE_DRAFT_H
#define ZB_CHANGE_DRAFT_H

#include "zarrbridge/sys/hierarchy.h"

/* The hierarchy over a store, whose reference it takes over: over a draft around it where there is
   nothing yet below the prefix, or what a killed program has left. */
enum zb_code zb__draft_begin(zb_store *store, zb_hierarchy **out, zb_error *err);

#endif
