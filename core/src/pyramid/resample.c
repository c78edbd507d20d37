/* SPDX-License-Identifier: MIT */
#include "pyramid/resample.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Windows ---- */

zb__window zb__window_of(uint64_t i, uint64_t source, uint64_t count, enum zb_resample method) {
    const double ratio = (double)source / (double)count;
    const double from = (double)i * ratio, to = (double)(i + 1) * ratio;
    zb__window window = {.first_share = 1, .last_share = 1};
    if (method == ZB_RESAMPLE_NEAREST) {
        window.first = (uint64_t)(0.5 + from);
        if (window.first >= source)
            window.first = source - 1;
        window.end = window.first + 1;
        return window;
    }
    window.first = (uint64_t)(from + 1e-8); /* products of ratios are not exact */
    window.end = (uint64_t)ceil(to - 1e-8);
    if (window.end == window.first)
        window.end++;
    if (window.end > source)
        window.end = source;
    if (window.end != window.first + 1)
        window.first_share = 1 - (from - (double)window.first);
    window.last_share = 1 - ((double)window.end - to);
    return window;
}

/* The sum of the shares of a window's pixels. */
static double weight_of(zb__window window) {
    double weight = window.first_share;
    if (window.first + 1 < window.end) {
        weight += (double)(window.end - window.first - 2);
        weight += window.last_share;
    }
    return weight;
}

static double share_of(zb__window window, uint64_t i) {
    return i == window.first ? window.first_share : i + 1 == window.end ? window.last_share : 1.0;
}

/* ---- Averages ---- */

/* Sums of valid pixels of a window, and their weight: a row after the other. NULL valid: all. */
#define DEFINE_SUM(name, type)                                                                     \
    static bool name(const zb__tile *tile, const zb__plane *plane, zb__window rows,                \
                     zb__window columns, double *total, double *weight) {                          \
        bool any = !plane->valid;                                                                  \
        for (uint64_t y = rows.first; y < rows.end; y++) {                                         \
            const type *line = (const type *)plane->source + y * tile->source_width;               \
            const unsigned char *valid =                                                           \
                plane->valid ? plane->valid + y * tile->source_width : NULL;                       \
            double sum = 0, shares = 0;                                                            \
            for (uint64_t x = columns.first; x < columns.end; x++) {                               \
                if (valid && !valid[x])                                                            \
                    continue;                                                                      \
                any = true;                                                                        \
                const double share = share_of(columns, x);                                         \
                sum += (double)line[x] * share;                                                    \
                shares += share;                                                                   \
            }                                                                                      \
            *total += sum * share_of(rows, y);                                                     \
            *weight += shares * share_of(rows, y);                                                 \
        }                                                                                          \
        if (!plane->valid)                                                                         \
            *weight = weight_of(columns) * weight_of(rows);                                        \
        return any;                                                                                \
    }

/* Rows of an average. `half` is the average of pairs of pixels of two rows, which needs no weights;
   `rounded` makes an element of a number. */
#define DEFINE_AVERAGE(name, type, sum, half, rounded)                                             \
    static void name(const zb__values_plan *plan, const zb__tile *tile, const zb__plane *plane,    \
                     uint64_t from, uint64_t to) {                                                 \
        const type nodata = plan->has_nodata ? (type)plan->nodata_number : (type)0;                \
        for (uint64_t y = from; y < to; y++) {                                                     \
            type *out = (type *)plane->target + y * tile->width;                                   \
            const zb__window rows = tile->rows[y];                                                 \
            if (tile->is_half && rows.end - rows.first == 2 && !plane->valid) {                    \
                const type *above = (const type *)plane->source +                                  \
                                    rows.first * tile->source_width + tile->columns[0].first;      \
                half(tile, above, above + tile->source_width, out);                                \
                continue;                                                                          \
            }                                                                                      \
            for (uint64_t x = 0; x < tile->width; x++) {                                           \
                double total = 0, weight = 0;                                                      \
                if (!sum(tile, plane, rows, tile->columns[x], &total, &weight)) {                  \
                    out[x] = nodata;                                                               \
                    continue;                                                                      \
                }                                                                                  \
                out[x] = (type)rounded(total / weight);                                            \
                if (plan->has_nodata && out[x] == nodata)                                          \
                    out[x] = (type)plan->replacement;                                              \
            }                                                                                      \
        }                                                                                          \
    }

#define DEFINE_INTEGER_HALF(name, type)                                                            \
    static void name(const zb__tile *tile, const type *above, const type *below, type *out) {      \
        for (uint64_t x = 0; x < tile->width; x++)                                                 \
            out[x] =                                                                               \
                (type)((above[2 * x] + above[2 * x + 1] + below[2 * x] + below[2 * x + 1] + 2) /   \
                       4);                                                                         \
    }

/* GDAL adds columns first, four pixels at a time; those that are left at the end of a row it adds
   one after the other. Sums of floats differ by that. */
static void half_f32(const zb__tile *tile, const float *above, const float *below, float *out) {
    const uint64_t by_four = tile->level_width / 4 * 4;
    for (uint64_t x = 0; x < tile->width; x++) {
        const float a = above[2 * x], b = above[2 * x + 1], c = below[2 * x], d = below[2 * x + 1];
        const float sum = tile->first_column + x < by_four ? (a + c) + (b + d) : ((a + b) + c) + d;
        out[x] = 0.25f * sum;
    }
}

static void half_f64(const zb__tile *tile, const double *above, const double *below, double *out) {
    for (uint64_t x = 0; x < tile->width; x++)
        out[x] = 0.25 * (((above[2 * x] + above[2 * x + 1]) + below[2 * x]) + below[2 * x + 1]);
}

#define ROUNDED(number) ((number) + 0.5)
#define AS_IT_IS(number) (number)

DEFINE_INTEGER_HALF(half_u8, uint8_t)
DEFINE_INTEGER_HALF(half_u16, uint16_t)
DEFINE_SUM(sum_u8, uint8_t)
DEFINE_SUM(sum_u16, uint16_t)
DEFINE_SUM(sum_f32, float)
DEFINE_SUM(sum_f64, double)
DEFINE_AVERAGE(average_u8, uint8_t, sum_u8, half_u8, ROUNDED)
DEFINE_AVERAGE(average_u16, uint16_t, sum_u16, half_u16, ROUNDED)
DEFINE_AVERAGE(average_f32, float, sum_f32, half_f32, AS_IT_IS)
DEFINE_AVERAGE(average_f64, double, sum_f64, half_f64, AS_IT_IS)

/* Averages of integers that were made in floats: rounded half away from zero, in the type of the
   work. The writer clamps. */
static void round_rows(const zb__values_plan *plan, void *target, size_t count) {
    if (plan->stored.kind == ZB_KIND_FLOAT)
        return;
    if (plan->work == ZB__WORK_F32) {
        float *out = target;
        for (size_t i = 0; i < count; i++)
            out[i] = truncf(out[i] >= 0 ? out[i] + 0.5f : out[i] - 0.5f);
    } else if (plan->work == ZB__WORK_F64) {
        double *out = target;
        for (size_t i = 0; i < count; i++)
            out[i] = trunc(out[i] >= 0 ? out[i] + 0.5 : out[i] - 0.5);
    }
}

/* ---- Elements as they are ---- */

static void nearest(const zb__values_plan *plan, const zb__tile *tile, const zb__plane *plane,
                    uint64_t from, uint64_t to) {
    const size_t size = plan->stored.size;
    for (uint64_t y = from; y < to; y++) {
        const char *line =
            (const char *)plane->source + tile->rows[y].first * tile->source_width * size;
        char *out = (char *)plane->target + y * tile->width * size;
        for (uint64_t x = 0; x < tile->width; x++) {
            const char *pixel = line + tile->columns[x].first * size;
            switch (size) { /* constant sizes are moves of registers */
            case 1:
                out[x] = *pixel;
                break;
            case 2:
                memcpy(out + 2 * x, pixel, 2);
                break;
            case 4:
                memcpy(out + 4 * x, pixel, 4);
                break;
            case 8:
                memcpy(out + 8 * x, pixel, 8);
                break;
            default:
                memcpy(out + size * x, pixel, size);
            }
        }
    }
}

/* A value of a window, and how often it has been met. */
typedef struct counted {
    const void *element;
    uint64_t count;
} counted;

static bool is_nan(zb_dtype dtype, const void *element) {
    return dtype.kind == ZB_KIND_FLOAT && isnan(zb_element_to_double(element, dtype));
}

static bool are_same(zb_dtype dtype, const void *a, const void *b) {
    if (memcmp(a, b, dtype.size) == 0)
        return true;
    if (dtype.kind != ZB_KIND_FLOAT)
        return false;
    return zb_element_to_double(a, dtype) == zb_element_to_double(b, dtype) ||
           (is_nan(dtype, a) && is_nan(dtype, b));
}

/* The value that is the first to be met as often as none before; NULL of a window without valid
   pixels. `met` has room for all pixels of the window. */
static const void *mode_of(const zb__values_plan *plan, const zb__tile *tile,
                           const zb__plane *plane, zb__window rows, zb__window columns,
                           counted *met) {
    size_t count = 0, best = 0;
    for (uint64_t y = rows.first; y < rows.end; y++) {
        for (uint64_t x = columns.first; x < columns.end; x++) {
            const uint64_t at = y * tile->source_width + x;
            const void *pixel = (const char *)plane->source + at * plan->stored.size;
            size_t i = 0;
            if (plane->valid && !plane->valid[at])
                continue;
            while (i < count && !are_same(plan->stored, met[i].element, pixel))
                i++;
            if (i == count)
                met[count++] = (counted){.element = pixel};
            if (++met[i].count > met[best].count)
                best = i;
        }
    }
    return count > 0 ? met[best].element : NULL;
}

static enum zb_code mode(const zb__values_plan *plan, const zb__tile *tile, const zb__plane *plane,
                         uint64_t from, uint64_t to, zb__scratch *scratch, zb_error *err) {
    static const unsigned char zero[ZB__VALUE_SIZE];
    const void *nodata = plan->has_nodata ? plan->nodata : zero;
    const size_t size = plan->stored.size;
    uint64_t widest = 0;
    for (uint64_t x = 0; x < tile->width; x++) {
        const uint64_t width = tile->columns[x].end - tile->columns[x].first;
        widest = width > widest ? width : widest;
    }
    for (uint64_t y = from; y < to; y++) {
        const zb__window rows = tile->rows[y];
        enum zb_code code = zb__buffer_reserve(
            &scratch->block, widest * (rows.end - rows.first) * sizeof(counted), err);
        if (code)
            return code;
        for (uint64_t x = 0; x < tile->width; x++) {
            const void *found = mode_of(plan, tile, plane, rows, tile->columns[x],
                                        (counted *)(void *)scratch->block.data);
            memcpy((char *)plane->target + (y * tile->width + x) * size, found ? found : nodata,
                   size);
        }
    }
    return ZB_OK;
}

void zb__resample_mask(const zb__tile *tile, const zb__plane *plane, uint64_t from, uint64_t to) {
    for (uint64_t y = from; y < to; y++) {
        unsigned char *out = (unsigned char *)plane->target + y * tile->width;
        memset(out, 0, tile->width);
        for (uint64_t sy = tile->rows[y].first; sy < tile->rows[y].end; sy++) {
            const unsigned char *line =
                (const unsigned char *)plane->source + sy * tile->source_width;
            for (uint64_t x = 0; x < tile->width; x++) {
                const zb__window columns = tile->columns[x];
                for (uint64_t sx = columns.first; sx < columns.end && !out[x]; sx++)
                    out[x] = line[sx] ? 255 : 0;
            }
        }
    }
}

enum zb_code zb__resample(const zb__values_plan *plan, const zb__tile *tile, const zb__plane *plane,
                          uint64_t from, uint64_t to, zb__scratch *scratch, zb_error *err) {
    if (plan->method == ZB_RESAMPLE_NEAREST) {
        nearest(plan, tile, plane, from, to);
        return ZB_OK;
    }
    if (plan->method == ZB_RESAMPLE_MODE)
        return mode(plan, tile, plane, from, to, scratch, err);
    if (plan->work == ZB__WORK_U8)
        average_u8(plan, tile, plane, from, to);
    else if (plan->work == ZB__WORK_U16)
        average_u16(plan, tile, plane, from, to);
    else if (plan->work == ZB__WORK_F32)
        average_f32(plan, tile, plane, from, to);
    else
        average_f64(plan, tile, plane, from, to);
    const size_t done = (size_t)(from * tile->width), count = (size_t)((to - from) * tile->width);
    round_rows(plan, (char *)plane->target + done * plan->written.size, count);
    return ZB_OK;
}

/* ---- Values ---- */

/* As GDAL compares floats with nodata: a few units in the last place are no difference. */
static bool is_nearly_f32(float a, float b) {
    return a == b || fabsf(a - b) < FLT_EPSILON * fabsf(a + b) * 2;
}

static bool is_nearly_f64(double a, double b) {
    return a == b || fabs(a - b) < DBL_EPSILON * fabs(a + b) * 2;
}

static void mark_floats(const zb__values_plan *plan, const void *pixels, unsigned char *valid,
                        size_t count) {
    const double nodata = plan->nodata_number;
    const bool is_single = plan->read.size == 4;
    const float single = (float)nodata;
    const float *f32 = pixels;
    const double *f64 = pixels;
    for (size_t i = 0; i < count; i++) {
        const bool is_nodata =
            is_single ? (isnan(single) ? isnan(f32[i]) : is_nearly_f32(f32[i], single))
                      : (isnan(nodata) ? isnan(f64[i]) : is_nearly_f64(f64[i], nodata));
        valid[i] = !is_nodata;
    }
}

static void mark_exact(const zb__values_plan *plan, const void *pixels, unsigned char *valid,
                       size_t count) {
    const size_t size = plan->stored.size;
    for (size_t i = 0; i < count; i++)
        valid[i] = memcmp((const char *)pixels + i * size, plan->nodata, size) != 0;
}

/* Integers that were read as floats are exact there. */
static void mark_equal(const zb__values_plan *plan, const void *pixels, unsigned char *valid,
                       size_t count) {
    for (size_t i = 0; i < count; i++)
        valid[i] = plan->read.size == 4 ? ((const float *)pixels)[i] != (float)plan->nodata_number
                                        : ((const double *)pixels)[i] != plan->nodata_number;
}

/* 64-bit integers become doubles in their places. */
static void convert_wide(const zb__values_plan *plan, void *pixels, size_t count) {
    const bool is_signed = plan->stored.kind == ZB_KIND_INT;
    for (size_t i = 0; i < count; i++) {
        int64_t integer;
        uint64_t natural;
        char *at = (char *)pixels + i * sizeof(double);
        memcpy(&integer, at, sizeof integer);
        memcpy(&natural, at, sizeof natural);
        const double number = is_signed ? (double)integer : (double)natural;
        memcpy(at, &number, sizeof number);
    }
}

void zb__prepare(const zb__values_plan *plan, void *pixels, unsigned char *valid, size_t count) {
    const bool is_wide = plan->method == ZB_RESAMPLE_AVERAGE && plan->read.kind != ZB_KIND_FLOAT &&
                         plan->work == ZB__WORK_F64;
    if (valid && plan->stored.kind == ZB_KIND_FLOAT && plan->read.kind == ZB_KIND_FLOAT &&
        plan->read.size >= 4)
        mark_floats(plan, pixels, valid, count);
    else if (valid && plan->read.kind == ZB_KIND_FLOAT && plan->stored.kind != ZB_KIND_FLOAT)
        mark_equal(plan, pixels, valid, count);
    else if (valid)
        mark_exact(plan, pixels, valid, count);
    if (is_wide)
        convert_wide(plan, pixels, count);
}
