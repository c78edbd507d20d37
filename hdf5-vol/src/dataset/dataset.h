/* SPDX-License-Identifier: MIT */
/* A dataset as HDF5 programs see it: the type of its elements, its dataspace, and its open ids. */
#ifndef ZARRBRIDGE_HDF5_VOL_DATASET_DATASET_H
#define ZARRBRIDGE_HDF5_VOL_DATASET_DATASET_H

#include "hdf5/library.h"
#include "tree/structs.h"

#include "zarrbridge/zarrbridge.h"

struct vol_element;

typedef struct vol_dataset {
    zb_dtype shown;              /* vol_node_shown; of size 0 until asked for */
    struct vol_element *element; /* of the type that side.h keeps, where it fits; else NULL */
    vol_held_type type;          /* of types/types.c; none until asked for */
    uint64_t *told;              /* the shape that the program knows, [ndim]; NULL until opened */
    uint64_t *known;             /* the one by which it resizes, likewise */
    size_t ids;                  /* that are open */
} vol_dataset;

/* The attribute that tells the encoding of text of a fixed size, as netCDF programs and xarray have
   it. */
#define VOL_ENCODING "_Encoding"
#define VOL_ENCODING_UTF8 "utf-8"

/* The member of side.h with a dataset's HDF5 type (type_json.h). It counts while the array is
   stored as that type would be. */

/* The member of side.h with VOL_SPACE_NULL (JSON) of a dataset without a shape (H5S_NULL,
   h5py.Empty). It counts while the array has the shape (0,), which other readers see. */
#define VOL_SPACE_NULL "\"null\""
bool vol_node_is_null(vol_node *dataset);

/* A dataset's type: a new id, which the caller drops with vol_release_id; or as it is held. -1 and
   none on failure. */
hid_t vol_node_type(vol_node *dataset);
const vol_held_type *vol_node_held_type(vol_node *dataset);
/* Whether it is the one that side.h keeps, and not made of the Zarr type. */
bool vol_node_has_own_type(vol_node *dataset);
/* Whether its elements are texts that stand for elements of that type (types/stored_type.h). */
bool vol_node_is_nested(vol_node *dataset);
/* The elements as HDF5 sees them (hdf5/shown.h): what vol_node_type has a type for. Of size 0 when
   memory runs out. */
zb_dtype vol_node_shown(vol_node *dataset);

/* The shape that a dataset has now is the one for which the program makes its buffers from now on.
   The second asks whether it still is: a change of the document may have brought another process's
   shape. The first id tells it, too. */
void vol_node_tell_shape(vol_node *dataset);
bool vol_node_shape_is_told(const vol_node *dataset);

/* The same of the shape from which the program resizes: that of its opening, its last refresh or
   its last resize. One that came with a change of the document may be shown before the program has
   looked at it. While no id is open any shape is known: the connector itself resizes dimensions
   that it shows (dimension_records.c). */
void vol_node_know_shape(vol_node *dataset);
bool vol_node_shape_is_known(const vol_node *dataset);

/* An id of the dataset is opened, or closed; the number of those that are open. */
void vol_node_add_id(vol_node *dataset);
void vol_node_drop_id(vol_node *dataset);
size_t vol_node_ids(const vol_node *dataset);

/* For node_life.c: forgets the type, which the next document may tell otherwise; or all. */
void vol_node_forget_type(vol_node *dataset);
void vol_node_free_dataset(vol_node *dataset);

/* ---- The dataspace ---- */

/* A new one: scalar, null (H5S_NULL) or simple. with_max: with the largest shape, where one is
   known; else, and without, an array shows as fixed, though it can be resized. -1 on failure. */
hid_t vol_node_space(vol_node *dataset, bool with_max);

#endif
