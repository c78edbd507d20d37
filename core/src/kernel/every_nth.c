/* SPDX-License-Identifier: MIT */
/*
 * By AVX2: sixteen bytes of the result lie in `step` pieces of sixteen of the source, and one
 * shuffle of each piece brings its part to the place, with zeros elsewhere. The two halves of a
 * register do that for two neighbouring sixteens.
 */
#include "kernel/every_nth.h"

#if defined(__x86_64__)

#include <immintrin.h>

enum { PIECE = 16, WIDTH = 32 };

typedef struct {
    __m256i part[ZB__EVERY_MAX];
} shuffles;

__attribute__((target("avx2"))) static shuffles shuffles_of(size_t step) {
    shuffles made;
    for (size_t part = 0; part < step; part++) {
        char places[PIECE];
        for (size_t i = 0; i < PIECE; i++) /* the top bit gives a zero */
            places[i] = (char)(i * step / PIECE == part ? i * step % PIECE : 0x80);
        made.part[part] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)places));
    }
    return made;
}

__attribute__((target("avx2"))) static size_t by_shuffles(const char *src, size_t step, char *dst,
                                                          size_t n) {
    const shuffles to = shuffles_of(step);
    size_t done = 0;
    /* The registers end behind the last byte that counts; one more element covers them. */
    for (; n - done > WIDTH; done += WIDTH) {
        __m256i all = _mm256_setzero_si256();
        for (size_t part = 0; part < step; part++) {
            const char *const from = src + done * step + part * PIECE;
            const __m256i pieces =
                _mm256_loadu2_m128i((const __m128i *)(from + step * PIECE), (const __m128i *)from);
            all = _mm256_or_si256(all, _mm256_shuffle_epi8(pieces, to.part[part]));
        }
        _mm256_storeu_si256((__m256i *)(dst + done), all);
    }
    return done;
}

size_t zb__every_nth(const char *src, size_t step, char *dst, size_t n) {
    if (n <= WIDTH || !__builtin_cpu_supports("avx2"))
        return 0;
    switch (step) { /* constants, so that the registers' loop is unrolled */
    case 2:
        return by_shuffles(src, 2, dst, n);
    case 3:
        return by_shuffles(src, 3, dst, n);
    default:
        return by_shuffles(src, 4, dst, n);
    }
}

#else

size_t zb__every_nth(const char *src, size_t step, char *dst, size_t n) {
    (void)src, (void)step, (void)dst, (void)n;
    return 0;
}

#endif
