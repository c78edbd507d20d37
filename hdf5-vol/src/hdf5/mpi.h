/* SPDX-License-Identifier: MIT */
/*
 * The processes, "ranks", that open a file together: those of the communicator in its access list
 * (H5Pset_fapl_mpio, H5Pset_mpi_params).
 *
 * The connector links to no MPI and knows no mpi.h: H5Pget_mpi_params and the MPI_ functions are
 * those that the calling libhdf5 has or depends on. A communicator is a pointer (Open MPI) or an
 * int (MPICH), which both fit a zeroed word; a type of eight bytes is asked for by
 * MPI_Type_create_f90_integer, so that no constant of an MPI is needed. All messages are words.
 *
 * Only the threads in which HDF5 calls the connector call MPI, as HDF5 itself does. What is said
 * to be collective has to be called by all ranks, in the same order.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_MPI_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_MPI_H

#include "hdf5/library.h"
#include "zarrbridge/error.h"

typedef struct h5_ranks h5_ranks;

/* The ranks of a list's communicator: *out is NULL where it has none, or one process alone. False,
   with an error pushed, when they cannot be had. Collective. */
bool h5_ranks_of_list(h5_lib *lib, hid_t fapl, h5_ranks **out);

/* NULL: nothing to do. After MPI_Finalize only the memory is freed. */
void h5_ranks_free(h5_ranks *ranks);

/* Rank 0 leads, and so does a process without others (NULL). */
bool h5_ranks_lead(const h5_ranks *ranks);

/* How many there are, and which of them this one is. */
size_t h5_ranks_count(const h5_ranks *ranks);
size_t h5_ranks_own(const h5_ranks *ranks);

/* False after MPI_Finalize, when HDF5 closes what the program has left open. */
bool h5_ranks_can_talk(const h5_ranks *ranks);

/* Whether a file driver is that of H5Pset_fapl_mpio. */
bool h5_mpi_is_driver(const h5_lib *lib, hid_t driver);

/* A copy of an access list without the communicator, and with the default driver in place of mpio:
   one rank can copy it alone. -1 on failure. Collective, as copying a communicator is. */
hid_t h5_list_alone(h5_lib *lib, hid_t fapl);

/* What came of a call on one rank: the innermost record of HDF5's error stack. The numbers of
   HDF5's own messages are given when the library starts, and so are the same in all processes. */
typedef struct h5_verdict {
    int64_t failed; /* 0, 1 */
    int64_t call;   /* h5_ranks_call */
    int64_t major, minor;
    char text[2 * ZB_MESSAGE_SIZE];
} h5_verdict;

/* The verdict on a call that has just returned, from the current error stack. */
void h5_verdict_take(h5_lib *lib, bool failed, h5_verdict *out);

/* Puts the error of a verdict in place of what is on the stack. Always gives -1. */
herr_t h5_verdict_push(h5_lib *lib, const h5_verdict *verdict);

/* Rank 0's verdict for all. Collective. */
void h5_ranks_hear(h5_ranks *ranks, h5_verdict *verdict);

/* One verdict for all: that of the first rank that has failed, if any has; a failure where the
   ranks have made different calls, instead of a wait without end. True if it is another rank's than
   this one. No rank returns before all have come. Collective. */
bool h5_ranks_agree(h5_ranks *ranks, h5_verdict *verdict);

/* The number of a call, by its name and the bytes that have to be the same on
   all ranks (NULL, 0: none). */
int64_t h5_ranks_call(const char *name, const void *what, size_t size);

/* The same for the result of a call (NULL: of this process alone): 0 where all have succeeded; else
   -1, with one error pushed. Collective. */
herr_t h5_ranks_result(h5_ranks *ranks, int64_t call, herr_t result);

/* ---- Data ---- */

/* As many words of each rank for all, in the order of the ranks. Pushes an error where MPI fails.
   Collective. */
herr_t h5_ranks_gather(h5_ranks *ranks, const int64_t *own, size_t words, int64_t *all);

/* Words for each rank, and from each: so many, one after another in the order of the ranks. At most
   INT_MAX together. Pushes an error where MPI fails. Collective. */
typedef struct h5_mail {
    int64_t *data;
    int *words, *at; /* [ranks]: how many, and where they begin */
} h5_mail;
herr_t h5_ranks_exchange(h5_ranks *ranks, const h5_mail *out, const h5_mail *in);

#endif
