/* SPDX-License-Identifier: MIT */
/*
 * Values that two programs have changed at the same time.
 *
 * Both began with one value, the base. Of objects each member is merged for itself, and of lists
 * of one length each element. A list of objects is a set (references back of a scale): it has what
 * each program has added, and not what one of them has removed. Where both have changed the rest,
 * ours counts.
 */
#ifndef ZB_EXTENSION_MERGE_VALUES_H
#define ZB_EXTENSION_MERGE_VALUES_H

#include "zarrbridge/json.h"

/* Writes what has become of an object; NULL is an empty one. False without memory: anything may be
   written. */
bool zb__merge_values(zb_json_writer *out, const zb_json *base, const zb_json *ours,
                      const zb_json *theirs);

#endif
