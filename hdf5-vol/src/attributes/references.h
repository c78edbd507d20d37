/* SPDX-License-Identifier: MIT */
/* References to objects: DIMENSION_LIST, and attributes and datasets of such a type. */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_REFERENCES_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_REFERENCES_H

#include "attributes/attributes.h"
#include "objects/object.h"

/* Reads a VOL_ATTR_REFS attribute into `out`: variable-length lists of old references (8-byte
   tokens) or of new ones (H5R_ref_t), as mem_type says. The program frees the lists. -1 when it
   is neither. */
herr_t vol_refs_read(const vol_object *object, const vol_attr *attr, hid_t mem_type, hvl_t *out,
                     hid_t dxpl);

/* Makes references of the new kind of tokens, which old references are; a null token, and one of no
   object, gives a null reference. */
herr_t vol_refs_of_tokens(vol_handle *handle, size_t count, const uint64_t *tokens, H5R_ref_t *out);

/* The other way: the tokens of the objects that new references refer to; 0 for those of no object
   of this file. */
void vol_refs_to_tokens(vol_file *file, size_t count, const H5R_ref_t *references,
                        uint64_t *tokens);

/* The objects that `count` lists of references refer to, one or none (NULL) for
   each. Pushes errors. */
herr_t vol_refs_take(vol_file *file, hid_t type, size_t count, const hvl_t *lists,
                     vol_node **nodes);

#endif
