/* SPDX-License-Identifier: MIT */
/* What the chain knows of the crc32c codec: its input holds its output, so no copy is needed. */
#ifndef ZB_CODEC_CRC32C_H
#define ZB_CODEC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"

#define ZB__CRC32C_SIZE 4

/* Compares the checksum in the last 4 bytes of in[0..size) with that of those before. */
enum zb_code zb__crc32c_verify(const uint8_t *in, size_t size, zb_error *err);

/* Puts the checksum of data[0..size) behind it, within the capacity; *written gets the new size. */
enum zb_code zb__crc32c_append(uint8_t *data, size_t size, size_t capacity, size_t *written,
                               zb_error *err);

#endif
