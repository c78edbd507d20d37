/* SPDX-License-Identifier: MIT */
/* What becomes of an encoded chunk that moves: see zarrbridge/encoded.h. */
#ifndef ZARRBRIDGE_CHAIN_WAY_H
#define ZARRBRIDGE_CHAIN_WAY_H

/* Between two chains of codecs. */
enum zb_chain_way {
    ZB_CHAIN_SAME,      /* its bytes stay */
    ZB_CHAIN_REWRAPPED, /* its compressed stream stays: gzip and zlib (which are decoded once for
                           the other one's checksum), blosc of one block and shuffle with a
                           compressor, checksums beside the bytes */
    ZB_CHAIN_ANEW,      /* it is decoded and encoded */
    ZB_CHAIN_NONE       /* its elements have another shape or type, or a variable length and other
                           codecs */
};

#endif
