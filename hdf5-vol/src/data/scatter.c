/* SPDX-License-Identifier: MIT */
/* The memory side of a selection: see scatter.h. */
#include "data/scatter.h"

#include "hdf5/errors.h"

#include <string.h>

herr_t vol_scatter_begin(vol_scatter *scatter, h5_lib *lib, const vol_selection *memory,
                         size_t size, void *buffer) {
    uint64_t first;
    *scatter = (vol_scatter){.lib = lib, .iterator = -1, .at = buffer, .size = size};
    if (vol_selection_is_run(memory, &first)) {
        scatter->at += first * size;
        return 0;
    }
    scatter->bytes = size;
    for (uint32_t d = 0; d < memory->ndim; d++)
        if (__builtin_mul_overflow(scatter->bytes, memory->dims[d], &scatter->bytes))
            scatter->bytes = UINT64_MAX;
    scatter->iterator =
        lib->H5Ssel_iter_create(memory->space, size, H5S_SEL_ITER_SHARE_WITH_DATASPACE);
    return scatter->iterator < 0 ? -1 : 0;
}

/* One function for both directions keeps the walk in one place. */
static void move(char *place, char *packed, size_t bytes, bool put) {
    if (put)
        memcpy(place, packed, bytes);
    else
        memcpy(packed, place, bytes);
}

#define SEQUENCES 256

/* The iterator's word is not taken for where the program's buffer ends. */
static bool are_inside(const vol_scatter *scatter, const hsize_t *offset, const size_t *length,
                       size_t sequences, size_t elements, size_t moved) {
    const uint64_t bytes = elements * scatter->size;
    uint64_t used = 0;
    for (size_t i = 0; i < sequences; i++) {
        if (offset[i] > scatter->bytes || length[i] > scatter->bytes - offset[i] ||
            length[i] > bytes - used)
            return false;
        used += length[i];
    }
    return used > 0 && used == moved * scatter->size;
}

static herr_t move_all(vol_scatter *scatter, char *packed, size_t elements, bool put) {
    hsize_t offset[SEQUENCES];
    size_t length[SEQUENCES], sequences, moved;
    if (scatter->iterator < 0) {
        move(scatter->at, packed, elements * scatter->size, put);
        scatter->at += elements * scatter->size;
        return 0;
    }
    for (; elements > 0; elements -= moved) {
        if (scatter->lib->H5Ssel_iter_get_seq_list(scatter->iterator, SEQUENCES, elements,
                                                   &sequences, &moved, offset, length) < 0 ||
            !are_inside(scatter, offset, length, sequences, elements, moved))
            return VOL_PUSH(scatter->lib, DATASET, READERROR,
                            "HDF5 could not list the elements of the memory selection");
        for (size_t i = 0; i < sequences; i++) {
            move(scatter->at + offset[i], packed, length[i], put);
            packed += length[i];
        }
    }
    return 0;
}

herr_t vol_scatter_put(vol_scatter *scatter, const void *packed, size_t elements) {
    return move_all(scatter, (char *)(uintptr_t)packed, elements, true);
}

herr_t vol_scatter_get(vol_scatter *scatter, void *packed, size_t elements) {
    return move_all(scatter, packed, elements, false);
}

void vol_scatter_end(vol_scatter *scatter) {
    if (scatter->iterator >= 0) {
        hid_t saved = vol_stack_save(scatter->lib);
        scatter->lib->H5Ssel_iter_close(scatter->iterator);
        vol_stack_restore(scatter->lib, saved);
    }
}
