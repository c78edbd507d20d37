/* SPDX-License-Identifier: MIT */
/*
 * How HDF5 programs see elements that HDF5 has no type for: counts of time as int64, code points as
 * UTF-8 in as many bytes, numbers of few bits as float32 or 8-bit integers; in structs likewise.
 * The core converts between the two.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_SHOWN_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_SHOWN_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

/* The dtype in which elements of `stored` are shown. It may have a detail of its own, to be freed;
   names of fields stay those of `stored`. False when memory runs out. */
bool vol_shown_new(zb_dtype stored, zb_dtype *out);
void vol_shown_free(zb_dtype shown);

/* True for code points, which no HDF5 type is. */
bool vol_shown_has_points(zb_dtype stored);

/* The dtype to which HDF5 converts elements of `memory` that are to be written; freed likewise. It
   is that in which they are shown, with three differences. HDF5 cuts text to the size of its
   target, so text has room for one character more than the store: what is too long stays so, and
   the core refuses it. Null-padded text keeps the size that `memory` has for it, for HDF5 would end
   it at its first NUL. Text that `memory` does not have stays as it is stored, since UTF-8 does not
   hold all that may be there. */
bool vol_shown_written(h5_lib *lib, zb_dtype stored, hid_t memory, zb_dtype *out);

/* Shows text of a fixed size, in structs too, as UTF-8: an array's attribute may tell that. */
void vol_shown_as_utf8(zb_dtype *shown);

/* Is it text that was code points, or is known to be UTF-8? Of other text the encoding is not
   known. */
bool vol_shown_is_utf8(zb_dtype shown);

/* The attribute by which HDF5 programs are told the Zarr type of a dataset that shows another one:
   "bfloat16", "numpy.datetime64[10us]", as zb_dtype_print says it. */
#define VOL_DATA_TYPE "zarr:data_type"

#endif
