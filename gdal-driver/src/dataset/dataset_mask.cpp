/* SPDX-License-Identifier: MIT */
/*
 * A mask is an array beside the raster's: bytes, 0 where the pixels of all bands are invalid and
 * 255 where they are valid, on the raster's rows and columns. The raster's attribute names it. It
 * is a raster of its own to this driver, which opens it at the first question and closes it with
 * the one that it belongs to.
 */
#include <algorithm>
#include <set>

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "base/errors.h"
#include "base/json_text.h"
#include "dataset/band.h"
#include "dataset/dataset.h"

using namespace zarr3;

/* Null, with *reason set, where the name leads to nothing of the raster's size. */
std::unique_ptr<Zarr3Dataset> Zarr3Dataset::open_mask(const std::string &name,
                                                      std::string *reason) const {
    const std::string path = join_path(parent_path(array_.path()), name);
    zb_error err;
    const NodePtr mask = open_node(hierarchy_.store.get(), path, &err);
    if (mask == nullptr) {
        *reason = err.message;
        return nullptr;
    }
    const zb_array_info *info = zb_node_array(mask.get());
    if (info == nullptr || info->ndim != 2 || path == array_.path() ||
        pixel_type(mask.get()) != GDT_Byte ||
        info->shape[0] != static_cast<uint64_t>(nRasterYSize) ||
        info->shape[1] != static_cast<uint64_t>(nRasterXSize)) {
        *reason = "it is no array of bytes of this size";
        return nullptr;
    }
    ArrayOptions options;
    options.dim_x = "1";
    options.dim_y = "0";
    options.update = updates();
    options.write = write_options_;
    std::unique_ptr<Zarr3Dataset> dataset = make(hierarchy_, mask, options, reason);
    if (dataset != nullptr) {
        dataset->masked_ = const_cast<Zarr3Dataset *>(this);
        dataset->nPamFlags |= GPF_NOSAVE;
    }
    return dataset;
}

Zarr3Dataset *Zarr3Dataset::mask() {
    if (mask_opened_ || masked_ != nullptr)
        return mask_.get();
    mask_opened_ = true;
    const std::string name = attribute_text(node(), kMask);
    if (!is_child_name(name) || array_.path().empty())
        return nullptr;
    std::string reason;
    mask_ = open_mask(name, &reason);
    if (mask_ == nullptr)
        CPLError(CE_Warning, CPLE_AppDefined, "array /%s: its mask %s is left out: %s",
                 array_.path().c_str(), name.c_str(), reason.c_str());
    return mask_.get();
}

/* A name that nothing beside the array has. */
static enum zb_code free_name(zb_store *store, const std::string &array, std::string *name,
                              zb_error *err) {
    const NodePtr group = open_node(store, parent_path(array), err);
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
NewArray Zarr3Dataset::plan_of_mask() const {
    const zb_array_info *info = array_.info();
    NewArray plan;
    plan.dtype = {ZB_KIND_UINT, 1, false, nullptr};
    plan.codecs = R"([{"name":"zstd","configuration":{"level":3,"checksum":false}}])";
    bool sharded = info->shard_depth > 0;
    for (const int axis : {layout_.axes.y, layout_.axes.x}) {
        plan.names.push_back(dimension_name(info, static_cast<uint32_t>(axis)));
        plan.shape.push_back(info->shape[axis]);
        plan.block.push_back(std::min(info->inner_shape[axis], info->shape[axis]));
        sharded = sharded && info->chunk_shape[axis] % plan.block.back() == 0;
    }
    for (const int axis : {layout_.axes.y, layout_.axes.x}) {
        if (sharded)
            plan.shard.push_back(info->chunk_shape[axis]);
    }
    return plan;
}

enum zb_code Zarr3Dataset::create_mask(zb_error *err) {
    std::string name;
    enum zb_code code = free_name(hierarchy_.store.get(), array_.path(), &name, err);
    NodePtr made;
    if (code == ZB_OK)
        code = plan_of_mask().create(
            hierarchy_.store.get(), join_path(parent_path(array_.path()), name), {},
            json_object({{"long_name", json_quote("mask of " + last_part(array_.path()))},
                         {"flag_values", "[0,255]"},
                         {"flag_meanings", json_quote("invalid valid")}}),
            &made, err);
    if (code != ZB_OK)
        return code;
    AttributeChanges changes;
    changes.set(kMask, json_quote(name));
    code = array_.change_attributes(changes, err);
    mask_opened_ = false;
    return code;
}

CPLErr Zarr3Dataset::CreateMaskBand(int flags) {
    if (!updates())
        return GDALPamDataset::CreateMaskBand(flags);
    const char *reason = nullptr;
    if (flags != GMF_PER_DATASET)
        reason = "a mask is one for all bands (GMF_PER_DATASET)";
    else if (masked_ != nullptr || mask() != nullptr)
        reason = "there is one already";
    else if (array_.path().empty() || layout_.axes.y < 0 || !pinned_.empty())
        reason = "a mask stands beside a whole array of rows and columns in a group";
    if (reason != nullptr) {
        CPLError(CE_Failure, CPLE_NotSupported, "array /%s: no mask can be made: %s",
                 array_.path().c_str(), reason);
        return CE_Failure;
    }
    zb_error err;
    /* First, because the array's dimensions have their last names then. */
    if (!prepare_first_write())
        return CE_Failure;
    if (create_mask(&err) == ZB_OK && mask() != nullptr)
        return CE_None;
    report(err);
    return CE_Failure;
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
