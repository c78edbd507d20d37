/* SPDX-License-Identifier: MIT */
/*
 * The interface of bytes→bytes codecs, and the table of those that we know.
 *
 * A codec is bound once, when the array is opened (parse), and is immutable afterwards: any number
 * of threads decode and encode with it at once, each with its own scratch.
 */
#ifndef ZB_CODEC_CODEC_H
#define ZB_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scratch.h"
#include "zarrbridge/error.h"
#include "zarrbridge/json.h"
#include "zarrbridge/zarrbridge.h"

typedef struct zb__codec zb__codec;

/* Where decoded bytes go. The decoder never writes past `capacity`, whatever the data claim. */
typedef struct zb__sink {
    uint8_t *data;
    size_t capacity;
    bool exact;    /* the decoded size must be `capacity`; else anything up to it is right */
    size_t lo, hi; /* the bytes that are wanted, lo <= hi <= capacity; others may stay undefined. A
                      decoder that made more of them than that widens the two. */
    size_t size;   /* set by the decoder: the decoded size; with hi < capacity at least hi */
} zb__sink;

typedef struct zb__codec_ops {
    const char *name;           /* as in the metadata */
    const char *const *members; /* of the configuration; NULL-terminated */
    /* Checks the values of the configuration (object or NULL; its members are listed above) and
       keeps in *codec what encoding needs: for a missing member, what zarr-python takes. item is
       the size of the array's elements. */
    enum zb_code (*parse)(zb__codec *codec, const zb_json *configuration, uint32_t item,
                          zb_error *err);
    /* Decodes in[0..size). Fewer or more bytes than an exact sink wants, and trailing garbage, are
       ZB_EFORMAT; a checksum that does not match is ZB_ECHECKSUM. */
    enum zb_code (*decode)(const zb__codec *codec, zb__scratch *scratch, const uint8_t *in,
                           size_t size, zb__sink *sink, zb_error *err);
    /* The most bytes that encoding `size` bytes can give; UINT64_MAX when they are too many. */
    uint64_t (*encode_bound)(uint64_t size);
    /* Encodes in[0..size) into out[0..capacity), capacity at least the bound. Equal input gives
       equal output. */
    enum zb_code (*encode)(const zb__codec *codec, zb__scratch *scratch, const uint8_t *in,
                           size_t size, uint8_t *out, size_t capacity, size_t *written,
                           zb_error *err);
    /* Encoded size minus decoded size where that is a constant (crc32c: 4), else -1. */
    int fixed_overhead;
    /* Decoding [lo, hi) alone is cheaper than decoding all. */
    bool partial;
    /* What decoding roughly costs, in nanoseconds per KiB of decoded bytes. */
    unsigned cost;
} zb__codec_ops;

/* The members behind ops are used by encoding alone. */
struct zb__codec {
    const zb__codec_ops *ops;
    int level;     /* zstd, gzip; blosc calls it clevel */
    bool checksum; /* zstd: of each frame */
    struct {
        const char *compressor; /* a constant */
        int shuffle;            /* 0 none, 1 bytes, 2 bits: as in libblosc */
        size_t typesize;
        size_t block_size; /* 0: the encoder's choice */
    } blosc;
};

/* The codec called name, or NULL. */
const zb__codec_ops *zb__codec_find(const char *name);

extern const zb__codec_ops zb__codec_zstd;
extern const zb__codec_ops zb__codec_gzip;
extern const zb__codec_ops zb__codec_blosc;
extern const zb__codec_ops zb__codec_crc32c;

#endif
