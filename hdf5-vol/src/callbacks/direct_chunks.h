/* SPDX-License-Identifier: MIT */
/*
 * H5Dread_chunk and H5Dwrite_chunk: a chunk as the filters of the dataset's creation list make it.
 *
 * Codecs are not HDF5's filters (gzip is no zlib stream, blosc stands for shuffle and deflate), so
 * HDF5 itself applies the filters, to a chunk in memory; the elements go the way of all others. A
 * program gets, and gives, the bytes that an HDF5 file with that list would hold.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_DIRECT_CHUNKS_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_DIRECT_CHUNKS_H

#include "objects/object.h"

/* Whether chunks of the dataset can be read and written so: not those of elements of variable
   length or of references, nor those of several extents. Pushes no error. */
bool vol_direct_has(vol_node *dataset);

/* The bytes of a stored chunk that begins at an offset. */
herr_t vol_direct_size(const vol_object *object, const hsize_t *offset, hsize_t *size);

/* buffer_size: the bytes that buffer has, and then those of the chunk; NULL where the program has
   not said, and vouches for the size that it was told. Without a buffer only the size is told.
   *mask: the filters that were left out. */
herr_t vol_direct_read(const vol_object *object, const hsize_t *offset, void *buffer,
                       size_t *buffer_size, uint32_t *mask);

herr_t vol_direct_write(const vol_object *object, const hsize_t *offset, uint32_t mask, size_t size,
                        const void *bytes);

#endif
