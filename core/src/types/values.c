/* SPDX-License-Identifier: MIT */
/* Copying, measuring and comparing elements that point at bytes elsewhere: see values.h. */
#include "types/values.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "types/conversion.h"
#include "types/dtype.h"
#include "util/arena.h"

struct zb_values {
    pthread_mutex_t lock; /* of texts; no other is taken under it */
    zb__arena texts;
};

enum zb_code zb_values_new(zb_values **out, zb_error *err) {
    *out = calloc(1, sizeof **out);
    if (!*out)
        return zb_fail(err, ZB_ENOMEM, "no memory for values");
    pthread_mutex_init(&(*out)->lock, NULL);
    return ZB_OK;
}

void zb_values_free(zb_values *values) {
    if (!values)
        return;
    zb__arena_free(&values->texts);
    pthread_mutex_destroy(&values->lock);
    free(values);
}

size_t zb__values_bytes(zb_values *values) {
    return sizeof *values + values->texts.held;
}

static char *take(zb_values *values, size_t size, zb_error *err) {
    pthread_mutex_lock(&values->lock);
    char *memory = zb__arena_text(&values->texts, size);
    pthread_mutex_unlock(&values->lock);
    if (!memory)
        zb_fail(err, ZB_ENOMEM, "no memory for %zu bytes of values", size);
    return memory;
}

/* ---- One element. Nothing needs to be aligned. ---- */

/* Adds the bytes of slices that have been measured before, or were made by a codec. */
uint64_t zb__values_bytes_of(zb_dtype dtype, const void *element) {
    zb_slice slice;
    if (zb__is_slice(dtype)) {
        memcpy(&slice, element, sizeof slice);
        return slice.size;
    }
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += zb__values_bytes_of(fields[i].dtype, (const char *)element + fields[i].offset);
    return bytes;
}

/* Points the slices of `out`, a copy of `element`, at copies of their bytes in *memory, which moves
   on. */
static void move_bytes(zb_dtype dtype, const char *element, char *out, char **memory) {
    zb_slice slice;
    size_t count;
    if (zb__is_slice(dtype)) {
        memcpy(&slice, element, sizeof slice);
        if (slice.size > 0)
            memcpy(*memory, slice.data, slice.size);
        slice.data = *memory;
        *memory += slice.size;
        memcpy(out, &slice, sizeof slice);
        return;
    }
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    for (size_t i = 0; i < count; i++)
        move_bytes(fields[i].dtype, element + fields[i].offset, out + fields[i].offset, memory);
}

bool zb__values_equal(zb_dtype dtype, const void *a, const void *b) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    if (zb__is_slice(dtype)) {
        zb_slice x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return x.size == y.size && (x.size == 0 || memcmp(x.data, y.data, x.size) == 0);
    }
    if (!fields)
        return memcmp(a, b, dtype.size) == 0;
    bool same = true;
    for (size_t i = 0; i < count && same; i++)
        same = zb__values_equal(fields[i].dtype, (const char *)a + fields[i].offset,
                                (const char *)b + fields[i].offset);
    return same;
}

/* ---- Boxes ---- */

/* A walk over the elements of a box in C order: row after row, element after element. */
typedef struct walk {
    const zb__box_copy *copy;
    uint64_t at[ZB_MAX_NDIM]; /* of the row */
    const char *src;          /* the row's first element */
    char *dst;                /* likewise; NULL: none */
    uint64_t count;           /* elements of a row; 1 where there are no dimensions */
    int64_t src_stride, dst_stride;
    bool done;
} walk;

static walk begin(const zb__box_copy *copy, const void *src, void *dst) {
    walk w = {.copy = copy, .src = src, .dst = dst, .count = 1};
    for (uint32_t d = 0; d < copy->ndim; d++)
        w.done = w.done || copy->count[d] == 0;
    if (copy->ndim > 0) {
        w.count = copy->count[copy->ndim - 1];
        w.src_stride = copy->src_strides[copy->ndim - 1];
        w.dst_stride = dst ? copy->dst_strides[copy->ndim - 1] : 0;
    }
    return w;
}

static void next_row(walk *w) {
    const zb__box_copy *copy = w->copy;
    for (uint32_t d = copy->ndim ? copy->ndim - 1 : 0; d-- > 0;) {
        int64_t back = ++w->at[d] == copy->count[d] ? (int64_t)copy->count[d] : 0;
        w->src += copy->src_strides[d] * (1 - back);
        if (w->dst)
            w->dst += copy->dst_strides[d] * (1 - back);
        if (back == 0)
            return;
        w->at[d] = 0;
    }
    w->done = true;
}

enum zb_code zb__values_measure(const zb__box_copy *copy, const void *src, uint64_t *bytes,
                                zb_error *err) {
    const zb__measure_fn measure = zb__measure_of(copy->src_dtype);
    uint64_t number = 0;
    *bytes = 0;
    for (walk w = begin(copy, src, NULL); !w.done; next_row(&w)) {
        for (uint64_t i = 0; i < w.count; i++, number++) {
            const char *problem =
                measure(copy->src_dtype, w.src + (int64_t)i * w.src_stride, copy->dst_dtype, bytes);
            if (problem)
                return zb_fail(err, ZB_EINVAL, "element %llu of the box %s",
                               (unsigned long long)number, problem);
        }
    }
    return ZB_OK;
}

enum zb_code zb__values_copy(zb_values *values, const zb__box_copy *copy, const void *src,
                             void *dst, zb_error *err) {
    uint64_t bytes = 0;
    for (walk w = begin(copy, src, NULL); !w.done; next_row(&w)) {
        for (uint64_t i = 0; i < w.count; i++)
            bytes += zb__values_bytes_of(copy->src_dtype, w.src + (int64_t)i * w.src_stride);
    }
    char *memory = take(values, (size_t)bytes, err);
    if (!memory)
        return ZB_ENOMEM;
    for (walk w = begin(copy, src, dst); !w.done; next_row(&w)) {
        for (uint64_t i = 0; i < w.count; i++) {
            const char *from = w.src + (int64_t)i * w.src_stride;
            char *to = w.dst + (int64_t)i * w.dst_stride;
            memcpy(to, from, copy->src_dtype.size);
            move_bytes(copy->src_dtype, from, to, &memory);
        }
    }
    return ZB_OK;
}

enum zb_code zb__values_fill(zb_values *values, const zb__box_copy *copy, const void *element,
                             void *dst, zb_error *err) {
    static const int64_t still[ZB_MAX_NDIM];
    char *own = malloc(copy->src_dtype.size);
    char *memory = take(values, (size_t)zb__values_bytes_of(copy->src_dtype, element), err);
    enum zb_code code = memory && own ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for values");
    if (code == ZB_OK) {
        memcpy(own, element, copy->src_dtype.size);
        move_bytes(copy->src_dtype, element, own, &memory);
        zb__box_copy repeat = *copy;
        repeat.src_strides = still;
        repeat.stream = false;
        zb__scatter(&repeat, own, dst);
    }
    free(own);
    return code;
}
