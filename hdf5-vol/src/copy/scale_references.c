/* SPDX-License-Identifier: MIT */
/* References of dimension scales in copies: see scale_references.h. */
#include "copy/scale_references.h"

#include "hdf5/errors.h"
#include "scales/scales.h"

#include <stdlib.h>
#include <string.h>

static bool is_reference(h5_lib *lib, hid_t type) {
    return lib->H5Tequal(type, *lib->H5T_STD_REF_OBJ_g) > 0;
}

/* Where in a compound its only reference lies. */
static bool find_member(h5_lib *lib, hid_t type, size_t *offset) {
    int found = 0;
    if (lib->H5Tget_class(type) != H5T_COMPOUND)
        return false;
    for (int i = 0; i < lib->H5Tget_nmembers(type); i++) {
        hid_t member = lib->H5Tget_member_type(type, (unsigned)i);
        if (is_reference(lib, member)) {
            *offset = lib->H5Tget_member_offset(type, (unsigned)i);
            found++;
        } else if (lib->H5Tdetect_class(member, H5T_REFERENCE) > 0) {
            found = 2;
        }
        vol_release_id(lib, member);
    }
    return found == 1;
}

static bool is_list(h5_lib *lib, hid_t type) {
    if (lib->H5Tget_class(type) != H5T_VLEN)
        return false;
    hid_t base = lib->H5Tget_super(type);
    const bool is_old = is_reference(lib, base);
    vol_release_id(lib, base);
    return is_old;
}

bool vol_scale_refs_are(h5_lib *lib, const char *name, hid_t type) {
    size_t offset;
    if (strcmp(name, VOL_SCALE_LIST) == 0)
        return is_list(lib, type);
    return strcmp(name, VOL_SCALE_BACK) == 0 && find_member(lib, type, &offset);
}

/* Lists, and behind them all that they point at. */
static void *convert_lists(size_t count, const hvl_t *lists, vol_new_address address,
                           void *context) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += lists[i].len;
    hvl_t *out = calloc(1, count * sizeof *out + total * sizeof(uint64_t) + 1);
    uint64_t *to = (uint64_t *)(out + count);
    for (size_t i = 0; out && i < count; i++) {
        out[i].p = to;
        for (size_t n = 0; n < lists[i].len; n++)
            if ((*to = address(context, ((const uint64_t *)lists[i].p)[n]))) {
                out[i].len++;
                to++;
            }
    }
    return out;
}

void *vol_scale_refs_convert(h5_lib *lib, hid_t type, size_t *count, const void *elements,
                             vol_new_address address, void *context) {
    const size_t size = lib->H5Tget_size(type), all = *count;
    size_t offset = 0;
    if (!find_member(lib, type, &offset))
        return convert_lists(all, elements, address, context);
    char *out = calloc(all + 1, size);
    *count = 0;
    for (size_t i = 0; out && i < all; i++) {
        char *to = out + *count * size;
        uint64_t at;
        memcpy(to, (const char *)elements + i * size, size);
        memcpy(&at, to + offset, sizeof at);
        at = address(context, at);
        memcpy(to + offset, &at, sizeof at);
        *count += at != 0;
    }
    return out;
}

bool vol_scale_refs_any(h5_lib *lib, hid_t type, size_t count, const void *elements) {
    const hvl_t *lists = elements;
    size_t offset, total = 0;
    if (find_member(lib, type, &offset))
        return count > 0;
    for (size_t i = 0; i < count; i++)
        total += lists[i].len;
    return total > 0;
}
