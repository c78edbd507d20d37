/* SPDX-License-Identifier: MIT */
/* Loads of integers from unaligned bytes. Formats fix the byte order, hosts do not. */
#ifndef ZB_BASE_BYTES_H
#define ZB_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t zb__load_le16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t zb__load_le32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t zb__load_le64(const uint8_t *p) {
    return zb__load_le32(p) | (uint64_t)zb__load_le32(p + 4) << 32;
}

static inline void zb__store_le32(uint8_t *p, uint32_t value) {
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

#endif
