/* SPDX-License-Identifier: MIT */
/*
 * Scratch: the buffers and compressors' contexts that one task at a time works with. They are kept
 * for the life of the process, because first touch of fresh memory costs as much as a codec
 * and a zstd context costs 12 µs to make.
 */
#ifndef ZB_BASE_SCRATCH_H
#define ZB_BASE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"

/* A growing buffer; its content does not survive growth. */
typedef struct zb__buffer {
    uint8_t *data;
    size_t capacity;
} zb__buffer;

/* Makes room for `size` bytes. The pages are not touched. */
enum zb_code zb__buffer_reserve(zb__buffer *buffer, size_t size, zb_error *err);
void zb__buffer_free(zb__buffer *buffer);

struct ZSTD_DCtx_s;
struct ZSTD_CCtx_s;
struct libdeflate_decompressor;
struct libdeflate_compressor;

#define ZB__DEFLATE_LEVELS 10 /* 0 to 9 */

typedef struct zb__scratch {
    zb__buffer encoded;  /* bytes as read from the store; owned by the reader */
    zb__buffer decoded;  /* one decoded chunk; owned by the reader */
    zb__buffer stage[2]; /* between two bytes→bytes codecs; owned by the chain */
    zb__buffer block;    /* inside one codec; when encoding, a serialised chunk */
    zb__buffer filtered; /* inside the blosc encoder */
    /* Made at first use, by the zstd codec; by the gzip and blosc codecs; by the gzip codec. */
    struct ZSTD_DCtx_s *zstd;
    struct ZSTD_CCtx_s *zstd_encoder;
    struct libdeflate_decompressor *deflate;
    struct libdeflate_compressor *deflate_encoders[ZB__DEFLATE_LEVELS];
    struct zb__scratch *next; /* in the list of idle ones */
} zb__scratch;

/* Takes an idle scratch or makes one; NULL when memory runs out. Give it back with zb__scratch_put.
   Any thread. */
zb__scratch *zb__scratch_take(void);
void zb__scratch_put(zb__scratch *scratch);

/* Frees all idle ones. */
void zb__scratch_clear(void);

#endif
