/* SPDX-License-Identifier: MIT */
/* Lists of chunks that are stored. Each is a number, in C order of the array's grid. */
#ifndef ZARRBRIDGE_HDF5_VOL_DATASET_STORED_CHUNKS_H
#define ZARRBRIDGE_HDF5_VOL_DATASET_STORED_CHUNKS_H

#include "tree/node.h"

typedef struct vol_stored_chunk {
    uint64_t number;
    uint64_t bytes; /* of inner chunks; else 0 */
} vol_stored_chunk;

typedef struct vol_stored_chunks {
    const zb_node *array; /* whose grid counts; borrowed */
    enum zb_grid_level level;
    vol_stored_chunk *chunk; /* in order, each once; freed with vol_stored_chunks_free */
    size_t count, capacity;
} vol_stored_chunks;

/* Adds the chunk at an index. ZB_ENOMEM; ZB_EUNSUPPORTED where the array has 2^64 chunks or more.
   The list has an order when all have been added and vol_stored_chunks_sort was called. */
enum zb_code vol_stored_chunks_add(vol_stored_chunks *list, const uint64_t *index, uint64_t bytes,
                                   zb_error *err);
void vol_stored_chunks_sort(vol_stored_chunks *list);

/* Those that the array itself has (zb_array_stored_each). The list is to be freed on errors,
   too. */
enum zb_code vol_stored_chunks_of(const zb_node *array, enum zb_grid_level level,
                                  vol_stored_chunks *out, zb_error *err);

/* The index of a chunk, from its number. False when there is no such chunk. */
bool vol_chunk_index(const zb_node *array, enum zb_grid_level level, uint64_t number,
                     uint64_t index[ZB_MAX_NDIM]);

/* That of the chunk at place i of the list. */
void vol_stored_chunks_index(const vol_stored_chunks *list, size_t i, uint64_t index[ZB_MAX_NDIM]);

void vol_stored_chunks_free(vol_stored_chunks *list);

/* The level of the chunks that HDF5 sees. Where each object is one, its name is all that a list
   needs. */
enum zb_grid_level vol_stored_level(const zb_node *array);

/* The chunks that a dataset shows and has stored, those of shards with their bytes. Data that wait
   are stored before (vol_writer_flush). The node keeps the list, as programs ask for one place of
   it after the other. */
enum zb_code vol_node_stored_chunks(vol_node *dataset, const vol_stored_chunks **out,
                                    zb_error *err);

/* The dataset is written or refreshed, or goes. */
void vol_node_forget_stored_chunks(vol_node *dataset);

#endif
