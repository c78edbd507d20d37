/* SPDX-License-Identifier: MIT */
/* Memory that is given back all at once. */
#ifndef ZB_UTIL_ARENA_H
#define ZB_UTIL_ARENA_H

#include <stddef.h>

/* All zeros is an empty arena. */
typedef struct zb__arena {
    struct zb__arena_block *blocks; /* the newest first; only that one has room left */
    size_t used, end;               /* of the newest block: its free bytes lie between the two */
    size_t held;                    /* bytes of all blocks */
} zb__arena;

/* Both give NULL when memory runs out: memory aligned for any type, and bytes side by side, for
   text. */
void *zb__arena_alloc(zb__arena *arena, size_t size);
char *zb__arena_text(zb__arena *arena, size_t size);

void zb__arena_free(zb__arena *arena);

#endif
