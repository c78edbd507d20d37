/* SPDX-License-Identifier: MIT */
/*
 * A mask is an array beside the raster's: bytes, 0 where the pixels of all bands are invalid and
 * 255 where they are valid, on the raster's rows and columns. The raster's attribute names it, and
 * its own names the raster. It is a raster of its own to this driver, which opens it at the first
 * question and closes it with the one that it belongs to.
 */
#include "dataset/raster_mask.h"

#include <algorithm>
#include <set>

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "base/json_text.h"
#include "dataset/dataset.h"

namespace zarr3 {

RasterMask::RasterMask(Zarr3Dataset *raster) : raster_(raster) {
}

RasterMask::~RasterMask() = default;

/* Null, with *reason set, where the name leads to nothing of the raster's size. */
std::unique_ptr<Zarr3Dataset> RasterMask::open(const std::string &name, std::string *reason) const {
    const std::string array = raster_->array().path(), path = join_path(parent_path(array), name);
    zb_error err;
    const NodePtr mask = open_node(raster_->hierarchy().store.get(), path, &err);
    if (mask == nullptr) {
        *reason = err.message;
        return nullptr;
    }
    const zb_array_info *info = zb_node_array(mask.get());
    if (info == nullptr || info->ndim != 2 || path == array || pixel_type(mask.get()) != GDT_Byte ||
        info->shape[0] != static_cast<uint64_t>(raster_->GetRasterYSize()) ||
        info->shape[1] != static_cast<uint64_t>(raster_->GetRasterXSize())) {
        *reason = "it is no array of bytes of this size";
        return nullptr;
    }
    ArrayOptions options;
    options.dim_x = "1";
    options.dim_y = "0";
    options.update = raster_->updates();
    options.write = raster_->write_options();
    std::unique_ptr<Zarr3Dataset> dataset =
        Zarr3Dataset::make(raster_->hierarchy(), mask, options, reason);
    if (dataset != nullptr)
        dataset->become_mask_of(raster_);
    return dataset;
}

Zarr3Dataset *RasterMask::get() {
    if (looked_ || raster_->is_mask())
        return mask_.get();
    looked_ = true;
    const std::string name = gdal_text(raster_->node(), ZB_GDAL_MASK);
    if (!is_child_name(name) || raster_->array().path().empty())
        return nullptr;
    std::string reason;
    mask_ = open(name, &reason);
    if (mask_ == nullptr)
        CPLError(CE_Warning, CPLE_AppDefined, "array /%s: its mask %s is left out: %s",
                 raster_->array().path().c_str(), name.c_str(), reason.c_str());
    return mask_.get();
}

void RasterMask::close() {
    mask_.reset();
}

/* A name that nothing beside the array has. */
static enum zb_code free_name(zb_hierarchy *hierarchy, const std::string &array, std::string *name,
                              zb_error *err) {
    const NodePtr group = open_node(hierarchy, parent_path(array), err);
    Children children;
    const enum zb_code code = group == nullptr ? err->code : children.list(group.get(), err);
    std::set<std::string> taken;
    for (const zb_child &child : children)
        taken.insert(child.name);
    const std::string usual = *name = last_part(array) + "_mask";
    for (int i = 2; taken.count(*name) > 0; i++)
        *name = usual + std::to_string(i);
    return code;
}

/* Blocks and shards of the raster's; all invalid, as in other formats. */
static NewArray plan_of_mask(const zb_array_info *info, const Axes &axes) {
    NewArray plan;
    plan.dtype = {ZB_KIND_UINT, 1, false, nullptr};
    plan.codecs = R"([{"name":"zstd","configuration":{"level":3,"checksum":false}}])";
    bool sharded = info->shard_depth > 0;
    for (const int axis : {axes.y, axes.x}) {
        plan.names.push_back(dimension_name(info, static_cast<uint32_t>(axis)));
        plan.shape.push_back(info->shape[axis]);
        plan.block.push_back(std::min(info->inner_shape[axis], info->shape[axis]));
        sharded = sharded && info->chunk_shape[axis] % plan.block.back() == 0;
    }
    for (const int axis : {axes.y, axes.x}) {
        if (sharded)
            plan.shard.push_back(info->chunk_shape[axis]);
    }
    return plan;
}

enum zb_code RasterMask::create(zb_error *err) {
    Array &array = raster_->array();
    zb_hierarchy *hierarchy = raster_->hierarchy().store.get();
    std::string name;
    enum zb_code code = free_name(hierarchy, array.path(), &name, err);
    NodePtr made;
    if (code == ZB_OK)
        code = plan_of_mask(array.info(), raster_->layout().axes)
                   .create(
                       hierarchy, join_path(parent_path(array.path()), name), {},
                       json_object({{"long_name", json_quote("mask of " + last_part(array.path()))},
                                    {"flag_values", "[0,255]"},
                                    {"flag_meanings", json_quote("invalid valid")}}),
                       &made, err);
    AttributeChanges of, changes;
    of.set(ZB_GDAL_MASK_OF, json_quote(last_part(array.path())));
    if (code == ZB_OK)
        code = of.apply(&made, err);
    if (code != ZB_OK)
        return code;
    changes.set(ZB_GDAL_MASK, json_quote(name));
    code = array.change_attributes(changes, err);
    looked_ = false;
    return code;
}

/* In windows of whole blocks. */
bool copy_validity(GDALRasterBand *from, GDALRasterBand *to, GDALProgressFunc progress,
                   void *progress_data) {
    constexpr int kPixels = 1 << 16;
    int wide, high;
    to->GetBlockSize(&wide, &high);
    wide *= std::max(kPixels / wide, 1);
    const int width = to->GetXSize(), height = to->GetYSize();
    std::vector<GByte> pixels(static_cast<size_t>(std::min(wide, width)) *
                              static_cast<size_t>(std::min(high, height)));
    for (int y = 0; y < height; y += std::min(high, height - y)) {
        const int rows = std::min(high, height - y);
        for (int x = 0; x < width; x += std::min(wide, width - x)) {
            const int columns = std::min(wide, width - x);
            if (from->RasterIO(GF_Read, x, y, columns, rows, pixels.data(), columns, rows, GDT_Byte,
                               0, 0, nullptr) != CE_None)
                return false;
            for (GByte &pixel : pixels)
                pixel = pixel == 0 ? 0 : 255;
            if (to->RasterIO(GF_Write, x, y, columns, rows, pixels.data(), columns, rows, GDT_Byte,
                             0, 0, nullptr) != CE_None)
                return false;
        }
        if (!progress((y + rows) / static_cast<double>(height), "", progress_data)) {
            CPLError(CE_Failure, CPLE_UserInterrupt, "the copy was cancelled");
            return false;
        }
    }
    return true;
}

} // namespace zarr3
