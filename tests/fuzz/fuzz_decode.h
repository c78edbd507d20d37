/* SPDX-License-Identifier: MIT */
/* The demands of the decoders' fuzz targets on every input. */
#ifndef TESTS_FUZZ_FUZZ_DECODE_H
#define TESTS_FUZZ_FUZZ_DECODE_H

#include "codec/codec.h"
#include "fuzz.h"
#include "util/scratch.h"

/* Decodes [lo, hi) into out, which has capacity bytes. */
static inline enum zb_code fuzz_decode_range(const zb__codec_ops *ops, const uint8_t *in,
                                             size_t size, zb__sink *sink) {
    static const zb__binding binding = {.ndim = 1, .dtype = {.kind = ZB_KIND_UINT, .size = 4}};
    zb__codec codec = {.ops = ops};
    zb_error err = {0};
    REQUIRE(!ops->parse || ops->parse(NULL, &binding, &codec.state, &err) == ZB_OK);
    zb__scratch *scratch = zb__scratch_take();
    REQUIRE(scratch);
    enum zb_code code = ops->bytes.decode(codec.state, scratch, in, size, sink, &err);
    zb__scratch_put(scratch);
    zb__codec_free(&codec);
    fuzz_check_error(code, &err);
    if (!code)
        REQUIRE(sink->size <= sink->capacity && (!sink->exact || sink->size >= sink->hi));
    return code;
}

/* Decodes all, then a part. Where the whole is right, the part must be, with the same bytes. */
static inline void fuzz_decode(const zb__codec_ops *ops, const uint8_t *in, size_t size,
                               size_t capacity, bool exact, size_t lo, size_t hi) {
    /* Exact allocations: the address sanitizer guards their ends. */
    uint8_t *whole = malloc(capacity ? capacity : 1), *part = malloc(capacity ? capacity : 1);
    REQUIRE(whole && part);
    zb__sink all = {.data = whole, .capacity = capacity, .exact = exact, .hi = capacity};
    zb__sink some = {.data = part, .capacity = capacity, .exact = exact, .lo = lo, .hi = hi};
    enum zb_code code = fuzz_decode_range(ops, in, size, &all);
    enum zb_code part_code = fuzz_decode_range(ops, in, size, &some);
    if (code == ZB_OK) {
        REQUIRE(!exact || all.size == capacity);
        REQUIRE(part_code == ZB_OK);
        if (lo < all.size)
            REQUIRE(memcmp(whole + lo, part + lo, (hi < all.size ? hi : all.size) - lo) == 0);
    }
    free(whole);
    free(part);
}

#endif
