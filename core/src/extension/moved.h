/* SPDX-License-Identifier: MIT */
/* Changes of the member `moved` (the public moved.h). */
#ifndef ZB_EXTENSION_MOVED_H
#define ZB_EXTENSION_MOVED_H

#include "zarrbridge/moved.h"

/* What a change below a group has to know of it, by its attributes. */
typedef struct zb__moved_state {
    bool is_kept;   /* it has the member */
    bool is_moving; /* and what a killed move has left */
} zb__moved_state;
enum zb_code zb__moved_state_of(const zb_json *attributes, zb__moved_state *state, zb_error *err);

/* Whether the node at a path, or one below it, may have a name, of its own or by one above it. One
   in the making (zb_aside_name) has none until it is given one, so that it comes to its place as if
   it had been made there. NULL for `moved`: there are no entries. */
bool zb__moved_is_known(const zb_moved *moved, const char *path);

/* A node has moved with all below it, or was deleted (to: NULL). */
enum zb_code zb__moved_move(zb_moved *moved, const char *from, const char *to, zb_error *err);

/* A move that may have been killed: whether a node is at either path now. Where both are, or none,
   nobody can tell which one the name was. */
enum zb_code zb__moved_settle(zb_moved *moved, const char *from, const char *to, bool is_at_from,
                              bool is_at_to, zb_error *err);

/* The same of a group's extension, whose nodes are looked for; *is_settled: there was such a move.
   NULL for `moved` changes nothing. */
enum zb_code zb__moved_look(zb_hierarchy *hierarchy, const char *group,
                            const zb_hdf5_extension *extension, zb_moved *moved, bool *is_settled,
                            zb_error *err);

/* Gives the node at a path, which has no name, one that no path has. */
enum zb_code zb__moved_assign(zb_moved *moved, const char *path, zb_error *err);

/* The member as JSON text (malloc'ed). It takes an eighth of a document at most, and names of
   deleted nodes an eighth of that: those that were deleted first are left out, names that were
   given before paths, which other nodes may get. ZB_ELIMIT where that is not enough. */
enum zb_code zb__moved_print(const zb_moved *moved, char **out, zb_error *err);

/* The value of an extension's attribute with that member, as JSON text (malloc'ed), and without the
   member `moving`. Errors likewise. */
enum zb_code zb__moved_put(const zb_hdf5_extension *extension, const zb_moved *moved, char **out,
                           zb_error *err);

/* The value with the member `moving`, and the other one as it is. */
enum zb_code zb__moved_put_moving(const zb_hdf5_extension *extension, const char *from,
                                  const char *to, char **out, zb_error *err);

#endif
