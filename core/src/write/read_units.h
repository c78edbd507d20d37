/* SPDX-License-Identifier: MIT */
/* Reading encoded units of a stored shard, to store them again as they are. */
#ifndef ZB_WRITE_READ_UNITS_H
#define ZB_WRITE_READ_UNITS_H

#include <stdint.h>

#include "write/put_chunk.h"
#include "zarrbridge/sys/store.h"

/* Reads those of the units[0..count) that have a size, which is that of their index entry, one
   after the other into bytes[0..their sum), and sets their data. Units that lie together in the
   shard are asked for together. The caller has checked the entries (zb__inner_chunk_check). */
enum zb_code zb__units_read(zb_object *object, const uint64_t *entries, zb__encoded *units,
                            uint64_t count, uint8_t *bytes, zb_error *err);

#endif
