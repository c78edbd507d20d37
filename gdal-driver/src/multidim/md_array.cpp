/* SPDX-License-Identifier: MIT */
/* What an array is, before a program reads or changes it. */
#include "multidim/md_array.h"

#include "array/attributes.h"
#include "array/coordinates.h"
#include "array/types.h"
#include "base/entry.h"
#include "base/errors.h"
#include "geo/coordinate_place.h"
#include "geo/crs.h"
#include "geo/geotransform.h"
#include "geo/find_grid_mapping.h"
#include "multidim/dimension.h"
#include "multidim/group.h"
#include "multidim/raw_block.h"
#include "raster/axes.h"

namespace zarr3 {

/* Full names of the group and of its child are GDAL's concern; it joins them by itself. */
static std::string parent_name(const Tree &tree, const std::string &path) {
    const std::string name = tree.full_name(path);
    const size_t slash = name.rfind('/');
    return slash == 0 ? "/" : name.substr(0, slash);
}

Zarr3MDArray::Zarr3MDArray(const std::shared_ptr<Tree> &tree, const NodePtr &node,
                           std::unique_ptr<ElementType> type)
    : GDALAbstractMDArray(parent_name(*tree, zb_node_path(node.get())),
                          tree->short_name(zb_node_path(node.get()))),
      GDALMDArray(parent_name(*tree, zb_node_path(node.get())),
                  tree->short_name(zb_node_path(node.get()))),
      tree_(tree), array_(tree->shared_store(), node), type_(std::move(type)) {
    if (tree->options().update)
        array_.open_for_update(tree->options().write);
}

std::shared_ptr<Zarr3MDArray> Zarr3MDArray::make(const std::shared_ptr<Tree> &tree,
                                                 const NodePtr &node, std::string *reason) {
    std::unique_ptr<ElementType> type = ElementType::of_array(node.get(), reason);
    if (type == nullptr)
        return nullptr;
    std::shared_ptr<Zarr3MDArray> array(new Zarr3MDArray(tree, node, std::move(type)));
    array->SetSelf(array);
    array->make_dimensions();
    return array;
}

Zarr3MDArray::~Zarr3MDArray() {
    try {
        if (m_bValid && !flush())
            tree_->note_loss();
    } catch (...) {
        report_exception();
        tree_->note_loss();
    }
}

void Zarr3MDArray::make_dimensions() {
    dimensions_.clear();
    for (uint32_t d = 0; d < array_.info()->ndim; d++)
        dimensions_.push_back(tree_->dimension(array_.node(), d, array_.around()));
}

std::shared_ptr<AttributeOwner> Zarr3MDArray::self() const {
    const auto abstract = m_pSelf.lock();
    return std::dynamic_pointer_cast<Zarr3MDArray>(abstract);
}

std::shared_ptr<GDALGroup> Zarr3MDArray::GetRootGroup() const {
    return tree_->root();
}

/* ---- Form ---- */

/* The unit of decoding. Along a dimension of uneven chunks there is no one size. */
std::vector<GUInt64> Zarr3MDArray::GetBlockSize() const {
    const zb_array_info *info = array_.info();
    std::vector<GUInt64> sizes;
    const bool shows_shards = info->shard_depth > 0 && tree_->options().shows_shards;
    for (uint32_t d = 0; d < info->ndim; d++) {
        const bool uneven =
            (info->shard_depth == 0 || shows_shards) && zb_array_run_count(array_.node(), d) > 0;
        sizes.push_back(uneven ? 0 : shows_shards ? info->chunk_shape[d] : info->inner_shape[d]);
    }
    return sizes;
}

static std::string list_of(const uint64_t *extents, uint32_t count) {
    std::string text;
    for (uint32_t d = 0; d < count; d++)
        text += (d > 0 ? "," : "") + std::to_string(extents[d]);
    return text;
}

CSLConstList Zarr3MDArray::GetStructuralInfo() const {
    const zb_array_info *info = array_.info();
    char name[200];
    structure_.Clear();
    structure_.SetNameValue("DATA_TYPE", zb_dtype_print(info->dtype, name, sizeof name));
    structure_.SetNameValue(
        "CODECS", compact_json(zb_json_get(zb_node_document(array_.node()), "codecs")).c_str());
    const std::string compressor = compressor_of(array_.node());
    if (!compressor.empty())
        structure_.SetNameValue("COMPRESSOR", compressor.c_str());
    if (info->shard_depth > 0)
        structure_.SetNameValue("SHARD_SIZE", list_of(info->chunk_shape, info->ndim).c_str());
    if (zb_node_format(array_.node()) == 2)
        structure_.SetNameValue("ZARR_FORMAT", "2");
    return structure_.List();
}

/* ---- Attributes ---- */

std::shared_ptr<GDALAttribute> Zarr3MDArray::GetAttribute(const std::string &name) const try {
    return CheckValidAndErrorOutIfNot() ? find_attribute(self(), name) : nullptr;
} catch (...) {
    return failed_entry<std::shared_ptr<GDALAttribute>>();
}

std::vector<std::shared_ptr<GDALAttribute>> Zarr3MDArray::GetAttributes(CSLConstList options) const
    try {
    if (!CheckValidAndErrorOutIfNot())
        return {};
    return list_attributes(self(), CPLFetchBool(options, "SHOW_ALL", false));
} catch (...) {
    return failed_entry<std::vector<std::shared_ptr<GDALAttribute>>>();
}

/* Not by coordinates that other arrays need, and that this one's place contradicts. */
bool Zarr3MDArray::place_is_carried() const {
    const std::optional<Layout> layout = raster_layout();
    const GdalExtension extension = gdal_extension(array_.node());
    if (!layout || zb_gdal_extension_get(extension.get(), ZB_GDAL_OVERRULED) != nullptr)
        return false;
    const Axes &axes = layout->axes;
    return dimensions_[static_cast<size_t>(axes.x)]->GetIndexingVariable() != nullptr &&
           dimensions_[static_cast<size_t>(axes.y)]->GetIndexingVariable() != nullptr;
}

/* ---- Properties ---- */

/* Counts of time are shown with the unit that their type says. */
const std::string &Zarr3MDArray::GetUnit() const {
    if (!unit_) {
        unit_ = attribute_text(array_.node(), "units");
        const CoreText time(unit_->empty() ? zb_time_units(array_.info()->dtype) : nullptr);
        if (time != nullptr)
            unit_ = time.get();
    }
    return *unit_;
}

double Zarr3MDArray::number(const char *name, double usual, bool *has,
                            GDALDataType *storage) const {
    const std::optional<double> value = attribute_number(array_.node(), name);
    if (has != nullptr)
        *has = value.has_value();
    if (storage != nullptr)
        *storage = value ? GDT_Float64 : GDT_Unknown;
    return value.value_or(usual);
}

double Zarr3MDArray::GetOffset(bool *has, GDALDataType *storage) const {
    return number("add_offset", 0, has, storage);
}

double Zarr3MDArray::GetScale(bool *has, GDALDataType *storage) const {
    return number("scale_factor", 1, has, storage);
}

/* One element of the shown type. */
const void *Zarr3MDArray::GetRawNoDataValue() const {
    if (!nodata_) {
        nodata_.emplace();
        const GDALExtendedDataType &type = type_->shown();
        const bool is_number = type.GetClass() == GEDTC_NUMERIC;
        const NoData found = is_number ? array_.nodata() : NoData();
        if (type_->memory().kind == ZB_KIND_STRING && zb_array_fill_is_nodata(array_.node())) {
            const auto *text = static_cast<const zb_slice *>(array_.info()->fill_value);
            nodata_text_.assign(text->data, text->size);
            const char *shown = nodata_text_.c_str();
            nodata_->resize(sizeof shown);
            memcpy(nodata_->data(), &shown, sizeof shown);
        } else if (found.kind != NoData::None && GDALDataTypeIsComplex(type.GetNumericDataType())) {
            nodata_->assign(found.element, found.element + type.GetSize());
        } else if (found.kind != NoData::None) {
            nodata_->resize(type.GetSize());
            const bool is_signed = found.kind == NoData::Int64;
            const void *exact =
                is_signed ? static_cast<const void *>(&found.as_int64) : &found.as_uint64;
            if (found.kind == NoData::Double)
                GDALCopyWords64(&found.as_double, GDT_Float64, 0, nodata_->data(),
                                type.GetNumericDataType(), 0, 1);
            else
                memcpy(nodata_->data(), exact, nodata_->size());
        }
    }
    return nodata_->empty() ? nullptr : nodata_->data();
}

std::optional<Axes> Zarr3MDArray::axes() const {
    Axes axes;
    std::string reason;
    const bool found = choose_axes(array_.node(), array_.around(), array_.pyramid(), nullptr,
                                   nullptr, &axes, &reason);
    return found ? std::optional<Axes>(axes) : std::nullopt;
}

/* Of its first slice; none where GDAL has no raster of such an array. */
std::optional<Layout> Zarr3MDArray::raster_layout() const {
    Layout layout;
    std::string reason;
    const uint32_t dims = array_.info()->ndim;
    const std::optional<Axes> found = dims < 2 ? std::nullopt : axes();
    if (!found || !make_layout(array_.info(), *found, IndexRanges(dims - 2, IndexRange(0)), false,
                               &layout, &reason))
        return std::nullopt;
    return layout;
}

std::optional<Spacing> Zarr3MDArray::edges_along(uint32_t dim) const {
    const std::optional<Layout> layout = raster_layout();
    const int number = static_cast<int>(dim);
    if (!layout || (number != layout->axes.x && number != layout->axes.y))
        return std::nullopt;
    const std::optional<GeoTransform> place =
        find_geotransform({array_.node(), *layout, array_.pyramid(), array_.around(), nullptr});
    if (!place || (*place)[2] != 0 || (*place)[4] != 0)
        return std::nullopt;
    return number == layout->axes.x ? Spacing{(*place)[0], (*place)[1]}
                                    : Spacing{(*place)[3], (*place)[5]};
}

/* With the numbers of the dimensions that lie along the CRS's axes. */
std::shared_ptr<OGRSpatialReference> Zarr3MDArray::GetSpatialRef() const try {
    if (located_)
        return srs_;
    located_ = true;
    const std::optional<Axes> chosen = axes();
    if (!chosen)
        return nullptr;
    const Axes axes = *chosen;
    const std::optional<OGRSpatialReference> found =
        find_crs(array_.node(), axes, array_.pyramid(), array_.around());
    if (!found)
        return nullptr;
    srs_ = std::make_shared<OGRSpatialReference>(*found);
    std::vector<int> mapping = srs_->GetDataAxisToSRSAxisMapping();
    for (size_t i = 0; i < 2 && i < mapping.size() && axes.y >= 0; i++)
        mapping[i] = 1 + (mapping[i] == 1 ? axes.x : axes.y);
    srs_->SetDataAxisToSRSAxisMapping(mapping);
    return srs_;
} catch (...) {
    return failed_entry<std::shared_ptr<OGRSpatialReference>>();
}

std::vector<std::shared_ptr<GDALMDArray>> Zarr3MDArray::GetCoordinateVariables() const try {
    std::vector<std::shared_ptr<GDALMDArray>> result;
    for (const std::string &name : words(attribute_text(array_.node(), "coordinates"))) {
        const NodePtr node = array_.around().find_array(name);
        if (node == nullptr || is_grid_mapping(node.get()))
            continue;
        std::string reason;
        const auto found = tree_->array(zb_node_path(node.get()), node, &reason);
        if (found != nullptr)
            result.push_back(found);
    }
    return result;
} catch (...) {
    return failed_entry<std::vector<std::shared_ptr<GDALMDArray>>>();
}

void Zarr3MDArray::forget_properties() {
    unit_.reset();
    nodata_.reset();
    array_.forget_set_nodata();
    located_ = false;
    srs_.reset();
    levels_.reset();
}

} // namespace zarr3
