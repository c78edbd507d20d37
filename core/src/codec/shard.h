/* SPDX-License-Identifier: MIT */
/* Between the binding of chains and that of their shards; each contains the other. */
#ifndef ZB_CODEC_SHARD_H
#define ZB_CODEC_SHARD_H

#include "codec/chain.h"

/* Members of sharding_indexed's configuration; NULL-terminated. */
extern const char *const zb__shard_members[];

/* Reads the configuration of sharding_indexed (NULL when there is none) into chain->shard, for the
   chain's stored_shape and dtype. depth is the number of shards around this one. On failure
   zb__chain_free frees the rest. */
enum zb_code zb__shard_bind(zb__chain *chain, const zb_json *configuration, uint32_t depth,
                            zb_error *err);

#endif
