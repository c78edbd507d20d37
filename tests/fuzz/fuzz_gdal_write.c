/* SPDX-License-Identifier: MIT */
/*
 * The writing side of the GDAL driver, beside GDAL's MEM driver. The bytes decide how an array is
 * created, and then the operations on it and, in the same way, on a raster in memory: windows of
 * any type and spacing, bands in any order, blocks, nodata, metadata, georeference; flushing,
 * closing and opening again, copying, appending another array. Both must always hold the same.
 *
 * Pixels written to one array must never show in another one, so all arrays of the store are
 * compared when it is opened again.
 */
#include "gdal_pixels.h"

#include <cpl_string.h>
#include <cpl_vsi.h>
#include <ogr_srs_api.h>
#include <unistd.h>

#define ARRAYS_MAX 3
#define BLOCKS_MAX 6
#define STEPS_MAX 40

/* One array of the store and its expected content. */
struct twin {
    char name[16];
    GDALDatasetH memory;
    bool nodata_set, written;
    double nodata;
};

struct world {
    struct input in;
    char root[64];
    struct twin twins[ARRAYS_MAX];
    int count, current;
    GDALDatasetH store; /* the current array, open for update */
};

static GDALDriverH ours, memory_driver;

static struct twin *twin(struct world *w) {
    return &w->twins[w->current];
}

static void start(void) {
    if (ours)
        return;
    CPLSetConfigOption("GDAL_DRIVER_PATH", ZB_PLUGIN_DIR);
    CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
    CPLSetErrorHandler(CPLQuietErrorHandler);
    /* So that parts of chunks do not only wait until they are flushed. */
    setenv("ZARRBRIDGE_WRITE_CACHE_BYTES", "6000", 0);
    GDALAllRegister();
    ours = GDALGetDriverByName("Zarr3");
    memory_driver = GDALGetDriverByName("MEM");
    REQUIRE(ours && memory_driver);
}

/* ---- Pixels ---- */

static void write_window(struct world *w) {
    struct request r = any_request(&w->in, w->store);
    bool by_dataset = below(&w->in, 2);
    char *buffer = CPLCalloc(1, r.bytes);
    fill_buffer(&w->in, &r, buffer);
    must(transfer(w->store, GF_Write, &r, buffer, by_dataset));
    must(transfer(twin(w)->memory, GF_Write, &r, buffer, by_dataset));
    twin(w)->written = true;
    CPLFree(buffer);
}

static void read_window(struct world *w) {
    struct request r = any_request(&w->in, w->store);
    compare(w->store, twin(w)->memory, &r, below(&w->in, 2));
}

/* By the nearest pixel, as GDAL resamples unless told otherwise. */
static void read_smaller(struct world *w) {
    GDALDataType type = types[below(&w->in, TYPES)];
    int width = 1 + below(&w->in, EXTENT_MAX), height = 1 + below(&w->in, EXTENT_MAX);
    int number = 1 + below(&w->in, GDALGetRasterCount(w->store));
    size_t bytes = (size_t)(width * height * GDALGetDataTypeSizeBytes(type));
    char *buffers[2];
    for (int i = 0; i < 2; i++) {
        GDALDatasetH dataset = i ? twin(w)->memory : w->store;
        buffers[i] = CPLCalloc(1, bytes);
        must(GDALRasterIO(GDALGetRasterBand(dataset, number), GF_Read, 0, 0,
                          GDALGetRasterXSize(dataset), GDALGetRasterYSize(dataset), buffers[i],
                          width, height, type, 0, 0));
    }
    REQUIRE(same_samples(buffers[0], buffers[1], bytes, type));
    CPLFree(buffers[0]);
    CPLFree(buffers[1]);
}

static void write_block(struct world *w) {
    int number = 1 + below(&w->in, GDALGetRasterCount(w->store)), width, height;
    GDALRasterBandH band = GDALGetRasterBand(w->store, number);
    GDALDataType type = GDALGetRasterDataType(band);
    GDALGetBlockSize(band, &width, &height);
    int across = (GDALGetRasterXSize(w->store) - 1) / width + 1;
    int down = (GDALGetRasterYSize(w->store) - 1) / height + 1;
    int x = below(&w->in, across), y = below(&w->in, down);
    GSpacing size = GDALGetDataTypeSizeBytes(type);
    struct request r = {0, 0, width, height, 1, {number}, type, size, size * width, 0, 0};
    char *block = CPLCalloc((size_t)(width * height), (size_t)size);
    fill_buffer(&w->in, &r, block);
    must(GDALFlushRasterCache(band)); /* which this call goes past */
    must(GDALWriteBlock(band, x, y, block));
    int right = GDALGetRasterXSize(w->store) - x * width;
    int bottom = GDALGetRasterYSize(w->store) - y * height;
    r.x = x * width;
    r.y = y * height;
    r.width = right < width ? right : width;
    r.height = bottom < height ? bottom : height;
    must(transfer(twin(w)->memory, GF_Write, &r, block, false));
    twin(w)->written = true;
    CPLFree(block);
}

static void fill_band(struct world *w) {
    int number = 1 + below(&w->in, GDALGetRasterCount(w->store));
    double v = value(&w->in);
    must(GDALFillRaster(GDALGetRasterBand(w->store, number), v, 0));
    must(GDALFillRaster(GDALGetRasterBand(twin(w)->memory, number), v, 0));
    twin(w)->written = true;
}

/* ---- Properties ---- */

/* Pixels that were never written have the nodata value, when that was set before the first
   pixel. */
static void fill_unwritten(struct twin *t) {
    for (int i = 1; i <= GDALGetRasterCount(t->memory) && !t->written; i++)
        must(GDALFillRaster(GDALGetRasterBand(t->memory, i), t->nodata_set ? t->nodata : 0, 0));
}

static void set_nodata(struct world *w) {
    static const double candidates[] = {0, 1, 7, 100, -1, -100, 255, 0.5};
    double v = candidates[below(&w->in, 8)];
    int number = 1 + below(&w->in, GDALGetRasterCount(w->store));
    struct twin *t = twin(w);
    if (GDALSetRasterNoDataValue(GDALGetRasterBand(w->store, number), v) != CE_None)
        return; /* the type does not hold it */
    t->nodata_set = true;
    t->nodata = v;
    fill_unwritten(t);
}

static void delete_nodata(struct world *w) {
    must(GDALDeleteRasterNoDataValue(GDALGetRasterBand(w->store, 1)));
    twin(w)->nodata_set = false;
    fill_unwritten(twin(w));
}

static void set_item(struct world *w) {
    static const char *const names[] = {"a", "title", "B", "x y", "units", "_FillValue"};
    static const char *const texts[] = {"1", "text", "", "a \"b\" \\ \xc3\xa9", "[1, 2]", NULL};
    const char *name = names[below(&w->in, 4)], *text = texts[below(&w->in, 6)];
    int band = below(&w->in, GDALGetRasterCount(w->store) + 1);
    GDALMajorObjectH on[] = {w->store, twin(w)->memory};
    for (int i = 0; i < 2; i++) {
        GDALMajorObjectH object = band ? GDALGetRasterBand(on[i], band) : on[i];
        must(GDALSetMetadataItem(object, name, text, NULL));
    }
}

static void set_of_band(struct world *w) {
    static const char *const units[] = {"", "K", "m s-1"};
    int number = 1 + below(&w->in, GDALGetRasterCount(w->store)), what = below(&w->in, 4);
    double scale = 0.5 * (1 + below(&w->in, 4));
    for (int i = 0; i < 2; i++) {
        GDALRasterBandH band = GDALGetRasterBand(i ? twin(w)->memory : w->store, number);
        char text[32];
        snprintf(text, sizeof text, "band %g", scale);
        if (what == 0)
            must(GDALSetRasterScale(band, scale));
        else if (what == 1)
            must(GDALSetRasterOffset(band, scale - 0.5));
        else if (what == 2)
            must(GDALSetRasterUnitType(band, units[(int)(scale * 2) % 3]));
        else
            GDALSetDescription(band, scale > 1.5 ? "" : text);
    }
}

static void set_place(struct world *w) {
    static const double places[][6] = {
        {500, 10, 0, 9000, 0, -10}, {-180, 0.1, 0, -90, 0, 0.1}, {100.125, 3, 0.5, 200, 0.25, -2}};
    double transform[6];
    memcpy(transform, places[below(&w->in, 3)], sizeof transform);
    int code = below(&w->in, 3);
    OGRSpatialReferenceH srs = OSRNewSpatialReference(NULL);
    if (code)
        REQUIRE(OSRImportFromEPSG(srs, code == 1 ? 32633 : 4326) == OGRERR_NONE);
    OSRSetAxisMappingStrategy(srs, OAMS_TRADITIONAL_GIS_ORDER);
    bool with_transform = below(&w->in, 3) > 0;
    for (int i = 0; i < 2; i++) {
        GDALDatasetH dataset = i ? twin(w)->memory : w->store;
        must(GDALSetSpatialRef(dataset, code ? srs : NULL));
        if (with_transform)
            must(GDALSetGeoTransform(dataset, transform));
    }
    OSRRelease(srs);
}

static void compare_place(GDALDatasetH a, GDALDatasetH b) {
    double one[6] = {0}, other[6] = {0};
    CPLErr has = GDALGetGeoTransform(a, one);
    REQUIRE(has == GDALGetGeoTransform(b, other));
    REQUIRE(has != CE_None || !memcmp(one, other, sizeof one));
    OGRSpatialReferenceH first = GDALGetSpatialRef(a), second = GDALGetSpatialRef(b);
    REQUIRE(!first == !second);
    REQUIRE(!first || OSRIsSame(first, second));
}

/* Items of b are among those of a; a may have more, which it derives from the array. */
static void compare_items(GDALMajorObjectH a, GDALMajorObjectH b, bool exactly) {
    char **wanted = GDALGetMetadata(b, NULL), **found = GDALGetMetadata(a, NULL);
    for (int i = 0; wanted && wanted[i]; i++) {
        char *name = NULL;
        const char *text = CPLParseNameValue(wanted[i], &name);
        const char *there = name ? CSLFetchNameValue(found, name) : NULL;
        REQUIRE(!name || (there && !strcmp(there, text)));
        CPLFree(name);
    }
    const bool derived = CSLFetchNameValue(found, GDALMD_AREA_OR_POINT) &&
                         !CSLFetchNameValue(wanted, GDALMD_AREA_OR_POINT);
    REQUIRE(!exactly || CSLCount(found) == CSLCount(wanted) + derived);
}

static void compare_band(GDALRasterBandH a, GDALRasterBandH b, const struct twin *t) {
    int has;
    double nodata = GDALGetRasterNoDataValue(a, &has);
    REQUIRE(!has == !t->nodata_set && (!has || nodata == t->nodata));
    compare_items(a, b, false);
    REQUIRE(GDALGetRasterScale(a, &has) == GDALGetRasterScale(b, NULL));
    REQUIRE(GDALGetRasterOffset(a, &has) == GDALGetRasterOffset(b, NULL));
    REQUIRE(!strcmp(GDALGetRasterUnitType(a), GDALGetRasterUnitType(b)));
    REQUIRE(!strcmp(GDALGetDescription(a), GDALGetDescription(b)));
}

static void compare_all(GDALDatasetH store, const struct twin *t) {
    struct request r = whole(t->memory);
    REQUIRE(GDALGetRasterCount(store) == r.count && GDALGetRasterXSize(store) == r.width);
    compare(store, t->memory, &r, true);
    compare_place(store, t->memory);
    compare_items(store, t->memory, true);
    for (int i = 1; i <= r.count; i++)
        compare_band(GDALGetRasterBand(store, i), GDALGetRasterBand(t->memory, i), t);
}

/* ---- Stores ---- */

static void close_store(struct world *w) {
    must(GDALClose(w->store));
    w->store = NULL;
}

static GDALDatasetH open_array(struct world *w, int which, unsigned flags) {
    static const char *const drivers[] = {"Zarr3", NULL};
    char name[128];
    snprintf(name, sizeof name, "ZARR3:\"%s\":/%s", w->root, w->twins[which].name);
    GDALDatasetH dataset = GDALOpenEx(name, GDAL_OF_RASTER | flags, drivers, NULL, NULL);
    must(dataset ? CE_None : CE_Failure);
    return dataset;
}

/* Closes, compares all that is stored, and goes on with one of the arrays. */
static void reopen(struct world *w) {
    close_store(w);
    for (int i = 0; i < w->count; i++) {
        GDALDatasetH dataset = open_array(w, i, GDAL_OF_READONLY);
        compare_all(dataset, &w->twins[i]);
        w->twins[i].written = true; /* its array is not new any more */
        must(GDALClose(dataset));
    }
    w->current = below(&w->in, w->count);
    w->store = open_array(w, w->current, GDAL_OF_UPDATE);
}

static void flush(struct world *w) {
    must(GDALFlushCache(w->store));
    GDALDatasetH reader = open_array(w, w->current, GDAL_OF_READONLY);
    compare_all(reader, twin(w));
    must(GDALClose(reader));
}

/* A raster of at most BLOCKS_MAX blocks in a row: each may be a file. */
static int any_block(struct world *w, int extent) {
    int least = (extent - 1) / BLOCKS_MAX + 1;
    return least + below(&w->in, 16);
}

static char **any_options(struct world *w, const char *name, int width, int height, bool append) {
    static const char *const codecs[] = {"ZSTD", "NONE", "GZIP", "BLOSC"};
    int x = any_block(w, width), y = any_block(w, height), kind = below(&w->in, 8);
    char **options = CSLSetNameValue(NULL, "ARRAY_NAME", name);
    options = CSLSetNameValue(options, "BLOCKSIZE", CPLSPrintf("%dx%d", x, y));
    if (kind & 1)
        options = CSLSetNameValue(
            options, "SHARD",
            CPLSPrintf("%dx%d", x * (1 + below(&w->in, 3)), y * (1 + below(&w->in, 3))));
    if (kind & 2)
        options = CSLSetNameValue(options, "INTERLEAVE", "PIXEL");
    if (kind & 4)
        options = CSLSetNameValue(options, below(&w->in, 2) ? "STORE_EMPTY" : "CHECKSUM", "YES");
    options = CSLSetNameValue(options, "COMPRESS", codecs[below(&w->in, 4)]);
    if (append)
        options = CSLSetNameValue(options, "APPEND_SUBDATASET", "YES");
    return options;
}

/* A new array, empty. */
static void create(struct world *w) {
    struct twin *t = &w->twins[w->count];
    *t = (struct twin){.name = ""};
    snprintf(t->name, sizeof t->name, "t%d", w->count);
    GDALDataType type = types[below(&w->in, TYPES)];
    int width = 1 + below(&w->in, EXTENT_MAX), height = 1 + below(&w->in, EXTENT_MAX);
    int bands = 1 + below(&w->in, BANDS_MAX);
    char **options = any_options(w, t->name, width, height, w->count > 0);
    t->memory = GDALCreate(memory_driver, "", width, height, bands, type, NULL);
    REQUIRE(t->memory);
    w->store = GDALCreate(ours, w->root, width, height, bands, type, options);
    must(w->store ? CE_None : CE_Failure);
    CSLDestroy(options);
    w->current = w->count++;
}

/* MEM takes nodata of 64-bit integers by these functions only. */
static CPLErr set_in_memory(GDALRasterBandH band, double nodata) {
    GDALDataType type = GDALGetRasterDataType(band);
    if (type == GDT_Int64)
        return GDALSetRasterNoDataValueAsInt64(band, (int64_t)nodata);
    if (type == GDT_UInt64)
        return GDALSetRasterNoDataValueAsUInt64(band, (uint64_t)nodata);
    return GDALSetRasterNoDataValue(band, nodata);
}

/* A new array that is a copy of the current one's twin. */
static void copy(struct world *w) {
    struct twin *t = &w->twins[w->count], *source = twin(w);
    *t = (struct twin){.nodata_set = source->nodata_set, .nodata = source->nodata, .written = true};
    snprintf(t->name, sizeof t->name, "t%d", w->count);
    t->memory = GDALCreateCopy(memory_driver, "", source->memory, 0, NULL, NULL, NULL);
    for (int i = 1; source->nodata_set && i <= GDALGetRasterCount(t->memory); i++)
        must(set_in_memory(GDALGetRasterBand(t->memory, i), t->nodata));
    char **options =
        any_options(w, t->name, GDALGetRasterXSize(t->memory), GDALGetRasterYSize(t->memory), true);
    close_store(w);
    w->store = GDALCreateCopy(ours, w->root, t->memory, 1, options, NULL, NULL);
    must(w->store ? CE_None : CE_Failure);
    for (int i = 1; i <= GDALGetRasterCount(t->memory); i++)
        GDALDeleteRasterNoDataValue(GDALGetRasterBand(t->memory, i));
    CSLDestroy(options);
    w->current = w->count++;
}

static void step(struct world *w) {
    switch (below(&w->in, 16)) {
    case 0:
    case 1:
    case 2:
        write_window(w);
        break;
    case 3:
    case 4:
    case 5:
        read_window(w);
        break;
    case 6:
        read_smaller(w);
        break;
    case 7:
        write_block(w);
        break;
    case 8:
        fill_band(w);
        break;
    case 9:
        set_nodata(w);
        break;
    case 10:
        if (below(&w->in, 2))
            delete_nodata(w);
        else
            set_of_band(w);
        break;
    case 11:
        set_item(w);
        break;
    case 12:
        set_place(w);
        break;
    case 13:
        flush(w);
        break;
    case 14:
        reopen(w);
        break;
    default:
        if (w->count < ARRAYS_MAX && below(&w->in, 2)) {
            copy(w);
        } else if (w->count < ARRAYS_MAX) {
            close_store(w);
            create(w);
        }
        break;
    }
}

/* Files in memory are GDAL's, files in a directory the core's. */
static void choose_place(struct world *w) {
    bool on_disk = below(&w->in, 4) == 0;
    /* So little that changed blocks leave the cache while they are still in use elsewhere. */
    GDALSetCacheMax64(below(&w->in, 2) ? 3000 : 1 << 24);
    snprintf(w->root, sizeof w->root, "%s/fuzz-%d.zarr", on_disk ? "/tmp" : "/vsimem",
             (int)getpid());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct world w = {.in = {data, size}};
    start();
    CPLErrorReset();
    choose_place(&w);
    VSIRmdirRecursive(w.root);
    create(&w);
    for (int i = 0; i < STEPS_MAX && w.in.left; i++)
        step(&w);
    reopen(&w);
    close_store(&w);
    for (int i = 0; i < w.count; i++)
        must(GDALClose(w.twins[i].memory));
    VSIRmdirRecursive(w.root);
    return 0;
}
