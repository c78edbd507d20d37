/* SPDX-License-Identifier: MIT */
/*
 * Attributes that are too large for a document, above the limit attribute_bytes.
 *
 * Their elements are in a hidden array of the attribute's shape (large_attributes.h), stored as
 * those of a dataset of their type would be (types/stored_type.h), but for text that is not UTF-8,
 * which is an array of bytes. The attribute's plain value is an object with the array's name, and
 * so says its entry (exact.h). The elements are read when a program asks for them.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_LARGE_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_LARGE_H

#include "attributes/exact.h"

/* Whether elements of so many bytes, or a value of so many, are to be put into an array: also those
   of some size that the owner's document cannot hold beside the others. */
bool vol_large_is(vol_node *owner, size_t bytes);

/* Writes the array: the plain value and the entry for it, both malloc'ed. */
enum zb_code vol_large_write(vol_node *owner, const vol_attr_elements *elements, char **plain,
                             char **entry, zb_error *err);

/* Reads the elements of one of the owner's attributes, unless they are in memory. Pushes an
   error. */
herr_t vol_large_read(vol_node *owner, const vol_attr *attr);

#endif
