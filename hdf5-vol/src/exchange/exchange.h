/* SPDX-License-Identifier: MIT */
/*
 * Collective writes (H5FD_MPIO_COLLECTIVE): ranks send each other the parts of chunks that they
 * share, so that each such chunk is encoded and stored once (shared_chunks.h says by whom).
 *
 * First all hear whether the call can be made at all; a rank that cannot begin fails the call on
 * all, before anything is written. Then each tells the others its selection and its type in memory.
 * The chunks with an owner are exchanged in rounds, which bound the memory: in one, no rank sends
 * or gets more than ROUND_BYTES, or one chunk. Before each, all agree that none has failed.
 * Messages are elements alone, packed, in the types that the senders have in memory: what they are
 * of follows from the selections.
 *
 * What a rank had written before of an exchanged chunk is stored before that chunk is, so that the
 * later write stays; and at the end of the call nothing of it waits with its owner, so that each
 * rank reads what it has written. All else is written as by independent calls.
 *
 * Nothing is exchanged, and each rank writes for itself, where a selection is no box with steps,
 * the elements go through a work buffer (HDF5 converts them), are text of any length, or of a type
 * that a size and a kind do not tell (compounds), or a call has several datasets.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_EXCHANGE_EXCHANGE_H
#define ZARRBRIDGE_HDF5_VOL_EXCHANGE_EXCHANGE_H

#include "data/transfer.h"
#include "hdf5/mpi.h"

/* The ranks that make a call together; NULL: each for itself. */
h5_ranks *vol_exchange_ranks(const vol_transfer *writes, size_t count, const vol_dxpl *list);

/* One verdict for all (ranks: NULL for none): 0, or -1 with the same error. Collective. */
herr_t vol_exchange_agree(h5_ranks *ranks, herr_t result);

typedef struct vol_exchange vol_exchange;

/* What a call needs, or NULL with an error pushed. Not collective. */
vol_exchange *vol_exchange_new(h5_lib *lib, h5_ranks *ranks);
void vol_exchange_free(vol_exchange *exchange);

/* Exchanges what can be, and writes the request; *is_written is false, on all ranks, where nothing
   is exchanged: each writes for itself then. request: NULL for a call of several datasets. After a
   failure, whose error is pushed on this rank, the verdict on the call is due all the same.
   Collective. */
herr_t vol_exchange_write(vol_exchange *exchange, vol_request *request, bool *is_written);

#endif
