/* SPDX-License-Identifier: MIT */
/*
 * The writers of datasets: one for each, shared by all its ids, from the first H5Dwrite on. Before
 * a read the chunks are stored that it touches; data for other chunks go on waiting, as do all
 * when a dataset only grows. Before anything else that looks at the store, everything is stored.
 *
 * When the last id of a dataset is closed, its parts of chunks go on waiting for the flush or
 * close of the file, as they do in HDF5: a program that opens a dataset for each part (h5py:
 * file["a"][...] = part) stores a chunk once all the same. The dataset *rests* then. All that rest
 * are stored when another dataset is written while more than half of write_cache_bytes waits in
 * the process, or when there are too many, and those of a file before a part of it is opened by
 * another name. Nothing rests in a process that was forked from the one that opened the file, nor
 * in files that several ranks share; what rested when a process was forked is that process's to
 * store, and not its child's.
 *
 * A writer keeps the data that it cannot store, and the call that asked for it fails; only closing
 * the dataset does not (callbacks/dataset.c says why), and what rests is told of by the flush or
 * the close of its file. So flushing can be tried again, until the file is closed (open_files.h).
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATASET_WRITERS_H
#define ZARRBRIDGE_HDF5_VOL_DATASET_WRITERS_H

#include "hdf5/library.h"
#include "tree/structs.h"

#include "zarrbridge/write.h"

/* The writer of one dataset. */
typedef struct vol_writing {
    zb_writer *writer;                /* NULL until the first write */
    bool dirty;                       /* written since it was flushed */
    bool rests;                       /* no id is open, and data wait: it is in lib->resting */
    struct vol_node *before, *behind; /* in that list */
} vol_writing;

/* The writer, opened if need be; the caller is about to write with it. Borrowed. */
enum zb_code vol_writer_get(vol_node *dataset, zb_writer **out, zb_error *err);

/* Whether a dataset has a writer. */
bool vol_writer_is_open(const vol_node *dataset);

/* Stores waiting data of the chunks of a dataset that a box touches. */
enum zb_code vol_writer_settle(vol_node *dataset, const uint64_t *start, const uint64_t *count,
                               zb_error *err);

/* Stores all waiting data. */
enum zb_code vol_writer_flush(vol_node *node, zb_error *err);

/* Flushes likewise, and frees the writer on success. */
enum zb_code vol_writer_close(vol_node *node, zb_error *err);

/* The last id of a dataset is closed. Its waiting data are stored, unless they `may_rest`. */
void vol_writer_end(vol_node *dataset, bool may_rest);

/* Stores what rests of a file, or of all (NULL). */
void vol_writers_store_resting(h5_lib *lib, const vol_file *file);

/* Before a resize: stores all waiting data and frees the writer, unless the dataset only grows. */
enum zb_code vol_writer_before_resize(vol_node *dataset, const uint64_t *shape, zb_error *err);

/* After one, also one that failed: data that still wait go on with the array as it is `now`, or are
   stored. Errors are those of the data that can be neither. */
enum zb_code vol_writer_after_resize(vol_node *dataset, const zb_node *now, zb_error *err);

/* Forgets the waiting data. */
void vol_writer_abandon(vol_node *node);

#endif
