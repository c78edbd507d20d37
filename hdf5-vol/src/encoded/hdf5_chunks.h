/* SPDX-License-Identifier: MIT */
/* The chunks that a dataset of an HDF5 file has stored, as innermost chunks of an array that has
   the same ones. */
#ifndef ZARRBRIDGE_HDF5_VOL_ENCODED_HDF5_CHUNKS_H
#define ZARRBRIDGE_HDF5_VOL_ENCODED_HDF5_CHUNKS_H

#include "hdf5/library.h"

#include "zarrbridge/zarrbridge.h"

typedef struct vol_hdf5_chunk {
    uint64_t number; /* among the array's innermost chunks; first: for vol_pieces_left_out */
    uint64_t target; /* number of the array's chunk, or shard, that it is in */
    haddr_t address;
    hsize_t size;
    uint32_t mask; /* filters that were left out, bit by bit */
    bool is_plain; /* the edge cuts it, and the dataset filters no such chunk */
} vol_hdf5_chunk;

typedef struct vol_hdf5_chunks {
    const zb_node *array;  /* borrowed */
    vol_hdf5_chunk *chunk; /* as HDF5 tells them; malloc'ed */
    size_t count, capacity;
} vol_hdf5_chunks;

/* Whether HDF5 tells the places of chunks: libraries before 1.14.5 passed other offsets to the
   visitors of chunks. */
bool vol_hdf5_tells_chunks(const h5_lib *lib);

/* Lists those of a chunked dataset with this creation list; list->array is there already. False
   where HDF5 does not tell them, or memory runs out. The caller frees list->chunk, also then. */
bool vol_hdf5_chunks_list(h5_lib *lib, hid_t source, hid_t dcpl, vol_hdf5_chunks *list);

#endif
