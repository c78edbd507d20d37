/* SPDX-License-Identifier: MIT */
/*
 * Opening reads metadata only: the array's document, the groups above it, and the documents of the
 * few neighbours that decide about rows and columns. Coordinates, and with them the place on the
 * map, are read at the first question for it; coarser levels of a pyramid are opened at the first
 * question for overviews. GDAL promises one thread at a time for each dataset, so this needs no
 * lock.
 */
#include "dataset/dataset.h"

#include "array/attributes.h"
#include "base/entry.h"
#include "base/errors.h"
#include "base/name_values.h"
#include "dataset/band.h"
#include "dataset/band_place.h"
#include "dataset/raster_write.h"
#include "dataset/strips.h"
#include "geo/control_points.h"
#include "geo/crs.h"
#include "geo/geolocation.h"
#include "geo/geotransform.h"

using namespace zarr3;

Zarr3Dataset::Zarr3Dataset(const Hierarchy &hierarchy, Array array, const ArrayOptions &options,
                           Layout layout)
    : Zarr3NodeDataset(hierarchy), pinned_(options.pinned), array_(std::move(array)),
      layout_(std::move(layout)), write_options_(options.write), ome_place_(options.ome_place),
      reader_(this), mask_(this), levels_(this) {
    nRasterXSize = layout_.width;
    nRasterYSize = layout_.height;
    if (options.update) {
        eAccess = GA_Update;
        array_.open_for_update(options.write);
    }
    show_attributes();
    add_image_structure(array_.info(), layout_, &metadata());
    if (zb_node_format(node()) == 2)
        metadata().set("IMAGE_STRUCTURE", "ZARR_FORMAT", "2");
    for (int band = 1; band <= layout_.bands; band++)
        add_band(band);
}

/* GDAL's SetBand() for a std::unique_ptr lets go of the band before it allocates, and loses it
   where that fails. Of a failure GDAL has taken the band in or has not. */
void Zarr3Dataset::add_band(int number) {
    auto band = std::make_unique<Zarr3RasterBand>(this, number);
    try {
        SetBand(number, band.get());
    } catch (...) {
        if (number <= nBands && papoBands != nullptr && papoBands[number - 1] == band.get())
            (void)band.release();
        throw;
    }
    (void)band.release();
}

void Zarr3Dataset::show_attributes() {
    add_attributes(node(), "", &metadata());
    const std::string registration = area_or_point(node(), layout_, pyramid(), array_.around());
    if (!registration.empty() && metadata().item("", GDALMD_AREA_OR_POINT) == nullptr)
        metadata().set("", GDALMD_AREA_OR_POINT, registration.c_str());
    known_items_ = items_of(node(), &metadata());
    const zb_node *group = array_.around().group_above(1);
    if (group != nullptr)
        add_attributes(group, "GROUP", &metadata());
}

/* The sidecar is written while the bands can still ask their dataset. A program that wants to know
   of a failure calls Close() before. */
Zarr3Dataset::~Zarr3Dataset() {
    Zarr3Dataset::Close(ZARR3_NO_PROGRESS);
}

void ArrayOptions::set_axes(const Axes &axes) {
    if (axes.y < 0)
        return;
    dim_x = std::to_string(axes.x);
    dim_y = std::to_string(axes.y);
}

bool ArrayOptions::choose_axes(const zb_node *array, NearbyNodes &around, const Pyramid &pyramid,
                               Axes *axes, std::string *reason) const {
    return zarr3::choose_axes(array, around, pyramid, dim_x ? dim_x->c_str() : nullptr,
                              dim_y ? dim_y->c_str() : nullptr, axes, reason);
}

ArrayOptions Zarr3Dataset::options_of_peer() const {
    ArrayOptions options;
    options.set_axes(layout_.axes);
    options.pinned = pinned_;
    options.update = updates();
    options.ome_place = ome_place_;
    options.shows_shards = layout_.shows_shards;
    options.write = write_options_;
    return options;
}

/* All that can fail fails here, before a dataset exists. */
std::unique_ptr<Zarr3Dataset> Zarr3Dataset::make(const Hierarchy &hierarchy, const NodePtr &node,
                                                 const ArrayOptions &options, std::string *reason) {
    Array array(hierarchy.store, node);
    if (hierarchy.opened != nullptr)
        array.around().remember(hierarchy.opened);
    Axes axes;
    Layout layout;
    if (!options.choose_axes(node.get(), array.around(), array.pyramid(), &axes, reason) ||
        !make_layout(array.info(), axes, options.pinned, options.shows_shards, &layout, reason))
        return nullptr;
    return std::unique_ptr<Zarr3Dataset>(
        new Zarr3Dataset(hierarchy, std::move(array), options, std::move(layout)));
}

/* Both parts at once: they come from the same few neighbours. */
const Georeference &Zarr3Dataset::place() const {
    return array_.place([this] {
        Georeference found;
        auto &[srs, transform] = found;
        srs = find_crs(node(), layout_.axes, pyramid(), array_.around());
        transform = find_geotransform(
            {node(), layout_, pyramid(), array_.around(), srs ? &*srs : nullptr, ome_place_});
        return found;
    });
}

CPLErr Zarr3Dataset::GetGeoTransform(GeoTransformOut transform) ZARR3_CONST_SINCE_3_12 {
    const std::optional<GeoTransform> &known = place().transform;
    if (!known)
        return GDALPamDataset::GetGeoTransform(transform);
    for (int i = 0; i < 6; i++)
        transform[i] = (*known)[static_cast<size_t>(i)];
    return CE_None;
}

const OGRSpatialReference *Zarr3Dataset::GetSpatialRef() const {
    const std::optional<OGRSpatialReference> &known = place().srs;
    return known ? &*known : GDALPamDataset::GetSpatialRef();
}

/* At the first question for it, since arrays beside must be opened. Of the centres of pixels, as CF
   has coordinates. */
void Zarr3Dataset::show_geolocation() {
    if (geolocation_shown_)
        return;
    geolocation_shown_ = true;
    const std::optional<Geolocation> found =
        place().transform ? std::nullopt : find_geolocation(node(), layout_, array_.around());
    if (!found)
        return;
    CPLStringList items;
    OGRSpatialReference geographic;
    const bool is_known = place().srs && geographic.CopyGeogCSFrom(&*place().srs) == OGRERR_NONE;
    items.SetNameValue("SRS", is_known ? crs_text(geographic).c_str() : SRS_WKT_WGS84_LAT_LONG);
    items.SetNameValue("X_DATASET", geolocation_dataset(hierarchy_.root, found->longitude).c_str());
    items.SetNameValue("X_BAND", "1");
    items.SetNameValue("Y_DATASET", geolocation_dataset(hierarchy_.root, found->latitude).c_str());
    items.SetNameValue("Y_BAND", "1");
    for (const char *name : {"PIXEL_OFFSET", "LINE_OFFSET"})
        items.SetNameValue(name, "0");
    for (const char *name : {"PIXEL_STEP", "LINE_STEP"})
        items.SetNameValue(name, "1");
    items.SetNameValue("GEOREFERENCING_CONVENTION", "PIXEL_CENTER");
    metadata().set("GEOLOCATION", items.List());
}

/* Those that a program has set count first. */
const std::vector<gdal::GCP> &Zarr3Dataset::control_points() const {
    if (control_points_)
        return *control_points_;
    control_points_.emplace();
    if (!place().transform)
        for (const ControlPoint &point : find_control_points(node(), layout_, array_.around()))
            control_points_->emplace_back("", "", point.pixel, point.line, point.x, point.y,
                                          point.z);
    return *control_points_;
}

int Zarr3Dataset::GetGCPCount() try {
    const int set = GDALPamDataset::GetGCPCount();
    return set > 0 ? set : static_cast<int>(control_points().size());
} catch (...) {
    return failed_entry<int>();
}

const GDAL_GCP *Zarr3Dataset::GetGCPs() try {
    return GDALPamDataset::GetGCPCount() > 0 ? GDALPamDataset::GetGCPs()
                                             : gdal::GCP::c_ptr(control_points());
} catch (...) {
    return failed_entry<const GDAL_GCP *>();
}

const OGRSpatialReference *Zarr3Dataset::GetGCPSpatialRef() const try {
    const OGRSpatialReference *set = GDALPamDataset::GetGCPSpatialRef();
    return set != nullptr || control_points().empty() ? set : OGRSpatialReference::GetWGS84SRS();
} catch (...) {
    return failed_entry<const OGRSpatialReference *>();
}

const CPLStringList &Zarr3Dataset::dimension_items() {
    if (!dimension_items_)
        dimension_items_ = zarr3::dimension_items(node(), layout_, array_.around());
    return *dimension_items_;
}

bool Zarr3Dataset::repeats_dimension(const char *name, const char *value) {
    const char *told =
        is_dimension_item(name) ? item_value(dimension_items().List(), name) : nullptr;
    return told != nullptr && (value == nullptr || strcmp(told, value) == 0);
}

/* What the store says itself wins over what coordinates say. */
MetadataList Zarr3Dataset::GetMetadata(const char *domain) try {
    if (domain != nullptr && EQUAL(domain, "GEOLOCATION"))
        show_geolocation();
    MetadataList stored = Zarr3NodeDataset::GetMetadata(domain);
    if (!is_default_domain(domain) || dimension_items().empty())
        return stored;
    all_items_ = dimension_items();
    for (const auto &[name, value] : name_values(stored))
        set_item(&all_items_, name.c_str(), value.c_str());
    return all_items_.List();
} catch (...) {
    return failed_entry<MetadataList>();
}

const char *Zarr3Dataset::GetMetadataItem(const char *name, const char *domain) try {
    if (domain != nullptr && EQUAL(domain, "GEOLOCATION"))
        show_geolocation();
    const char *stored = Zarr3NodeDataset::GetMetadataItem(name, domain);
    return stored != nullptr || !is_default_domain(domain) || name == nullptr ||
                   !is_dimension_item(name)
               ? stored
               : item_value(dimension_items().List(), name);
} catch (...) {
    return failed_entry<const char *>();
}

char **Zarr3Dataset::GetMetadataDomainList() {
    show_geolocation();
    return Zarr3NodeDataset::GetMetadataDomainList();
}

/* A dataset for another thread, of the documents that this one has read. GDAL calls this from any
   thread while others use this dataset: only what never changes while it is open for reading may be
   looked at. */
bool Zarr3Dataset::CanBeCloned(int scope, bool share_state) const {
    const bool cheap = scope == GDAL_OF_RASTER && !updates() && masked_ == nullptr;
    return cheap || GDALPamDataset::CanBeCloned(scope, share_state);
}

std::unique_ptr<GDALDataset> Zarr3Dataset::Clone(int scope, bool share_state) const {
    if (updates() || masked_ != nullptr)
        return GDALPamDataset::Clone(scope, share_state);
    std::string reason;
    std::unique_ptr<Zarr3Dataset> clone =
        make(hierarchy_, array_.shared_node(), options_of_peer(), &reason);
    if (clone == nullptr) {
        CPLError(CE_Failure, CPLE_AppDefined, "array /%s: %s", zb_node_path(node()),
                 reason.c_str());
        return nullptr;
    }
    clone->SetDescription(GetDescription());
    clone->poDriver = poDriver;
    clone->use_sidecar(sidecar_name_);
    return clone;
}

const zb_json *Zarr3Dataset::band_item(const char *name, int band) const {
    return band_lists_.item(array_.shared_node(), layout_, name,
                            layout_.number_in_array(array_.info(), band));
}

CPLErr Zarr3Dataset::IRasterIO(GDALRWFlag mode, int x, int y, int width, int height, void *data,
                               int buffer_width, int buffer_height, GDALDataType type,
                               int band_count, BANDMAP_TYPE bands, GSpacing pixel_space,
                               GSpacing line_space, GSpacing band_space,
                               GDALRasterIOExtraArg *extra) try {
    /* All bands of a request in one plan. Bands that the direct way does not serve come one by one,
       or by blocks for PIXEL interleaving; GDAL decides. */
    const Window window = {x, y, width, height};
    RasterReader::Listen listen(&reader_, mode, extra);
    const int64_t row = int64_t{width} * band_count;
    if (!is_resampled(mode, window, buffer_width, buffer_height, extra)) {
        if (!reader_.has_listener(mode, extra) &&
            wants_strips(y, height, row, layout_.block_height, extra))
            return by_strips(y, height, row, layout_.block_height, extra,
                             [&](int from, int rows, GDALRasterIOExtraArg *silent) {
                                 return IRasterIO(mode, x, y + from, width, rows,
                                                  static_cast<char *>(data) + from * line_space,
                                                  width, rows, type, band_count, bands, pixel_space,
                                                  line_space, band_space, silent);
                             });
        bool done = false;
        const PixelRequest request = {window, data,        type,       band_count,
                                      bands,  pixel_space, line_space, band_space};
        const CPLErr result =
            mode == GF_Read ? reader_.read(request, &done) : write_pixels(this, request, &done);
        if (done)
            return result;
    }
    if (mode == GF_Write && updates() && !prepare_first_write())
        return CE_Failure;
    const RasterReader::Expect expect(&reader_, window, buffer_width, buffer_height, band_count,
                                      bands);
    return GDALPamDataset::IRasterIO(mode, x, y, width, height, data, buffer_width, buffer_height,
                                     type, band_count, bands, pixel_space, line_space, band_space,
                                     listen.extra());
} catch (...) {
    return failed_entry<CPLErr>();
}
