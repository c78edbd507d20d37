/* SPDX-License-Identifier: MIT */
/* Models of selections: the list of the elements that a selection has, in its order. */
#ifndef TESTS_VOL_SELECTION_MODEL_H
#define TESTS_VOL_SELECTION_MODEL_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

enum { NDIM = 4, EXTENT = 2048, POINTS = 40, LARGE = 300 };

/* The elements of a selection as positions in its extent, in the order in which they are moved. */
typedef struct model {
    int ndim;
    bool moved; /* by H5Soffset_simple */
    hsize_t dims[NDIM];
    size_t extent, count;
    size_t at[EXTENT + POINTS];
} model;

typedef struct slab {
    hsize_t start[NDIM], stride[NDIM], count[NDIM], block[NDIM];
} slab;

/* The extent, with nothing selected. */
void model_extent(model *m, int ndim, const hsize_t *dims);
void model_all(model *m);
void model_slab(model *m, H5S_seloper_t op, const slab *s);
/* Each element goes somewhere else. */
void model_shift(model *m, const hssize_t *offset);

void position_of(const model *m, size_t at, hsize_t *position);
size_t index_of(const model *m, const hsize_t *position);

#endif
