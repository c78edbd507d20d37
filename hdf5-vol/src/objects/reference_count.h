/* SPDX-License-Identifier: MIT */
/*
 * References of a node besides its links (H5Oincr_refcount, H5Odecr_refcount): the member
 * "references" of side.h, a number above 0.
 *
 * In an HDF5 file they keep an object that has no link. A store has no place for such a node: as
 * long as it has references, its last link is not deleted.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_REFERENCE_COUNT_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_REFERENCE_COUNT_H

#include "tree/node.h"

/* Links and further references; 0 for a node in no group. */
unsigned vol_reference_count(vol_node *node);

enum zb_code vol_reference_change(vol_node *node, int delta, zb_error *err);

/* Whether a node may be deleted, with all below it; vol_alias_gather has looked for its aliases.
   What has a link elsewhere stays. */
enum zb_code vol_reference_check(vol_node *top, zb_error *err);

/* A copy has its links alone. */
enum zb_code vol_reference_copied(vol_node *copy, zb_error *err);

#endif
