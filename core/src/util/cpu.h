/* SPDX-License-Identifier: MIT */
/*
 * What the processor can do beside what its architecture promises. The compilers' own question
 * (__builtin_cpu_supports) has the answer no, whatever the processor, in what zig links: the wheel.
 */
#ifndef ZB_UTIL_CPU_H
#define ZB_UTIL_CPU_H

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdatomic.h>
#include <stdbool.h>

enum zb__cpu { ZB__CPU_SSSE3 = 1, ZB__CPU_SSE42 = 2, ZB__CPU_AVX2 = 4 };

/* The system has to keep the wide registers, too: it sets these bits of XCR0. */
static inline bool zb__cpu_keeps_ymm(void) {
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6;
}

static inline unsigned zb__cpu_ask(void) {
    unsigned a, b, c, d, found = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    found |= c & bit_SSSE3 ? ZB__CPU_SSSE3 : 0;
    found |= c & bit_SSE4_2 ? ZB__CPU_SSE42 : 0;
    if ((c & bit_OSXSAVE) && zb__cpu_keeps_ymm() && __get_cpuid_count(7, 0, &a, &b, &c, &d))
        found |= b & bit_AVX2 ? ZB__CPU_AVX2 : 0;
    return found;
}

/* Asked once, since CPUID leaves a virtual machine. */
static inline bool zb__cpu_has(enum zb__cpu what) {
    static _Atomic unsigned known; /* 8: asked */
    unsigned found = atomic_load_explicit(&known, memory_order_relaxed);
    if (!found) {
        found = zb__cpu_ask() | 8;
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return found & what;
}
#endif

#endif
