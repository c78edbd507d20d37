/* SPDX-License-Identifier: MIT */
/*
 * Doors: small regular files that lead to a store, for programs that insist on a file of HDF5's
 * form before they ask HDF5 (netCDF-C and all that is built on it, PyTables, cooler).
 *
 * A door is an HDF5 file, whose attributes tell a reader without the connector what it is, and
 * behind that a text that the connector reads: docs/doors.md has the form. It leads to a directory,
 * an archive or a node in one by a path seen from the door's own directory or an absolute one, or
 * to a URL.
 */
#ifndef ZARRBRIDGE_DOOR_H
#define ZARRBRIDGE_DOOR_H

#include <stdbool.h>

#include "zarrbridge/error.h"
#include "zarrbridge/hierarchy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* No door is larger, in bytes: of a larger file the size alone is looked at. */
#define ZB_DOOR_MAX_BYTES 16384

typedef struct zb_door {
    char *target; /* as the door says it; malloc'ed */
    char *store;  /* the name that opens the store from here; malloc'ed */
    bool is_copy; /* the file is a copy of the door that was made: its store is the other one's */
} zb_door;

/* Which doors are followed. One that leads to a place beside or below itself always is. */
enum zb_doors {
    ZB_DOORS_OWN, /* to other places and to hosts, too, if the door belongs to the user */
    ZB_DOORS_ANY  /* all of them */
};

/* Is the path that of a door, whatever it leads to? One call of stat, and of a file that is small
   enough one read. Any thread. */
ZB_API bool zb_path_is_door(const char *path);

/* Reads a door, which the caller clears, also after an error. ZB_ENOTFOUND for a path that is no
   door, with *out all zeros, and where a door leads to nothing: the message has both names. Nothing
   is asked of hosts. ZB_EUNSUPPORTED for a door that is not followed; ZB_EFORMAT for one whose text
   is broken; ZB_ENOMEM. Any thread. */
ZB_API enum zb_code zb_door_read(const char *path, enum zb_doors which, zb_door *out,
                                 zb_error *err);
ZB_API void zb_door_clear(zb_door *door);

/* Makes a door at `path`, which may be written by nobody: a program without the connector that
   wants to make its own file there fails. `replaces`: also in place of a door or an empty file; of
   any other file never (ZB_ECONFLICT). What it leads to need not be there. The file appears whole.
   ZB_EINVAL for a target that is empty, no UTF-8, or longer than 1024 bytes; ZB_EIO; ZB_ENOMEM. Any
   thread. */
ZB_API enum zb_code zb_door_make(const char *path, const char *target, bool replaces,
                                 zb_error *err);

/* The name under which a file that is made now will be known: the path, but for the name that NCO
   gives to a file before it takes its place (out.nc.pid123.ncks.tmp). malloc'ed; NULL without
   memory. */
ZB_API char *zb_door_place(const char *path);

/* A name for the store of a new door at `path`: PLACE.zarr or, where that is there already,
   PLACE.2.zarr and so on; PLACE is what zb_door_place tells. malloc'ed; NULL without memory, and
   where a thousand are there. */
ZB_API char *zb_door_beside(const char *path);

/* Gives a door that is a copy a store of its own: a copy of the other one's, beside it, to which
   the door leads from then on. *door is what zb_door_read gave, and is renewed. The store is whole
   before the door leads there. Errors of zb_door_beside and of zb_node_copy. */
ZB_API enum zb_code zb_door_own(const char *path, zb_door *door, zb_error *err);

/* Packs a store into a zip archive that is a door to itself: its first bytes are those of an HDF5
   file, and the last ones an archive's, which zb_hierarchy_open reads where it is named like one.
   As zb_hierarchy_pack otherwise. The file may be written by nobody. */
ZB_API enum zb_code zb_door_pack(zb_hierarchy *hierarchy, const char *path, zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
