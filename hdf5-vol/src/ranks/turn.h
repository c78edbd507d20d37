/* SPDX-License-Identifier: MIT */
/* One call of all ranks: see collective.h. */
#ifndef ZARRBRIDGE_HDF5_VOL_RANKS_TURN_H
#define ZARRBRIDGE_HDF5_VOL_RANKS_TURN_H

#include "hdf5/errors.h"
#include "hdf5/mpi.h"
#include "objects/object.h"

typedef struct vol_turn {
    h5_lib *lib;
    vol_file *file;  /* NULL: native, or no file yet */
    int64_t call;    /* which, and of what: all have to make the same one */
    h5_ranks *ranks; /* NULL: this process acts alone, and nothing is said to any other */
} vol_turn;

/* The turn of a call, by its name, on an object; NULL, and when HDF5 shuts down: none. what: the
   bytes that have to be the same on all ranks. */
vol_turn vol_turn_begin(const vol_object *object, const char *call, const void *what, size_t size);

/* All have come: nobody, looking around on its own before this call, sees what it makes. 0, or -1
   where one cannot begin. */
herr_t vol_turn_meet(vol_turn *turn, herr_t ready);

/* Whether this rank does what the program has asked for. */
bool vol_turn_acts(const vol_turn *turn);

/* All hear how rank 0 has fared: its result, and its error. It has stored the links that wait. */
herr_t vol_turn_led(vol_turn *turn, herr_t result);

/* A rank that follows looks at what was made. */
herr_t vol_turn_looks(vol_turn *turn, enum zb_code (*look)(vol_file *file, zb_error *err));

/* All agree: 0 where all have succeeded; else -1, with one error. */
herr_t vol_turn_end(vol_turn *turn, herr_t result);

#endif
