/* SPDX-License-Identifier: MIT */
/*
 * Plain loops over pixels, which the compiler turns into shuffles of registers when it knows the
 * element's size and the number of bands: hence one loop for each pair of them, all made of the
 * same few lines. On x86-64 they are compiled for the shuffles of SSSE3 and AVX2, too, without
 * which three bands of bytes take seven times as long. AVX-512 gains nothing: memory is slower.
 */
#include "types/move.h"

#include <string.h>

#include "util/cpu.h"

#define INLINED static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define HAVE_SHUFFLES 1
#else
#define HAVE_SHUFFLES 0
#endif

/* ---- One loop, of constants --------------------------------------------------------------- */

INLINED void split(const size_t size, const size_t bands, const char *restrict src,
                   char *restrict first, char *restrict second, char *restrict third,
                   char *restrict fourth, size_t n) {
    for (size_t i = 0; i < n; i++) {
        memcpy(first + i * size, src + i * bands * size, size);
        memcpy(second + i * size, src + (i * bands + 1) * size, size);
        if (bands > 2)
            memcpy(third + i * size, src + (i * bands + 2) * size, size);
        if (bands > 3)
            memcpy(fourth + i * size, src + (i * bands + 3) * size, size);
    }
}

INLINED void pick(const size_t size, const size_t bands, const char *restrict src,
                  char *restrict dst, size_t n) {
    for (size_t i = 0; i < n; i++)
        memcpy(dst + i * size, src + i * bands * size, size);
}

/* ---- The loop for a size and a number of bands -------------------------------------------- */

/* dst: all bands, or with `one` the only one. */
INLINED void of_bands(const size_t size, size_t bands, bool one, const char *src, char *const *dst,
                      size_t n) {
    if (one && bands == 2)
        pick(size, 2, src, dst[0], n);
    else if (one && bands == 3)
        pick(size, 3, src, dst[0], n);
    else if (one)
        pick(size, 4, src, dst[0], n);
    else if (bands == 2)
        split(size, 2, src, dst[0], dst[1], NULL, NULL, n);
    else if (bands == 3)
        split(size, 3, src, dst[0], dst[1], dst[2], NULL, n);
    else
        split(size, 4, src, dst[0], dst[1], dst[2], dst[3], n);
}

INLINED void of_size(size_t size, size_t bands, bool one, const char *src, char *const *dst,
                     size_t n) {
    if (size == 1)
        of_bands(1, bands, one, src, dst, n);
    else if (size == 2)
        of_bands(2, bands, one, src, dst, n);
    else
        of_bands(4, bands, one, src, dst, n);
}

#if HAVE_SHUFFLES
__attribute__((target("ssse3"))) static void by_ssse3(size_t size, size_t bands, bool one,
                                                      const char *src, char *const *dst, size_t n) {
    of_size(size, bands, one, src, dst, n);
}

__attribute__((target("avx2"))) static void by_avx2(size_t size, size_t bands, bool one,
                                                    const char *src, char *const *dst, size_t n) {
    of_size(size, bands, one, src, dst, n);
}
#endif

static void run(size_t size, size_t bands, bool one, const char *src, char *const *dst, size_t n) {
#if HAVE_SHUFFLES
    if (zb__cpu_has(ZB__CPU_AVX2))
        by_avx2(size, bands, one, src, dst, n);
    else if (zb__cpu_has(ZB__CPU_SSSE3))
        by_ssse3(size, bands, one, src, dst, n);
    else
#endif
        of_size(size, bands, one, src, dst, n);
}

void zb__bands_split(size_t size, size_t bands, const char *src, char *const *dst, size_t n) {
    run(size, bands, false, src, dst, n);
}

void zb__bands_pick(size_t size, size_t bands, const char *src, char *dst, size_t n) {
    run(size, bands, true, src, &dst, n);
}
