/* SPDX-License-Identifier: MIT */
/*
 * Elements of attributes, of any HDF5 type, as programs have them in memory: as plain JSON and
 * back, and as bytes and back.
 *
 *     integer, enumeration, bitfield   integer; h5py's bool: true and false
 *     float                            number with a point or an exponent, as short as its type
 *                                      allows; "NaN", "Infinity", "-Infinity"
 *     string                           string. Bytes that are no UTF-8 are taken for Latin-1, NULs
 *                                      become U+FFFD
 *     opaque, bitfield over 64 bits    string: base64
 *     reference to an object           string: its path, or name (tree/moved.h) where it has
 *                                      moved; null where it leads nowhere
 *     compound                         object with the members
 *     array, list of variable length,  list; complex numbers are lists of two
 *     complex number of HDF5 2.x
 *
 * Bytes are those of the elements in memory, one after the other, but without the padding in
 * compounds; of a list or string of variable length first its number of elements or bytes, as 8
 * bytes, little-endian. The number 2^64-1 stands for a null pointer in place of a string.
 * References are zeros in what is stored, and come from the plain JSON.
 *
 * Elements of datasets that point at others, or hold references, are texts in the store
 * (types/stored_type.h): the path of a reference; the JSON of all others, or, where that would not
 * give back each byte, a JSON string with the base64 of the bytes. The empty text is an element of
 * zeros: no texts, empty lists, references to nothing.
 *
 * elements_form.c, elements_json.c, elements_bytes.c, elements_text.c, elements_references.c.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ELEMENTS_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ELEMENTS_H

#include "hdf5/text.h"
#include "tree/tree.h"

/* The largest attribute, and the largest list in an element of a dataset, that is made of what a
   store says: bytes of all elements in memory. */
#define VOL_ATTR_LARGEST ((size_t)64 << 20)

enum vol_form_kind {
    VOL_FORM_BOOL,
    VOL_FORM_INT,
    VOL_FORM_UINT,
    VOL_FORM_FLOAT,
    VOL_FORM_BITS, /* at most 8 bytes */
    VOL_FORM_OPAQUE,
    VOL_FORM_TEXT,
    VOL_FORM_REFERENCE, /* an old one: 8 bytes, the token of a node */
    VOL_FORM_COMPOUND,
    VOL_FORM_ARRAY,
    VOL_FORM_VLEN
};

typedef struct vol_form vol_form;

typedef struct vol_form_member {
    char *name;
    size_t offset;
    vol_form *form;
} vol_form_member;

/* The largest float, in bytes, that type_json.h has words for. */
#define VOL_LARGEST_FLOAT 64

/* A type taken apart. */
struct vol_form {
    h5_lib *lib;
    vol_file *file; /* whose nodes references lead to */
    enum vol_form_kind kind;
    size_t size;        /* bytes of an element */
    hid_t number;       /* numbers: their type; 0 for other kinds */
    bool by_path;       /* references: their texts are paths, not names (tree/moved.h) */
    bool is_big_endian; /* bits */
    vol_text_form text;
    size_t count; /* compound: of members; array: of elements */
    vol_form_member *member;
    vol_form *base; /* array, vlen */
    uint32_t ndim;  /* array */
    uint64_t dims[ZB_MAX_NDIM];
};

/* Takes a type apart; freed with vol_form_free (NULL is allowed). ZB_EUNSUPPORTED, with what to do
   instead, for types that no attribute of a store can have: integers of more than 64 bits, floats
   of more than 64 bytes, references to regions and those of HDF5 1.12's new kind. */
enum zb_code vol_form_new(vol_file *file, hid_t type, vol_form **out, zb_error *err);
void vol_form_free(vol_form *form);

/* References are printed and parsed as paths of the open file, whatever has moved. */
void vol_form_go_by_path(vol_form *form);

/* Whether elements point at other memory, or hold references. */
bool vol_form_has(const vol_form *form, enum vol_form_kind kind);
bool vol_form_points(const vol_form *form);

/* Puts a list of zeroed elements where an element of variable length (form->kind is VOL_FORM_VLEN)
   is, which owns it from now on. False when it is too large, or memory runs out. */
bool vol_form_new_list(const vol_form *form, uint64_t length, char *element, hvl_t *out);

/* Writes `count` elements, nested as dims say. NULLs in texts count as memory that has run out. */
void vol_elements_print(const vol_form *form, uint32_t ndim, const uint64_t *dims,
                        const void *elements, zb_json_writer *out);

/* Elements of that JSON, malloc'ed; ZB_EINVAL when it is not nested as dims say or holds what the
   type cannot hold exactly. Neither is trusted, but the product of dims is `count` and fits. */
enum zb_code vol_elements_parse(const vol_form *form, uint32_t ndim, const uint64_t *dims,
                                size_t count, const zb_json *json, void **out);

enum vol_pack {
    VOL_PACK_VALUES,
    VOL_PACK_EXACT, /* all that files of HDF5's own keep: a null pointer for a text is told from the
                       empty text, and bytes behind the NUL of a text of fixed length count */
    VOL_PACK_STORED /* the same, and references are null: they are stored as names, for tokens say
                       nothing of where an object has moved */
};

/* The bytes of `count` elements; malloc'ed. NULL when memory runs out. */
unsigned char *vol_elements_pack(const vol_form *form, size_t count, const void *elements,
                                 enum vol_pack kind, size_t *size);

/* Elements of such bytes, which are not trusted, malloc'ed; NULL when they are not so many. */
void *vol_elements_unpack(const vol_form *form, size_t count, const unsigned char *bytes,
                          size_t size);

/* Elements of their own, with all that they point at; NULL when memory runs out. */
void *vol_elements_copy(const vol_form *form, size_t count, const void *elements);

/* Writes bytes as a JSON string of base64. */
void vol_elements_write_base64(zb_json_writer *out, const void *bytes, size_t size);

/* Frees elements with all that they point at; NULL is allowed. */
void vol_elements_free(const vol_form *form, size_t count, void *elements);

/* Frees what elements point at, unless the elements `kept` (NULL: none) point there, too. */
void vol_elements_drop(const vol_form *form, size_t count, void *elements, const void *kept);

/* The bytes of all that elements point at. */
uint64_t vol_elements_pointed(const vol_form *form, size_t count, const void *elements);

/* The node that a text names, as a reference in `element`; false when a limit keeps it from being
   found. */
bool vol_reference_parse(const vol_form *form, const char *text, void *element);

/* The path of the object to which a reference leads; borrowed. NULL for none in the store. */
const char *vol_reference_path(const vol_form *form, const void *element);

/* The text that a reference is stored as: the name of the object (tree/moved.h), malloc'ed; NULL
   for none in the store. */
enum zb_code vol_reference_text(const vol_form *form, const void *element, char **text,
                                zb_error *err);

/* Calls `visit` for each reference in the elements that is not null, which it may change, until it
   returns false; returns that. */
typedef bool (*vol_reference_visit)(const vol_form *form, uint64_t *token, void *context);
bool vol_elements_references(const vol_form *form, size_t count, void *elements,
                             vol_reference_visit visit, void *context);

/* Gives elements the references of others. False where their lists have other lengths; some may
   have been given then. */
bool vol_elements_take_references(const vol_form *form, size_t count, void *elements,
                                  const void *from);

/* ---- Elements of datasets as texts ---- */

/* The text of one element, malloc'ed. ZB_EINVAL for a reference to no object of the store. */
enum zb_code vol_element_print(const vol_form *form, const void *element, zb_slice *out,
                               zb_error *err);

/* The element (of zeros until now) of such a text, which is not trusted. ZB_EFORMAT when it is
   none; the element owns what it points at all the same. */
enum zb_code vol_element_parse(const vol_form *form, zb_slice text, void *element, zb_error *err);

#endif
