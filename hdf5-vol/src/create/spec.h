/* SPDX-License-Identifier: MIT */
/*
 * From HDF5's description of a new dataset (type, dataspace, creation list) to the core's.
 *
 * spec.c puts it together, filters_to_codecs.c makes codecs of filters, pipeline.c takes a pipeline
 * of codecs, zarr_properties.c what only Zarr has.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_SPEC_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_SPEC_H

#include "types/stored_type.h"
#include "tree/edit.h"
#include "waiting/waiting.h"

#include "zarrbridge/change.h"

/* A spec with the memory that it points to. */
typedef struct vol_spec {
    zb_array_spec spec;
    uint64_t shape[ZB_MAX_NDIM], chunk[ZB_MAX_NDIM], shard[ZB_MAX_NDIM];
    zb_chunk_runs runs[ZB_MAX_NDIM]; /* in `run` */
    zb_chunk_run *run;
    hsize_t max_shape[ZB_MAX_NDIM];
    H5D_layout_t layout; /* of the creation list */
    vol_element element; /* what spec.dtype points into */
    void *fill;
    char *fill_text; /* of strings: what the fill value points at */
    char *codecs, *keys;
    vol_changes side; /* what only HDF5 knows: members of side.h */
    char *attributes; /* a JSON object, or NULL */
} vol_spec;

/* Freed with vol_spec_clear, also after an error. */
enum zb_code vol_spec_make(vol_file *file, hid_t type, hid_t space, hid_t dcpl, vol_spec *out,
                           zb_error *err);
void vol_spec_clear(vol_spec *spec);

/* The codecs in place of the creation list's filters, as a JSON list (malloc'ed). */
enum zb_code vol_codecs_of_filters(h5_lib *lib, hid_t dcpl, zb_dtype dtype, char **json,
                                   zb_error *err);

/* ---- Committed datatypes ---- */

/* Each is a group of the store that holds nothing, with the type in side.h. Makes one of any type
   that type_json.h describes, with a creation list; without a place (NULL), one without a name in
   `file`, until vol_edit_link gives it one. */
enum zb_code vol_datatype_make(vol_file *file, hid_t type, hid_t tcpl, const vol_place *place,
                               vol_node **out, zb_error *err);

#endif
