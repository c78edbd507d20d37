/* SPDX-License-Identifier: MIT */
/* The table of bytes→bytes codecs. */
#include "codec/codec.h"

#include <string.h>

const zb__codec_ops *zb__codec_find(const char *name) {
    static const zb__codec_ops *const known[] = {&zb__codec_zstd, &zb__codec_blosc, &zb__codec_gzip,
                                                 &zb__codec_crc32c};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i]->name, name) == 0)
            return known[i];
    }
    return NULL;
}
