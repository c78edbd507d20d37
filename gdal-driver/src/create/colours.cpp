/* SPDX-License-Identifier: MIT */
/*
 * The options of GDAL's GeoTIFF driver, which programs hand on. The first bands are colours; ALPHA
 * is of the band behind them.
 */
#include "create/colours.h"

#include <vector>

namespace zarr3 {

static GDALColorInterp colour_of(GDALDataset *raster, size_t band) {
    return raster->GetRasterBand(static_cast<int>(band) + 1)->GetColorInterpretation();
}

/* What three or four bands of bytes are in a GeoTIFF unless PHOTOMETRIC says otherwise; and what
   the source of a copy says. */
static std::vector<GDALColorInterp> usual_colours(GDALDataset *raster) {
    static const std::vector<GDALColorInterp> kRgb = {GCI_RedBand, GCI_GreenBand, GCI_BlueBand};
    const int bands = raster->GetRasterCount();
    bool is_picture = bands >= 3;
    for (size_t i = 0; i < kRgb.size() && is_picture; i++)
        is_picture = colour_of(raster, i) == kRgb[i];
    const bool bytes = raster->GetRasterBand(1)->GetRasterDataType() == GDT_Byte;
    if (is_picture || (bytes && (bands == 3 || bands == 4)))
        return kRgb;
    return {colour_of(raster, 0)};
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

void set_colours(GDALDataset *raster, const CreationOptions &options) {
    const bool named = !options.colours.empty();
    if (!named && !options.alpha)
        return;
    const std::vector<GDALColorInterp> colours = named ? options.colours : usual_colours(raster);
    const size_t bands = static_cast<size_t>(raster->GetRasterCount());
    if (!fits(options, colours.size(), bands))
        return;
    for (size_t i = 0; i < bands; i++) {
        const GDALColorInterp before = colour_of(raster, i);
        const bool was_alpha = before == GCI_AlphaBand;
        GDALColorInterp colour = named && !was_alpha ? GCI_Undefined : before;
        if (i < colours.size())
            colour = colours[i];
        else if (i == colours.size() && options.alpha)
            colour = *options.alpha ? GCI_AlphaBand : was_alpha ? GCI_Undefined : colour;
        if (colour != before)
            raster->GetRasterBand(static_cast<int>(i) + 1)->SetColorInterpretation(colour);
    }
}

} // namespace zarr3
