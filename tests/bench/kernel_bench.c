/* SPDX-License-Identifier: MIT */
/*
 * Times of the loops of core/src/types, each beside the loop that it replaces. The program
 * prints GB/s of elements written, the best of several repeats. It is run by hand:
 *
 *     zb-kernel-bench [seconds a row]
 *
 * Chunks and tiles are read from one decoded chunk that stays in the cache, as in a read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "types/scatter.h"

static double seconds_a_row = 0.5;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const zb_dtype u8 = {ZB_KIND_UINT, 1, false, NULL}, u16 = {ZB_KIND_UINT, 2, false, NULL};
static const zb_dtype u32 = {ZB_KIND_UINT, 4, false, NULL}, u64 = {ZB_KIND_UINT, 8, false, NULL};
static const zb_dtype i16 = {ZB_KIND_INT, 2, false, NULL}, i32 = {ZB_KIND_INT, 4, false, NULL};
static const zb_dtype f16 = {ZB_KIND_FLOAT, 2, false, NULL}, f32 = {ZB_KIND_FLOAT, 4, false, NULL};
static const zb_dtype f64 = {ZB_KIND_FLOAT, 8, false, NULL};

static zb_dtype swapped(zb_dtype dtype) {
    dtype.swapped = !dtype.swapped;
    return dtype;
}

/* A job is repeated until its time is up; the best repeat counts. */
typedef void job(void *arg);

static void measure(const char *label, double bytes, job *run, void *arg) {
    double best = 1e9, end = now() + seconds_a_row;
    run(arg);
    for (double start = now(); start < end;) {
        run(arg);
        double stop = now();
        best = stop - start < best ? stop - start : best;
        start = stop;
    }
    printf("%-62s %7.2f GB/s\n", label, bytes / best * 1e-9);
}

/* An array of edge^ndim elements, made of chunk^ndim chunks. */
typedef struct chunked {
    uint32_t ndim;
    uint64_t edge, chunk;
    zb_dtype from, to;
    bool stream, fill;
    const char *src;
    char *dst;
} chunked;

static void scatter_chunks(void *arg) {
    const chunked *c = arg;
    uint64_t count[3], chunks = 1;
    int64_t src[3], dst[3];
    int64_t src_stride = c->from.size, dst_stride = c->to.size;
    for (uint32_t d = c->ndim; d-- > 0;) {
        count[d] = c->chunk;
        src[d] = src_stride;
        dst[d] = dst_stride;
        src_stride *= (int64_t)c->chunk;
        dst_stride *= (int64_t)c->edge;
        chunks *= c->edge / c->chunk;
    }
    zb__box_copy copy = {c->ndim, count, src, dst, c->from, c->to, c->stream};
    for (uint64_t i = 0; i < chunks; i++) {
        int64_t at = 0;
        uint64_t rest = i;
        for (uint32_t d = c->ndim; d-- > 0; rest /= c->edge / c->chunk)
            at += dst[d] * (int64_t)(rest % (c->edge / c->chunk) * c->chunk);
        if (c->fill)
            zb__scatter_fill(&copy, c->src, c->dst + at);
        else
            zb__scatter(&copy, c->src, c->dst + at);
    }
}

static void bench_chunks(const char *what, chunked c) {
    double bytes = (double)c.to.size;
    for (uint32_t d = 0; d < c.ndim; d++)
        bytes *= (double)c.edge;
    for (int variant = 0; variant < 4; variant++) {
        char label[100];
        snprintf(label, sizeof label, "%s,%s%s", what, variant & 1 ? " non-temporal" : " cached",
                 variant & 2 ? ", unaligned" : "");
        c.stream = variant & 1;
        measure(label, bytes, scatter_chunks, &c);
        /* Large blocks of malloc begin 16 bytes behind a page. */
        c.dst += variant == 1 ? 16 : 0;
    }
}

/* An n x n matrix. */
typedef struct transpose {
    uint64_t n;
    zb_dtype dtype;
    const char *src;
    char *dst;
} transpose;

static void transpose_kernel(void *arg) {
    const transpose *t = arg;
    const int64_t size = t->dtype.size;
    const uint64_t count[] = {t->n, t->n};
    const int64_t src[] = {(int64_t)t->n * size, size}, dst[] = {size, (int64_t)t->n * size};
    zb__box_copy copy = {2, count, src, dst, t->dtype, t->dtype, false};
    zb__scatter(&copy, t->src, t->dst);
}

/* The loop that the tiles replace: rows of the destination, one element after the other. */
static void transpose_naive(void *arg) {
    const transpose *t = arg;
    const size_t size = t->dtype.size;
    for (size_t i = 0; i < t->n; i++) {
        zb__convert(t->dtype, t->src + i * size, (int64_t)(t->n * size), t->dtype,
                    t->dst + i * t->n * size, (int64_t)size, t->n);
    }
}

typedef struct conversion {
    zb_dtype from, to;
    int64_t src_stride;
    size_t n;
    const char *src;
    char *dst;
} conversion;

static void convert_run(void *arg) {
    const conversion *c = arg;
    zb__convert(c->from, c->src, c->src_stride, c->to, c->dst, c->to.size, c->n);
}

static void bench_conversions(const char *src, char *dst) {
    const zb_dtype pairs[][2] = {{u8, u16},  {u8, f32},  {i16, i32}, {i16, f32}, {u16, f64},
                                 {f32, f64}, {f64, f32}, {f32, i16}, {f64, u8},  {f32, u16},
                                 {i32, f64}, {u32, f32}, {u64, f64}, {f16, f32}, {f32, f16}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        conversion c = {pairs[i][0], pairs[i][1], pairs[i][0].size, 65536, src, dst};
        char label[100], from[ZB_DTYPE_NAME_SIZE], to[ZB_DTYPE_NAME_SIZE];
        snprintf(label, sizeof label, "convert %s to %s, 64 Ki elements",
                 zb_dtype_name(c.from, from), zb_dtype_name(c.to, to));
        measure(label, 65536.0 * c.to.size, convert_run, &c);
        c.from = swapped(c.from);
        if (i == 3) {
            snprintf(label, sizeof label, "convert big-endian %s to %s", from, to);
            measure(label, 65536.0 * c.to.size, convert_run, &c);
            c.src_stride *= 2;
            snprintf(label, sizeof label, "convert every second big-endian %s to %s", from, to);
            measure(label, 65536.0 * c.to.size, convert_run, &c);
        }
    }
}

static void bench_transposes(const char *src, char *dst) {
    const zb_dtype types[] = {u8, u16, u32, u64, swapped(u16)};
    for (size_t i = 0; i < 5; i++) {
        char label[100], name[ZB_DTYPE_NAME_SIZE];
        transpose t = {1024, types[i], src, dst};
        double bytes = 1024.0 * 1024.0 * t.dtype.size;
        snprintf(label, sizeof label, "transpose 1024 x 1024 %s, rows",
                 zb_dtype_name(types[i], name));
        measure(label, bytes, transpose_naive, &t);
        snprintf(label, sizeof label, "transpose 1024 x 1024 %s, tiles", name);
        measure(label, bytes, transpose_kernel, &t);
    }
}

int main(int argc, char **argv) {
    if (argc > 1)
        seconds_a_row = strtod(argv[1], NULL);
    const size_t src_bytes = (size_t)16 << 20, dst_bytes = (size_t)512 << 20;
    char *src = aligned_alloc(64, src_bytes), *dst = aligned_alloc(64, dst_bytes);
    if (src == NULL || dst == NULL) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    for (size_t i = 0; i < src_bytes; i++)
        src[i] = (char)(i * 2654435761u >> 13 & 0x3f); /* small numbers of every type */
    memset(dst, 1, dst_bytes);

    const chunked cube = {3, 512, 64, u16, u16, false, false, src, dst};
    const chunked tile = {2, 8192, 256, i16, i16, false, false, src, dst};
    chunked c = cube;
    bench_chunks("64^3 uint16 into 268 MB", c);
    c.from = swapped(u16);
    bench_chunks("64^3 uint16 byte-swapped into 268 MB", c);
    c = tile;
    bench_chunks("256^2 int16 into 134 MB", c);
    c.from = swapped(i16);
    bench_chunks("256^2 int16 byte-swapped into 134 MB", c);
    c.from = i16;
    c.to = f32;
    bench_chunks("256^2 int16 as float32 into 268 MB", c);
    c = cube;
    c.fill = true;
    bench_chunks("fill of 64^3 uint16 in 268 MB", c);
    c = tile;
    c.edge = 512;
    bench_chunks("256^2 int16 into 0.5 MB", c);

    bench_transposes(src, dst);
    bench_conversions(src, dst);
    free(src);
    free(dst);
    return 0;
}
