/* SPDX-License-Identifier: MIT */
/* What the ids of predefined numbers mean: see number_ids.h. */
#include "hdf5/number_ids.h"

#include "hdf5/types.h"

#include <stdlib.h>

struct h5_numbers {
    size_t count;
    struct {
        hid_t id;
        zb_dtype dtype;
    } number[H5_NUMBER_COUNT];
};

/* Made on first use, freed when the library shuts down: it gives out other ids when it starts
   again. */
static const struct h5_numbers *numbers_of(h5_lib *lib) {
    if (lib->numbers)
        return lib->numbers;
#define F(name) *lib->name,
    const hid_t ids[] = {H5_NUMBER_IDS(F)};
#undef F
    struct h5_numbers *made = calloc(1, sizeof *made);
    for (size_t i = 0; made && i < H5_NUMBER_COUNT; i++) {
        made->number[made->count].id = ids[i];
        made->count += vol_type_to_dtype(lib, ids[i], &made->number[made->count].dtype);
    }
    return lib->numbers = made;
}

bool vol_number_known(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    const struct h5_numbers *known = numbers_of(lib);
    for (size_t i = 0; known && i < known->count; i++)
        if (known->number[i].id == type) {
            *dtype = known->number[i].dtype;
            return true;
        }
    return false;
}

/* Types that are the same number have the same properties, so that the first one stands for all. */
bool vol_number_is(h5_lib *lib, hid_t type, zb_dtype number) {
    const struct h5_numbers *known = numbers_of(lib);
    for (size_t i = 0; known && i < known->count; i++) {
        const zb_dtype *dtype = &known->number[i].dtype;
        if (dtype->kind == number.kind && dtype->size == number.size &&
            dtype->swapped == number.swapped)
            return lib->H5Tequal(type, known->number[i].id) > 0;
    }
    return false;
}
