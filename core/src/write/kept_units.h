/* SPDX-License-Identifier: MIT */
/* Reading encoded units of a stored shard, to store them again as they are. */
#ifndef ZB_WRITE_KEPT_UNITS_H
#define ZB_WRITE_KEPT_UNITS_H

#include <stdint.h>

#include "read/index.h"
#include "read/leaf.h"
#include "write/put_chunk.h"
#include "write/writer.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* Reads those of the units[0..count) that have a size, which is that of their index entry, one
   after the other into bytes[0..their sum), and sets their data. Units that lie together in the
   shard are asked for together. The caller has checked the entries (zb__inner_chunk_check). */
enum zb_code zb__units_read(zb_object *object, const uint64_t *entries, zb__encoded *units,
                            uint64_t count, uint8_t *bytes, zb_error *err);

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
