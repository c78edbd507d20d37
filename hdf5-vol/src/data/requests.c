/* SPDX-License-Identifier: MIT */
/* The requests of one call: see requests.h. */
#include "data/requests.h"

#include "data/nested.h"
#include "hdf5/errors.h"

/* Whether HDF5 converts between the types; `elements`: of no bytes, for HDF5 to have an address. */
static herr_t check_types(h5_lib *lib, const vol_request *request) {
    char elements = 0;
    if (request->core_converts || request->is_text)
        return 0;
    return request->is_nested ? vol_nested_check(lib, request)
                              : vol_request_convert(lib, request, 0, &elements, &elements);
}

/* The transfer of a call's only request tells of its types itself, before it moves anything; where
   there are no elements, none does. */
static bool is_checked_later(const vol_request *request, size_t count) {
    return count == 1 && request->file.elements > 0;
}

herr_t vol_requests_make(h5_lib *lib, const vol_transfer *args, size_t count, const vol_dxpl *list,
                         bool writing, vol_request *out) {
    for (size_t i = 0; i < count; i++) {
        if (vol_request_make(lib, &args[i], list, writing, &out[i]) >= 0 &&
            (is_checked_later(&out[i], count) || check_types(lib, &out[i]) >= 0))
            continue;
        hid_t saved = vol_stack_save(lib);
        vol_requests_end(lib, out, i + 1);
        vol_stack_restore(lib, saved);
        return -1;
    }
    return 0;
}

void vol_requests_end(h5_lib *lib, vol_request *requests, size_t count) {
    for (size_t i = 0; i < count; i++)
        vol_request_end(lib, &requests[i]);
}
