/* SPDX-License-Identifier: MIT */
/* The names of the structs of an open file, for headers that only pass pointers on. */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_STRUCTS_H
#define ZARRBRIDGE_HDF5_VOL_TREE_STRUCTS_H

typedef struct vol_file vol_file; /* tree.h */
typedef struct vol_node vol_node; /* node.h */
typedef struct vol_link vol_link; /* links.h */

#endif
