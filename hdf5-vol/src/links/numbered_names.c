/* SPDX-License-Identifier: MIT */
/* Names with numbers: see numbered_names.h. */
#include "links/numbered_names.h"

/* HDF5 tells the numbers of attributes in 32 bits. */
#define LARGEST (UINT32_MAX / 2)

vol_numbered vol_numbered_begin(const zb_json *list) {
    return (vol_numbered){.one =
                              zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : NULL};
}

const char *vol_numbered_next(vol_numbered *walk) {
    uint64_t gone;
    while (walk->one) {
        const zb_json *one = walk->one;
        walk->one = zb_json_next(one);
        const char *name = zb_json_string(one);
        if (name) {
            walk->number++;
            return name;
        }
        if (zb_json_uint64(one, &gone) && gone < LARGEST && walk->number + gone < LARGEST)
            walk->number += gone;
    }
    return NULL;
}

void vol_numbered_write(zb_json_writer *list, const char *name, uint64_t number, uint64_t *last) {
    const uint64_t next = name ? number - 1 : number;
    if (next > *last)
        zb_json_write_uint64(list, next - *last);
    if (name)
        zb_json_write_string(list, name);
    *last = number;
}
