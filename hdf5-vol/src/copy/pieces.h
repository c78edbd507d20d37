/* SPDX-License-Identifier: MIT */
/* An array in pieces of whole chunks, of about 64 MiB, for copies. Text, whose length nobody knows
   before it is read, counts as 256 bytes an element. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_PIECES_H
#define ZARRBRIDGE_HDF5_VOL_COPY_PIECES_H

#include "dataset/stored_chunks.h"
#include "hdf5/library.h"

#include "zarrbridge/zarrbridge.h"

typedef struct vol_pieces {
    const zb_node *array;
    const zb_array_info *info;
    uint64_t chunks[ZB_MAX_NDIM]; /* of a piece, along each dimension */
    uint64_t elements;            /* of the largest piece */
    uint64_t bytes;               /* of those; of text, of its slices */
    uint64_t first[ZB_MAX_NDIM];  /* the current piece's first chunk: its index in the grid */
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM]; /* the current piece */
    bool done;
    const vol_stored_chunks *only; /* the chunks to visit, borrowed; NULL for all */
    size_t only_at;
    uint64_t longest; /* chunks of a piece along the last dimension */
} vol_pieces;

/* Goes to the first piece; done at once when the array is empty. The node must outlive the
   walk. */
void vol_pieces_begin(vol_pieces *pieces, const zb_node *array);
void vol_pieces_next(vol_pieces *pieces);

/* A piece of a box of an array, and no more. */
vol_pieces vol_pieces_of_box(const zb_node *array, const uint64_t *start, const uint64_t *count);

/* Visits only these chunks of the array's grid from now on. To be called on the first piece; the
   list must outlive the walk. */
void vol_pieces_only(vol_pieces *pieces, const vol_stored_chunks *only);

/* Makes of `probe` the first element of the first chunk that is not in a list; false when there is
   none. The list has an order, and each item of `size` bytes begins with the chunk's number. */
bool vol_pieces_left_out(const zb_node *array, enum zb_grid_level level, const void *list,
                         size_t count, size_t size, vol_pieces *probe);
static inline bool vol_stored_left_out(const vol_stored_chunks *list, vol_pieces *probe) {
    return vol_pieces_left_out(list->array, list->level, list->chunk, list->count,
                               sizeof *list->chunk, probe);
}

/* The current piece's elements, and where in the array its element `number` lies. */
size_t vol_pieces_elements(const vol_pieces *pieces);
void vol_pieces_place(const vol_pieces *pieces, size_t number, uint64_t place[ZB_MAX_NDIM]);

/* Selects the current piece in the dataspace of the whole. Returns a new dataspace of its elements
   in memory, one behind the other, or -1. */
hid_t vol_pieces_select(const vol_pieces *pieces, h5_lib *lib, hid_t space);

/* ---- The chunks that a copy visits ---- */

/* The chunks (shards, where there are some) of an array that a copy of a dataset of HDF5 into it
   has to visit, as others hold the fill value alone. */

/* Those that the dataset has written. False when that cannot be told: the caller visits all. Pushes
   no error. The caller frees the list. */
bool vol_stored_of_hdf5(h5_lib *lib, hid_t source, const zb_node *array, vol_stored_chunks *out);

#endif
