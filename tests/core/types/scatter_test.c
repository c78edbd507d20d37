/* SPDX-License-Identifier: MIT */
/*
 * Random boxes against an element-by-element copy. The whole destination is compared, with the gaps
 * between elements and the bytes around them; sources are exact allocations, so that
 * AddressSanitizer sees an element too many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "types/scatter.h"
#include "reference.h"

#define GUARD 80

/* A box in a buffer: dimensions in any order of nesting, gaps between them, any direction. */
typedef struct layout {
    int64_t strides[ZB_MAX_NDIM];
    size_t origin, bytes;
} layout;

static void make_layout(layout *out, uint32_t ndim, const uint64_t *count, size_t element,
                        bool plain) {
    uint32_t order[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < ndim; d++)
        order[d] = d;
    for (uint32_t d = ndim; d > 1 && !plain; d--) {
        uint32_t other = (uint32_t)random_below(d), t = order[d - 1];
        order[d - 1] = order[other];
        order[other] = t;
    }
    size_t extent = element;
    out->origin = 0;
    for (uint32_t i = ndim; i-- > 0;) {
        uint32_t d = order[i];
        size_t stride = extent;
        if (!plain && random_below(3) == 0)
            stride += random_below(4) == 0 ? random_below(70) : element * random_below(3);
        size_t span = count[d] == 0 ? 0 : stride * (count[d] - 1);
        out->strides[d] = (int64_t)stride;
        if (!plain && random_below(4) == 0) {
            out->strides[d] = -(int64_t)stride;
            out->origin += span;
        }
        extent += span;
    }
    out->bytes = extent;
}

/* The copy that zb__scatter claims to make, or with src_strides NULL zb__scatter_fill. */
static void reference_copy(const zb__box_copy *copy, const char *src, char *dst) {
    uint64_t index[ZB_MAX_NDIM] = {0};
    for (uint32_t d = 0; d < copy->ndim; d++) {
        if (copy->count[d] == 0)
            return;
    }
    for (;;) {
        int64_t from = 0, to = 0;
        for (uint32_t d = 0; d < copy->ndim; d++) {
            if (copy->src_strides != NULL)
                from += (int64_t)index[d] * copy->src_strides[d];
            to += (int64_t)index[d] * copy->dst_strides[d];
        }
        convert_element(copy->src_dtype, src + from, copy->dst_dtype, dst + to);
        uint32_t d = copy->ndim;
        while (d > 0 && ++index[d - 1] == copy->count[d - 1])
            index[--d] = 0;
        if (d == 0)
            return;
    }
}

static void print_box(const zb__box_copy *copy) {
    char from[ZB_DTYPE_NAME_SIZE], to[ZB_DTYPE_NAME_SIZE];
    print_message("%s%s -> %s%s%s\n", zb_dtype_name(copy->src_dtype, from),
                  copy->src_dtype.swapped ? " swapped" : "", zb_dtype_name(copy->dst_dtype, to),
                  copy->dst_dtype.swapped ? " swapped" : "", copy->stream ? ", stream" : "");
    for (uint32_t d = 0; d < copy->ndim; d++)
        print_message("  count %llu, strides %lld %lld\n", (unsigned long long)copy->count[d],
                      (long long)copy->src_strides[d], (long long)copy->dst_strides[d]);
}

static void check_box(zb__box_copy *copy, const layout *from, const layout *to) {
    copy->src_strides = from->strides;
    copy->dst_strides = to->strides;
    const size_t shift = random_below(64);
    const size_t dst_bytes = 2 * GUARD + shift + to->bytes;
    char *src = malloc(from->bytes), *dst = malloc(dst_bytes), *expected = malloc(dst_bytes);
    assert_true(src != NULL && dst != NULL && expected != NULL);
    for (size_t i = 0; i < from->bytes; i++)
        src[i] = (char)random_u64();
    const size_t first = GUARD + shift + to->origin;
    for (int fill = 0; fill < 2; fill++) {
        memset(dst, 0x5a, dst_bytes);
        memset(expected, 0x5a, dst_bytes);
        if (fill) {
            zb__box_copy box = *copy;
            box.src_strides = NULL;
            reference_copy(&box, src + from->origin, expected + first);
            zb__scatter_fill(copy, src + from->origin, dst + first);
        } else {
            reference_copy(copy, src + from->origin, expected + first);
            zb__scatter(copy, src + from->origin, dst + first);
        }
        if (memcmp(dst, expected, dst_bytes) != 0) {
            print_box(copy);
            fail_msg("%s differs", fill ? "fill" : "copy");
        }
    }
    free(src);
    free(dst);
    free(expected);
}

/* Integers, whose conversions have no NaN, and elements that are moved without conversion. */
static void random_types(zb__box_copy *copy) {
    static const uint32_t raw_sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 33, 100, 5000};
    static const zb_dtype integers[] = {
        {ZB_KIND_INT, 1, false, NULL},  {ZB_KIND_INT, 2, false, NULL},
        {ZB_KIND_UINT, 4, false, NULL}, {ZB_KIND_INT, 8, false, NULL},
        {ZB_KIND_UINT, 1, false, NULL}, {ZB_KIND_UINT, 2, false, NULL}};
    switch (random_below(4)) {
    case 0:
        copy->src_dtype = (zb_dtype){ZB_KIND_RAW, raw_sizes[random_below(14)], false, NULL};
        copy->dst_dtype = copy->src_dtype;
        break;
    case 1: /* conversion */
        copy->src_dtype = integers[random_below(6)];
        copy->dst_dtype = integers[random_below(6)];
        copy->src_dtype.swapped = random_below(2);
        copy->dst_dtype.swapped = random_below(2);
        break;
    case 2: /* swap or copy of numbers */
        copy->src_dtype = copy->dst_dtype = all_numbers[random_below(NUMBER_COUNT)];
        copy->src_dtype.swapped = random_below(4) != 0;
        break;
    default:
        copy->src_dtype = (zb_dtype){ZB_KIND_COMPLEX, random_below(2) ? 8 : 16, true, NULL};
        copy->dst_dtype = copy->src_dtype;
        copy->dst_dtype.swapped = random_below(4) == 0;
    }
}

static void random_boxes(void **state) {
    (void)state;
    static const uint64_t budgets[] = {1, 30, 300, 3000, 12000};
    for (int round = 0; round < 6000; round++) {
        uint64_t count[ZB_MAX_NDIM];
        layout from, to;
        zb__box_copy copy = {.count = count, .stream = random_below(2)};
        random_types(&copy);
        copy.ndim = (uint32_t)random_below(round % 50 == 0 ? ZB_MAX_NDIM + 1 : 6);
        /* Dimensions share a budget of elements, in random order, so that long ones occur. */
        uint64_t left = budgets[random_below(5)] / (1 + copy.src_dtype.size / 64) + 1;
        for (uint32_t d = 0; d < copy.ndim; d++)
            count[d] = 1;
        for (uint32_t tries = 0; tries < copy.ndim; tries++) {
            uint32_t d = (uint32_t)random_below(copy.ndim);
            uint64_t n = 1 + random_below(random_below(3) == 0 ? left : left < 9 ? left : 9);
            if (count[d] == 1) {
                count[d] = n;
                left /= n;
            }
        }
        if (copy.ndim > 0 && random_below(50) == 0)
            count[random_below(copy.ndim)] = 0;
        bool plain = random_below(4) == 0;
        make_layout(&from, copy.ndim, count, copy.src_dtype.size, plain);
        make_layout(&to, copy.ndim, count, copy.dst_dtype.size, plain && random_below(2));
        check_box(&copy, &from, &to);
    }
}

/* Both dimensions larger than a tile and not multiples of it. */
static void transposes(void **state) {
    (void)state;
    const uint64_t counts[][3] = {{1, 100, 70}, {3, 33, 1000}, {50, 2, 65}, {64, 64, 3}};
    const uint32_t sizes[] = {1, 2, 3, 4, 8, 16, 70};
    for (size_t c = 0; c < 4; c++) {
        for (size_t s = 0; s < 7; s++) {
            const uint64_t *n = counts[c];
            const int64_t size = sizes[s];
            layout from = {.strides = {(int64_t)(n[1] * n[2]) * size, (int64_t)n[2] * size, size},
                           .bytes = n[0] * n[1] * n[2] * sizes[s]};
            layout to = {.strides = {size, (int64_t)n[0] * size, (int64_t)(n[0] * n[1]) * size},
                         .bytes = from.bytes};
            zb__box_copy copy = {.ndim = 3,
                                 .count = n,
                                 .src_dtype = {ZB_KIND_RAW, sizes[s], false, NULL},
                                 .dst_dtype = {ZB_KIND_RAW, sizes[s], false, NULL}};
            check_box(&copy, &from, &to);
            if (size == 2 || size == 4 || size == 8) {
                copy.src_dtype = (zb_dtype){ZB_KIND_UINT, sizes[s], true, NULL};
                copy.dst_dtype = (zb_dtype){ZB_KIND_UINT, sizes[s], false, NULL};
                copy.stream = c & 1;
                check_box(&copy, &from, &to);
            }
        }
    }
}

/* Bands of pixels, of every length around that of a register. */
static void bands_of_pixels(void **state) {
    (void)state;
    const uint32_t sizes[] = {1, 2, 4, 8};
    for (size_t s = 0; s < 4; s++) {
        for (uint64_t samples = 2; samples <= 5; samples++) {
            for (uint64_t pixels = 1; pixels < 200; pixels++) {
                const int64_t size = sizes[s];
                const uint64_t count[] = {samples, pixels};
                layout from = {.strides = {size, (int64_t)samples * size},
                               .bytes = samples * pixels * sizes[s]};
                layout to = {.strides = {(int64_t)pixels * size, size}, .bytes = from.bytes};
                zb__box_copy copy = {.ndim = 2,
                                     .count = count,
                                     .src_dtype = {ZB_KIND_UINT, sizes[s], false, NULL},
                                     .dst_dtype = {ZB_KIND_UINT, sizes[s], false, NULL}};
                check_box(&copy, &from, &to);
            }
        }
    }
}

enum { PIXELS = 40, ROWS = 3, GAP = 7, ROOM = 4096 };

/* A window of each band, into memory of its own. Behind the last pixel of the source is a page that
   cannot be read. The destinations are in no order, and rows have gaps that keep their bytes. */
static void check_bands(zb_dtype from, zb_dtype to, uint64_t bands, uint64_t pixels) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), row = bands * PIXELS * from.size;
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED && ROWS * row <= page);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    for (size_t i = 0; i < page; i++)
        memory[i] = (char)random_u64();
    const uint64_t count[] = {ROWS, pixels, 1};
    const int64_t src[] = {(int64_t)row, (int64_t)(bands * from.size), from.size};
    const int64_t dst[] = {(int64_t)(pixels * to.size + GAP), to.size, 0};
    const zb__box_copy copy = {3, count, src, dst, from, to, false};
    const char *const first =
        memory + page - (ROWS - 1) * row - bands * pixels * from.size; /* the last byte is used */
    static char given[4][ROOM], expected[4][ROOM];
    memset(given, 0x5a, sizeof given);
    memset(expected, 0x5a, sizeof expected);
    char *to_bands[] = {given[2], given[0], given[3], given[1]};
    char *as_expected[] = {expected[2], expected[0], expected[3], expected[1]};
    zb__scatter_bands(&copy, bands, first, to_bands);
    for (uint64_t i = 0; i < bands; i++)
        reference_copy(&copy, first + i * from.size, as_expected[i]);
    assert_memory_equal(given, expected, sizeof given);
    munmap(memory, 2 * page);
}

static void bands_apart(void **state) {
    (void)state;
    for (uint64_t bands = 2; bands <= 4; bands++) {
        for (uint64_t pixels = 1; pixels <= PIXELS; pixels++) {
            for (uint32_t size = 1; size <= 8; size *= 2) {
                const zb_dtype plain = {ZB_KIND_UINT, size, false, NULL};
                const zb_dtype swapped = {ZB_KIND_UINT, size, true, NULL};
                const zb_dtype wide = {ZB_KIND_INT, 8, false, NULL};
                check_bands(plain, plain, bands, pixels);
                check_bands(swapped, plain, bands, pixels);
                check_bands(plain, wide, bands, pixels);
            }
        }
    }
}

/* Long rows at every alignment, so that heads, tails and pieces of a stage meet every remainder. */
static void streamed_rows_at_every_alignment(void **state) {
    (void)state;
    const zb_dtype u16 = {ZB_KIND_UINT, 2, false, NULL}, swapped = {ZB_KIND_UINT, 2, true, NULL};
    const zb_dtype i32 = {ZB_KIND_INT, 4, false, NULL}, raw = {ZB_KIND_RAW, 3, false, NULL};
    const zb_dtype pairs[][2] = {{u16, u16}, {swapped, u16}, {u16, i32}, {raw, raw}};
    for (size_t p = 0; p < 4; p++) {
        for (uint64_t length = 1; length < 9000; length += length < 140 ? 1 : 977) {
            const uint64_t count[] = {3, length};
            const int64_t src_size = pairs[p][0].size, dst_size = pairs[p][1].size;
            layout from = {.strides = {(int64_t)length * src_size + 2, src_size},
                           .bytes = 3 * (length * (size_t)src_size + 2)};
            layout to = {.strides = {(int64_t)length * dst_size + 6, dst_size},
                         .bytes = 3 * (length * (size_t)dst_size + 6)};
            zb__box_copy copy = {.ndim = 2,
                                 .count = count,
                                 .src_dtype = pairs[p][0],
                                 .dst_dtype = pairs[p][1],
                                 .stream = true};
            check_box(&copy, &from, &to);
        }
    }
}

static void empty_boxes_touch_nothing(void **state) {
    (void)state;
    const uint64_t count[] = {4, 0, 4};
    const int64_t strides[] = {16, 16, 4};
    const zb_dtype f32 = {ZB_KIND_FLOAT, 4, false, NULL};
    zb__box_copy copy = {3, count, strides, strides, f32, f32, true};
    float value = 1;
    /* No valid address is passed as the destination: any access would crash. */
    zb__scatter(&copy, &value, NULL);
    zb__scatter_fill(&copy, &value, NULL);
}

static void zero_dimensions_are_one_element(void **state) {
    (void)state;
    const zb_dtype f64 = {ZB_KIND_FLOAT, 8, true, NULL}, i16 = {ZB_KIND_INT, 2, false, NULL};
    unsigned char source[8] = {0x40, 0x45, 0, 0, 0, 0, 0, 0}; /* 42.0, big-endian */
    int16_t out[3] = {7, 7, 7};
    zb__box_copy copy = {.src_dtype = f64, .dst_dtype = i16};
    zb__scatter(&copy, source, out + 1);
    assert_memory_equal(out, ((int16_t[]){7, 42, 7}), sizeof out);
    out[1] = 0;
    zb__scatter_fill(&copy, source, out + 1);
    assert_memory_equal(out, ((int16_t[]){7, 42, 7}), sizeof out);
}

int main(void) {
    const char *seed = getenv("ZARRBRIDGE_SEED");
    random_state = seed != NULL ? strtoull(seed, NULL, 0) : 20240229;
    printf("seed %llu (ZARRBRIDGE_SEED)\n", (unsigned long long)random_state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_boxes),
        cmocka_unit_test(transposes),
        cmocka_unit_test(bands_of_pixels),
        cmocka_unit_test(bands_apart),
        cmocka_unit_test(streamed_rows_at_every_alignment),
        cmocka_unit_test(empty_boxes_touch_nothing),
        cmocka_unit_test(zero_dimensions_are_one_element),
    };
    return cmocka_run_group_tests_name("types/scatter", tests, NULL, NULL);
}
