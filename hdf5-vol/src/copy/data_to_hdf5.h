/* SPDX-License-Identifier: MIT */
/* The elements of a dataset, written into its copy in an HDF5 file, and references on that way. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_DATA_TO_HDF5_H
#define ZARRBRIDGE_HDF5_VOL_COPY_DATA_TO_HDF5_H

#include "attributes/elements.h"
#include "copy/copies.h"

/* The context of vol_export_reference. */
typedef struct vol_export {
    const vol_copies *copies;
    const vol_node *node; /* that holds the references */
    bool expands;         /* they lead to the copies of their objects */
    bool are_null;        /* they lead nowhere: HDF5's rule */
} vol_export;

/* A vol_reference_visit: from a token in the store to an address in the HDF5 file. Refuses those
   that have none; pushes errors. */
bool vol_export_reference(const vol_form *form, uint64_t *token, void *vol_export);

/* Copies all elements. `space` is the dataset's dataspace. */
herr_t vol_data_to_hdf5(const vol_copies *copies, bool expands, vol_node *node, void *dataset,
                        hid_t space);

#endif
