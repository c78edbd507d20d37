/* SPDX-License-Identifier: MIT */
/* Changing a stored shard. */
#ifndef ZB_WRITE_LIVE_H
#define ZB_WRITE_LIVE_H

#include "base/scratch.h"
#include "write/layout.h"
#include "write/put_chunk.h"
#include "write/writer.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

typedef struct zb__live {
    zb_object *object; /* NULL: the shard has to be replaced */
    uint64_t size;     /* of the object */
    uint64_t *entries; /* its index, [2 * units] */
} zb__live;

/* Checks that the array's shards can be changed as the strategy wants; the message of
   ZB_EUNSUPPORTED says why they cannot. */
enum zb_code zb__live_check(const zb_node *node, const zb__layout *layout,
                            enum zb_strategy strategy, zb_error *err);

/* Opens the stored shard for the writer's strategy. Called under its lock. */
enum zb_code zb__live_begin(const zb_writer *writer, const char *key, const zb__open_chunk *chunk,
                            zb__live *live, zb_error *err);

void zb__live_end(zb__live *live);

/* Puts the encoded units of the open chunk into the shard. */
enum zb_code zb__live_put(zb_writer *writer, const char *key, const zb__open_chunk *chunk,
                          const zb__live *live, const zb__encoded *units, zb__scratch *scratch,
                          zb_error *err);

#endif
