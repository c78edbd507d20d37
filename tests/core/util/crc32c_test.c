/* SPDX-License-Identifier: MIT */
/* Known values, and both ways of computing against one bit at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/cpu.h"
#include "util/crc32c.h"

static void known_values(void **state) {
    (void)state;
    uint8_t zeros[32], ones[32], ascending[32];
    for (int i = 0; i < 32; i++) {
        zeros[i] = 0;
        ones[i] = 0xff;
        ascending[i] = (uint8_t)i;
    }
    const struct {
        const void *data;
        size_t size;
        uint32_t crc;
    } vectors[] = {
        {"", 0, 0},
        {"123456789", 9, 0xe3069283},
        {zeros, 32, 0x8a9136aa},
        {ones, 32, 0x62a8ab43},
        {ascending, 32, 0x46dd794e},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        assert_int_equal(zb__crc32c(vectors[i].data, vectors[i].size), vectors[i].crc);
        assert_int_equal(zb__crc32c_portable(vectors[i].data, vectors[i].size), vectors[i].crc);
    }
}

static uint32_t bitwise(const uint8_t *p, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    return ~crc;
}

/* Around the sizes of words and of the three lanes, at every alignment. */
static void all_sizes(void **state) {
    (void)state;
    for (size_t size = 0; size < 10000; size += size < 70 ? 1 : size % 1024 < 1016 ? 509 : 1) {
        for (size_t shift = 0; shift < 8; shift++) {
            uint8_t *buffer = malloc(size + shift + 1);
            uint32_t random = (uint32_t)size + 1;
            for (size_t i = 0; i < size + shift; i++) {
                random = random * 1664525u + 1013904223u;
                buffer[i] = (uint8_t)(random >> 24);
            }
            uint32_t expected = bitwise(buffer + shift, size);
            assert_int_equal(zb__crc32c(buffer + shift, size), expected);
            assert_int_equal(zb__crc32c_portable(buffer + shift, size), expected);
            free(buffer);
        }
    }
}

/* The compiler of the tests knows, too. */
static void the_processor_is_known(void **state) {
    (void)state;
#if defined(__x86_64__)
    assert_int_equal(zb__cpu_has(ZB__CPU_SSSE3), __builtin_cpu_supports("ssse3") != 0);
    assert_int_equal(zb__cpu_has(ZB__CPU_SSE42), __builtin_cpu_supports("sse4.2") != 0);
    assert_int_equal(zb__cpu_has(ZB__CPU_AVX2), __builtin_cpu_supports("avx2") != 0);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_values), cmocka_unit_test(all_sizes),
                                       cmocka_unit_test(the_processor_is_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
