/* SPDX-License-Identifier: MIT */
/*
 * The hidden arrays of a node's large attributes (attributes/large.h), as far as the store is
 * concerned.
 *
 * The entry of such an attribute in side.h has the member "array": the name of a hidden array
 * (zarrbridge/change.h) of the node. An array is written before the entry that names it is stored,
 * never changed, and deleted after no stored entry names it any more. So a kill leaves the old
 * value or the new one, and at most an array that nobody needs.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_LARGE_ATTRIBUTES_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_LARGE_ATTRIBUTES_H

#include "tree/node.h"

#define VOL_LARGE_ARRAY "array"

/* The name in an entry, or in the plain value of such an attribute; borrowed. NULL for any
   other. */
const char *vol_large_array(const zb_json *entry);

/* A name that no hidden array has; malloc'ed. NULL when memory runs out. */
char *vol_large_new_name(void);

/* Whether the node has such attributes, stored or waiting. */
bool vol_large_any(const vol_node *node);

/* Has the next flush of the node look whether that array (NULL is allowed) is still of use. */
enum zb_code vol_large_note(vol_node *node, const char *array, zb_error *err);

/* Deletes those arrays that no stored entry names. One that cannot be deleted does no harm. */
void vol_large_sweep(vol_node *node, char *const *arrays, size_t count);

#endif
