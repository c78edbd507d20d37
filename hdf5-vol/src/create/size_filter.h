/* SPDX-License-Identifier: MIT */
/*
 * A filter that changes no bytes and counts them. HDF5 believes the filters of a chunk: where they
 * give less than the chunk's elements, it reads on in memory behind them, in H5Z_pipeline's
 * callers.
 */
#ifndef VOL_SIZE_FILTER_H
#define VOL_SIZE_FILTER_H

#include <stddef.h>

#include "hdf5/library.h"

/* A dataset creation list like this one, without the filters of a mask, in which reading a chunk
   fails if the others do not give so many bytes. The mask of its chunks is 0: the numbers of the
   filters are other ones. The caller closes it. -1, with the error on the stack. */
hid_t vol_size_checked(h5_lib *lib, hid_t dcpl, uint32_t mask, size_t bytes);

#endif
