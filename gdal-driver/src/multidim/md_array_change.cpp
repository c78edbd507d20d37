/* SPDX-License-Identifier: MIT */
/*
 * Changes of an array. Properties are stored at once, elements when their chunks are complete or
 * the dataset is flushed. The fill value can be chosen as long as nothing has been written: a
 * nodata value that is set before becomes it, as for a new raster.
 */
#include <algorithm>
#include <cmath>
#include <cstring>

#include "array/attributes.h"
#include "array/types.h"
#include "base/entry.h"
#include "base/errors.h"
#include "base/json_text.h"
#include "dataset/levels.h"
#include "geo/georeference.h"
#include "geo/group_place.h"
#include "multidim/dimension.h"
#include "multidim/md_array.h"
#include "multidim/references.h"

#include "zarrbridge/change.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

bool Zarr3MDArray::may_change() const {
    return CheckValidAndErrorOutIfNot() && tree_->may_write(m_osFullName);
}

void Zarr3MDArray::set_fresh(const NewArray &plan,
                             const std::vector<std::shared_ptr<GDALDimension>> &dimensions,
                             const zb_write_options &write) {
    array_.begin_fresh(plan, nullptr);
    made_ = true;
    array_.open_for_update(write);
    /* A program may bring those of another dataset, of which only names and sizes count. */
    for (size_t d = 0; d < dimensions.size(); d++) {
        if (std::dynamic_pointer_cast<Zarr3Dimension>(dimensions[d]) != nullptr)
            dimensions_[d] = dimensions[d];
    }
}

/* ---- Storing ---- */

bool Zarr3MDArray::flush() {
    if (!IsWritable() || !m_bValid)
        return true;
    write_axis();
    bool kept_up = store_created() && drop_foreign_place();
    const bool may_have_moved = changed_ && !path().empty() && array_.info()->ndim >= 2;
    kept_up = kept_up && update_levels();
    zb_error err;
    enum zb_code code = array_.flush(&err);
    if (code == ZB_OK)
        code = drop_late_statistics(&err);
    if (code == ZB_OK && may_have_moved)
        code = repeat_place(tree_->store(), parent_path(path()), false, &err);
    if (code == ZB_OK)
        return kept_up;
    report(err);
    return false;
}

void Zarr3MDArray::abandon() {
    if (IsWritable())
        array_.abandon();
}

void Zarr3MDArray::Deleted() {
    abandon();
    all_held_are_deleted();
    GDALMDArray::Deleted();
}

/* ---- Attributes ---- */

bool Zarr3MDArray::change(const AttributeChanges &changes) {
    if (!may_change())
        return false;
    zb_error err;
    forget_properties();
    changed_ = true;
    if (array_.change_attributes(changes, &err) == ZB_OK)
        return true;
    report(err);
    return false;
}

std::shared_ptr<GDALAttribute> Zarr3MDArray::CreateAttribute(const std::string &name,
                                                             const std::vector<GUInt64> &shape,
                                                             const GDALExtendedDataType &type,
                                                             CSLConstList) try {
    return may_change() ? create_attribute(self(), name, shape, type) : nullptr;
} catch (...) {
    return failed_entry<std::shared_ptr<GDALAttribute>>();
}

bool Zarr3MDArray::DeleteAttribute(const std::string &name, CSLConstList) try {
    return may_change() && delete_attribute(*this, name);
} catch (...) {
    return failed_entry<bool>();
}

bool Zarr3MDArray::SetUnit(const std::string &unit) try {
    AttributeChanges changes;
    if (unit.empty())
        changes.remove("units");
    else
        changes.set("units", json_quote(unit));
    return change(changes);
} catch (...) {
    return failed_entry<bool>();
}

/* The type in which another format has it is not kept, its value is. */
bool Zarr3MDArray::set_number(const char *name, double value) {
    AttributeChanges changes;
    changes.set(name, json_number(value));
    return change(changes);
}

bool Zarr3MDArray::SetOffset(double offset, GDALDataType) try {
    return set_number("add_offset", offset);
} catch (...) {
    return failed_entry<bool>();
}

bool Zarr3MDArray::SetScale(double scale, GDALDataType) try {
    return set_number("scale_factor", scale);
} catch (...) {
    return failed_entry<bool>();
}

/* The program's dimensions may have types that the attributes do not tell. */
void Zarr3MDArray::write_axis() {
    if (dimensions_.size() != 1 || dimensions_[0]->GetName() != m_osName)
        return;
    const std::string &type = dimensions_[0]->GetType();
    const char *letter = type == GDAL_DIM_TYPE_HORIZONTAL_X   ? "X"
                         : type == GDAL_DIM_TYPE_HORIZONTAL_Y ? "Y"
                         : type == GDAL_DIM_TYPE_VERTICAL     ? "Z"
                         : type == GDAL_DIM_TYPE_TEMPORAL     ? "T"
                                                              : nullptr;
    if (letter == nullptr || axis_kind(array_.node(), false).type == type ||
        attribute(array_.node(), "axis") != nullptr)
        return;
    AttributeChanges changes;
    changes.set("axis", json_quote(letter));
    const std::string &direction = dimensions_[0]->GetDirection();
    if (letter[0] == 'Z' && (direction == "UP" || direction == "DOWN"))
        changes.set("positive", json_quote(direction == "UP" ? "up" : "down"));
    change(changes);
}

/* ---- CRS and nodata ---- */

bool Zarr3MDArray::SetSpatialRef(const OGRSpatialReference *srs) try {
    if (!may_change())
        return false;
    std::optional<OGRSpatialReference> given;
    if (srs != nullptr && !srs->IsEmpty())
        given = *srs;
    AttributeChanges changes;
    zb_error err;
    if (write_crs(array_.shared_node(), given, &changes, &err) != ZB_OK) {
        report(err);
        return false;
    }
    return change(changes);
} catch (...) {
    return failed_entry<bool>();
}

NoData Zarr3MDArray::nodata_of(const void *value) const {
    const GDALDataType type = type_->shown().GetNumericDataType();
    const zb_dtype dtype = pixel_dtype(array_.node());
    if (type == GDT_Int64) {
        int64_t number;
        memcpy(&number, value, sizeof number);
        return nodata_from_int64(number, dtype);
    }
    if (type == GDT_UInt64) {
        uint64_t number;
        memcpy(&number, value, sizeof number);
        return nodata_from_uint64(number, dtype);
    }
    double number[2];
    GDALCopyWords64(value, type, 0, number, GDT_CFloat64, 0, 1);
    return number[1] == 0 || std::isnan(number[0]) ? nodata_from_double(number[0], dtype)
                                                   : NoData();
}

/* Text has no attribute for it: its fill value is it, which a new array alone can be given. */
bool Zarr3MDArray::set_text_nodata(const void *value) {
    zb_slice text = {"", 0};
    std::string reason;
    zb_error err;
    type_->to_memory(static_cast<const char *>(value), reinterpret_cast<char *>(&text), &reason);
    const auto *fill = static_cast<const zb_slice *>(array_.info()->fill_value);
    const bool same = text.size == fill->size &&
                      (text.size == 0 || memcmp(text.data, fill->data, text.size) == 0);
    if (!same && !array_.is_fresh()) {
        CPLError(CE_Failure, CPLE_NotSupported,
                 "array %s: the nodata value of text is its fill value, which is chosen before "
                 "anything is written",
                 m_osFullName.c_str());
        return false;
    }
    std::vector<unsigned char> element(sizeof text);
    memcpy(element.data(), &text, sizeof text);
    if (!same && array_.recreate(element, &err) != ZB_OK) {
        report(err);
        return false;
    }
    AttributeChanges changes;
    changes.remove(ZB_GDAL_FILL_IS_NODATA);
    return change(changes);
}

bool Zarr3MDArray::SetRawNoDataValue(const void *value) try {
    if (!may_change())
        return false;
    if (value != nullptr && type_->memory().kind == ZB_KIND_STRING)
        return set_text_nodata(value);
    NoData nodata;
    if (value != nullptr && type_->shown().GetClass() == GEDTC_NUMERIC)
        nodata = nodata_of(value);
    if (value != nullptr && nodata.kind == NoData::None) {
        CPLError(CE_Failure, CPLE_NotSupported, "array %s: its elements have no nodata value",
                 m_osFullName.c_str());
        return false;
    }
    zb_error err;
    if (value != nullptr) {
        array_.set_nodata(nodata);
        if (array_.settle_fresh(&err) != ZB_OK) {
            report(err);
            return false;
        }
    }
    AttributeChanges changes;
    change_nodata(nodata, array_.node(), &changes);
    return change(changes);
} catch (...) {
    return failed_entry<bool>();
}

/* ---- Shape and names ---- */

/* One size for each dimension, also for one that the array has twice. */
bool Zarr3MDArray::are_sizes(const std::vector<GUInt64> &sizes) const {
    if (sizes.size() != dimensions_.size()) {
        CPLError(CE_Failure, CPLE_IllegalArg, "array %s has %d dimensions, not %d",
                 m_osFullName.c_str(), static_cast<int>(dimensions_.size()),
                 static_cast<int>(sizes.size()));
        return false;
    }
    for (size_t d = 0; d < sizes.size(); d++) {
        for (size_t other = 0; other < d; other++) {
            if (dimensions_[other] == dimensions_[d] && sizes[other] != sizes[d]) {
                CPLError(CE_Failure, CPLE_IllegalArg,
                         "array %s has the dimension %s twice, which cannot have two sizes",
                         m_osFullName.c_str(), dimensions_[d]->GetName().c_str());
                return false;
            }
        }
    }
    return true;
}

/* The arrays that get another size with a dimension: all that have it, this one among them. False,
   with the error reported, when one of them may not. */
bool Zarr3MDArray::find_sharers(size_t d, std::vector<std::shared_ptr<Zarr3MDArray>> *sharers) {
    const auto dimension = std::dynamic_pointer_cast<Zarr3Dimension>(dimensions_[d]);
    if (dimension == nullptr || !dimension->is_shared())
        sharers->push_back(std::dynamic_pointer_cast<Zarr3MDArray>(self()));
    else if (!tree_->arrays_with(*dimension, sharers))
        return false;
    /* The tree looks at the store of now. */
    if (std::none_of(sharers->begin(), sharers->end(),
                     [this](const auto &array) { return array.get() == this; })) {
        CPLError(CE_Failure, CPLE_AppDefined,
                 "array %s: its shape has changed since it was opened; open it again",
                 m_osFullName.c_str());
        return false;
    }
    return std::all_of(sharers->begin(), sharers->end(), [](const auto &array) {
        return may_be_resized(array->array_.shared_node(), "array " + array->m_osFullName);
    });
}

/* All is looked at before anything changes. */
bool Zarr3MDArray::Resize(const std::vector<GUInt64> &sizes, CSLConstList) try {
    if (!may_change() || !are_sizes(sizes))
        return false;
    std::vector<std::vector<std::shared_ptr<Zarr3MDArray>>> sharers(sizes.size());
    for (size_t d = 0; d < sizes.size(); d++) {
        if (dimensions_[d]->GetSize() != sizes[d] && !find_sharers(d, &sharers[d]))
            return false;
    }
    for (size_t d = 0; d < sizes.size(); d++) {
        if (dimensions_[d]->GetSize() == sizes[d])
            continue;
        for (const auto &array : sharers[d]) {
            if (!array->resize_along(dimensions_[d].get(), sizes[d]))
                return false;
        }
        if (const auto dimension = std::dynamic_pointer_cast<Zarr3Dimension>(dimensions_[d]))
            dimension->set_size(sizes[d]);
    }
    return true;
} catch (...) {
    return failed_entry<bool>();
}

bool Zarr3MDArray::resize_along(const GDALDimension *dimension, uint64_t size) {
    const zb_array_info *info = array_.info();
    std::vector<uint64_t> shape(info->shape, info->shape + info->ndim);
    for (size_t d = 0; d < shape.size(); d++) {
        if (dimensions_[d].get() == dimension)
            shape[d] = size;
    }
    const std::optional<Layout> before = raster_layout();
    zb_error err;
    if (array_.resize(shape, &err) == ZB_OK)
        return follow_size(before);
    report(err);
    return false;
}

/* What attributes and statistics say of all rows and columns, once these are others. */
bool Zarr3MDArray::follow_size(const std::optional<Layout> &before) {
    AttributeChanges changes;
    forget_properties();
    const std::optional<Layout> now = raster_layout();
    if (before && now && (before->width != now->width || before->height != now->height))
        resize_place(array_.node(), *before, now->width, now->height, &changes);
    return change(changes) && forget_statistics();
}

/* Attributes of a new array may have been copied from one of another shape. */
bool Zarr3MDArray::drop_foreign_place() {
    const std::optional<Layout> layout =
        made_ && attribute(array_.node(), "spatial:shape") != nullptr ? raster_layout()
                                                                      : std::nullopt;
    if (!layout)
        return true;
    AttributeChanges changes;
    zarr3::drop_foreign_place(array_.node(), *layout, &changes);
    return change(changes);
}

bool Zarr3MDArray::rename_dimension(const GDALDimension *dimension, const std::string &name) {
    std::vector<std::string> names;
    for (uint32_t d = 0; d < array_.info()->ndim; d++) {
        const char *const *stored = array_.info()->dimension_names;
        const char *own = stored == nullptr ? nullptr : stored[d];
        names.push_back(dimensions_[d].get() == dimension ? name : own == nullptr ? "" : own);
    }
    zb_error err;
    changed_ = true;
    if (array_.name_dimensions(names, &err) != ZB_OK) {
        report(err);
        return false;
    }
    AttributeChanges changes;
    return !follow_dimension(array_.node(), dimension->GetName(), name, &changes) ||
           change(changes);
}

bool Zarr3MDArray::may_rename_dimensions() const {
    return zarr3::may_rename_dimensions(array_.shared_node(), "array " + m_osFullName);
}

bool Zarr3MDArray::Rename(const std::string &name) try {
    if (!may_change())
        return false;
    const std::string from = path(), to = join_path(parent_path(from), stored_name(name));
    zb_error err;
    if (!is_child_name(name) || from.empty()) {
        CPLError(CE_Failure, CPLE_IllegalArg, "array %s cannot be called '%s'",
                 m_osFullName.c_str(), name.c_str());
        return false;
    }
    if (!may_be_renamed(array_.shared_node(), "array " + m_osFullName) || !flush())
        return false;
    std::vector<NamedBy> references;
    if (find_references(tree_->store(), from, to, &references, &err) != ZB_OK ||
        zb_node_move(tree_->store(), from.c_str(), to.c_str(), &err) != ZB_OK) {
        report(err);
        return false;
    }
    tree_->moved(from, to);
    return tree_->change(references);
} catch (...) {
    return failed_entry<bool>();
}

void Zarr3MDArray::moved_to(const std::string &path) {
    zb_error err;
    if (array_.move_to(path, &err) != ZB_OK)
        report(err);
    m_osName = tree_->short_name(path);
    m_osFullName = tree_->full_name(path);
    rename_held();
    forget_properties();
}

} // namespace zarr3
