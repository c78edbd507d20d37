/* SPDX-License-Identifier: MIT */
/*
 * Copying and byte swapping runs of elements.
 *
 * Each size of element gets a loop of its own, with two forms: contiguous on both sides, which the
 * compiler turns into vector code, and strided. The element types below are declared unaligned and
 * free to alias, since chunks and destinations come from anywhere; on the processors that matter an
 * unaligned access costs nothing.
 */
#include "types/move.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define UNALIGNED __attribute__((aligned(1), may_alias))
typedef uint8_t UNALIGNED u8;
typedef uint16_t UNALIGNED u16;
typedef uint32_t UNALIGNED u32;
typedef uint64_t UNALIGNED u64;
typedef uint64_t UNALIGNED u64x2 __attribute__((vector_size(16)));

/* Two 4-byte components swapped in one register: reversing all bytes also exchanges the components,
   the rotation puts them back. */
static inline uint64_t swap_4x2(uint64_t v) {
    v = __builtin_bswap64(v);
    return v << 32 | v >> 32;
}

static inline uint32_t swap_2x2(uint32_t v) {
    v = __builtin_bswap32(v);
    return v << 16 | v >> 16;
}

static inline u64x2 swap_8x2(u64x2 v) {
    return (u64x2){__builtin_bswap64(v[0]), __builtin_bswap64(v[1])};
}

/* Defines run_<name>: each element v of `type` becomes `expression`. */
#define DEFINE_RUN(name, type, expression)                                                         \
    static void run_##name(const zb__move *move, const char *restrict src, int64_t src_stride,     \
                           char *restrict dst, int64_t dst_stride, size_t n) {                     \
        (void)move;                                                                                \
        if (src_stride == (int64_t)sizeof(type) && dst_stride == (int64_t)sizeof(type)) {          \
            const type *from = (const type *)src;                                                  \
            type *to = (type *)dst;                                                                \
            for (size_t i = 0; i < n; i++) {                                                       \
                type v = from[i];                                                                  \
                to[i] = (expression);                                                              \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            type v = *(const type *)(src + (int64_t)i * src_stride);                               \
            *(type *)(dst + (int64_t)i * dst_stride) = (expression);                               \
        }                                                                                          \
    }

DEFINE_RUN(copy_1, u8, v)
DEFINE_RUN(copy_2, u16, v)
DEFINE_RUN(copy_4, u32, v)
DEFINE_RUN(copy_8, u64, v)
DEFINE_RUN(copy_16, u64x2, v)
DEFINE_RUN(swap_2, u16, __builtin_bswap16(v))
DEFINE_RUN(swap_2x2, u32, swap_2x2(v))
DEFINE_RUN(swap_4, u32, __builtin_bswap32(v))
DEFINE_RUN(swap_8, u64, __builtin_bswap64(v))
DEFINE_RUN(swap_4x2, u64, swap_4x2(v))
DEFINE_RUN(swap_8x2, u64x2, swap_8x2(v))

/* Elements of pixels: the plain runs above know their distance only as a variable. */
static void run_pick(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                     int64_t dst_stride, size_t n) {
    const uint64_t bands = src_stride > 0 ? (uint64_t)src_stride / move->size : 0;
    if (dst_stride == (int64_t)move->size && src_stride == (int64_t)(bands * move->size) &&
        zb__bands_suit(move->size, bands))
        zb__bands_pick(move->size, bands, src, dst, n);
    else if (move->size == 1)
        run_copy_1(move, src, src_stride, dst, dst_stride, n);
    else
        run_copy_2(move, src, src_stride, dst, dst_stride, n);
}

static void run_split(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                      int64_t dst_stride, size_t n) {
    (void)src_stride, (void)dst_stride; /* those of whole pixels and single elements */
    char *bands[ZB__BANDS_MAX];
    for (size_t i = 0; i < move->bands; i++)
        bands[i] = (char *)((uintptr_t)dst + (uintptr_t)move->apart[i]);
    zb__bands_split(move->size, move->bands, src, bands, n);
}

/* 2 to 32 bytes by two loads of the next smaller power of two that may overlap: cheaper than a call
   of memcpy, which for pixels and short rows would be most of the work. */
static inline void copy_short(char *dst, const char *src, size_t size) {
#define COPY_ENDS(type)                                                                            \
    do {                                                                                           \
        type first = *(const type *)src;                                                           \
        type last = *(const type *)(src + size - sizeof(type));                                    \
        *(type *)dst = first;                                                                      \
        *(type *)(dst + size - sizeof(type)) = last;                                               \
    } while (0)
    if (size >= 16)
        COPY_ENDS(u64x2);
    else if (size >= 8)
        COPY_ENDS(u64);
    else if (size >= 4)
        COPY_ENDS(u32);
    else
        COPY_ENDS(u16);
#undef COPY_ENDS
}

static void run_copy_short(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                           int64_t dst_stride, size_t n) {
    for (size_t i = 0; i < n; i++)
        copy_short(dst + (int64_t)i * dst_stride, src + (int64_t)i * src_stride, move->size);
}

static void run_copy_long(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                          int64_t dst_stride, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (n - i > ZB__ROWS_AHEAD)
            zb__prefetch_row(dst + (int64_t)(i + ZB__ROWS_AHEAD) * dst_stride, move->size);
        memcpy(dst + (int64_t)i * dst_stride, src + (int64_t)i * src_stride, move->size);
    }
}

zb__move zb__move_copy(size_t size) {
    zb__move move = {.size = size, .src_size = size};
    switch (size) {
    case 1:
    case 2:
        move.run = run_pick;
        break;
    case 4:
        move.run = run_copy_4;
        break;
    case 8:
        move.run = run_copy_8;
        break;
    case 16:
        move.run = run_copy_16;
        break;
    default:
        move.run = size <= 32 ? run_copy_short : run_copy_long;
    }
    return move;
}

zb__move zb__move_split(size_t size, size_t bands, const int64_t *apart) {
    return (zb__move){
        .run = run_split, .size = size, .src_size = size * bands, .bands = bands, .apart = apart};
}

zb__move zb__move_swap(size_t size, size_t component_size) {
    zb__move move = {.size = size, .src_size = size};
    bool pair = size == 2 * component_size;
    if (component_size == 2)
        move.run = pair ? run_swap_2x2 : run_swap_2;
    else if (component_size == 4)
        move.run = pair ? run_swap_4x2 : run_swap_4;
    else
        move.run = pair ? run_swap_8x2 : run_swap_8;
    return move;
}

/* Lines that a row fills only in part are stored as usual: a partial non-temporal line would cost a
   read and a write of memory of its own, and the neighbouring row may be about to complete it. */
void zb__stream_row(char *dst, const char *src, size_t size) {
#if defined(__SSE2__)
    if (size >= ZB__LINE) {
        const size_t head = (size_t)(-(uintptr_t)dst & (ZB__LINE - 1));
        memcpy(dst, src, head);
        dst += head;
        src += head;
        size -= head;
        for (; size >= ZB__LINE; size -= ZB__LINE, dst += ZB__LINE, src += ZB__LINE) {
            __m128i a = _mm_loadu_si128((const __m128i *)src);
            __m128i b = _mm_loadu_si128((const __m128i *)(src + 16));
            __m128i c = _mm_loadu_si128((const __m128i *)(src + 32));
            __m128i d = _mm_loadu_si128((const __m128i *)(src + 48));
            _mm_stream_si128((__m128i *)dst, a);
            _mm_stream_si128((__m128i *)(dst + 16), b);
            _mm_stream_si128((__m128i *)(dst + 32), c);
            _mm_stream_si128((__m128i *)(dst + 48), d);
        }
    }
#endif
    memcpy(dst, src, size);
}

static void run_stream(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                       int64_t dst_stride, size_t n) {
    for (size_t i = 0; i < n; i++)
        zb__stream_row(dst + (int64_t)i * dst_stride, src + (int64_t)i * src_stride, move->size);
}

zb__move zb__move_stream(size_t size) {
    return (zb__move){.run = run_stream, .size = size, .src_size = size, .streams = true};
}

void zb__stream_end(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}
