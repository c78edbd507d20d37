/* SPDX-License-Identifier: MIT */
/* See chunk_args.h. */
#include "hdf5/chunk_args.h"

#include <string.h>

size_t *h5_chunk_buffer_size(const h5_lib *lib, const h5_chunk_read *args) {
    return lib->has_wide_chunks ? args->buffer_size : NULL;
}

h5_chunk_write h5_chunk_write_from(const h5_lib *lib, const void *args) {
    h5_chunk_write wide;
    h5_chunk_write_v1 old;
    if (lib->has_wide_chunks) {
        memcpy(&wide, args, sizeof wide);
        return wide;
    }
    memcpy(&old, args, sizeof old);
    return (h5_chunk_write){
        .offset = old.offset, .filters = old.filters, .size = old.size, .buffer = old.buffer};
}

void *h5_chunk_write_for(const h5_lib *lib, h5_chunk_write *args, h5_chunk_write_v1 *old) {
    if (lib->has_wide_chunks)
        return args;
    *old = (h5_chunk_write_v1){.offset = args->offset,
                               .filters = args->filters,
                               .size = (uint32_t)args->size,
                               .buffer = args->buffer};
    return old;
}
