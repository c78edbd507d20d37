/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores of integers in unaligned bytes: little-endian ones, as formats fix them, and
 * elements of 1, 2, 4 or 8 bytes in the host's order.
 */
#ifndef ZB_UTIL_BYTES_H
#define ZB_UTIL_BYTES_H

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

static inline void zb__store_le16(uint8_t *p, uint16_t value) {
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

static inline void zb__store_le32(uint8_t *p, uint32_t value) {
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

/* The element's bits, zero-extended. */
static inline uint64_t zb__load_element(const void *element, uint32_t size) {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (size) {
    case 1:
        memcpy(&u8, element, sizeof u8);
        return u8;
    case 2:
        memcpy(&u16, element, sizeof u16);
        return u16;
    case 4:
        memcpy(&u32, element, sizeof u32);
        return u32;
    default:
        memcpy(&u64, element, sizeof u64);
        return u64;
    }
}

/* Stores the low bits. */
static inline void zb__store_element(uint64_t bits, uint32_t size, void *out) {
    const uint8_t u8 = (uint8_t)bits;
    const uint16_t u16 = (uint16_t)bits;
    const uint32_t u32 = (uint32_t)bits;
    memcpy(out,
           size == 1   ? (const void *)&u8
           : size == 2 ? (const void *)&u16
           : size == 4 ? (const void *)&u32
                       : (const void *)&bits,
           size);
}

#endif
