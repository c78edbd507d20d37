/* SPDX-License-Identifier: MIT */
/*
 * The arguments of H5Dread_chunk and H5Dwrite_chunk, as the calling library lays them out. HDF5 2
 * has changed both, and the header that the connector is built with tells only one layout.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_CHUNK_ARGS_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_CHUNK_ARGS_H

#include "hdf5/library.h"

/* 1.14 ends before `buffer_size`, and HDF5 2 lets programs leave it out. */
typedef struct h5_chunk_read {
    const hsize_t *offset;
    uint32_t filters; /* out: those that were left out */
    void *buffer;
    size_t *buffer_size; /* the bytes of the buffer, then those of the chunk; may be NULL */
} h5_chunk_read;

/* NULL where the program has not told it. */
size_t *h5_chunk_buffer_size(const h5_lib *lib, const h5_chunk_read *args);

typedef struct h5_chunk_write {
    const hsize_t *offset;
    uint32_t filters;
    size_t size;
    const void *buffer;
} h5_chunk_write;

/* What a library has handed over. */
h5_chunk_write h5_chunk_write_from(const h5_lib *lib, const void *args);

/* What a library is to be handed: `args` itself, or `old` filled in. The size of a chunk that 1.14
   has has 32 bits. */
typedef struct h5_chunk_write_v1 {
    const hsize_t *offset;
    uint32_t filters;
    uint32_t size;
    const void *buffer;
} h5_chunk_write_v1;

void *h5_chunk_write_for(const h5_lib *lib, h5_chunk_write *args, h5_chunk_write_v1 *old);

#endif
