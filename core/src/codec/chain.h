/* SPDX-License-Identifier: MIT */
/*
 * Encoded chunks from one chain of codecs to another.
 *
 * Chains that are the same take the bytes as they are. Others hold the same stream in another
 * wrapping: gzip and zlib hold deflate, blosc with one block holds what a shuffle and a compressor
 * make, and checksums stand beside the bytes. Then the stream stays, and the wrapping is made anew.
 * All else is decoded and encoded.
 *
 * Nothing passes unseen: whatever checksum a chunk carries is compared (which of gzip and zlib
 * takes decoding them once), and sizes are compared where headers tell them.
 */
#ifndef ZB_CODEC_CHAIN_H
#define ZB_CODEC_CHAIN_H

#include "codec/chunk_layout.h"
#include "util/scratch.h"

#include "zarrbridge/chain_way.h"

/* The stream that stays. */
enum zb__chain_stream {
    ZB__CHAIN_BEHIND_SUMS, /* all but checksums */
    ZB__CHAIN_DEFLATE,     /* between gzip and zlib */
    ZB__CHAIN_INTO_BLOSC,  /* of shuffle with zlib or zstd */
    ZB__CHAIN_OUT_OF_BLOSC
};

typedef struct zb__chain_change {
    const zb__chunk_layout *from, *to; /* of chunks of one shape; borrowed */
    enum zb_chain_way way;
    enum zb__chain_stream stream; /* of ZB_CHAIN_REWRAPPED */
    const char *reason;           /* why the bytes do not stay as they are; static, NULL: they do */
    size_t from_count, to_count;  /* codecs without the checksums behind them */
} zb__chain_change;

zb__chain_change zb__chain_compare(const zb__chunk_layout *from, const zb__chunk_layout *to);

/* A chunk that the edge of its array cuts. Elements outside the array become the fill value, as in
   all chunks that are written: they may be what was there before the array became smaller. */
typedef struct zb__chain_edge {
    uint64_t inside[ZB_MAX_NDIM]; /* elements in the array, from the chunk's first one */
    const void *fill;             /* one element, in the host's order */
} zb__chain_edge;

/* The room that the change of the chunk in[0..size) needs; 0 where its bytes stay. `edge` may be
   NULL, as below. */
uint64_t zb__chain_bound(const zb__chain_change *change, const zb__chain_edge *edge,
                         const uint8_t *in, size_t size);

/* Whether all elements of the chunk are the fill value, given in the host's order. Only chunks that
   are as small as such ones are looked into; false also where one is damaged. */
bool zb__chain_is_fill(const zb__chain_change *change, const void *fill, zb__scratch *scratch,
                       const uint8_t *in, size_t size);

/* Changes in[0..size), which lies outside the scratch. Without room (zb__chain_bound) it only
   checks, and *written is size. The errors of decoding it, where it is damaged; ZB_EUNSUPPORTED for
   ZB_CHAIN_NONE. Any thread. */
enum zb_code zb__chain_run(const zb__chain_change *change, const zb__chain_edge *edge,
                           zb__scratch *scratch, const uint8_t *in, size_t size, uint8_t *out,
                           size_t capacity, size_t *written, zb_error *err);

#endif
