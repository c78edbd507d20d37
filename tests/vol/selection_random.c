/* SPDX-License-Identifier: MIT */
#include "selection_random.h"

#include <string.h>

long selection_case;

static uint64_t chance_state;

unsigned chance(unsigned below) {
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return (unsigned)(chance_state * UINT64_C(2685821657736338717) >> 33) % below;
}

void start_chance(uint64_t seed) {
    chance_state = seed * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x1234567);
    if (chance_state == 0)
        chance_state = 1;
    for (int i = 0; i < 8; i++)
        chance(2);
}

static void random_slab(const model *m, slab *s) {
    for (int d = 0; d < m->ndim; d++) {
        const unsigned length = (unsigned)m->dims[d];
        const unsigned start = chance(length), left = length - start;
        const unsigned block = chance(3) ? 1 : 1 + chance(left < 4 ? left : 4);
        const unsigned stride = block + (chance(3) ? chance(4) : 0);
        const unsigned most = (left - block) / stride + 1;
        s->start[d] = start;
        s->block[d] = block;
        s->stride[d] = stride;
        s->count[d] = chance(3) ? 1 + chance(most) : 1;
        if (s->count[d] == 1 && chance(2))
            s->stride[d] += chance(3); /* without meaning then */
    }
}

/* A slab like another one, but longer, shorter or elsewhere in one dimension: HDF5 merges such
   slabs. */
static void related_slab(const model *m, const slab *other, slab *s) {
    const int d = (int)chance((unsigned)m->ndim);
    const hsize_t stride = other->count[d] > 1 ? other->stride[d] : other->block[d] + chance(3);
    const hsize_t most = (m->dims[d] - other->start[d] - other->block[d]) / stride;
    *s = *other;
    s->start[d] += stride * chance((unsigned)most + 1);
    s->stride[d] = stride;
    s->count[d] = 1 + chance((unsigned)((m->dims[d] - s->start[d] - s->block[d]) / stride) + 1);
}

bool is_sound(hid_t space, int ndim) {
    hsize_t start[NDIM], stride[NDIM], count[NDIM], block[NDIM], product = 1;
    if (H5Sget_select_type(space) != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(space) <= 0)
        return true;
    CHECK(H5Sget_regular_hyperslab(space, start, stride, count, block) >= 0);
    for (int d = 0; d < ndim; d++)
        product *= count[d] * block[d];
    return (hssize_t)product == H5Sget_select_npoints(space);
}

/* Several operations, until HDF5 contradicts itself: with such a selection, 2.2 aborts. */
static void select_slabs(hid_t space, model *m) {
    static const H5S_seloper_t ops[] = {H5S_SELECT_OR,   H5S_SELECT_OR,  H5S_SELECT_OR,
                                        H5S_SELECT_AND,  H5S_SELECT_XOR, H5S_SELECT_XOR,
                                        H5S_SELECT_NOTB, H5S_SELECT_NOTA};
    const unsigned times = chance(2) ? 1 : 1 + chance(5);
    slab s, last;
    for (unsigned i = 0; i < times && is_sound(space, m->ndim); i++, last = s) {
        const H5S_seloper_t op = i == 0 ? H5S_SELECT_SET : ops[chance(8)];
        if (i > 0 && chance(2))
            related_slab(m, &last, &s);
        else
            random_slab(m, &s);
        if (i > 0 && H5Sget_select_type(space) != H5S_SEL_HYPERSLABS)
            return; /* nothing was left */
        CHECK(H5Sselect_hyperslab(space, op, s.start, s.stride, s.count, s.block) >= 0);
        model_slab(m, op, &s);
    }
}

static void add_points(hid_t space, model *m, H5S_seloper_t op) {
    hsize_t coords[POINTS * NDIM];
    size_t at[POINTS];
    const size_t count = 1 + chance(m->count < POINTS / 2 ? POINTS / 2 : 1);
    for (size_t i = 0; i < count; i++) {
        at[i] = i > 0 && !chance(8) ? at[i - 1] : chance((unsigned)m->extent);
        position_of(m, at[i], &coords[i * (size_t)m->ndim]);
    }
    CHECK(H5Sselect_elements(space, op, count, coords) >= 0);
    if (op == H5S_SELECT_SET)
        m->count = 0;
    if (op == H5S_SELECT_PREPEND)
        memmove(m->at + count, m->at, m->count * sizeof m->at[0]);
    memcpy(op == H5S_SELECT_PREPEND ? m->at : m->at + m->count, at, count * sizeof at[0]);
    m->count += count;
}

static void select_points(hid_t space, model *m) {
    add_points(space, m, H5S_SELECT_SET);
    if (chance(2))
        add_points(space, m, chance(2) ? H5S_SELECT_APPEND : H5S_SELECT_PREPEND);
}

/* Moves the selection within the room that is left around it. */
static void move_selection(hid_t space, model *m) {
    hsize_t low[NDIM], high[NDIM];
    hssize_t offset[NDIM];
    if (m->count == 0 || !is_sound(space, m->ndim))
        return;
    CHECK(H5Sget_select_bounds(space, low, high) >= 0);
    for (int d = 0; d < m->ndim; d++)
        offset[d] = (hssize_t)chance((unsigned)(low[d] + m->dims[d] - high[d])) - (hssize_t)low[d];
    CHECK(H5Soffset_simple(space, offset) >= 0);
    model_shift(m, offset);
    m->moved = true;
}

hid_t new_space(const model *m) {
    hid_t space = H5Screate_simple(m->ndim, m->dims, NULL);
    CHECK(space >= 0);
    return space;
}

hid_t random_selection(model *m) {
    hid_t space = new_space(m);
    const unsigned kind = chance(16);
    if (kind == 0) {
        model_all(m);
    } else if (kind == 1) {
        CHECK(H5Sselect_none(space) >= 0);
        m->count = 0;
    } else if (kind < 5) {
        select_points(space, m);
    } else {
        select_slabs(space, m);
    }
    if (kind > 1 && chance(4) == 0)
        move_selection(space, m);
    return space;
}
