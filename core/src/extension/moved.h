/* SPDX-License-Identifier: MIT */
/* Changes of the member `moved` (the public moved.h). */
#ifndef ZB_EXTENSION_MOVED_H
#define ZB_EXTENSION_MOVED_H

#include "zarrbridge/moved.h"

/* Whether a group with these attributes has the member, which a change below has to read. */
enum zb_code zb__moved_is_kept(const zb_json *attributes, bool *kept, zb_error *err);

/* A node has moved with all below it, or was deleted (to: NULL). */
enum zb_code zb__moved_move(zb_moved *moved, const char *from, const char *to, zb_error *err);

/* Gives the node at a path, which has no name, one that no path has. */
enum zb_code zb__moved_assign(zb_moved *moved, const char *path, zb_error *err);

/* The member as JSON, for zb_json_free. It takes an eighth of a document at most, and names of
   deleted nodes an eighth of that: those that were deleted first are left out. ZB_ELIMIT where that
   is not enough. */
enum zb_code zb__moved_print(const zb_moved *moved, zb_json **out, zb_error *err);

/* The value of an extension's attribute with that member, as JSON text (malloc'ed). Errors
   likewise. */
enum zb_code zb__moved_put(const zb_hdf5_extension *extension, const zb_moved *moved, char **out,
                           zb_error *err);

#endif
