/* SPDX-License-Identifier: MIT */
#ifndef ZARRBRIDGE_H5_READ_H
#define ZARRBRIDGE_H5_READ_H

#include "h5_object.h"

/* One dataset of a read call: HDF5's arguments. */
typedef struct vol_read {
    vol_node *node;
    hid_t mem_type, mem_space, file_space;
    void *buffer;
} vol_read;

/* Serves `count` reads together. Pushes errors. */
herr_t vol_read_datasets(h5_lib *lib, const vol_read *reads, size_t count, hid_t dxpl);

#endif
