/* SPDX-License-Identifier: MIT */
/*
 * By SSSE3: sixteen bytes of the result lie in `step` registers of the source, and one shuffle of
 * each brings its part to the place, with zeros elsewhere.
 */
#include "kernel/every_nth.h"

#if defined(__x86_64__)

#include <tmmintrin.h>

enum { WIDTH = 16 };

__attribute__((target("ssse3"))) static size_t by_shuffles(const char *src, size_t step, char *dst,
                                                           size_t n) {
    char places[ZB__EVERY_MAX][WIDTH];
    for (size_t part = 0; part < step; part++) {
        for (size_t i = 0; i < WIDTH; i++) /* the top bit gives a zero */
            places[part][i] = (char)(i * step / WIDTH == part ? i * step % WIDTH : 0x80);
    }
    size_t done = 0;
    /* The registers end behind the last byte that counts; one more element covers them. */
    for (; n - done > WIDTH; done += WIDTH) {
        __m128i all = _mm_setzero_si128();
        for (size_t part = 0; part < step; part++) {
            const __m128i from =
                _mm_loadu_si128((const __m128i *)(src + done * step + part * WIDTH));
            const __m128i place = _mm_loadu_si128((const __m128i *)places[part]);
            all = _mm_or_si128(all, _mm_shuffle_epi8(from, place));
        }
        _mm_storeu_si128((__m128i *)(dst + done), all);
    }
    return done;
}

size_t zb__every_nth(const char *src, size_t step, char *dst, size_t n) {
    if (n <= WIDTH || !__builtin_cpu_supports("ssse3"))
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
