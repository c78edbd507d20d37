/* SPDX-License-Identifier: MIT */
/*
 * Types and dataspaces of attributes, where JSON alone would show others.
 *
 * The plain value of an attribute stands under its name, for all programs. Where the plain
 * translation of attribute.h would not give back the type, the dataspace and each element, the
 * attribute has an entry beside it (tree/side.h):
 *
 *     {"type": T, "shape": [...], "max": [...], "data": base64, "named": path, "name_charset": 1,
 *      "new_refs": T}
 *
 * T is that of types/type_json.h. "shape" is null for a null dataspace; "max" is there when it
 * differs (null: unlimited). "data" are the bytes of elements.h, where the plain value does not
 * give back all of them (text that is not UTF-8, null pointers for texts, bytes behind the NUL of a
 * text, the payload of a NaN).
 * "named" is the path of the committed datatype that T is. "name_charset" is 1 (UTF-8) where the
 * program said so of a name that is ASCII. "new_refs" is the type that programs see where it has
 * references of the kind H5T_STD_REF in place of the old ones of T (scales/scale_attributes.h).
 *
 * Another program may have changed the value, and the entry may be anything: it counts while the
 * value is one of that type and shape. Its bytes count while they print as that value. All else is
 * shown as if there were no entry.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_EXACT_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_EXACT_H

#include "attributes/attribute.h"
#include "attributes/elements.h"

#define VOL_EXACT_NEW_REFS "new_refs" /* the member */

/* An attribute's elements as a program has them. */
typedef struct vol_attr_elements {
    const char *name, *committed; /* objects/committed_types.h; NULL: no such type */
    bool is_utf8;                 /* the name, as in vol_attr */
    hid_t type, space;
    hid_t new_refs;       /* as vol_attr has it; 0: none */
    const vol_form *form; /* of the type */
    size_t count;
    const void *data;
} vol_attr_elements;

/* attribute.c: the plain value (malloc'ed), nested as dims say. */
enum zb_code vol_attr_print(vol_node *owner, const vol_attr_elements *elements, uint32_t ndim,
                            const uint64_t *dims, char **text, zb_error *err);

/* The entry for an attribute whose plain value is that JSON text; malloc'ed, or *out is NULL when
   it needs none. */
enum zb_code vol_exact_print(vol_node *owner, const vol_attr_elements *elements, const char *plain,
                             char **out, zb_error *err);

/* An entry whose elements are in that hidden array (large.h), and the plain value that goes with
   it: an object with its name. */
enum zb_code vol_exact_print_hidden(vol_node *owner, const vol_attr_elements *elements,
                                    const char *array, char **plain, char **out, zb_error *err);

/* An entry that every attribute can have, with the plain value in it as the member "value". It has
   no bytes of references. */
enum zb_code vol_exact_print_whole(vol_node *owner, const vol_attr_elements *elements,
                                   const char *plain, char **out, zb_error *err);

/* Puts the attribute in place of its plain translation, if its entry counts. False when memory runs
   out. */
bool vol_exact_apply(vol_attrs *attrs, vol_node *owner, const zb_json *value);

/* The same with that entry, which does nothing when it does not count, and a value whose references
   are paths of the open file. */
bool vol_exact_apply_entry(vol_attrs *attrs, vol_node *owner, const zb_json *entry,
                           const zb_json *value);

/* The same with the members "entry" and `name` of an object, for an attribute that is made here: it
   takes no number in the order of attributes. */
bool vol_exact_apply_made(vol_attrs *attrs, vol_node *owner, const zb_json *both, const char *name);

/* What a writer has written, as a value; ends the writer. NULL without memory. */
zb_json *vol_exact_parse(zb_json_writer *writer);

#endif
