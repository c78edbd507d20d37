/* SPDX-License-Identifier: MIT */
/*
 * Names of nodes in the store, for names of HDF5 that a Zarr node cannot have.
 *
 * Such names are reserved (zb_name_is_reserved), consist of dots, or have control characters or
 * backslashes. Their offending characters, and each "%", are stored as "%" and two upper-case
 * hexadecimal digits:
 *
 *     ".."        %2E.
 *     "__x"       %5F_x
 *     "a\b%"      a%5Cb%25
 *
 * A name of the store is taken for such a form only where it is the form of a name that needs one;
 * any other is shown as it is. A name that looks like a form needs one, so that no two names meet.
 * Where another program has made a node of a reserved name, its link says so (vol_link.stored).
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_STORED_NAMES_H
#define ZARRBRIDGE_HDF5_VOL_TREE_STORED_NAMES_H

#include <stdbool.h>

/* Whether no node can have a name in the store. */
bool vol_nodename_is_reserved(const char *name);

/* Whether a name is stored in another form: such a one, or one that looks like a form. */
bool vol_nodename_has_form(const char *name);

/* The name in the store of a name of HDF5, and back. Malloc'ed; NULL when memory runs out. */
char *vol_nodename_stored(const char *name);
char *vol_nodename_shown(const char *stored);

/* True for names of the store that are surely shown as they are. */
bool vol_nodename_is_plain(const char *stored);

#endif
