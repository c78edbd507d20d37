/* SPDX-License-Identifier: MIT */
/*
 * A band has properties (nodata, scale, unit, place along the extra dimensions), which come from
 * the array's attributes and win over GDAL's sidecar file, and pixels, for which it decides between
 * the two ways that raster_reader.cpp describes. Setters are in band_update.cpp.
 *
 * Attributes are the array's, so a value is for all bands. Where bands differ there is a list with
 * an item for each, in the places where rioxarray has them: `scales`, `offsets`, `units` and
 * `long_name`.
 *
 * Properties that need data from the store (the coordinate value of a band, its description) are
 * read at the first question. A dataset may have 65536 bands, and opening it must not read a
 * coordinate for each.
 */
#include "dataset/band.h"

#include "array/attributes.h"
#include "base/entry.h"
#include "base/errors.h"
#include "base/name_values.h"
#include "cpl_multiproc.h"
#include "dataset/band_place.h"
#include "dataset/coverage.h"
#include "dataset/pam_items.h"
#include "dataset/raster_write.h"
#include "dataset/strips.h"

using namespace zarr3;

/* Cheap, because a dataset makes all of its bands when it is opened: nothing here may ask the
   store. */
Zarr3RasterBand::Zarr3RasterBand(Zarr3Dataset *dataset, int number_in_dataset) {
    poDS = dataset;
    nBand = number_in_dataset;
    nRasterXSize = dataset->layout().width;
    nRasterYSize = dataset->layout().height;
    nBlockXSize = dataset->layout().block_width;
    nBlockYSize = dataset->layout().block_height;
    eDataType = pixel_type(dataset->node());
}

#ifdef ZARR3_HAS_THREADS_HINT
bool Zarr3RasterBand::MayMultiBlockReadingBeMultiThreaded() const {
    const uint64_t threads = zb_limits_get()->threads; /* 0: as many as there are processors */
    return threads > 1 || (threads == 0 && CPLGetNumCPUs() > 1);
}
#endif

CPLErr Zarr3RasterBand::IReadBlock(int x, int y, void *image) try {
    zb_error err;
    if (owner()->reader().load_block(nBand - 1, x, y, image, &err) == ZB_OK)
        return CE_None;
    /* GDAL's cache reports a failure itself, its plain ReadBlock does not. The cache asks for a
       block that it has already taken in. */
    GDALRasterBlock *block = TryGetLockedBlockRef(x, y);
    const bool for_cache = block != nullptr && block->GetDataRef() == image;
    if (block != nullptr)
        block->DropLock();
    if (for_cache)
        leave_for_caller(err);
    else
        report(err);
    return CE_Failure;
} catch (...) {
    return failed_entry<CPLErr>();
}

CPLErr Zarr3RasterBand::AdviseRead(int x, int y, int width, int height, int buffer_width,
                                   int buffer_height, GDALDataType, OptionList) try {
    owner()->reader().advise(nBand - 1, {x, y, width, height}, buffer_width, buffer_height);
    return CE_None;
} catch (...) {
    return failed_entry<CPLErr>();
}

/* Calls fn(), which goes through all of the band unless it is to be approximate. */
template <class Fn>
static CPLErr go_through(Zarr3Dataset *raster, int band, int approximate, Fn fn) try {
    std::optional<RasterReader::AdviseAll> all;
    if (!approximate)
        all.emplace(&raster->reader(), band - 1);
    return fn();
} catch (...) {
    return failed_entry<CPLErr>();
}

CPLErr Zarr3RasterBand::ComputeStatistics(int approximate, double *least, double *most,
                                          double *mean, double *deviation,
                                          GDALProgressFunc progress, void *progress_data) {
    return go_through(owner(), nBand, approximate, [&] {
        return GDALPamRasterBand::ComputeStatistics(approximate, least, most, mean, deviation,
                                                    progress, progress_data);
    });
}

CPLErr Zarr3RasterBand::ComputeRasterMinMax(int approximate, double *range) {
    return go_through(owner(), nBand, approximate,
                      [&] { return GDALPamRasterBand::ComputeRasterMinMax(approximate, range); });
}

CPLErr Zarr3RasterBand::GetHistogram(double least, double most, int buckets, GUIntBig *counts,
                                     int with_outside, int approximate, GDALProgressFunc progress,
                                     void *progress_data) {
    return go_through(owner(), nBand, approximate, [&] {
        return GDALPamRasterBand::GetHistogram(least, most, buckets, counts, with_outside,
                                               approximate, progress, progress_data);
    });
}

/* GDAL fills blocks of its cache. */
CPLErr Zarr3RasterBand::Fill(double real, double imaginary) try {
    return owner()->updates() && !owner()->prepare_first_write()
               ? CE_Failure
               : GDALPamRasterBand::Fill(real, imaginary);
} catch (...) {
    return failed_entry<CPLErr>();
}

CPLErr Zarr3RasterBand::IWriteBlock(int x, int y, void *image) try {
    return write_block(owner(), nBand - 1, x, y, image);
} catch (...) {
    return failed_entry<CPLErr>();
}

int Zarr3RasterBand::IGetDataCoverageStatus(int x, int y, int width, int height, int stop,
                                            double *percent) {
    return coverage(owner()->array(), owner()->layout(), nBand - 1, {x, y, width, height}, stop,
                    percent);
}

CPLErr Zarr3RasterBand::IRasterIO(GDALRWFlag mode, int x, int y, int width, int height, void *data,
                                  int buffer_width, int buffer_height, GDALDataType type,
                                  GSpacing pixel_space, GSpacing line_space,
                                  GDALRasterIOExtraArg *extra) try {
    const Window window = {x, y, width, height};
    /* These go to GDAL, which uses overviews or comes back with windows of the full resolution. */
    const bool resampled = is_resampled(mode, window, buffer_width, buffer_height, extra);
    RasterReader::Listen listen(&owner()->reader(), mode, extra);
    if (!resampled && !owner()->reader().has_listener(mode, extra) &&
        wants_strips(y, height, width, nBlockYSize, extra))
        return by_strips(y, height, width, nBlockYSize, extra,
                         [&](int from, int rows, GDALRasterIOExtraArg *silent) {
                             return IRasterIO(mode, x, y + from, width, rows,
                                              static_cast<char *>(data) + from * line_space, width,
                                              rows, type, pixel_space, line_space, silent);
                         });
    if (mode == GF_Write && !resampled) {
        bool done = false;
        const PixelRequest request = {window, data, type, 1, &nBand, pixel_space, line_space, 0};
        const CPLErr result = write_pixels(owner(), request, &done);
        if (done)
            return result;
    }
    if (mode == GF_Read && !resampled) {
        bool done = false;
        const PixelRequest request = {window, data, type, 1, &nBand, pixel_space, line_space, 0};
        const CPLErr result = owner()->reader().read(request, &done);
        if (done)
            return result;
        /* GDAL goes line by line. A row of blocks that the cache cannot hold would be decoded for
           each line anew: take such a request in two halves, split between blocks. */
        const Window row = {x, y, width, 1};
        const int middle = (x + width / 2) / nBlockXSize * nBlockXSize;
        if (height > 1 && middle > x &&
            owner()->reader().block_bytes(row, 1) >
                static_cast<uint64_t>(GDALGetCacheMax64()) / 2) {
            const double share = static_cast<double>(middle - x) / width;
            ScaledExtra first(listen.extra(), 0, share), second(listen.extra(), share, 1);
            const CPLErr left = IRasterIO(mode, x, y, middle - x, height, data, middle - x, height,
                                          type, pixel_space, line_space, first.get());
            if (left != CE_None)
                return left;
            const int rest = x + width - middle;
            return IRasterIO(mode, middle, y, rest, height,
                             static_cast<char *>(data) + (middle - x) * pixel_space, rest, height,
                             type, pixel_space, line_space, second.get());
        }
    }
    if (mode == GF_Write && owner()->updates() && !owner()->prepare_first_write())
        return CE_Failure;
    /* GDAL now asks for one block after the other; a miss loads the rest of them as well. */
    const RasterReader::Expect expect(&owner()->reader(), window, buffer_width, buffer_height, 1,
                                      &nBand);
    return GDALPamRasterBand::IRasterIO(mode, x, y, width, height, data, buffer_width,
                                        buffer_height, type, pixel_space, line_space,
                                        listen.extra());
} catch (...) {
    return failed_entry<CPLErr>();
}

/* GDAL lets callers pass no place for the answer whether there is a value. */
static void tell(int *success, bool value) {
    if (success != nullptr)
        *success = value ? TRUE : FALSE;
}

/* The list `_FillValues` has an item for each band, null for none. What is set for all bands takes
   its place. */
NoData Zarr3RasterBand::nodata() const {
    if (new_nodata_)
        return *new_nodata_;
    const zb_json *own =
        owner()->edits.nodata ? nullptr : owner()->band_item("_FillValues", nBand - 1);
    return own == nullptr ? owner()->nodata() : band_nodata(own, owner()->node());
}

double Zarr3RasterBand::GetNoDataValue(int *success) {
    const NoData nodata = this->nodata();
    if (nodata.kind == NoData::None)
        return GDALPamRasterBand::GetNoDataValue(success);
    tell(success, true);
    return nodata.as_double;
}

/* GDAL asks by the band's type: these two for the 64-bit ones, whose values a double would round,
   the one above for all others. */
int64_t Zarr3RasterBand::GetNoDataValueAsInt64(int *success) {
    const NoData nodata = this->nodata();
    if (nodata.kind != NoData::Int64)
        return GDALPamRasterBand::GetNoDataValueAsInt64(success);
    tell(success, true);
    return nodata.as_int64;
}

uint64_t Zarr3RasterBand::GetNoDataValueAsUInt64(int *success) {
    const NoData nodata = this->nodata();
    if (nodata.kind != NoData::UInt64)
        return GDALPamRasterBand::GetNoDataValueAsUInt64(success);
    tell(success, true);
    return nodata.as_uint64;
}

std::optional<double> Zarr3RasterBand::number(const char *single, const char *list) const {
    const std::optional<double> value = attribute_number(owner()->node(), single);
    double item;
    if (value || !zb_json_double(owner()->band_item(list, nBand - 1), &item))
        return value;
    return item;
}

/* Scale and offset are told, not applied: GDAL's pixels are the stored ones. */
double Zarr3RasterBand::GetScale(int *success) {
    const std::optional<double> value = new_scale_ ? new_scale_ : number("scale_factor", "scales");
    if (!value)
        return GDALPamRasterBand::GetScale(success);
    tell(success, true);
    return *value;
}

double Zarr3RasterBand::GetOffset(int *success) {
    const std::optional<double> value = new_offset_ ? new_offset_ : number("add_offset", "offsets");
    if (!value)
        return GDALPamRasterBand::GetOffset(success);
    tell(success, true);
    return *value;
}

/* Kept, because the caller gets a pointer. */
const char *Zarr3RasterBand::GetUnitType() {
    if (!unit_) {
        const char *item = zb_json_string(owner()->band_item("units", nBand - 1));
        unit_ = item != nullptr ? item : attribute_text(owner()->node(), "units");
    }
    return unit_->empty() ? GDALPamRasterBand::GetUnitType() : unit_->c_str();
}

GDALColorInterp Zarr3RasterBand::told_colour() {
    if (new_colour_)
        return *new_colour_;
    const zb_json *stated = attribute(owner()->node(), "COLOR_INTERPRETATION");
    if (zb_json_kind_of(stated) == ZB_JSON_ARRAY)
        stated = owner()->band_item("COLOR_INTERPRETATION", nBand - 1);
    if (zb_json_string(stated) != nullptr)
        return GDALGetColorInterpretationByName(zb_json_string(stated));
    if (GetColorTable() != nullptr)
        return GCI_PaletteIndex; /* the table is in the sidecar */
    const GDALColorInterp colour = default_colour(owner()->node(), owner()->layout(), nBand - 1);
    return colour == GCI_Undefined ? GDALPamRasterBand::GetColorInterpretation() : colour;
}

/* GRASS gives elevations a colour table. Of indices GDAL averages the colours, and takes for the
   level the index of the nearest one: numbers that are no integers are no indices. */
GDALColorInterp Zarr3RasterBand::GetColorInterpretation() {
    const GDALColorInterp told = told_colour();
    return told == GCI_PaletteIndex && !GDALDataTypeIsInteger(eDataType)
               ? default_colour(owner()->node(), owner()->layout(), nBand - 1)
               : told;
}

std::string Zarr3RasterBand::own_description() const {
    if (new_description_)
        return *new_description_;
    const char *item = zb_json_string(owner()->band_item("long_name", nBand - 1));
    return item == nullptr ? std::string() : item;
}

const char *Zarr3RasterBand::GetDescription() const {
    if (!description_) {
        description_ = own_description();
        if (description_->empty() && !new_description_)
            description_ = band_description(owner()->node(), owner()->layout(), nBand - 1,
                                            owner()->array().around());
    }
    /* Ours first: a sidecar keeps a copy, which may be out of date. */
    return description_->empty() && !new_description_ ? GDALPamRasterBand::GetDescription()
                                                      : description_->c_str();
}

bool Zarr3RasterBand::is_described() const {
    GetDescription();
    return !description_->empty();
}

/* The list `band_metadata` has an object for each band. */
const CPLStringList &Zarr3RasterBand::own_metadata() {
    if (own_metadata_)
        return *own_metadata_;
    own_metadata_.emplace();
    const zb_json *items = owner()->band_item("band_metadata", nBand - 1);
    if (zb_json_kind_of(items) == ZB_JSON_OBJECT) {
        for (const zb_json *item = zb_json_first(items); item != nullptr;
             item = zb_json_next(item)) {
            if (can_name_item(zb_json_name(item)))
                own_metadata_->AddNameValue(zb_json_name(item), json_text(item).c_str());
        }
    }
    return *own_metadata_;
}

const CPLStringList &Zarr3RasterBand::position() {
    if (!position_)
        position_ =
            band_position(owner()->node(), owner()->layout(), nBand - 1, owner()->array().around());
    return *position_;
}

void Zarr3RasterBand::show_items() {
    if (shown_)
        return;
    shown_ = true;
    metadata_.set("", own_metadata().List());
    for (const auto &[name, value] : name_values(position().List()))
        metadata_.set("", name.c_str(), value.c_str());
}

char **Zarr3RasterBand::GetMetadataDomainList() {
    char **names = GDALPamRasterBand::GetMetadataDomainList();
    show_items();
    return metadata_.items("") != nullptr ? metadata_.add_names(names) : names;
}

MetadataList Zarr3RasterBand::GetMetadata(const char *domain) {
    MetadataList other = GDALPamRasterBand::GetMetadata(domain);
    if (!is_default_domain(domain))
        return other;
    show_items();
    return metadata_.items("") != nullptr ? metadata_.merged("", other) : other;
}

const char *Zarr3RasterBand::GetMetadataItem(const char *name, const char *domain) {
    const char *other = pam_item<GDALPamRasterBand>(this, name, domain);
    if (other != nullptr || !is_default_domain(domain))
        return other;
    show_items();
    return metadata_.item("", name);
}

/* The levels of a pyramid; without one, those that GDAL keeps beside the store (a .ovr file). */
int Zarr3RasterBand::GetOverviewCount() {
    const size_t count = owner()->overviews().size();
    return count > 0 ? static_cast<int>(count) : GDALPamRasterBand::GetOverviewCount();
}

GDALRasterBand *Zarr3RasterBand::GetOverview(int index) {
    const auto &levels = owner()->overviews();
    if (levels.empty())
        return GDALPamRasterBand::GetOverview(index);
    if (index < 0 || static_cast<size_t>(index) >= levels.size())
        return nullptr;
    return levels[static_cast<size_t>(index)]->GetRasterBand(nBand);
}

GDALRasterBand *Zarr3RasterBand::GetMaskBand() {
    Zarr3Dataset *mask = owner()->mask();
    return mask != nullptr ? mask->GetRasterBand(1) : GDALPamRasterBand::GetMaskBand();
}

int Zarr3RasterBand::GetMaskFlags() {
    return owner()->mask() != nullptr ? GMF_PER_DATASET : GDALPamRasterBand::GetMaskFlags();
}

CPLErr Zarr3RasterBand::CreateMaskBand(int flags) {
    return owner()->updates() ? owner()->CreateMaskBand(flags)
                              : GDALPamRasterBand::CreateMaskBand(flags);
}

bool Zarr3RasterBand::IsMaskBand() const {
    return static_cast<const Zarr3Dataset *>(poDS)->is_mask() || GDALPamRasterBand::IsMaskBand();
}
