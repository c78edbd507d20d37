/* SPDX-License-Identifier: MIT */
/* Describing selections, and walking boxes; irregular ones are in file_runs.c. */
#include "data/selection.h"

#include "data/interrupt.h"
#include "hdf5/errors.h"

#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

#include <stdlib.h>
#include <string.h>

/* ---- Describing ---- */

void vol_select_all(uint32_t ndim, const uint64_t *dims, vol_selection *out) {
    out->space = out->mended = -1;
    out->elements = 1;
    out->is_box = true;
    out->ndim = ndim;
    for (uint32_t d = 0; d < ndim; d++) {
        out->dims[d] = out->count[d] = dims[d];
        out->start[d] = 0;
        out->step[d] = 1;
        if (__builtin_mul_overflow(out->elements, dims[d], &out->elements))
            out->elements = UINT64_MAX; /* more than any memory selection has */
    }
}

/* A hyperslab as HDF5 describes it, where it is a regular one. */
typedef struct slab {
    hsize_t low[ZB_MAX_NDIM],
        high[ZB_MAX_NDIM]; /* with the offset of H5Soffset_simple, unlike `start` */
    hsize_t start[ZB_MAX_NDIM], stride[ZB_MAX_NDIM], count[ZB_MAX_NDIM], block[ZB_MAX_NDIM];
} slab;

static bool is_regular(h5_lib *lib, hid_t space, slab *out) {
    return lib->H5Sis_regular_hyperslab(space) > 0 &&
           lib->H5Sget_regular_hyperslab(space, out->start, out->stride, out->count, out->block) >=
               0 &&
           lib->H5Sget_select_bounds(space, out->low, out->high) >= 0;
}

static bool has_points(const slab *regular, uint32_t ndim, uint64_t points) {
    uint64_t product = 1;
    for (uint32_t d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(product, regular->count[d], &product) ||
            __builtin_mul_overflow(product, regular->block[d], &product))
            return false;
    return product == points;
}

/* h5py describes a plain box as many blocks of one element with stride 1: adjoining blocks are
   one. */
static bool is_box(const slab *regular, vol_selection *out) {
    for (uint32_t d = 0; d < out->ndim; d++) {
        const uint64_t count = regular->count[d], block = regular->block[d];
        const bool adjoining = count == 1 || regular->stride[d] == block;
        if (!adjoining && block != 1)
            return false;
        out->start[d] = regular->low[d];
        out->count[d] = adjoining ? count * block : count;
        out->step[d] = adjoining ? 1 : regular->stride[d];
    }
    return true;
}

/* The AND with everything, in this order, is made of spans on both sides. Offsets get lost. */
static hid_t select_by_spans(h5_lib *lib, const vol_selection *broken, const slab *contradicts) {
    hsize_t dims[ZB_MAX_NDIM], zeros[ZB_MAX_NDIM] = {0}, low[ZB_MAX_NDIM], high[ZB_MAX_NDIM];
    hssize_t offset[ZB_MAX_NDIM];
    hid_t mended = -1;
    for (uint32_t d = 0; d < broken->ndim; d++)
        dims[d] = broken->dims[d];
    hid_t all = lib->H5Screate_simple((int)broken->ndim, dims, NULL);
    if (all >= 0 && lib->H5Sselect_hyperslab(all, H5S_SELECT_SET, zeros, NULL, dims, NULL) >= 0)
        mended = lib->H5Scombine_select(all, H5S_SELECT_AND, broken->space);
    if (all >= 0)
        lib->H5Sclose(all);
    if (mended < 0 || lib->H5Sget_select_bounds(mended, low, high) < 0)
        return mended;
    for (uint32_t d = 0; d < broken->ndim; d++)
        offset[d] = (hssize_t)(contradicts->low[d] - low[d]);
    lib->H5Soffset_simple(mended, offset);
    return mended;
}

static bool is_sound(h5_lib *lib, const vol_selection *selection) {
    slab regular;
    return lib->H5Sget_select_npoints(selection->space) == (hssize_t)selection->elements &&
           lib->H5Sselect_valid(selection->space) > 0 &&
           (!is_regular(lib, selection->space, &regular) ||
            has_points(&regular, selection->ndim, selection->elements));
}

static herr_t push_outside(h5_lib *lib) {
    return VOL_PUSH(lib, DATASET, BADVALUE, "the selection does not lie within its dataspace");
}

static bool lies_within(const slab *regular, const vol_selection *extent) {
    for (uint32_t d = 0; d < extent->ndim; d++)
        if (regular->high[d] >= extent->dims[d])
            return false;
    return true;
}

static herr_t describe_hyperslab(h5_lib *lib, vol_selection *out) {
    slab regular;
    out->is_box = false;
    if (!is_regular(lib, out->space, &regular))
        return lib->H5Sselect_valid(out->space) > 0 ? 0 : push_outside(lib);
    if (!lies_within(&regular, out))
        return push_outside(lib);
    if (!has_points(&regular, out->ndim, out->elements)) {
        out->space = out->mended = select_by_spans(lib, out, &regular);
        if (out->mended < 0 || !is_sound(lib, out))
            return VOL_PUSH(
                lib, DATASET, BADVALUE,
                "HDF5 contradicts itself on which elements are selected: select them without "
                "hyperslabs that overlap");
        if (!is_regular(lib, out->space, &regular))
            return 0;
    }
    out->is_box = is_box(&regular, out);
    return 0;
}

/* HDF5 checks nothing for connectors, so it is checked here that the selection lies within its
   extent. Small reads spend their time in these calls, so that none is made whose answer follows of
   others: all elements of an extent with dimensions are as many as the extent has. */
herr_t vol_select_space(h5_lib *lib, hid_t space, vol_selection *out) {
    hsize_t dims[ZB_MAX_NDIM]; /* as many as HDF5 allows */
    const int ndim = lib->H5Sget_simple_extent_dims(space, dims, NULL);
    const H5S_sel_type type = lib->H5Sget_select_type(space);
    out->mended = -1;
    if (ndim < 0 || ndim > ZB_MAX_NDIM)
        return push_outside(lib);
    vol_select_all((uint32_t)ndim, dims, out);
    out->space = space;
    if (type == H5S_SEL_ALL && ndim > 0)
        return 0;
    const hssize_t elements = lib->H5Sget_select_npoints(space);
    if (elements < 0)
        return push_outside(lib);
    out->elements = (uint64_t)elements;
    if (elements > 0 && type == H5S_SEL_HYPERSLABS)
        return describe_hyperslab(lib, out);
    if (lib->H5Sselect_valid(space) <= 0)
        return push_outside(lib);
    out->is_box = elements == 0 || type == H5S_SEL_ALL;
    return 0;
}

herr_t vol_select_within(h5_lib *lib, vol_selection *selection, const uint64_t *dims) {
    hsize_t extent[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < selection->ndim; d++)
        extent[d] = selection->dims[d] = dims[d];
    hid_t space = lib->H5Screate_simple((int)selection->ndim, extent, NULL);
    if (space < 0 || lib->H5Sselect_copy(space, selection->space) < 0) {
        vol_release_id(lib, space);
        return VOL_PUSH(lib, DATASET, CANTGET, "no memory for a selection");
    }
    vol_select_end(lib, selection);
    selection->space = selection->mended = space;
    return 0;
}

void vol_select_end(h5_lib *lib, vol_selection *selection) {
    if (selection->mended >= 0)
        vol_release_id(lib, selection->mended);
    selection->mended = -1;
}

herr_t vol_selection_bounds(h5_lib *lib, const vol_selection *selection, uint64_t *start,
                            uint64_t *count) {
    hsize_t low[ZB_MAX_NDIM], high[ZB_MAX_NDIM];
    if (!selection->is_box && lib->H5Sget_select_bounds(selection->space, low, high) < 0)
        return VOL_PUSH(lib, DATASET, BADVALUE, "HDF5 does not say where the selection lies");
    for (uint32_t d = 0; d < selection->ndim; d++) {
        start[d] = selection->is_box ? selection->start[d] : low[d];
        count[d] = selection->is_box ? (selection->count[d] - 1) * selection->step[d] + 1
                                     : high[d] - low[d] + 1;
    }
    return 0;
}

/* From the innermost dimension outwards: complete ones, then one that may be partial, then single
   positions. */
bool vol_selection_is_run(const vol_selection *memory, uint64_t *first) {
    uint64_t pitch = 1; /* elements between neighbours in the dimension */
    bool started = false;
    *first = 0;
    if (!memory->is_box)
        return false;
    for (uint32_t d = memory->ndim; d-- > 0;) {
        *first += memory->start[d] * pitch;
        if (memory->count[d] > 1 && (started || memory->step[d] != 1))
            return false;
        /* A dimension that is not complete may only have dimensions of 1 around it. */
        if (memory->count[d] != memory->dims[d])
            started = true;
        pitch *= memory->dims[d];
    }
    return true;
}

/* The walk goes through both from the innermost dimension; dimensions of length 1 are passed over
   on either side. */
bool vol_selection_view(const vol_selection *file, const vol_selection *memory, size_t size,
                        int64_t strides[ZB_MAX_NDIM], uint64_t *offset) {
    uint64_t pitch = size;
    uint32_t f = file->ndim;
    *offset = 0;
    if (!file->is_box || !memory->is_box)
        return false;
    for (uint32_t d = memory->ndim; d-- > 0;) {
        *offset += memory->start[d] * pitch;
        if (memory->count[d] != 1) {
            while (f > 0 && file->count[f - 1] == 1)
                strides[--f] = 0;
            if (f == 0 || file->count[f - 1] != memory->count[d])
                return false;
            strides[--f] = (int64_t)(pitch * memory->step[d]);
        }
        pitch *= memory->dims[d];
    }
    while (f > 0 && file->count[f - 1] == 1)
        strides[--f] = 0;
    return f == 0;
}

/* ---- Walking boxes ---- */

/* The next piece of a box with at most `most` elements: whole rows of the innermost dimensions
   that fit, some of the first that does not, one position of those outside it. Advances
   walk->next. */
static size_t next_part(vol_walk *walk, size_t most) {
    const vol_selection *box = walk->file;
    uint64_t *start = walk->start, *count = walk->count;
    uint64_t inside = 1; /* elements in one position of dimension d */
    uint32_t d = box->ndim;
    while (d > 0 && box->count[d - 1] <= most / inside && walk->next[d - 1] == 0) {
        d--;
        inside *= box->count[d];
        count[d] = box->count[d];
        start[d] = box->start[d];
    }
    if (d == 0)
        return (size_t)inside; /* all of it */
    uint64_t left = box->count[d - 1] - walk->next[d - 1];
    uint64_t fit = most / inside < left ? most / inside : left;
    for (uint32_t i = 0; i < d; i++) {
        start[i] = box->start[i] + walk->next[i] * box->step[i];
        count[i] = 1;
    }
    count[d - 1] = fit;
    walk->next[d - 1] += fit;
    for (uint32_t i = d; i-- > 1 && walk->next[i] == box->count[i];) {
        walk->next[i] = 0;
        walk->next[i - 1]++;
    }
    return (size_t)(inside * fit);
}

/* The box keeps its steps; only start and count change. */
static enum zb_code read_part(const vol_walk *walk, void *out, zb_dtype dtype, zb_error *err) {
    const zb_read read = {.node = walk->array,
                          .start = walk->start,
                          .count = walk->count,
                          .step = walk->file->step,
                          .view = {.data = out, .dtype = dtype, .values = walk->values}};
    return vol_array_read(&read, 1, err);
}

static enum zb_code write_part(const vol_walk *walk, zb_writer *writer, const void *data,
                               zb_dtype dtype, zb_error *err) {
    const zb_write write = {.start = walk->start,
                            .count = walk->count,
                            .step = walk->file->step,
                            .data = data,
                            .dtype = dtype};
    return zb_writer_write(writer, &write, err);
}

/* ---- The walk ---- */

/* Sharing saves HDF5 a copy of the selection, which does not change while we read. */
herr_t vol_walk_begin(vol_walk *walk, h5_lib *lib, const zb_node *array,
                      const vol_selection *file) {
    *walk = (vol_walk){
        .lib = lib, .array = array, .file = file, .left = file->elements, .iterator = -1};
    if (file->is_box || file->elements == 0)
        return 0;
    walk->iterator = lib->H5Ssel_iter_create(file->space, 1, H5S_SEL_ITER_SHARE_WITH_DATASPACE);
    return walk->iterator < 0 ? -1 : 0;
}

htri_t vol_walk_next(vol_walk *walk, size_t most, size_t *got) {
    zb_error err = {0};
    if (walk->left == 0)
        return 0;
    if (most > walk->left)
        most = (size_t)walk->left;
    if (walk->file->is_box) {
        *got = next_part(walk, most);
    } else if (vol_runs_next(walk, most, got, &err) != ZB_OK) {
        return VOL_PUSH_ZB(walk->lib, DATASET, BADVALUE, &err);
    }
    walk->left -= *got;
    return 1;
}

herr_t vol_walk_read(vol_walk *walk, void *out, zb_dtype dtype) {
    zb_error err = {0};
    enum zb_code code = walk->file->is_box ? read_part(walk, out, dtype, &err)
                                           : vol_runs_read(walk, out, dtype, &err);
    return code ? VOL_PUSH_ZB(walk->lib, DATASET, READERROR, &err) : 0;
}

herr_t vol_walk_write(vol_walk *walk, zb_writer *writer, const void *data, zb_dtype dtype) {
    zb_error err = {0};
    enum zb_code code = walk->file->is_box ? write_part(walk, writer, data, dtype, &err)
                                           : vol_runs_write(walk, writer, data, dtype, &err);
    return code ? VOL_PUSH_ZB(walk->lib, DATASET, WRITEERROR, &err) : 0;
}

void vol_walk_place(const vol_walk *walk, size_t number, uint64_t place[ZB_MAX_NDIM]) {
    if (!walk->file->is_box) {
        vol_runs_place(walk, number, place);
        return;
    }
    for (uint32_t d = walk->file->ndim; d-- > 0;) {
        place[d] = walk->start[d] + number % walk->count[d] * walk->file->step[d];
        number /= walk->count[d];
    }
}

void vol_walk_end(vol_walk *walk) {
    free(walk->runs);
    if (walk->iterator >= 0) {
        hid_t saved = vol_stack_save(walk->lib);
        walk->lib->H5Ssel_iter_close(walk->iterator);
        vol_stack_restore(walk->lib, saved);
    }
}
