/* SPDX-License-Identifier: MIT */
/*
 * From HDF5's description of a new dataset (type, dataspace, creation list) to the core's.
 *
 * spec.c puts it together, codecs.c makes codecs of filters, default_shapes.c chooses chunk and
 * shard shapes.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_SPEC_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_SPEC_H

#include "model/tree.h"

/* A spec with the memory that it points to. */
typedef struct vol_spec {
    zb_array_spec spec;
    uint64_t shape[ZB_MAX_NDIM], chunk[ZB_MAX_NDIM], shard[ZB_MAX_NDIM];
    hsize_t max_shape[ZB_MAX_NDIM];
    void *fill;
    char *codecs;
} vol_spec;

/* Freed with vol_spec_clear, also after an error. */
enum zb_code vol_spec_make(h5_lib *lib, const vol_options *options, hid_t type, hid_t space,
                           hid_t dcpl, vol_spec *out, zb_error *err);
void vol_spec_clear(vol_spec *spec);

/* The codecs in place of the creation list's filters, as a JSON list (malloc'ed). */
enum zb_code vol_codecs_of_filters(h5_lib *lib, hid_t dcpl, zb_dtype dtype, char **json,
                                   zb_error *err);

/* A good chunk shape for an array: about 1 MiB. */
void vol_cut_chunk(uint32_t ndim, const uint64_t *shape, uint32_t element_size, uint64_t *chunk);

/* A good shard shape: true, and about 64 MiB of whole chunks, for arrays over 256 MiB. */
bool vol_cut_shard(uint32_t ndim, const uint64_t *shape, uint32_t element_size,
                   const uint64_t *chunk, uint64_t *shard);

#endif
