/* SPDX-License-Identifier: MIT */
/* For fuzz_gdal_write.c: numbers from the input, and requests for pixels of any form that are made
   of them, to be put to two datasets of the same shape. */
#ifndef TESTS_FUZZ_GDAL_PIXELS_H
#define TESTS_FUZZ_GDAL_PIXELS_H

#include "fuzz.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <gdal.h>
#include <math.h>

#define BANDS_MAX 4
#define EXTENT_MAX 40
#define BUFFER_MAX (EXTENT_MAX * EXTENT_MAX * BANDS_MAX * 16 * 3)

struct input {
    const uint8_t *data;
    size_t left;
};

/* 0 when the input is used up. */
static unsigned next(struct input *in) {
    if (!in->left)
        return 0;
    in->left--;
    return *in->data++;
}

static int below(struct input *in, int end) {
    return (int)next(in) % end;
}

/* For calls that must succeed on both. */
static void must(CPLErr code) {
    if (code != CE_None)
        fprintf(stderr, "%s\n", CPLGetLastErrorMsg());
    REQUIRE(code == CE_None);
}

static const GDALDataType types[] = {
    GDT_Byte,   GDT_Int8,  GDT_UInt16,  GDT_Int16,   GDT_UInt32,   GDT_Int32,
    GDT_UInt64, GDT_Int64, GDT_Float32, GDT_Float64, GDT_CFloat32, GDT_CFloat64,
};
#define TYPES (int)(sizeof types / sizeof *types)

/* Values at which conversions differ, where they are not those of GDAL. */
static const double values[] = {0,     1,    -1,     2,      127,   128,    255,  256,
                                32767, 1e5,  -32768, 65535,  -0.0,  0.5,    -1.5, 1e9,
                                -1e9,  1e19, 3e38,   -1e300, 1e-40, 1e-300, 7,    42};

static double value(struct input *in) {
    unsigned byte = next(in);
    if (byte == 255)
        return NAN;
    if (byte == 254)
        return -INFINITY;
    return byte & 64 ? byte : values[byte % (sizeof values / sizeof *values)];
}

/* A window, the layout of its samples in a buffer, and its bands. */
struct request {
    int x, y, width, height;
    int count, bands[BANDS_MAX];
    GDALDataType type;
    GSpacing pixel, line, band;
    size_t bytes;
};

static struct request any_request(struct input *in, GDALDatasetH dataset) {
    struct request r = {0};
    int width = GDALGetRasterXSize(dataset), height = GDALGetRasterYSize(dataset);
    int bands = GDALGetRasterCount(dataset);
    bool all = below(in, 4) == 0;
    r.x = all ? 0 : below(in, width);
    r.y = all ? 0 : below(in, height);
    r.width = all ? width : 1 + below(in, width - r.x);
    r.height = all ? height : 1 + below(in, height - r.y);
    r.count = 1 + below(in, bands);
    int first = below(in, bands), step = below(in, 3) ? 1 : bands - 1;
    for (int i = 0; i < r.count; i++)
        r.bands[i] = 1 + (first + i * (step ? step : 1)) % bands;
    int kind = below(in, 2 * TYPES);
    r.type = kind < TYPES ? types[kind] : GDALGetRasterDataType(GDALGetRasterBand(dataset, 1));
    GSpacing size = GDALGetDataTypeSizeBytes(r.type), gap = below(in, 3) ? 0 : size;
    switch (below(in, 3)) {
    case 0: /* band by band */
        r.pixel = size + gap;
        r.line = r.pixel * r.width + gap;
        r.band = r.line * r.height;
        break;
    case 1: /* samples of a pixel together */
        r.band = size;
        r.pixel = size * r.count + gap;
        r.line = r.pixel * r.width + gap;
        break;
    default: /* columns one after the other */
        r.line = size + gap;
        r.pixel = r.line * r.height;
        r.band = r.pixel * r.width;
        break;
    }
    r.bytes = (size_t)(r.pixel * r.width + r.line * r.height + r.band * r.count);
    REQUIRE(r.bytes <= BUFFER_MAX);
    return r;
}

static CPLErr transfer(GDALDatasetH dataset, GDALRWFlag mode, const struct request *r, char *buffer,
                       bool by_dataset) {
    if (by_dataset)
        return GDALDatasetRasterIOEx(dataset, mode, r->x, r->y, r->width, r->height, buffer,
                                     r->width, r->height, r->type, r->count, (int *)r->bands,
                                     r->pixel, r->line, r->band, NULL);
    CPLErr code = CE_None;
    for (int i = 0; i < r->count && code == CE_None; i++)
        code = GDALRasterIOEx(GDALGetRasterBand(dataset, r->bands[i]), mode, r->x, r->y, r->width,
                              r->height, buffer + i * r->band, r->width, r->height, r->type,
                              r->pixel, r->line, NULL);
    return code;
}

static void fill_buffer(struct input *in, const struct request *r, char *buffer) {
    double first = value(in), second = value(in);
    int period = 1 + below(in, 7);
    for (int band = 0; band < r->count; band++)
        for (int y = 0; y < r->height; y++)
            for (int x = 0; x < r->width; x++) {
                double v[2] = {(x + y + band) % period ? first + x : second, y};
                GDALCopyWords(v, GDT_CFloat64, 0,
                              buffer + x * r->pixel + y * r->line + band * r->band, r->type, 0, 1);
            }
}

static bool same_number(double a, double b) {
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

/* Bit for bit, except for the payload of a NaN. */
static bool same_samples(const char *a, const char *b, size_t bytes, GDALDataType type) {
    if (!memcmp(a, b, bytes))
        return true;
    GDALDataType part = type == GDT_CFloat32   ? GDT_Float32
                        : type == GDT_CFloat64 ? GDT_Float64
                                               : type;
    size_t size = (size_t)GDALGetDataTypeSizeBytes(part);
    for (size_t i = 0; i + size <= bytes; i += size) {
        double x = 0, y = 0;
        GDALCopyWords(a + i, part, 0, &x, GDT_Float64, 0, 1);
        GDALCopyWords(b + i, part, 0, &y, GDT_Float64, 0, 1);
        if (memcmp(a + i, b + i, size) && !(part == GDT_Float32 || part == GDT_Float64))
            return false;
        if (!same_number(x, y))
            return false;
    }
    return true;
}

static void compare(GDALDatasetH a, GDALDatasetH b, const struct request *r, bool by_dataset) {
    char *one = CPLCalloc(1, r->bytes), *other = CPLCalloc(1, r->bytes);
    must(transfer(a, GF_Read, r, one, by_dataset));
    must(transfer(b, GF_Read, r, other, by_dataset));
    REQUIRE(same_samples(one, other, r->bytes, r->type));
    CPLFree(one);
    CPLFree(other);
}

static struct request whole(GDALDatasetH dataset) {
    struct request r = {0};
    r.width = GDALGetRasterXSize(dataset);
    r.height = GDALGetRasterYSize(dataset);
    r.count = GDALGetRasterCount(dataset);
    for (int i = 0; i < r.count; i++)
        r.bands[i] = i + 1;
    r.type = GDALGetRasterDataType(GDALGetRasterBand(dataset, 1));
    r.pixel = GDALGetDataTypeSizeBytes(r.type);
    r.line = r.pixel * r.width;
    r.band = r.line * r.height;
    r.bytes = (size_t)(r.band * r.count);
    return r;
}

#endif
