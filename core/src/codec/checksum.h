/* SPDX-License-Identifier: MIT */
/* The codecs of ZB__STREAM_SUM, where the bytes beside the sum stay where they are (chain.h). */
#ifndef ZB_CODEC_CHECKSUM_H
#define ZB_CODEC_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"

#define ZB__CHECKSUM_SIZE 4

/* Compares the sum in in[0..size), and moves both to the bytes beside it. */
enum zb_code zb__checksum_open(const void *state, const uint8_t **in, size_t *size, zb_error *err);

/* Puts the sum of data[0..size) beside it; data has room for it. The new size. */
size_t zb__checksum_close(const void *state, uint8_t *data, size_t size);

#endif
