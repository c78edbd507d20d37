/* SPDX-License-Identifier: MIT */
/* See size_filter.h. */
#include "create/size_filter.h"

#include <stdint.h>

#include "create/filters.h"
#include "hdf5/errors.h"

/* The last number that there is, far from those that are given out (from 32000 on nobody asks for
   one) and from those for tests. It appears in no file: only a dataset in memory has the filter. */
#define SIZE_FILTER H5Z_FILTER_MAX

#define MASKED 32 /* the filters that HDF5's masks have bits for */

/* values: the low and the high half of the bytes that there must be. */
static size_t count_bytes(unsigned flags, size_t count, const unsigned values[], size_t bytes,
                          size_t *capacity, void **buffer) {
    (void)capacity;
    (void)buffer;
    if (!(flags & H5Z_FLAG_REVERSE))
        return bytes;
    return count == 2 && bytes == ((uint64_t)values[1] << 32 | values[0]) ? bytes : 0;
}

/* HDF5 forgets the filter when it is closed, and takes it again any number of times. */
static herr_t add_size_filter(h5_lib *lib, hid_t dcpl, size_t bytes) {
    static const H5Z_class2_t filter = {.version = H5Z_CLASS_T_VERS,
                                        .id = SIZE_FILTER,
                                        .encoder_present = 1,
                                        .decoder_present = 1,
                                        .name = "size of a chunk",
                                        .filter = count_bytes};
    const unsigned values[] = {(unsigned)bytes, (unsigned)((uint64_t)bytes >> 32)};
    return lib->H5Zregister(&filter) < 0
               ? -1
               : lib->H5Pset_filter(dcpl, SIZE_FILTER, H5Z_FLAG_MANDATORY, 2, values);
}

static herr_t append(h5_lib *lib, hid_t dcpl, const vol_filter *filter) {
    if (!filter->is_cut)
        return lib->H5Pset_filter(dcpl, filter->id, filter->flags, filter->count, filter->values);
    VOL_PUSH(lib, DATASET, UNSUPPORTED, "filter %d has more than %d values", (int)filter->id,
             VOL_FILTER_VALUES);
    return -1;
}

/* The first filter is the last one that sees a chunk which is read. */
hid_t vol_size_checked(h5_lib *lib, hid_t dcpl, uint32_t mask, size_t bytes) {
    const int count = lib->H5Pget_nfilters(dcpl);
    hid_t checked = lib->H5Pcopy(dcpl);
    herr_t result = checked < 0 ? -1 : lib->H5Premove_filter(checked, H5Z_FILTER_ALL);
    if (result >= 0)
        result = add_size_filter(lib, checked, bytes);
    for (int i = 0; i < count && result >= 0; i++) {
        const vol_filter filter = vol_filter_at(lib, dcpl, (unsigned)i);
        if (i < MASKED && mask >> i & 1)
            continue;
        result = append(lib, checked, &filter);
    }
    if (result >= 0)
        return checked;
    vol_release_id(lib, checked);
    return -1;
}
