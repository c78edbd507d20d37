/* SPDX-License-Identifier: MIT */
/*
 * Encoded chunks of datasets, between HDF5 files and stores: what the filters of one and the codecs
 * of the other agree on moves as it is (zarrbridge/encoded.h). HDF5 hands out and takes the bytes
 * of chunks (H5Dread_chunk, H5Dwrite_chunk); the core compares, changes and checks them.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ENCODED_MOVED_CHUNKS_H
#define ZARRBRIDGE_HDF5_VOL_ENCODED_MOVED_CHUNKS_H

#include "copy/pieces.h"
#include "tree/node.h"

/* Copies the elements of a box, which covers whole chunks, by reading them. */
typedef herr_t (*vol_box_fn)(void *context, const uint64_t *start, const uint64_t *count);

/* Whether an element that the dataset has not written, the first of the piece, is the fill value
   of the array, too. */
typedef bool (*vol_unwritten_fn)(void *context, const vol_pieces *probe);

typedef struct vol_moves {
    h5_lib *lib;
    hid_t dxpl;
    vol_node *node;
    vol_box_fn copy_box;
    vol_unwritten_fn fills_alike;
    void *context; /* of both */
} vol_moves;

/* Moves the chunks of `source`, an open dataset whose elements are of `type`, into the node's
   array. *all: they were moved, or copied by copy_box where single ones could not be; false, with
   nothing written, where the dataset is not of that kind. */
herr_t vol_chunks_from_hdf5(const vol_moves *moves, hid_t source, hid_t type, bool *all);

/* The other way, into a native dataset that has just been made with the node's creation list. */
herr_t vol_chunks_to_hdf5(const vol_moves *moves, void *dataset, bool *all);

#endif
