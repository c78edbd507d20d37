/* SPDX-License-Identifier: MIT */
/*
 * Names of nodes that stay when nodes move: what references to objects, hard links, dimension
 * scales and what was made with committed datatypes hold in place of paths.
 *
 * The name of a node is the path at which it was first referred to; for most nodes that is where
 * they are. A group from which an HDF5 program has stored any of these keeps, in the member `moved`
 * of its HDF5 extension, where those names have gone that are no paths any more:
 *
 *     {"d": "old_d", "g/x": null, "d;5f3a9c0b2d4e5f60": "d"}
 *
 * A key stands for itself and for all names below it; the longest one counts, and a name without
 * one is its own path. A value is a path, or null: the node was deleted. All are relative to the
 * group. A node whose path is the name of another one, or was that of a deleted one, gets a name
 * that no path has: its path, `;` and 16 digits.
 *
 * zb_node_move and zb_node_delete keep the member up to date, in each group above that has one, in
 * the same turn as the change. While a node moves, the member `moving` says so: what a kill has
 * left undecided is settled by looking where the node is. docs/hdf5-extension.md has the rules.
 */
#ifndef ZARRBRIDGE_MOVED_H
#define ZARRBRIDGE_MOVED_H

#include "zarrbridge/hdf5_extension.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The member, parsed; immutable. */
typedef struct zb_moved zb_moved;

/* Parses the member (NULL: there is none, and *out is NULL). Entries that are no paths are left
   out. Freed with zb_moved_free (NULL is allowed). ZB_ELIMIT when it takes more than an eighth of a
   document (document_bytes); ZB_ENOMEM. */
ZB_API enum zb_code zb_moved_parse(const zb_json *member, zb_moved **out, zb_error *err);
ZB_API void zb_moved_free(zb_moved *moved);

/* The member of a group likewise, with what was left undecided as it is now; *kept (NULL is
   allowed): whether the group has one. Errors of reading, too. */
ZB_API enum zb_code zb_moved_of(const zb_node *group, zb_moved **out, bool *kept, zb_error *err);

/* Whether all names are paths. */
ZB_API bool zb_moved_is_plain(const zb_moved *moved);

/* The path of the node that has a name, and the name of the one at a path; malloc'ed. NULL when
   there is none, and when memory runs out. Without a member (NULL) each is the other; but a node in
   the making (zb_aside_name) has no name before it is given one. */
ZB_API char *zb_moved_path(const zb_moved *moved, const char *name);
ZB_API char *zb_moved_name(const zb_moved *moved, const char *path);

/* Makes sure that a group has the member, and, with a path, that the node there has a name.
   ZB_ENOTFOUND when no node is there; of what a program keeps at a path in another way (not
   is_node) that is not asked. ZB_ELIMIT when the member takes more than an eighth of a document;
   change errors. */
ZB_API enum zb_code zb_moved_begin(const zb_node *group, const char *path, bool is_node,
                                   zb_error *err);

/* The same of what is no node, as zb_node_move and zb_node_delete do it for nodes: what a program
   keeps at a path of the hierarchy in another way has gone to the path `to` (NULL: it was deleted).
   Groups above it that have the member are changed, each in one step. Change errors. */
ZB_API enum zb_code zb_moved_tell(zb_hierarchy *hierarchy, const char *path, const char *to,
                                  zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
