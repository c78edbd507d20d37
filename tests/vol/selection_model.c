/* SPDX-License-Identifier: MIT */
#include "selection_model.h"

#include <string.h>

void model_extent(model *m, int ndim, const hsize_t *dims) {
    *m = (model){.ndim = ndim, .extent = 1};
    for (int d = 0; d < ndim; d++) {
        m->dims[d] = dims[d];
        m->extent *= dims[d];
    }
}

void model_all(model *m) {
    m->count = m->extent;
    for (size_t i = 0; i < m->extent; i++)
        m->at[i] = i;
}

void position_of(const model *m, size_t at, hsize_t *position) {
    for (int d = m->ndim; d-- > 0; at /= m->dims[d])
        position[d] = at % m->dims[d];
}

size_t index_of(const model *m, const hsize_t *position) {
    size_t at = 0;
    for (int d = 0; d < m->ndim; d++)
        at = at * m->dims[d] + position[d];
    return at;
}

static bool in_slab(const model *m, const slab *s, size_t at) {
    hsize_t position[NDIM];
    position_of(m, at, position);
    for (int d = 0; d < m->ndim; d++) {
        if (position[d] < s->start[d])
            return false;
        const hsize_t beyond = position[d] - s->start[d];
        if (beyond / s->stride[d] >= s->count[d] || beyond % s->stride[d] >= s->block[d])
            return false;
    }
    return true;
}

static bool combine(H5S_seloper_t op, bool old, bool new) {
    switch (op) {
    case H5S_SELECT_OR:
        return old || new;
    case H5S_SELECT_AND:
        return old && new;
    case H5S_SELECT_XOR:
        return old != new;
    case H5S_SELECT_NOTB:
        return old && !new;
    case H5S_SELECT_NOTA:
        return !old && new;
    default:
        return new;
    }
}

void model_slab(model *m, H5S_seloper_t op, const slab *s) {
    static bool old[EXTENT];
    memset(old, 0, sizeof old);
    for (size_t i = 0; i < m->count; i++)
        old[m->at[i]] = true;
    m->count = 0;
    for (size_t at = 0; at < m->extent; at++)
        if (combine(op, old[at], in_slab(m, s, at)))
            m->at[m->count++] = at;
}

void model_shift(model *m, const hssize_t *offset) {
    for (size_t i = 0; i < m->count; i++) {
        hsize_t position[NDIM];
        position_of(m, m->at[i], position);
        for (int d = 0; d < m->ndim; d++)
            position[d] = (hsize_t)((hssize_t)position[d] + offset[d]);
        m->at[i] = index_of(m, position);
    }
}
