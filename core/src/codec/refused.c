/* SPDX-License-Identifier: MIT */
/* Codecs that stores in the wild have, and the reason why each is not read. */
#include "codec/refused.h"

#include <stddef.h>
#include <string.h>

#define REWRITE "; rewrite the array with zarr-python and a codec of docs/format-support.md"

/* As for the data type of that name (types/dtype.c). */
#define OPTIONAL                                                                                   \
    "a draft whose elements may be null; write the values and the mask as two arrays, with zarrs"

static const struct {
    const char *name, *reason;
} refused[] = {
    {"optional", OPTIONAL},
    {"zarrs.optional", OPTIONAL},
    {"gribberish", "its chunks are GRIB messages: open the GRIB files themselves with GDAL"},
    {"pcodec", "pcodec has no C library" REWRITE},
    {"numcodecs.pcodec", "pcodec has no C library" REWRITE},
    {"numcodecs.json2", "objects of Python are not read" REWRITE},
    {"numcodecs.pickle", "it would run code from the store: never read"},
    {"n5_default", "no program is known that writes it"},
    {"conditional", "no program is known that writes it"},
};

const char *zb__codec_refusal(const char *name) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (strcmp(refused[i].name, name) == 0)
            return refused[i].reason;
    }
    return NULL;
}
