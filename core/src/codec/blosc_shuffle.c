/* SPDX-License-Identifier: MIT */
/*
 * Both inverses are one operation, interleaving planes: byte i of every plane, plane by plane, for
 * each i. For unshuffling, the planes are those of the bytes of an element. For bits, the eight bit
 * planes of one byte are interleaved, and the eight bytes that meet are transposed as a matrix of
 * bits, which gives that byte of eight elements; so a plane of bytes comes out, to be interleaved
 * in its turn.
 */
#include "codec/blosc.h"

#include <stdbool.h>
#include <string.h>

#include "util/cpu.h"

#if defined(__x86_64__)
#define HAVE_X86 1
#include <immintrin.h>
#else
#define HAVE_X86 0
#endif

/* Byte planes between the two steps of bit-unshuffling: half of a first-level cache. */
#define TILE_SIZE 16384

/* The bits of a matrix of 8 x 8 that change places with those 7, 14 or 28 bits higher. */
#define TRANSPOSE_MASK_1 0x00aa00aa00aa00aa
#define TRANSPOSE_MASK_2 0x0000cccc0000cccc
#define TRANSPOSE_MASK_4 0x00000000f0f0f0f0

#if HAVE_X86
#define NAME(suffix) interleave_sse2##suffix
#define TARGET
#define VECTOR __m128i
#define LOAD(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define UNPACK_LOW _mm_unpacklo_epi8
#define UNPACK_HIGH _mm_unpackhi_epi8
#define XOR _mm_xor_si128
#define AND _mm_and_si128
#define SHIFT_LEFT _mm_slli_epi64
#define SHIFT_RIGHT _mm_srli_epi64
#define SET64 _mm_set1_epi64x
#define STORE_LANES(at, lane_distance, x) _mm_storeu_si128((__m128i *)(void *)(at), x)
#define LOAD_LANES(at, lane_distance) LOAD(at)
#define STORE(at, x) _mm_storeu_si128((__m128i *)(void *)(at), x)
#include "codec/blosc_interleave.h"

#define NAME(suffix) interleave_avx2##suffix
#define TARGET __attribute__((target("avx2")))
#define VECTOR __m256i
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define UNPACK_LOW _mm256_unpacklo_epi8
#define UNPACK_HIGH _mm256_unpackhi_epi8
#define XOR _mm256_xor_si256
#define AND _mm256_and_si256
#define SHIFT_LEFT _mm256_slli_epi64
#define SHIFT_RIGHT _mm256_srli_epi64
#define SET64 _mm256_set1_epi64x
#define STORE_LANES(at, lane_distance, x)                                                          \
    _mm256_storeu2_m128i((__m128i *)(void *)((at) + (lane_distance)), (__m128i *)(void *)(at), x)
#define LOAD_LANES(at, lane_distance)                                                              \
    _mm256_loadu2_m128i((const __m128i *)(const void *)((at) + (lane_distance)),                   \
                        (const __m128i *)(const void *)(at))
#define STORE(at, x) _mm256_storeu_si256((__m256i *)(void *)(at), x)
#include "codec/blosc_interleave.h"
#endif

enum zb__simd zb__simd_best(void) {
#if HAVE_X86
    return zb__cpu_has(ZB__CPU_AVX2) ? ZB__SIMD_AVX2 : ZB__SIMD_SSE2;
#else
    return ZB__SIMD_NONE;
#endif
}

#if HAVE_X86
#define LOAD_16(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#endif

/* ---- One step ----------------------------------------------------------------------------- */

/* Makes bit j of byte i bit i of byte j, for all i and j from 0 to 7. */
static uint64_t transpose_bits(uint64_t x) {
    uint64_t t = (x ^ x >> 7) & TRANSPOSE_MASK_1;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & TRANSPOSE_MASK_2;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & TRANSPOSE_MASK_4;
    return x ^ t ^ t << 28;
}

static void interleave_bits_plain(const uint8_t *in, size_t distance, size_t count, uint8_t *out) {
    for (size_t i = 0; i < count; i++) {
        uint64_t matrix = 0;
        for (size_t j = 0; j < 8; j++)
            matrix |= (uint64_t)in[j * distance + i] << (8 * j);
        matrix = transpose_bits(matrix);
        for (size_t j = 0; j < 8; j++)
            out[8 * i + j] = (uint8_t)(matrix >> (8 * j));
    }
}

static void interleave_plain(size_t planes, const uint8_t *in, size_t distance, size_t count,
                             uint8_t *out) {
    /* In pieces, so that the lines of out are still in the cache when the next plane comes. */
    enum { PIECE = 64 };
    for (size_t first = 0; first < count; first += PIECE) {
        size_t end = count - first < PIECE ? count : first + PIECE;
        for (size_t j = 0; j < planes; j++) {
            for (size_t i = first; i < end; i++)
                out[i * planes + j] = in[j * distance + i];
        }
    }
}

/* Planes begin `distance` bytes apart and have `count` bytes each. With bits, planes is 8. */
static void interleave(enum zb__simd simd, size_t planes, bool bits, const uint8_t *in,
                       size_t distance, size_t count, uint8_t *out) {
    size_t done = 0;
#if HAVE_X86
    if (simd == ZB__SIMD_AVX2)
        done = interleave_avx2(planes, bits, in, distance, count, out);
    else if (simd == ZB__SIMD_SSE2)
        done = interleave_sse2(planes, bits, in, distance, count, out);
#else
    (void)simd;
#endif
    if (bits)
        interleave_bits_plain(in + done, distance, count - done, out + done * planes);
    else
        interleave_plain(planes, in + done, distance, count - done, out + done * planes);
}

/* ---- Whole blocks ------------------------------------------------------------------------- */

void zb__unshuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size,
                   uint8_t *out) {
    size_t count = size / typesize, whole = count * typesize;
    interleave(simd, typesize, false, in, count, count, out);
    memcpy(out + whole, in + whole, size - whole);
}

void zb__bitunshuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size,
                      uint8_t *out) {
    size_t count = size / typesize, whole = count * typesize;
    if (count % 8) {
        memcpy(out, in, size);
        return;
    }
    size_t columns = count / 8; /* bytes of a bit plane */
    if (typesize == 1) {
        interleave(simd, 8, true, in, columns, columns, out);
    } else {
        uint8_t planes[TILE_SIZE];
        size_t most = TILE_SIZE / (8 * typesize), width;
        for (size_t first = 0; first < columns; first += width) {
            width = columns - first < most ? columns - first : most;
            for (size_t j = 0; j < typesize; j++)
                interleave(simd, 8, true, in + 8 * j * columns + first, columns, width,
                           planes + 8 * j * width);
            interleave(simd, typesize, false, planes, 8 * width, 8 * width,
                       out + 8 * first * typesize);
        }
    }
    memcpy(out + whole, in + whole, size - whole);
}

/* ---- The filters -------------------------------------------------------------------------- */

/* Splits `count` elements into planes that begin `distance` bytes apart. */
static void split(enum zb__simd simd, size_t planes, const uint8_t *in, size_t distance,
                  size_t count, uint8_t *out) {
    size_t done = 0;
#if HAVE_X86
    if (simd == ZB__SIMD_AVX2)
        done = interleave_avx2_split(planes, in, distance, count, out);
    else if (simd == ZB__SIMD_SSE2)
        done = interleave_sse2_split(planes, in, distance, count, out);
#else
    (void)simd;
#endif
    for (size_t j = 0; j < planes; j++) {
        for (size_t i = done; i < count; i++)
            out[j * distance + i] = in[i * planes + j];
    }
}

void zb__shuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size,
                 uint8_t *out) {
    size_t count = size / typesize, whole = count * typesize;
    split(simd, typesize, in, count, count, out);
    memcpy(out + whole, in + whole, size - whole);
}

/* Splits a plane of bytes into eight planes of bits, `distance` apart. */
static void split_bits(const uint8_t *in, size_t columns, size_t distance, uint8_t *out) {
    size_t c = 0;
#if HAVE_X86
    for (; c + 2 <= columns; c += 2) { /* one instruction takes the top bits of 16 bytes */
        __m128i x = LOAD_16(in + 8 * c);
        for (size_t j = 8; j-- > 0; x = _mm_slli_epi64(x, 1)) {
            uint16_t bits = (uint16_t)_mm_movemask_epi8(x);
            memcpy(out + j * distance + c, &bits, sizeof bits);
        }
    }
#endif
    for (; c < columns; c++) {
        uint64_t matrix = 0;
        for (size_t i = 0; i < 8; i++)
            matrix |= (uint64_t)in[8 * c + i] << (8 * i);
        matrix = transpose_bits(matrix);
        for (size_t j = 0; j < 8; j++)
            out[j * distance + c] = (uint8_t)(matrix >> (8 * j));
    }
}

void zb__bitshuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size,
                    uint8_t *out) {
    size_t count = size / typesize, whole = count * typesize;
    if (count % 8) {
        memcpy(out, in, size);
        return;
    }
    uint8_t planes[TILE_SIZE];
    size_t columns = count / 8; /* bytes of a bit plane */
    size_t most = TILE_SIZE / (8 * typesize), width;
    for (size_t first = 0; first < columns; first += width) {
        width = columns - first < most ? columns - first : most;
        split(simd, typesize, in + 8 * first * typesize, 8 * width, 8 * width, planes);
        for (size_t j = 0; j < typesize; j++)
            split_bits(planes + 8 * j * width, width, columns, out + 8 * j * columns + first);
    }
    memcpy(out + whole, in + whole, size - whole);
}
