/* SPDX-License-Identifier: MIT */
/* The memory side of a selection, which HDF5 lists as runs of the program's buffer. */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_SCATTER_H
#define ZARRBRIDGE_HDF5_VOL_DATA_SCATTER_H

#include "data/selection.h"

/* Moves packed elements between a work buffer and the selected places of the program's buffer. */
typedef struct vol_scatter {
    h5_lib *lib;
    hid_t iterator; /* -1 when the places are one run */
    char *at;       /* the buffer, or the next place of the run */
    size_t size;    /* bytes of an element */
    uint64_t bytes; /* of the buffer */
} vol_scatter;

herr_t vol_scatter_begin(vol_scatter *scatter, h5_lib *lib, const vol_selection *memory,
                         size_t size, void *buffer);
herr_t vol_scatter_put(vol_scatter *scatter, const void *packed, size_t elements);
herr_t vol_scatter_get(vol_scatter *scatter, void *packed, size_t elements);
void vol_scatter_end(vol_scatter *scatter);

#endif
