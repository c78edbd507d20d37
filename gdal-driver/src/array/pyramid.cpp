/* SPDX-License-Identifier: MIT */
/* The core's answers (zarrbridge/multiscales.h) as C++ values. */
#include "array/pyramid.h"

#include <algorithm>
#include <new>

namespace zarr3 {

std::vector<std::string> strings_of(const zb_strings &strings) {
    return {strings.text, strings.text + strings.count};
}

namespace {

struct CorePyramid : zb_pyramid {
    CorePyramid() : zb_pyramid() {
    }
    ~CorePyramid() {
        zb_pyramid_clear(this);
    }
    CorePyramid(const CorePyramid &) = delete;
    CorePyramid &operator=(const CorePyramid &) = delete;
};

struct CoreLists : zb_asset_lists {
    CoreLists() : zb_asset_lists() {
    }
    ~CoreLists() {
        zb_asset_lists_clear(this);
    }
    CoreLists(const CoreLists &) = delete;
    CoreLists &operator=(const CoreLists &) = delete;
};

} // namespace

static Pyramid to_cpp(const zb_pyramid &found) {
    Pyramid pyramid;
    pyramid.levels = strings_of(found.levels);
    pyramid.group = found.group == nullptr ? "" : found.group;
    pyramid.self = found.self;
    pyramid.of_groups = found.of_groups;
    pyramid.ome_axes = strings_of(found.ome_axes);
    if (found.has_transform) {
        pyramid.transform.emplace();
        std::copy_n(found.transform, 6, pyramid.transform->begin());
    }
    pyramid.registration = found.registration == nullptr ? "" : found.registration;
    if (found.has_shape)
        pyramid.shape = {found.shape, found.shape + 2};
    return pyramid;
}

std::vector<std::vector<std::string>> group_pyramids(const zb_node *group, NearbyNodes &around) {
    const zb_nodes nodes = around.for_core();
    CoreLists lists;
    if (zb_group_pyramids(group, &nodes, &lists, nullptr) != ZB_OK)
        throw std::bad_alloc();
    std::vector<std::vector<std::string>> result;
    for (size_t i = 0; i < lists.count; i++)
        result.push_back(strings_of(lists.list[i]));
    return result;
}

Pyramid find_pyramid(const zb_node *array, NearbyNodes &around, uint32_t fewest_dimensions) {
    const zb_nodes nodes = around.for_core();
    CorePyramid found;
    if (zb_pyramid_find(array, fewest_dimensions, &nodes, &found, nullptr) != ZB_OK)
        throw std::bad_alloc();
    return to_cpp(found);
}

StringsView::StringsView(const std::vector<std::string> &strings) : zb_strings() {
    for (const std::string &one : strings)
        texts_.push_back(const_cast<char *>(one.c_str()));
    text = texts_.data();
    count = texts_.size();
}

PyramidView::PyramidView(const Pyramid &pyramid)
    : zb_pyramid(), levels_(pyramid.levels), axes_(pyramid.ome_axes) {
    levels = levels_;
    ome_axes = axes_;
    self = pyramid.self;
    of_groups = pyramid.of_groups;
    if (!pyramid.empty() || pyramid.of_groups)
        group = const_cast<char *>(pyramid.group.c_str());
    has_transform = pyramid.transform.has_value();
    if (has_transform)
        std::copy(pyramid.transform->begin(), pyramid.transform->end(), transform);
    registration = const_cast<char *>(pyramid.registration.c_str());
    has_shape = !pyramid.shape.empty();
    std::copy(pyramid.shape.begin(), pyramid.shape.end(), shape);
}

bool may_be_level(const zb_array_info *finest, const zb_array_info *level) {
    return zb_array_may_be_level(finest, level);
}

/* Rows and columns may be exchanged by options for opening. */
bool is_of_other_shape(const Pyramid &pyramid, int width, int height) {
    const std::vector<double> &shape = pyramid.shape;
    return !shape.empty() && !(shape[0] == height && shape[1] == width) &&
           !(shape[0] == width && shape[1] == height);
}

} // namespace zarr3
