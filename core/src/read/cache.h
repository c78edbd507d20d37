/* SPDX-License-Identifier: MIT */
/* The two caches of the process: decoded chunks, and shard indexes. */
#ifndef ZB_READ_CACHE_H
#define ZB_READ_CACHE_H

#include "base/lru.h"

zb__lru *zb__chunk_cache(void);
zb__lru *zb__index_cache(void);

#endif
