/* SPDX-License-Identifier: MIT */
/*
 * H5Dread and H5Dwrite: transfer.c understands the arguments, read.c and write.c act.
 *
 * Two ways lead between a selection and the program's buffer. The direct one needs boxes on both
 * sides and a type that the core converts: it becomes one zb_read or zb_write on the program's own
 * memory. The other goes piece by piece through a work buffer, in which HDF5 converts what the core
 * does not (on this thread: HDF5 holds its lock). Text goes piece by piece, too (strings.c).
 * Elements that point at others have a way of their own (nested.c), and text that becomes code
 * points is looked at before (code_points.c).
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_TRANSFER_H
#define ZARRBRIDGE_HDF5_VOL_DATA_TRANSFER_H

#include "data/scatter.h"
#include "data/transfer_list.h"
#include "hdf5/text.h"
#include "objects/object.h"

/* HDF5's arguments for one dataset of a call. */
typedef struct vol_transfer {
    vol_node *node;
    vol_handle
        *handle; /* that it was opened through; NULL where no references of the new kind are made */
    hid_t mem_type, mem_space, file_space;
    void *buffer; /* of a write: only read from */
} vol_transfer;

/* Serves `count` transfers. All of these push errors. */
herr_t vol_read_datasets(h5_lib *lib, const vol_transfer *reads, size_t count,
                         const vol_dxpl *list);
herr_t vol_write_datasets(h5_lib *lib, const vol_transfer *writes, size_t count,
                          const vol_dxpl *list);

/* H5Dvlen_get_buf_size: the bytes that a read of the selection in `space` into `type` allocates. */
herr_t vol_read_size(h5_lib *lib, vol_node *dataset, hid_t type, hid_t space, hsize_t *bytes);

/* ---- Shared by all ---- */

/* A transfer with its selections understood. */
typedef struct vol_request {
    const vol_transfer *args;
    const vol_dxpl *list;
    bool writing;
    vol_selection file, memory;
    zb_dtype dtype;                 /* of the elements that the core takes or gives */
    bool core_converts;             /* dtype is the memory type */
    size_t mem_size;                /* bytes of an element in memory */
    bool is_text;                   /* strings, or bytes, of any length: strings.h */
    vol_text_form text;             /* of those: the form in memory */
    zb_dtype written;               /* dtype, to be freed, where HDF5 makes text of code points */
    bool is_nested;                 /* elements are texts that stand for others (nested.h) */
    hid_t type;                     /* the dataset's, where HDF5 converts or is_nested; else -1 */
    hid_t stored_item, memory_item; /* of sequences whose items HDF5 has to convert; else -1 */
    int64_t strides[ZB_MAX_NDIM];
} vol_request;

/* HDF5 checks nothing for connectors: this does, but for the conversion of the types (requests.h).
   vol_request_end is due also after a failure. */
herr_t vol_request_make(h5_lib *lib, const vol_transfer *args, const vol_dxpl *list, bool writing,
                        vol_request *out);

void vol_request_end(h5_lib *lib, vol_request *request);

/* Whether the core can work on the program's buffer. Then *data is where the first element lies,
   and *strides its layout (NULL: without gaps, in C order). */
bool vol_request_is_direct(vol_request *request, char **data, const int64_t **strides);

/* Begins to go through the places of a request in the program's buffer (vol_scatter_begin). */
herr_t vol_request_scatter(h5_lib *lib, const vol_request *request, vol_scatter *out);

/* Stores waiting data of the chunks that the file selection (of some elements) may touch: before
   they are read. */
herr_t vol_request_settle(h5_lib *lib, const vol_request *request);

/* Pushes an error of one element of a dataset. Always returns -1. */
herr_t vol_push_element(const vol_node *dataset, const uint64_t *place, const zb_error *err);

/* Lets HDF5 convert `count` elements in place, with those at their target as background (NULL:
   nothing is kept of that). */
herr_t vol_request_convert(h5_lib *lib, const vol_request *request, size_t count, void *data,
                           void *background);

/* The end of that, or of another conversion of a request: pushes an error where it has failed. */
herr_t vol_request_converted(h5_lib *lib, const vol_request *request, herr_t result);

/* Writes the piece at which a walk is, from packed elements of the request's dtype. */
herr_t vol_request_write_piece(h5_lib *lib, const vol_request *request, vol_walk *walk,
                               const void *data);

/* Elements that go through a work buffer at once. */
size_t vol_request_capacity(const vol_request *request);

/* Bytes of a work buffer's element: the larger of both types. */
size_t vol_request_item(const vol_request *request);

#endif
