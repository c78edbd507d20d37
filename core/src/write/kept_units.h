/* SPDX-License-Identifier: MIT */
#ifndef ZB_WRITE_KEPT_UNITS_H
#define ZB_WRITE_KEPT_UNITS_H

#include "read/index.h"
#include "read/leaf.h"
#include "write/put_chunk.h"
#include "write/writer.h"
#include "zarrbridge/write.h"

/* Inner chunks of a stored shard. All zeros: none. */
typedef struct zb__kept_units {
    zb__stored_chunk key;
    zb__index index;
    zb__encoded *kept; /* [units]; size 0: nothing to take over */
    uint8_t *bytes;    /* of kept */
    uint64_t size;     /* of bytes */
    uint8_t *fill;     /* an encoded unit that is all fill, see take_fill */
} zb__kept_units;

/* Opens the stored shard and takes over those of its inner chunks that are not in the open chunk.
   Called under the shard's lock; zb__kept_units_free in any case. */
enum zb_code zb__kept_units_read(const zb_writer *writer, const zb__open_chunk *chunk,
                                 zb__kept_units *t, zb_error *err);
void zb__kept_units_free(zb__kept_units *t);

#endif
