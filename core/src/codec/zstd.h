/* SPDX-License-Identifier: MIT */
/* Zstandard, for its own codec and for the streams inside blosc. */
#ifndef ZB_CODEC_ZSTD_H
#define ZB_CODEC_ZSTD_H

#include <stdbool.h>

#include "util/scratch.h"
#include "zarrbridge/error.h"

/* Decodes all frames of in[0..size) into out[0..capacity); *written gets their size. More than
   capacity, or anything that is not a frame, is ZB_EFORMAT. */
enum zb_code zb__zstd_decode(zb__scratch *scratch, const uint8_t *in, size_t size, uint8_t *out,
                             size_t capacity, size_t *written, zb_error *err);

/* Looks over the headers of all frames, decoding nothing. *checksum: one of them has a checksum.
   *content: what they decode to, UINT64_MAX where a frame does not tell. ZB_EFORMAT as above. */
enum zb_code zb__zstd_survey(const uint8_t *in, size_t size, bool *checksum, uint64_t *content,
                             zb_error *err);

/* True for a frame whose header does not tell the size of its content: streams that were written
   piece by piece, as in TIFF. numcodecs before 0.16 reads no such chunks. */
bool zb__zstd_lacks_size(const uint8_t *in, size_t size);

/* Whether in[0..size) is one whole frame of no stated size and no checksum that may decode to so
   many bytes, by the headers of its blocks. Once the size is stated each reader compares it. */
bool zb__zstd_may_hold(const uint8_t *in, size_t size, uint64_t content);

/* The bytes that stating a size adds. */
#define ZB__ZSTD_STATED 8
/* Copies such a frame, and states the size of its content, which the caller knows. False where
   other frames follow. */
bool zb__zstd_state_size(const uint8_t *in, size_t size, uint64_t content, uint8_t *out,
                         size_t *written);

struct ZSTD_CCtx_s;

/* The scratch's context for encoding, made at its first use. */
enum zb_code zb__zstd_encoder(zb__scratch *scratch, struct ZSTD_CCtx_s **out, zb_error *err);

#endif
