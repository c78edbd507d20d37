/* SPDX-License-Identifier: MIT */
/* The hash of bytes: for tokens, which references keep, so that it is stable for good; for file
   numbers, names, and calls of several ranks. */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_HASH_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_HASH_H

#include <stddef.h>
#include <stdint.h>

#define VOL_HASH_START UINT64_C(0xcbf29ce484222325)

/* FNV-1a: small, and good enough for a table. It goes on from a hash, at first VOL_HASH_START. */
static inline uint64_t vol_hash(uint64_t hash, const void *data, size_t size) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
