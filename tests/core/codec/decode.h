/* SPDX-License-Identifier: MIT */
/*
 * The helpers of all codec tests: decoding between buffers of the exact sizes (so that
 * AddressSanitizer sees a byte too many), sample data of several kinds, the damage that every
 * decoder must survive, and round trips through the encoder.
 */
#ifndef ZB_TEST_CODEC_DECODE_H
#define ZB_TEST_CODEC_DECODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/codec.h"

/* A buffer of our own; the caller frees data. */
typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

/* One use of a decoder. capacity, exact and [lo, hi) are the sink's. */
typedef struct decoding {
    const zb__codec_ops *ops;
    size_t capacity, lo, hi;
    bool exact;
    zb_error err;
    bytes out; /* capacity bytes, with 0xa5 in the bytes that were not written */
} decoding;

#define UNTOUCHED 0xa5

enum sample_kind { SAMPLE_ZEROS, SAMPLE_RAMP, SAMPLE_NOISE, SAMPLE_TEXT, SAMPLE_KINDS };

/* malloc'ed, of the exact size (one byte for size 0). */
uint8_t *exact_copy(const void *data, size_t size);

/* Runs a decoder of bare streams, which tells the decoded size, or 0 for what it refuses. *out has
   exactly capacity bytes, and so has the copy of in; the caller frees it. */
size_t decode_stream(size_t (*decode)(const uint8_t *in, size_t size, uint8_t *out,
                                      size_t capacity),
                     const uint8_t *in, size_t size, uint8_t **out, size_t capacity);

bytes make_sample(enum sample_kind kind, size_t size, unsigned seed);

/* The whole chunk, exactly `capacity` bytes. */
decoding decode_whole(const zb__codec_ops *ops, size_t capacity);

/* Runs the decoder on a copy of in; d->out is allocated and to be freed, also on errors. Returns
   its code; the size it reports is checked to be within the capacity. */
enum zb_code run_decoder(decoding *d, const void *in, size_t size);

/* Decodes and compares with the expected bytes. */
void assert_decodes(const zb__codec_ops *ops, const void *in, size_t size, const void *expected,
                    size_t expected_size);

/* Decodes to expected_size bytes, which must fail with this code and with text in the message. */
void assert_fails(const zb__codec_ops *ops, const void *in, size_t size, size_t expected_size,
                  enum zb_code code, const char *text);

/* Decodes [lo, hi) of the chunk for many bounds and compares with expected[lo, hi). */
void assert_parts_decode(const zb__codec_ops *ops, bytes in, bytes expected);

/* Cuts the stream at every length, and flips bits of every byte: the decoder must end with an error
   or with the right number of bytes. Cut streams must be errors. */
void assert_survives_damage(const zb__codec_ops *ops, bytes in, size_t expected_size);

/* A codec of this configuration (JSON text) for elements of `item` bytes; freed with
   zb__codec_free. */
zb__codec make_codec(const zb__codec_ops *ops, const char *configuration, uint32_t item);

/* Encodes into a buffer of exactly the bound, with bytes behind it that must stay. */
bytes run_encoder(const zb__codec *codec, bytes in);

/* Encodes samples of all kinds and many sizes, 0 included, and decodes them again. Equal input must
   give equal output, with any room, and too small a buffer an error. */
void assert_round_trips(const zb__codec_ops *ops, const char *configuration, uint32_t item);

#endif
