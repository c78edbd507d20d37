/* SPDX-License-Identifier: MIT */
/*
 * Conversion between numeric types.
 *
 * Twelve types would make 132 loops. Instead a block of elements is first widened to one of four
 * types that hold its values exactly (int32, int64, uint64, double), then narrowed from there; both
 * loops run in the first-level cache and are vector code where the processor allows. int64 and
 * uint64 are never sent through double, so each conversion rounds once. These loops know neither
 * strides nor byte order: a block that is not contiguous and in host order goes through a buffer on
 * the stack by a zb__move.
 *
 * The rules (zb_array_read): towards an integer, fractions are cut off, values that do not fit are
 * clamped and NaN becomes 0; towards a float, values are rounded to the nearest, ties to even, and
 * overflow to infinity; a bool is true when the value compares unequal to 0, which NaN does; a bool
 * byte other than 0 and 1 counts as 1. HDF5's hard conversions follow the same rules but for their
 * edges: its library (1.14.5) wraps round where a float equals the first integer that does not fit,
 * does not clamp float16, and makes infinity of values that round down to the largest float.
 *
 * Compiled with -fno-trapping-math: no code here looks at the floating-point exception flags, and
 * clamping can then be vectorised.
 */
#include "types/move.h"

#include "util/half.h"

/* Elements of a block, and bytes of the largest element (complex128). */
#define BLOCK 256
#define ELEMENT_MAX 16

/* The types of elements, unaligned: chunks and destinations come from anywhere. */
#define UNALIGNED __attribute__((aligned(1), may_alias))
typedef uint8_t UNALIGNED bln;
typedef int8_t UNALIGNED i8;
typedef uint8_t UNALIGNED u8;
typedef int16_t UNALIGNED i16;
typedef uint16_t UNALIGNED u16;
typedef int32_t UNALIGNED i32;
typedef uint32_t UNALIGNED u32;
typedef int64_t UNALIGNED i64;
typedef uint64_t UNALIGNED u64;
typedef uint16_t UNALIGNED f16;
typedef float UNALIGNED f32;
typedef double UNALIGNED f64;

enum number { NONE, BLN, I8, U8, I16, U16, I32, U32, I64, U64, F16, F32, F64, NUMBERS };
enum wide { WIDE_I32, WIDE_I64, WIDE_U64, WIDE_F64, WIDES };

typedef void convert_fn(const void *src, void *dst, size_t n);

static inline int32_t clamp_i32(int32_t v, int32_t low, int32_t high) {
    return v < low ? low : v > high ? high : v;
}

static inline int64_t clamp_i64(int64_t v, int64_t low, int64_t high) {
    return v < low ? low : v > high ? high : v;
}

static inline uint64_t clamp_u64(uint64_t v, uint64_t high) {
    return v > high ? high : v;
}

/* low and high must be exact in double. */
static inline double clamp_f64(double v, double low, double high) {
    v = v == v ? v : 0;
    v = v > low ? v : low;
    return v < high ? v : high;
}

/* The bounds of 64-bit types are not exact in double: 2^63 and 2^64 are the first values that do
   not fit. */
static inline int64_t f64_to_int64(double v) {
    if (v >= 0x1p63)
        return INT64_MAX;
    if (v < -0x1p63)
        return INT64_MIN;
    return v == v ? (int64_t)v : 0;
}

static inline uint64_t f64_to_uint64(double v) {
    if (v >= 0x1p64)
        return UINT64_MAX;
    return v > 0 ? (uint64_t)v : 0;
}

/* Defines <from>_to_<to>: a loop over n contiguous elements v. */
#define DEFINE(from, to, expression)                                                               \
    static void from##_to_##to(const void *restrict src, void *restrict dst, size_t n) {           \
        const from *in = src;                                                                      \
        to *out = dst;                                                                             \
        for (size_t i = 0; i < n; i++) {                                                           \
            from v = in[i];                                                                        \
            out[i] = (to)(expression);                                                             \
        }                                                                                          \
    }

/* Widening: exact. */
DEFINE(bln, i32, v != 0)
DEFINE(i8, i32, v)
DEFINE(u8, i32, v)
DEFINE(i16, i32, v)
DEFINE(u16, i32, v)
DEFINE(u32, i64, v)
DEFINE(f16, f64, zb__half_to_float(v))
DEFINE(f32, f64, v)

/* Narrowing, or changing class: one rule a line. */
DEFINE(i32, bln, v != 0)
DEFINE(i32, i8, clamp_i32(v, INT8_MIN, INT8_MAX))
DEFINE(i32, u8, clamp_i32(v, 0, UINT8_MAX))
DEFINE(i32, i16, clamp_i32(v, INT16_MIN, INT16_MAX))
DEFINE(i32, u16, clamp_i32(v, 0, UINT16_MAX))
DEFINE(i32, u32, clamp_i32(v, 0, INT32_MAX))
DEFINE(i32, i64, v)
DEFINE(i32, u64, clamp_i32(v, 0, INT32_MAX))
DEFINE(i32, f16, zb__half_from_double(v))
DEFINE(i32, f32, v)
DEFINE(i32, f64, v)

DEFINE(i64, bln, v != 0)
DEFINE(i64, i8, clamp_i64(v, INT8_MIN, INT8_MAX))
DEFINE(i64, u8, clamp_i64(v, 0, UINT8_MAX))
DEFINE(i64, i16, clamp_i64(v, INT16_MIN, INT16_MAX))
DEFINE(i64, u16, clamp_i64(v, 0, UINT16_MAX))
DEFINE(i64, i32, clamp_i64(v, INT32_MIN, INT32_MAX))
DEFINE(i64, u32, clamp_i64(v, 0, UINT32_MAX))
DEFINE(i64, u64, clamp_i64(v, 0, INT64_MAX))
/* An int64 that double cannot hold is far above half's range: the first rounding does no harm. */
DEFINE(i64, f16, zb__half_from_double((double)v))
DEFINE(i64, f32, v)
DEFINE(i64, f64, v)

DEFINE(u64, bln, v != 0)
DEFINE(u64, i8, clamp_u64(v, INT8_MAX))
DEFINE(u64, u8, clamp_u64(v, UINT8_MAX))
DEFINE(u64, i16, clamp_u64(v, INT16_MAX))
DEFINE(u64, u16, clamp_u64(v, UINT16_MAX))
DEFINE(u64, i32, clamp_u64(v, INT32_MAX))
DEFINE(u64, u32, clamp_u64(v, UINT32_MAX))
DEFINE(u64, i64, clamp_u64(v, INT64_MAX))
DEFINE(u64, f16, zb__half_from_double((double)v))
DEFINE(u64, f32, v)
DEFINE(u64, f64, v)

DEFINE(f64, bln, v != 0)
DEFINE(f64, i8, (int32_t)clamp_f64(v, INT8_MIN, INT8_MAX))
DEFINE(f64, u8, (int32_t)clamp_f64(v, 0, UINT8_MAX))
DEFINE(f64, i16, (int32_t)clamp_f64(v, INT16_MIN, INT16_MAX))
DEFINE(f64, u16, (int32_t)clamp_f64(v, 0, UINT16_MAX))
DEFINE(f64, i32, (int32_t)clamp_f64(v, INT32_MIN, INT32_MAX))
DEFINE(f64, u32, (int64_t)clamp_f64(v, 0, UINT32_MAX))
DEFINE(f64, i64, f64_to_int64(v))
DEFINE(f64, u64, f64_to_uint64(v))
DEFINE(f64, f16, zb__half_from_double(v))
DEFINE(f64, f32, v)

/* The widening of each type. The wide types themselves need no loop. */
static const struct {
    enum wide wide;
    convert_fn *run;
} widen[NUMBERS] = {
    [BLN] = {WIDE_I32, bln_to_i32}, [I8] = {WIDE_I32, i8_to_i32},   [U8] = {WIDE_I32, u8_to_i32},
    [I16] = {WIDE_I32, i16_to_i32}, [U16] = {WIDE_I32, u16_to_i32}, [I32] = {WIDE_I32, NULL},
    [U32] = {WIDE_I64, u32_to_i64}, [I64] = {WIDE_I64, NULL},       [U64] = {WIDE_U64, NULL},
    [F16] = {WIDE_F64, f16_to_f64}, [F32] = {WIDE_F64, f32_to_f64}, [F64] = {WIDE_F64, NULL},
};

/* The loop that makes each type of a wide one; NULL where it is that wide type. */
static convert_fn *const narrow[WIDES][NUMBERS] = {
    [WIDE_I32] = {NULL, i32_to_bln, i32_to_i8, i32_to_u8, i32_to_i16, i32_to_u16, NULL, i32_to_u32,
                  i32_to_i64, i32_to_u64, i32_to_f16, i32_to_f32, i32_to_f64},
    [WIDE_I64] = {NULL, i64_to_bln, i64_to_i8, i64_to_u8, i64_to_i16, i64_to_u16, i64_to_i32,
                  i64_to_u32, NULL, i64_to_u64, i64_to_f16, i64_to_f32, i64_to_f64},
    [WIDE_U64] = {NULL, u64_to_bln, u64_to_i8, u64_to_u8, u64_to_i16, u64_to_u16, u64_to_i32,
                  u64_to_u32, u64_to_i64, NULL, u64_to_f16, u64_to_f32, u64_to_f64},
    [WIDE_F64] = {NULL, f64_to_bln, f64_to_i8, f64_to_u8, f64_to_i16, f64_to_u16, f64_to_i32,
                  f64_to_u32, f64_to_i64, f64_to_u64, f64_to_f16, f64_to_f32, NULL},
};

static bool is_time(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_DATETIME || dtype.kind == ZB_KIND_TIMEDELTA;
}

static uint32_t component_size(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_COMPLEX ? dtype.size / 2 : dtype.size;
}

/* The type of an element's components; NONE for what is no number, and for sizes that do not
   exist. */
static enum number number_of(zb_dtype dtype) {
    static const uint8_t by_size[][9] = {
        [ZB_KIND_BOOL] = {[1] = BLN},
        [ZB_KIND_INT] = {[1] = I8, [2] = I16, [4] = I32, [8] = I64},
        [ZB_KIND_UINT] = {[1] = U8, [2] = U16, [4] = U32, [8] = U64},
        [ZB_KIND_FLOAT] = {[2] = F16, [4] = F32, [8] = F64},
        [ZB_KIND_COMPLEX] = {[2] = F16, [4] = F32, [8] = F64},
        [ZB_KIND_DATETIME] = {[8] = I64},
        [ZB_KIND_TIMEDELTA] = {[8] = I64},
    };
    const uint32_t size = component_size(dtype);
    return dtype.kind <= ZB_KIND_TIMEDELTA && size <= 8 ? by_size[dtype.kind][size] : NONE;
}

static bool converts(zb_dtype from, zb_dtype to) {
    if (number_of(from) == NONE || number_of(to) == NONE)
        return false;
    if (is_time(from) || is_time(to)) /* to the program, a count; never another unit's */
        return zb__numbers_same(from, to);
    return (from.kind == ZB_KIND_COMPLEX) == (to.kind == ZB_KIND_COMPLEX);
}

bool zb__numbers_same(zb_dtype a, zb_dtype b) {
    return is_time(a) != is_time(b) && number_of(a) == I64 && number_of(b) == I64;
}

/* n contiguous numbers in host order. n is at most 2 * BLOCK. */
static void convert_block(enum number from, const char *src, enum number to, char *dst, size_t n) {
    char buffer[2 * BLOCK * sizeof(double)];
    convert_fn *first = widen[from].run, *second = narrow[widen[from].wide][to];
    if (first == NULL) {
        second(src, dst, n);
    } else if (second == NULL) {
        first(src, dst, n);
    } else {
        first(src, buffer, n);
        second(buffer, dst, n);
    }
}

/* Between an element in its own byte order and one in the host's, in either direction. */
static zb__move move_to_host(zb_dtype dtype) {
    if (dtype.swapped && dtype.size > 1)
        return zb__move_swap(dtype.size, component_size(dtype));
    return zb__move_copy(dtype.size);
}

static void run_convert(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                        int64_t dst_stride, size_t n) {
    const zb_dtype src_dtype = move->src_dtype, dst_dtype = move->dst_dtype;
    const int64_t src_size = src_dtype.size, dst_size = dst_dtype.size;
    const size_t components = src_dtype.kind == ZB_KIND_COMPLEX ? 2 : 1;
    const enum number source = number_of(src_dtype), target = number_of(dst_dtype);
    const zb__move gather = move_to_host(src_dtype);
    const zb__move scatter = move_to_host(dst_dtype);
    const bool gathers = src_stride != src_size || (src_dtype.swapped && src_size > 1);
    const bool scatters = dst_stride != dst_size || (dst_dtype.swapped && dst_size > 1);
    char in[BLOCK * ELEMENT_MAX], out[BLOCK * ELEMENT_MAX];

    for (size_t done = 0, block; done < n; done += block) {
        block = n - done < BLOCK ? n - done : BLOCK;
        const char *from = src + (int64_t)done * src_stride;
        char *to = dst + (int64_t)done * dst_stride;
        if (gathers)
            gather.run(&gather, from, src_stride, in, src_size, block);
        convert_block(source, gathers ? in : from, target, scatters ? out : to, block * components);
        if (scatters)
            scatter.run(&scatter, out, dst_size, to, dst_stride, block);
    }
}

zb__move zb__numbers_move(zb_dtype from, zb_dtype to) {
    return zb__move_by(run_convert, from, to);
}

bool zb__numbers_convert(zb_dtype from, zb_dtype to, zb__move *move) {
    const bool good = converts(from, to);
    if (good && move)
        *move = zb__numbers_move(from, to);
    return good;
}

void zb__numbers_run(zb_dtype from, const void *src, int64_t src_stride, zb_dtype to, void *dst,
                     int64_t dst_stride, size_t n) {
    zb__move move = zb__numbers_move(from, to);
    if (from.kind == to.kind && from.size == to.size)
        move = from.swapped == to.swapped ? zb__move_copy(from.size)
                                          : zb__move_swap(from.size, component_size(from));
    move.run(&move, src, src_stride, dst, dst_stride, n);
}
