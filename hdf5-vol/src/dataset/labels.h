/* SPDX-License-Identifier: MIT */
/*
 * Text that other programs have stored in types that are bytes to HDF5's libraries.
 *
 * xarray by h5netcdf takes strings of variable length for text, and those of a fixed length only
 * where the attribute `_Encoding` tells how to read them. So text of a fixed length tells it, and a
 * coordinate of bytes of any length is shown as strings. Datasets that HDF5 programs have made show
 * what they were made with.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATASET_LABELS_H
#define ZARRBRIDGE_HDF5_VOL_DATASET_LABELS_H

#include "dataset/dataset.h"

#include <stdbool.h>

#define VOL_ENCODING_LATIN1 "latin-1" /* beside those of dataset.h */

/* True if the elements name the places along a dimension: the array has one dimension, which is
   called like it. Not of datasets that HDF5 programs have made. */
bool vol_node_is_label(vol_node *dataset);

/* How its text of a fixed length is encoded, in Python's words: code points are shown as UTF-8.
   Other bytes say nothing unless they are labels, which are read for this. Static; NULL for what is
   no text, or too long to look at. */
const char *vol_label_encoding(vol_node *dataset);

#endif
