/* SPDX-License-Identifier: MIT */
/*
 * The GDAL driver, as GDAL loads it: the end of a connection string, then keys and contents of a
 * store in turn; separated by bytes 255. The store is opened as a raster, and everything in it
 * asked for.
 */
#include "fuzz.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gdal.h>

#define ROOT "/vsimem/fuzz"
#define BANDS_MAX 4
#define SUBDATASETS_MAX 4
#define WINDOW 8

static void start(void) {
    static bool started;
    if (started)
        return;
    started = true;
    CPLSetConfigOption("GDAL_DRIVER_PATH", ZB_PLUGIN_DIR);
    CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
    CPLSetErrorHandler(CPLQuietErrorHandler);
    GDALAllRegister();
    REQUIRE(GDALGetDriverByName("Zarr3"));
}

static void make_store(const uint8_t *data, size_t left) {
    while (data) {
        char path[512];
        char *key = fuzz_next_text(&data, &left);
        size_t size = 0;
        const uint8_t *content = fuzz_next(&data, &left, &size);
        if (content && *key && !strstr(key, "..") &&
            snprintf(path, sizeof path, ROOT "/%s", key) < (int)sizeof path) {
            GByte *copy = CPLMalloc(size + 1);
            memcpy(copy, content, size);
            VSILFILE *file = VSIFileFromMemBuffer(path, copy, size, TRUE);
            if (file)
                VSIFCloseL(file);
            else
                VSIFree(copy);
        }
        free(key);
    }
}

static void ask_band(GDALRasterBandH band) {
    double pixels[WINDOW * WINDOW];
    int width = GDALGetRasterBandXSize(band), height = GDALGetRasterBandYSize(band), has;
    REQUIRE(width > 0 && height > 0);
    GDALGetDescription(band);
    GDALGetMetadata(band, NULL);
    GDALGetRasterNoDataValue(band, &has);
    GDALGetRasterOffset(band, &has);
    GDALGetRasterScale(band, &has);
    GDALGetRasterUnitType(band);
    GDALGetRasterColorInterpretation(band);
    GDALGetRasterCategoryNames(band);
    GDALGetRasterColorTable(band);
    GDALGetDefaultRAT(band);
    GDALGetMaskFlags(band);
    for (int i = 0; i < GDALGetOverviewCount(band) && i < BANDS_MAX; i++)
        REQUIRE(GDALGetRasterBandXSize(GDALGetOverview(band, i)) > 0);
    CPLErr code =
        GDALRasterIO(band, GF_Read, 0, 0, width < WINDOW ? width : WINDOW,
                     height < WINDOW ? height : WINDOW, pixels, WINDOW, WINDOW, GDT_Float64, 0, 0);
    REQUIRE(code == CE_None || *CPLGetLastErrorMsg());
}

static void ask(GDALDatasetH dataset) {
    double transform[6];
    GDALGetProjectionRef(dataset);
    GDALGetSpatialRef(dataset);
    (void)GDALGetGeoTransform(dataset, transform);
    GDALGetGCPs(dataset);
    CSLDestroy(GDALGetFileList(dataset));
    char **domains = GDALGetMetadataDomainList(dataset);
    for (int i = 0; domains && domains[i]; i++)
        GDALGetMetadata(dataset, domains[i]);
    CSLDestroy(domains);
    GDALGetMetadata(dataset, NULL);
    for (int i = 1; i <= GDALGetRasterCount(dataset) && i <= BANDS_MAX; i++)
        ask_band(GDALGetRasterBand(dataset, i));
}

static GDALDatasetH open_raster(const char *name) {
    static const char *const drivers[] = {"Zarr3", NULL};
    return GDALOpenEx(name, GDAL_OF_RASTER, drivers, NULL, NULL);
}

/* Asks one dataset, and its subdatasets by the names that it gives. */
static void open_and_ask(const char *name) {
    GDALDatasetH dataset = open_raster(name);
    if (!dataset) {
        REQUIRE(*CPLGetLastErrorMsg());
        return;
    }
    ask(dataset);
    char **names = GDALGetMetadata(dataset, "SUBDATASETS");
    for (int i = 0; i < 2 * SUBDATASETS_MAX && names && names[i]; i += 2) {
        GDALDatasetH subdataset = open_raster(strchr(names[i], '=') + 1);
        if (subdataset)
            ask(subdataset);
        GDALClose(subdataset);
    }
    GDALClose(dataset);
}

/* GDAL takes names apart to put another path into them. */
static void take_apart(const char *name) {
    GDALSubdatasetInfoH info = GDALGetSubdatasetInfo(name);
    if (!info)
        return;
    CPLFree(GDALSubdatasetInfoGetPathComponent(info));
    CPLFree(GDALSubdatasetInfoGetSubdatasetComponent(info));
    CPLFree(GDALSubdatasetInfoModifyPathComponent(info, "/other"));
    GDALDestroySubdatasetInfo(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char name[512];
    start();
    char *end = fuzz_next_text(&data, &size);
    snprintf(name, sizeof name, "ZARR3:\"" ROOT "%s", end);
    free(end);
    CPLErrorReset();
    make_store(data, size);
    take_apart(name);
    open_and_ask(name);
    VSIRmdirRecursive(ROOT);
    return 0;
}
