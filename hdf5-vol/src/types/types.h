/* SPDX-License-Identifier: MIT */
/*
 * Data types of the two worlds.
 *
 * HDF5 sees host byte order, as the core hands elements out: bool as the enumeration {FALSE, TRUE}
 * of 8-bit integers (which h5py reads as bool), complex numbers as the compound {r, i} (h5py:
 * complex), r<bits> as opaque, string as variable-length UTF-8 and bytes as sequences of 8-bit
 * unsigned integers (text.h).
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TYPES_TYPES_H
#define ZARRBRIDGE_HDF5_VOL_TYPES_TYPES_H

#include "hdf5/library.h"

#include "zarrbridge/dtype.h"
#include "zarrbridge/zarrbridge.h"

/* The HDF5 type for dtype (host order); the caller closes it. -1 on failure. */
hid_t vol_type_new(h5_lib *lib, zb_dtype dtype);

/* Whether the core can read into `type`, with the same result as HDF5's own conversion: integers
   without padding, IEEE floats, the complex and bool types above, in either byte order. */
bool vol_type_to_dtype(h5_lib *lib, hid_t type, zb_dtype *dtype);

/* A copy of a type, with the character sets that `like` names for the same text (-1: its own): HDF5
   converts between no two of them. */
hid_t vol_type_like(h5_lib *lib, hid_t type, hid_t like);

/* True for the layout of a float of few bits, which is exposed as float32. */
bool vol_type_to_small(h5_lib *lib, hid_t type, zb_dtype *dtype);

/* Whether two types are the same in all that HDF5 tells about them. H5Tequal does not look at the
   character set and the padding of strings of any length. */
bool vol_type_same(h5_lib *lib, hid_t a, hid_t b);

/* Is it the type in which elements of `stored` are shown (shown.h), in the byte order of the host?
   False also when memory runs out. */
bool vol_type_shows(h5_lib *lib, hid_t type, zb_dtype stored);

/* The double of the host; borrowed. */
hid_t vol_type_double(h5_lib *lib);

/* New variable-length UTF-8 string type, and fixed-length string type of `size` bytes with its
   NUL. */
hid_t vol_type_text(h5_lib *lib);

/* The first one, padded with blanks, which no text of variable length is: it says that the text is
   that of a JSON value. So copies of attributes keep objects, also by programs that create each
   attribute by the type of another one, and by way of an HDF5 file. */
hid_t vol_type_json_text(h5_lib *lib);
bool vol_type_is_json_text(h5_lib *lib, hid_t type);
hid_t vol_type_fixed_text(h5_lib *lib, size_t size);

/* Does the type point at bytes elsewhere, or at objects, so that its own bytes mean nothing outside
   their file? */
bool vol_type_has_pointers(h5_lib *lib, hid_t type);

/* Whether a type is references of a kind (H5T_STD_REF_OBJ and so on). To HDF5 the elements of a
   committed datatype that it has opened lie in a file, so that only a copy of it equals the kind.
   */
bool vol_type_is_reference(h5_lib *lib, hid_t type, hid_t kind);

/* The bytes of an item of a sequence (H5T_VLEN) whose items have no pointers; of other types 0. */
size_t vol_type_item(h5_lib *lib, hid_t type);

/* Memory for variable-length data, from the manager in dxpl (malloc by default): the program
   frees it. */
void *vol_vlen_alloc(h5_lib *lib, hid_t dxpl, size_t size);
/* Frees such memory (NULL is allowed) instead of the program. */
void vol_vlen_free(h5_lib *lib, hid_t dxpl, void *data);

/* ---- Predefined numbers ---- */

/*
 * The numbers that HDF5 has types of from the start (H5T_NATIVE_..., H5T_STD_..., H5T_IEEE_...).
 * Most programs pass these ids with each read and write. No program can change such a type, so that
 * what it is to the core is asked once, and not by six calls each time.
 */

/* As vol_type_to_dtype for those types; false for all others. No call of HDF5's. */
bool vol_number_known(h5_lib *lib, hid_t type, zb_dtype *dtype);

/* True if a type equals one of those that are this number to the core, as a copy of it does. One
   call of HDF5's. */
bool vol_number_is(h5_lib *lib, hid_t type, zb_dtype number);

#endif
