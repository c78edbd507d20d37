/* SPDX-License-Identifier: MIT */
/*
 * A pipeline of codecs as a property of a creation list: JSON text, as zb_array_spec.codecs takes
 * it.
 *
 * The list of an opened array has the property where the list's filters would make another
 * pipeline. A second property says then that the text is a description and no order: filters that a
 * program changes on such a list (h5repack -f) take the pipeline's place.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_PIPELINE_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_PIPELINE_H

#include "create/spec.h"
#include "tree/tree.h"

#define VOL_CODECS_PROPERTY "zarr:codecs"
#define VOL_CODECS_SHOWN_PROPERTY "zarr:codecs_shown"

/* Takes codecs into the spec: those of the property, else those that stand for the filters. The
   rest of the spec is there already. */
enum zb_code vol_pipeline_take(h5_lib *lib, hid_t dcpl, vol_spec *out, zb_error *err);

/* Have the dataset's chunks no codecs but those that a new one of its type, without filters,
   gets? */
bool vol_pipeline_is_plain(vol_node *dataset);

/* True if the filters of a list would make the dataset's pipeline. */
bool vol_pipeline_is_of_filters(vol_node *dataset, hid_t dcpl);

/* Adds the property for an existing dataset, to a list that is complete but for it. */
void vol_pipeline_add(vol_node *dataset, hid_t dcpl);

#endif
