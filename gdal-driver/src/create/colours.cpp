/* SPDX-License-Identifier: MIT */
/*
 * The options of GDAL's GeoTIFF driver, which programs hand on. The first bands are colours; ALPHA
 * is of the band behind them. A new raster gets the colours of a new GeoTIFF; a copy keeps those of
 * its source unless PHOTOMETRIC names others.
 */
#include "create/colours.h"

#include <vector>

namespace zarr3 {

static const std::vector<GDALColorInterp> kRgb = {GCI_RedBand, GCI_GreenBand, GCI_BlueBand};

static size_t band_count(GDALDataset *raster) {
    return static_cast<size_t>(raster->GetRasterCount());
}

static GDALColorInterp colour_of(GDALDataset *raster, size_t band) {
    return raster->GetRasterBand(static_cast<int>(band) + 1)->GetColorInterpretation();
}

static void set_colour(GDALDataset *raster, size_t band, GDALColorInterp colour) {
    if (colour != colour_of(raster, band))
        raster->GetRasterBand(static_cast<int>(band) + 1)->SetColorInterpretation(colour);
}

/* A GeoTIFF takes them for red, green and blue unless it is told otherwise. */
static bool is_picture_by_shape(GDALDataset *raster) {
    const size_t bands = band_count(raster);
    return raster->GetRasterBand(1)->GetRasterDataType() == GDT_Byte && (bands == 3 || bands == 4);
}

/* How many bands of a source come before the one that ALPHA is of, as GeoTIFFs have it; 0: its
   colours are others, and ALPHA is of none. */
static size_t colours_of_source(GDALDataset *raster) {
    bool is_rgb = band_count(raster) >= kRgb.size();
    for (size_t i = 0; i < kRgb.size() && is_rgb; i++)
        is_rgb = colour_of(raster, i) == kRgb[i];
    if (is_rgb)
        return kRgb.size();
    const GDALColorInterp first = colour_of(raster, 0);
    const bool is_gray = first == GCI_GrayIndex || first == GCI_Undefined;
    return is_gray && !is_picture_by_shape(raster) ? 1 : 0;
}

/* False, with a warning, where the options name more bands than there are. */
static bool fits(const CreationOptions &options, size_t colours, size_t bands) {
    const size_t wanted = colours + (options.alpha == true ? 1 : 0);
    if (bands >= wanted)
        return true;
    CPLError(CE_Warning, CPLE_AppDefined,
             "PHOTOMETRIC and ALPHA are of %d bands, and the raster has %d: %s",
             static_cast<int>(wanted), static_cast<int>(bands),
             bands == colours ? "none is alpha" : "they get no colours");
    return bands == colours;
}

/* Of the first bands. Those behind keep none but alpha. */
static void set_first_colours(GDALDataset *raster, const std::vector<GDALColorInterp> &colours) {
    for (size_t i = 0; i < band_count(raster); i++) {
        const bool is_alpha = colour_of(raster, i) == GCI_AlphaBand;
        set_colour(raster, i,
                   i < colours.size() ? colours[i] : (is_alpha ? GCI_AlphaBand : GCI_Undefined));
    }
}

/* Of the band behind the colours; where it is not wanted, no band behind them is. */
static void set_alpha(GDALDataset *raster, size_t colours, bool alpha) {
    if (alpha && colours < band_count(raster))
        set_colour(raster, colours, GCI_AlphaBand);
    for (size_t i = colours; i < band_count(raster) && !alpha; i++) {
        if (colour_of(raster, i) == GCI_AlphaBand)
            set_colour(raster, i, GCI_Undefined);
    }
}

static void set_both(GDALDataset *raster, const CreationOptions &options,
                     const std::vector<GDALColorInterp> &colours) {
    if (!fits(options, colours.size(), band_count(raster)))
        return;
    set_first_colours(raster, colours);
    if (options.alpha)
        set_alpha(raster, colours.size(), *options.alpha);
}

void set_new_colours(GDALDataset *raster, const CreationOptions &options) {
    if (!options.colours.empty())
        set_both(raster, options, options.colours);
    else if (options.alpha && is_picture_by_shape(raster))
        set_both(raster, options, kRgb);
    else if (options.alpha)
        set_both(raster, options, {colour_of(raster, 0)});
}

static bool has_alpha(GDALDataset *raster) {
    for (size_t i = 0; i < band_count(raster); i++) {
        if (colour_of(raster, i) == GCI_AlphaBand)
            return true;
    }
    return false;
}

void change_copied_colours(GDALDataset *copy, const CreationOptions &options) {
    if (!options.colours.empty())
        set_both(copy, options, options.colours);
    if (!options.colours.empty() || !options.alpha)
        return;
    const size_t colours = colours_of_source(copy);
    if (colours > 0)
        set_alpha(copy, colours, *options.alpha);
    if (has_alpha(copy) != *options.alpha)
        CPLError(CE_Warning, CPLE_AppDefined,
                 "ALPHA=%s: the bands keep the colours of the source, which does not begin with "
                 "gray, or red, green and blue, and a band behind; PHOTOMETRIC names others",
                 *options.alpha ? "YES" : "NO");
}

} // namespace zarr3
