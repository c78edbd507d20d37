/* SPDX-License-Identifier: MIT */
/* References to objects: DIMENSION_LIST, and attributes and datasets of such a type. */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_REFERENCE_KINDS_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_REFERENCE_KINDS_H

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

/* The same of a VOL_ATTR_BYTES attribute whose elements are lists of old references; the program
   frees the lists. */
herr_t vol_refs_read_new_lists(const vol_object *object, const vol_attr *attr, hvl_t *out,
                               hid_t dxpl);

/* Elements of a compound type (which holds references of the old kind) as those of another one,
   which has references of the new kind. */
herr_t vol_refs_read_new_compounds(const vol_object *object, const vol_attr *attr, hid_t type,
                                   hid_t mem_type, void *out, hid_t dxpl);

/* Whether a type is a list of references of the old kind, or of the new one. */
bool vol_refs_are_lists(h5_lib *lib, hid_t type, bool of_new);

/* The other way: the tokens of the objects that new references refer to; 0 for those of no object
   of this file. */
void vol_refs_to_tokens(vol_file *file, size_t count, const H5R_ref_t *references,
                        uint64_t *tokens);

/* What an old reference has in place of a new one, whose bytes need not be aligned; 0: it leads to
   no object, which is an error. */
typedef uint64_t (*vol_ref_token)(void *context, const void *reference);

/* Whether a type is a list, or a compound, of references of the new kind; and such elements with
   references of the old kind in their place. The caller closes the type and frees the elements,
   which are one block (*old: NULL on failure). Other members of a compound point at what those of
   `elements` point at. Pushes errors: for references that lead to no object of this file. */
bool vol_refs_are_new(h5_lib *lib, hid_t type);
hid_t vol_refs_old_type(h5_lib *lib, hid_t type); /* a copy, where it has none of the new kind */
herr_t vol_refs_convert_to_old(h5_lib *lib, hid_t type, size_t count, const void *elements,
                               vol_ref_token token, void *context, hid_t *old_type, void **old);
herr_t vol_refs_to_old(vol_file *file, hid_t type, size_t count, const void *elements,
                       hid_t *old_type, void **old);

#endif
