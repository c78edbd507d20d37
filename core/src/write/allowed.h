/* SPDX-License-Identifier: MIT */
/* The chunks that a writer may put. */
#ifndef ZB_WRITE_ALLOWED_H
#define ZB_WRITE_ALLOWED_H

#include "write/layout.h"
#include "zarrbridge/error.h"

/* True if a part of the chunk lies outside the array. allowed.c. */
bool zb__chunk_is_cut(const zb__layout *layout, const uint64_t *index);

/* The check of a writer's batch, which is the context: ZB_ECONFLICT when the array is gone, another
   one has taken its place, or the chunk is not as far inside it as the writer believes. Any
   thread. */
enum zb_code zb__chunk_allowed(void *context, const char *key, zb_error *err);

#endif
