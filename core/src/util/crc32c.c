/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C in two ways.
 *
 * Portable: "slicing by 8". table[0][b] is the CRC register after byte b; table[k][b] the same
 * after k more zero bytes. Eight bytes are eight lookups that do not wait for each other.
 *
 * SSE4.2: the crc32 instruction takes 8 bytes a cycle but gives its result after three, so one
 * stream runs at a third of the speed. Three neighbouring lanes are computed at once. A CRC
 * register is linear in the bytes before it: the register of A followed by B is that of A, moved on
 * over |B| zero bytes, xor that of B alone. Moving over the fixed lane length is a linear map of 32
 * bits, kept as four tables.
 *
 * All tables are computed at the first call (some microseconds) from the polynomial alone.
 */
#include "util/crc32c.h"

#include <pthread.h>

#include "util/bytes.h"
#include "util/cpu.h"

#if defined(__x86_64__)
#define HAVE_SSE42 1
#include <nmmintrin.h>
#else
#define HAVE_SSE42 0
#endif

#define POLYNOMIAL 0x82f63b78u /* bits reversed, as the register shifts to the right */

static uint32_t table[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

/* Takes and returns the register as it is inside, without the inversions at both ends. */
static uint32_t update_portable(uint32_t crc, const uint8_t *p, size_t size) {
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word = zb__load_le64(p) ^ crc;
        crc = 0;
#pragma GCC unroll 8
        for (unsigned k = 0; k < 8; k++)
            crc ^= table[7 - k][(word >> (8 * k)) & 0xff];
    }
    for (; size; p++, size--)
        crc = table[0][(crc ^ *p) & 0xff] ^ (crc >> 8);
    return crc;
}

#if HAVE_SSE42
#define LANE                                                                                       \
    1024 /* bytes; three lanes fit the first-level cache, and combining them costs 8 lookups */

static uint32_t lane_shift[4][256];
static bool have_sse42;

/* lane_shift[k][b]: the register b << 8k moved on over LANE zero bytes. */
static void make_lane_shift(void) {
    static const uint8_t zeros[LANE];
    for (unsigned k = 0; k < 4; k++) {
        for (unsigned bit = 0; bit < 8; bit++)
            lane_shift[k][1u << bit] = update_portable(1u << (8 * k + bit), zeros, LANE);
        for (unsigned b = 1; b < 256; b++)
            lane_shift[k][b] = lane_shift[k][b & (b - 1)] ^ lane_shift[k][b & -b];
    }
}

static uint32_t move_over_lane(uint32_t crc) {
    return lane_shift[0][crc & 0xff] ^ lane_shift[1][(crc >> 8) & 0xff] ^
           lane_shift[2][(crc >> 16) & 0xff] ^ lane_shift[3][crc >> 24];
}

__attribute__((target("sse4.2,crc32"))) static uint32_t update_sse42(uint32_t crc, const uint8_t *p,
                                                                     size_t size) {
    for (; size >= 3 * LANE; p += 3 * LANE, size -= 3 * LANE) {
        uint64_t a = crc, b = 0, c = 0;
        for (size_t i = 0; i < LANE; i += 8) {
            a = _mm_crc32_u64(a, zb__load_le64(p + i));
            b = _mm_crc32_u64(b, zb__load_le64(p + LANE + i));
            c = _mm_crc32_u64(c, zb__load_le64(p + 2 * LANE + i));
        }
        crc = move_over_lane((uint32_t)a) ^ (uint32_t)b;
        crc = move_over_lane(crc) ^ (uint32_t)c;
    }
    uint64_t wide = crc;
    for (; size >= 8; p += 8, size -= 8)
        wide = _mm_crc32_u64(wide, zb__load_le64(p));
    crc = (uint32_t)wide;
    for (; size; p++, size--)
        crc = _mm_crc32_u8(crc, *p);
    return crc;
}
#endif

static void make_tables(void) {
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
        table[0][b] = crc;
    }
    for (unsigned k = 1; k < 8; k++) {
        for (unsigned b = 0; b < 256; b++)
            table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 0xff];
    }
#if HAVE_SSE42
    make_lane_shift();
    have_sse42 = zb__cpu_has(ZB__CPU_SSE42);
#endif
}

uint32_t zb__crc32c_portable(const void *data, size_t size) {
    pthread_once(&tables_once, make_tables);
    return ~update_portable(UINT32_MAX, data, size);
}

uint32_t zb__crc32c(const void *data, size_t size) {
    pthread_once(&tables_once, make_tables);
#if HAVE_SSE42
    if (have_sse42)
        return ~update_sse42(UINT32_MAX, data, size);
#endif
    return ~update_portable(UINT32_MAX, data, size);
}
