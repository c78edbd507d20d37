/* SPDX-License-Identifier: MIT */
/*
 * Encoding a chunk: the mirror of chain.h. What goes in are the chunk's elements as they are
 * serialised: C order of stored dimensions, in the byte order of chain->dtype. That is the stored
 * one for a leaf; a shard encoded as a whole takes the host's, and its inner chains swap.
 */
#ifndef ZB_CODEC_ENCODE_H
#define ZB_CODEC_ENCODE_H

#include "codec/chain.h"

/* The most bytes that zb__chunk_encode may write for a chunk of this chain; UINT64_MAX when it does
   not fit. */
uint64_t zb__chunk_encode_bound(const zb__chain *chain);

/* Encodes one chunk into out[0..capacity), capacity at least the bound. A shard is encoded inner
   chunk by inner chunk, in C order, index included; inner chunks that are all `fill` (one element
   of chain->dtype) are left out unless store_empty. *size is 0 when the whole chunk is fill and was
   left out. Uses the scratch's stage and block buffers, not encoded and decoded. Any thread. */
enum zb_code zb__chunk_encode(const zb__chain *chain, zb__scratch *scratch, const uint8_t *elements,
                              const void *fill, bool store_empty, uint8_t *out, size_t capacity,
                              size_t *size, zb_error *err);

/* Are all n elements equal, bit by bit, to the one at `fill`? */
bool zb__is_all(const void *elements, uint64_t n, const void *fill, size_t item);

/* Encodes a shard index: entries[2 * count] as zb__shard_index_decode gives them, into index_size
   bytes. */
enum zb_code zb__shard_index_encode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint64_t *entries, uint8_t *out, zb_error *err);

/* The bytes→bytes codecs alone: in[0..size) becomes out[0..*written). Uses the stages. */
enum zb_code zb__codecs_encode(const zb__chain *chain, zb__scratch *scratch, const uint8_t *in,
                               size_t size, uint8_t *out, size_t capacity, size_t *written,
                               zb_error *err);

#endif
