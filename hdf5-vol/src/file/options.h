/* SPDX-License-Identifier: MIT */
/* The options that the user can give when opening or creating a file: parsed by
   callbacks/info.c. */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_OPTIONS_H
#define ZARRBRIDGE_HDF5_VOL_FILE_OPTIONS_H

#include "zarrbridge/zarrbridge.h"

/* Whether dimensions without a coordinate array show as datasets. */
enum vol_dimensions {
    VOL_DIMENSIONS_OFF,
    VOL_DIMENSIONS_ON,
    VOL_DIMENSIONS_AUTO /* for netCDF libraries, and in stores that one wrote: their root has
                           _NCProperties */
};

/* The way in which the arrays of new datasets are cut. */
enum vol_cut {
    VOL_CUT_AUTO,
    VOL_CUT_OFF,  /* shards only: none */
    VOL_CUT_FILE, /* shards only: of copies from HDF5 files, the file itself (indexed.h); AUTO for
                     new datasets */
    VOL_CUT_SHAPE /* as given, for datasets with that number of dimensions; AUTO for others */
};

typedef struct vol_cutting {
    enum vol_cut cut;
    uint32_t ndim;
    uint64_t shape[ZB_MAX_NDIM]; /* elements */
} vol_cutting;

/* The names under which new files become stores. */
enum vol_naming {
    VOL_NAMING_AUTO, /* *.zarr, and names within stores */
    VOL_NAMING_ALL,
    VOL_NAMING_DOOR,  /* AUTO; and *.nc, *.h5 and the like become doors to stores beside them */
    VOL_NAMING_BESIDE /* AUTO; and all others become such doors */
};

/* The keys of chunks: "c/0/1", "c.0.1", "0.1". */
enum vol_chunk_keys { VOL_KEYS_SLASHES, VOL_KEYS_DOTS, VOL_KEYS_V2 };

/* What copies have of nodes that cannot be read (unreadable.h). */
enum vol_unreadable {
    VOL_UNREADABLE_ERROR, /* there is none */
    VOL_UNREADABLE_TEXT   /* the text that stands for the node */
};

typedef struct vol_options {
    bool native_compat; /* claim to be native, for HDF5's old calls */
    bool any_door;      /* doors are followed to wherever they lead (zb_doors) */
    enum vol_naming naming;
    enum vol_dimensions dimensions;
    enum zb_sync sync;
    enum zb_strategy strategy;
    enum vol_unreadable unreadable;
    bool shows_shards;              /* as the chunks of datasets: the unit of writing */
    vol_cutting shards;             /* datasets whose creation list has no shard shape */
    vol_cutting chunks;             /* datasets whose creation list has no chunk shape */
    enum vol_chunk_keys chunk_keys; /* datasets whose creation list says nothing of it */
    bool is_netcdf;   /* no option: the program that opens the file is netCDF's library */
    char remote[512]; /* options of stores on the network, as behind the '#' of their names */
    char wrong[64];   /* the first option that was not understood, or its beginning; else "" */
} vol_options;

#endif
