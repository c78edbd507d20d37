/* SPDX-License-Identifier: MIT */
/*
 * Lists of names that two programs have changed at the same time.
 *
 * A list of names stands in a document as a whole, so that the program that stores last would undo
 * what the other one added or removed. Both began with one list, the base: what it lacks was added,
 * and what only it has was removed.
 */
#ifndef ZB_EXTENSION_MERGE_NAMES_H
#define ZB_EXTENSION_MERGE_NAMES_H

#include "zarrbridge/json.h"

/* Writes a list: the names of `ours` in their order, but those that `theirs` has removed from
   `base`, and then those that `theirs` has added to it. Values that are no lists count as empty
   ones, members that are no texts are left out. In lists of names with numbers those of `ours` stay
   what they are. False without memory: anything may be written. */
bool zb__merge_names(zb_json_writer *out, const zb_json *base, const zb_json *ours,
                     const zb_json *theirs, bool numbered);

#endif
