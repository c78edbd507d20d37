/* SPDX-License-Identifier: MIT */
/*
 * Elements that are text, or bytes of any number: the core's zb_slice, and HDF5's in memory.
 *
 * A string of HDF5's is a char * of its own (of variable length), or a fixed number of bytes. The
 * character set that a program names is not looked at: the bytes are UTF-8, of which ASCII is a
 * part. Bytes of any number are an hvl_t, of items of one byte or of several.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_TEXT_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_TEXT_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

typedef struct vol_text_form {
    bool is_variable;
    bool is_bytes;     /* an hvl_t, which is of variable length, too */
    size_t item;       /* bytes of its items */
    size_t size;       /* bytes of an element in memory */
    H5T_str_t padding; /* of a fixed number of bytes */
} vol_text_form;

/* False when `type` is neither a string nor a sequence of items without pointers. */
bool vol_text_form_of(h5_lib *lib, hid_t type, vol_text_form *out);

/* Puts a text where an element of HDF5's is. Of variable length: malloc'ed, as HDF5 does it.
   Otherwise cut to the element and padded, as HDF5 does it. ZB_EUNSUPPORTED for a NUL that the form
   would take for the end, ZB_EINVAL for bytes that end within an item. */
enum zb_code vol_text_put(const vol_text_form *form, zb_slice text, void *element, zb_error *err);

/* The text of an element of HDF5's, where it lies. A null pointer is the empty text. */
zb_slice vol_text_get(const vol_text_form *form, const void *element);

/* The memory that an element of variable length points at, or NULL. */
void *vol_text_memory(const vol_text_form *form, const void *element);

/* Frees what vol_text_put has made, and leaves null pointers. */
void vol_text_free(const vol_text_form *form, void *elements, size_t count);

/* Whether a text that ends with a NUL is UTF-8. */
bool vol_text_is_utf8(const char *text);

#endif
