/* SPDX-License-Identifier: MIT */
/* NumPy's .npy files, as far as make_stores.py writes them: C order, little-endian. */
#ifndef ZB_INTEROP_NPY_H
#define ZB_INTEROP_NPY_H

#include "zarrbridge/zarrbridge.h"

typedef struct npy {
    zb_dtype dtype;
    uint32_t ndim;
    uint64_t shape[ZB_MAX_NDIM];
    uint64_t elements;
    unsigned char *data; /* owned */
} npy;

/* False, with a message in why[256], when the file cannot be read or is not of that form. */
bool npy_load(const char *path, npy *out, char *why);
void npy_free(npy *array);

#endif
