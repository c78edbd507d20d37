/* SPDX-License-Identifier: MIT */
/*
 * The names of files, and what they stand for: a node in a directory, one in a zip archive, a URL,
 * or nothing of ours. All other code asks here. A URL is known by its words; only the functions
 * that say so contact its host.
 *
 *     x.zarr, x.zarr/group        a directory with a document, and what lies in it
 *     x.zarr/zarr.json            the same, by its document, for programs that insist on a file
 *     x.zarr.zip                  an archive
 *     https://host/x.zarr/group   a URL that speaks for a store (zb_url_is_zarr)
 *     zarr:https://host/data      any URL; also /directory/zarr:https:/host/data, which programs
 *                                 make of it that take it for a path
 */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_NAMES_H
#define ZARRBRIDGE_HDF5_VOL_FILE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "zarrbridge/error.h"

/* True for a URL that is ours. */
bool vol_filename_is_url(const char *name);

/* True when the name leads to a Zarr node: a directory with a zarr.json (one system call) or with a
   document of version 2, an archive with a node, or a URL that is ours, whatever its host has. */
bool vol_filename_is_zarr(const char *name);

/* Whether a file of this name becomes a store when it is created: its name ends in ".zarr", or it
   would lie inside a store. URLs count, so that creating them is refused here. */
bool vol_filename_becomes_zarr(const char *name);

/* Whether a store that is created there becomes a zip archive (zb_path_becomes_zip). */
bool vol_filename_becomes_zip(const char *name);

/* Refuses names behind which nothing can be changed: archives that are there, and URLs. */
enum zb_code vol_filename_check_changes(const char *name, zb_error *err);

/* The form of a name that a file is known by: the node's path for that of its document, where that
   is a regular file; the URL that a name holds. Any other name as it is. malloc'ed; NULL without
   memory. */
char *vol_filename_plain(const char *name);

/* The same for messages: of a URL no query, which may hold secrets. malloc'ed; NULL without
   memory. */
char *vol_filename_in_messages(const char *name);

/* A number that tells files apart as their places do. */
uint64_t vol_filename_number(const char *name);

/* Whether one is the place of the other, or lies in it. */
bool vol_filename_overlaps(const char *one, const char *other);

/* Tries to open what is there as a store, for the error. Contacts the host of a URL; `remote`: the
   options of stores on the network. */
enum zb_code vol_filename_look(const char *name, const char *remote, zb_error *err);

/* What is at a name that HDF5 itself cannot open, if that is known: zb_name_explain, and of any
   directory or file that is of another kind. The numbers of errors are those of HDF5's own. */
bool vol_filename_explain(const char *name, zb_error *err);

/* A place in a store: the name that opens the store, and the path of a node in it. */
typedef struct vol_location {
    char *root;
    char *node;
} vol_location;

/* The place of a node in the whole hierarchy that it is in, or would be in: there changes are made.
   A URL is split by its words. Cleared by the caller, also after an error. */
enum zb_code vol_location_find(const char *name, vol_location *out, zb_error *err);

/* The place for reading. All that HDF5 can see of a node lies below it: the user's own words open
   it, but for a URL, whose store has one document for all nodes. */
enum zb_code vol_location_read(const char *name, vol_location *out, zb_error *err);

void vol_location_clear(vol_location *location);

#endif
