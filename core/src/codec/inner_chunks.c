/* SPDX-License-Identifier: MIT */
#include "codec/inner_chunks.h"

enum zb_code zb__inner_chunk_check(const zb__inner_chunks *walk, zb_error *err) {
    if (walk->size == 0)
        return zb_fail(err, ZB_EFORMAT, "its index entry has 0 bytes");
    if (zb__inner_chunk_fits(walk))
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT,
                   "its index entry (offset %llu, %llu bytes) leaves the shard's %llu bytes",
                   (unsigned long long)walk->offset, (unsigned long long)walk->size,
                   (unsigned long long)walk->shard_size);
}
