/* SPDX-License-Identifier: MIT */
/*
 * HDF5 selections for the core.
 *
 * A selection is a box with steps whenever HDF5 can describe it as one (all, a regular hyperslab of
 * single elements or of adjoining blocks); such a pair of file and memory becomes one zb_read that
 * decodes straight into the program's buffer. Everything else (OR-ed hyperslabs, points, blocks
 * with gaps) is walked through HDF5's sequence iterator in pieces.
 *
 * HDF5 (1.14.5 and 2.2) keeps a selection twice, as regular hyperslab and as list of spans, and
 * lets the two contradict each other: an OR with a hyperslab that lies within the selection can
 * make the regular one smaller than that. Its iterator then returns stale memory, or aborts.
 * Only the spans and their count are right. So each description is checked to have as many points
 * as HDF5 counts; one that has not is made anew from the spans, or refused.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_SELECTION_H
#define ZARRBRIDGE_HDF5_VOL_DATA_SELECTION_H

#include "tree/tree.h"

#include "zarrbridge/write.h"

typedef struct vol_selection {
    hid_t space;  /* borrowed; for the iterator of irregular selections */
    hid_t mended; /* the same when it had to be made anew, else -1 */
    uint64_t elements;
    bool is_box;
    uint32_t ndim;
    uint64_t dims[ZB_MAX_NDIM];                                         /* of the dataspace */
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM], step[ZB_MAX_NDIM]; /* of a box */
} vol_selection;

/* All elements of an extent. */
void vol_select_all(uint32_t ndim, const uint64_t *dims, vol_selection *out);

/* The selection of a dataspace; pushes an error when it is not valid. Ended by vol_select_end, also
   after a failure. */
herr_t vol_select_space(h5_lib *lib, hid_t space, vol_selection *out);
void vol_select_end(h5_lib *lib, vol_selection *selection);

/* The same elements, which must lie in it, of another extent; pushes an error when that fails. */
herr_t vol_select_within(h5_lib *lib, vol_selection *selection, const uint64_t *dims);

/* The smallest box around a selection of some elements; pushes an error when HDF5 has none. */
herr_t vol_selection_bounds(h5_lib *lib, const vol_selection *selection, uint64_t *start,
                            uint64_t *count);

/* Whether the selection is one run of elements in memory. Then *first is the position of its first
   element. */
bool vol_selection_is_run(const vol_selection *memory, uint64_t *first);

/* Whether a box in the file and a box in memory have the same counts, dimensions of 1 aside. Then
   *strides and *offset, in bytes, describe the memory box for zb_view. */
bool vol_selection_view(const vol_selection *file, const vol_selection *memory, size_t size,
                        int64_t strides[ZB_MAX_NDIM], uint64_t *offset);

/* ---- Walking the file side ---- */

/* The elements of a selection in its order, piece by piece. */
typedef struct vol_walk {
    h5_lib *lib;
    const zb_node *array;
    const vol_selection *file;
    uint64_t left;              /* elements after this piece */
    uint64_t next[ZB_MAX_NDIM]; /* boxes: the next piece's position within the box */
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM]; /* boxes: this piece */
    hid_t iterator;                                  /* others; -1 for boxes */
    struct vol_runs *runs;                           /* others: this piece */
    zb_values *values; /* gets the bytes that elements of variable length point at; the caller
                          sets it before the first read of such */
} vol_walk;

/* vol_walk_end is due also after a failure. */
herr_t vol_walk_begin(vol_walk *walk, h5_lib *lib, const zb_node *array, const vol_selection *file);

/* Goes to the next piece, of *got elements and at most `most` (> 0): positive while there is one, 0
   at the end. All of them push errors, and are negative then. */
htri_t vol_walk_next(vol_walk *walk, size_t most, size_t *got);

/* Reads this piece to `out`, or writes it from `data`: packed elements of dtype. */
herr_t vol_walk_read(vol_walk *walk, void *out, zb_dtype dtype);
herr_t vol_walk_write(vol_walk *walk, zb_writer *writer, const void *data, zb_dtype dtype);

/* The place in the array of this piece's element `number`, in the order of the selection. */
void vol_walk_place(const vol_walk *walk, size_t number, uint64_t place[ZB_MAX_NDIM]);

void vol_walk_end(vol_walk *walk);

/* file_runs.c: the same for irregular selections. */
enum zb_code vol_runs_next(vol_walk *walk, size_t most, size_t *got, zb_error *err);
enum zb_code vol_runs_read(vol_walk *walk, void *out, zb_dtype dtype, zb_error *err);
enum zb_code vol_runs_write(vol_walk *walk, zb_writer *writer, const void *data, zb_dtype dtype,
                            zb_error *err);
void vol_runs_place(const vol_walk *walk, size_t number, uint64_t place[ZB_MAX_NDIM]);

#endif
