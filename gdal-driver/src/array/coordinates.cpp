/* SPDX-License-Identifier: MIT */
#include "array/coordinates.h"

#include <algorithm>
#include <memory>

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "array/types.h"
#include "base/handles.h"
#include "base/json_text.h"
#include "cpl_conv.h"
#include "cpl_string.h"

#include "zarrbridge/multiscales.h"
#include "zarrbridge/read.h"
#include "zarrbridge/values.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* Longest coordinate that is read: 128 MiB as doubles. */
static constexpr uint64_t kMaxValues = uint64_t{1} << 24;

NodePtr find_coordinate(const zb_node *array, uint32_t dim, NearbyNodes &around) {
    NodePtr node = around.find_coordinate(zb_node_array(array), dim);
    const zb_array_info *found = node == nullptr ? nullptr : zb_node_array(node.get());
    const bool usable = found != nullptr && found->shape[0] <= kMaxValues &&
                        (is_time(found->dtype) ||
                         zb_dtype_converts(found->dtype, {ZB_KIND_FLOAT, 8, false, nullptr}));
    return usable ? node : nullptr;
}

static bool is_label(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_STRING || dtype.kind == ZB_KIND_BYTES ||
           dtype.kind == ZB_KIND_CHARS || dtype.kind == ZB_KIND_UTF32;
}

NodePtr find_labels(const zb_node *array, uint32_t dim, NearbyNodes &around) {
    NodePtr node = around.find_coordinate(zb_node_array(array), dim);
    return node != nullptr && is_label(zb_node_array(node.get())->dtype) ? node : nullptr;
}

/* Text of a fixed length ends where its padding begins. The core makes UTF-8 of code points, in at
   most as many bytes. */
static enum zb_code read_fixed_label(zb_read *read, std::string *label, zb_error *err) {
    const zb_dtype dtype = zb_node_array(read->node)->dtype;
    std::string bytes(dtype.size, '\0');
    read->view = {bytes.data(), {ZB_KIND_CHARS, dtype.size, false, nullptr}, nullptr, nullptr};
    const enum zb_code code = zb_array_read(read, 1, err);
    *label = std::string(bytes, 0, bytes.find_last_not_of('\0') + 1);
    return code;
}

static enum zb_code read_any_label(zb_read *read, std::string *label, zb_error *err) {
    zb_slice text = {nullptr, 0};
    zb_values *values = nullptr;
    enum zb_code code = zb_values_new(&values, err);
    const std::unique_ptr<zb_values, decltype(&zb_values_free)> owner(values, zb_values_free);
    if (code != ZB_OK)
        return code;
    read->view = {&text, zb_node_array(read->node)->dtype, nullptr, values};
    code = zb_array_read(read, 1, err);
    if (code == ZB_OK && text.size > 0)
        label->assign(text.data, text.size);
    return code;
}

std::optional<std::string> read_label(const zb_node *labels, uint64_t index, zb_error *err) {
    const uint64_t one = 1;
    const enum zb_kind kind = zb_node_array(labels)->dtype.kind;
    const bool is_fixed = kind == ZB_KIND_CHARS || kind == ZB_KIND_UTF32;
    std::string label;
    zb_read read = {};
    read.node = labels;
    read.start = &index;
    read.count = &one;
    if ((is_fixed ? read_fixed_label : read_any_label)(&read, &label, err) != ZB_OK)
        return std::nullopt;
    if (label.find('\0') == std::string::npos)
        return to_utf8(label);
    zb_fail(err, ZB_EUNSUPPORTED, "array /%s: element %llu holds a NUL", zb_node_path(labels),
            static_cast<unsigned long long>(index));
    return std::nullopt;
}

/* `count` numbers: those that the request selects. */
static std::vector<double> read_selected(zb_read read, uint64_t count, zb_error *err) {
    const zb_node *node = read.node;
    const zb_dtype dtype = exchange_dtype(node, pixel_type(node));
    const bool by_gdal =
        pixel_dtype(node).kind != dtype.kind || is_time(zb_node_array(node)->dtype);
    std::vector<double> values(static_cast<size_t>(count));
    std::vector<char> stored(by_gdal ? values.size() * dtype.size : 0);
    read.view.data = values.data();
    read.view.dtype = {ZB_KIND_FLOAT, 8, false, nullptr};
    if (by_gdal) { /* the core knows of no other sign, and counts of time are int64 alone to it */
        read.view.data = stored.data();
        read.view.dtype = dtype;
    }
    if (values.empty() || zb_array_read(&read, 1, err) != ZB_OK)
        return {};
    if (by_gdal)
        GDALCopyWords64(stored.data(), pixel_type(node), static_cast<int>(dtype.size),
                        values.data(), GDT_Float64, sizeof(double),
                        static_cast<GPtrDiff_t>(values.size()));
    const double scale = attribute_number(node, "scale_factor").value_or(1);
    const double offset = attribute_number(node, "add_offset").value_or(0);
    if (scale != 1 || offset != 0) {
        for (double &value : values)
            value = value * scale + offset;
    }
    return values;
}

/* `count` values from the first-th on, `step` apart. */
static std::vector<double> read_values(const zb_node *coordinate, uint64_t first, uint64_t count,
                                       uint64_t step, zb_error *err) {
    zb_read read = {};
    read.node = coordinate;
    read.start = &first;
    read.count = &count;
    read.step = &step;
    return read_selected(read, count, err);
}

std::vector<double> read_numbers(const zb_node *array, uint64_t count, zb_error *err) {
    zb_read read = {};
    read.node = array;
    return read_selected(read, count, err);
}

std::vector<double> read_coordinate(const zb_node *coordinate, uint64_t first, uint64_t count,
                                    zb_error *err) {
    return read_values(coordinate, first, count, 1, err);
}

std::vector<double> read_coordinate_ends(const zb_node *coordinate, zb_error *err) {
    const uint64_t extent = zb_node_array(coordinate)->shape[0];
    return read_values(coordinate, 0, std::min<uint64_t>(extent, 2),
                       std::max<uint64_t>(extent, 2) - 1, err);
}

enum zb_code create_coordinate(zb_hierarchy *hierarchy, const std::string &path,
                               const std::vector<double> *values, const std::string &attributes,
                               zb_error *err) {
    const std::string name = last_part(path);
    const uint64_t extent = values == nullptr ? 1 : values->size();
    const char *const dimension = name.c_str();
    zb_array_spec spec = {};
    spec.ndim = values == nullptr ? 0 : 1;
    spec.shape = &extent;
    spec.inner_shape = &extent;
    spec.dtype = values == nullptr ? zb_dtype{ZB_KIND_INT, 8, false, nullptr}
                                   : zb_dtype{ZB_KIND_FLOAT, 8, false, nullptr};
    spec.dimension_names = values == nullptr ? nullptr : &dimension;
    spec.attributes = attributes.c_str();
    zb_node *created = nullptr;
    enum zb_code code = zb_array_create(hierarchy, path.c_str(), &spec, &created, err);
    const NodePtr node = adopt_node(created);
    if (code != ZB_OK || values == nullptr)
        return code;
    zb_writer *opened = nullptr;
    code = zb_writer_open(node.get(), nullptr, &opened, err);
    Writer writer(opened);
    if (code != ZB_OK)
        return code;
    zb_write write = {};
    write.data = values->data();
    write.dtype = spec.dtype;
    code = zb_writer_write(writer.get(), &write, err);
    return code == ZB_OK ? zb_writer_close(writer.release(), err) : code;
}

std::optional<Spacing> regular_spacing(const std::vector<double> &values, zb_dtype dtype) {
    Spacing spacing = {};
    if (!zb_coordinate_is_regular(values.data(), values.size(), dtype, &spacing.first,
                                  &spacing.step))
        return std::nullopt;
    return spacing;
}

} // namespace zarr3
