/* SPDX-License-Identifier: MIT */
/*
 * Conventions put a list of paths on a group, most of them finest level first. An array finds its
 * pyramid by asking the groups above it whether it is on their list. That works for an array that
 * is itself an asset and for one inside an asset that is a group ("r10m/b02"), whose levels are
 * then the arrays of the same name in the other assets.
 *
 * Only the lists are read here. Whether the levels fit together (type, bands, sizes) is checked
 * when they are opened as overviews.
 */
#include "raster/pyramid.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <unordered_map>

#include "array/attributes.h"
#include "array/conventions.h"

namespace zarr3 {

/* Without its declaration, "multiscales" may be any program's private attribute. */
static const zb_json *convention_layout(const zb_node *group, NearbyNodes &around) {
    const zb_json *layout = zb_json_get(attribute(group, "multiscales"), "layout");
    if (zb_json_kind_of(layout) != ZB_JSON_ARRAY || !follows(group, kMultiscales, around))
        return nullptr;
    return layout;
}

/* The first image of an OME-NGFF group; later ones are other views of the same data. */
static const zb_json *ome_image(const zb_node *group) {
    const zb_json *list = zb_json_get(attribute(group, "ome"), "multiscales");
    return zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : nullptr;
}

/* The member of each entry of a list; entries without it are passed over. */
static std::vector<std::string> strings_of(const zb_json *list, const char *member) {
    std::vector<std::string> strings;
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY)
        return strings;
    for (const zb_json *item = zb_json_first(list); item != nullptr; item = zb_json_next(item)) {
        const char *text = zb_json_string(zb_json_get(item, member));
        if (text != nullptr && text[0] != '\0')
            strings.push_back(text);
    }
    return strings;
}

/* The first entry of the family that an entry belongs to. A hostile list links its entries to one
   long chain; each walk halves the way of the next. */
static size_t head_of(std::vector<size_t> &heads, size_t entry) {
    while (heads[entry] != entry) {
        heads[entry] = heads[heads[entry]];
        entry = heads[entry];
    }
    return entry;
}

/* The first entry of each entry's family: an entry and its source are of one. */
static std::vector<size_t> link_entries(const std::vector<std::string> &assets,
                                        const std::vector<std::string> &sources) {
    std::unordered_map<std::string, size_t> places;
    for (size_t i = assets.size(); i > 0; i--)
        places[assets[i - 1]] = i - 1;
    std::vector<size_t> heads(assets.size());
    for (size_t i = 0; i < heads.size(); i++)
        heads[i] = i;
    for (size_t i = 0; i < heads.size(); i++) {
        const auto source = places.find(sources[i]);
        if (source == places.end())
            continue;
        const size_t one = head_of(heads, i), other = head_of(heads, source->second);
        heads[std::max(one, other)] = std::min(one, other);
    }
    for (size_t i = 0; i < heads.size(); i++)
        heads[i] = head_of(heads, i);
    return heads;
}

/* True if the entry says that it is the finest level: made of none, and by the factor 1. */
static bool states_finest(const zb_json *entry) {
    const zb_json *scale = zb_json_get(zb_json_get(entry, "transform"), "scale");
    if (zb_json_get(entry, "derived_from") != nullptr || zb_json_kind_of(scale) != ZB_JSON_ARRAY ||
        zb_json_first(scale) == nullptr)
        return false;
    double factor = 0;
    for (const zb_json *item = zb_json_first(scale); item != nullptr; item = zb_json_next(item)) {
        if (!zb_json_double(item, &factor) || factor != 1)
            return false;
    }
    return true;
}

/* Families in the order of their first entries. A single family takes in what belongs to none: many
   programs leave the links out, or give some of them. But two entries that say of themselves that
   they are the finest ones are of two. */
static std::vector<std::vector<std::string>> families(const zb_json *layout) {
    std::vector<std::string> assets, sources;
    int finest = 0;
    for (const zb_json *item = zb_json_first(layout); item != nullptr; item = zb_json_next(item)) {
        const char *asset = zb_json_string(zb_json_get(item, "asset"));
        const char *source = zb_json_string(zb_json_get(item, "derived_from"));
        if (asset != nullptr && asset[0] != '\0') {
            assets.push_back(asset);
            sources.push_back(source == nullptr ? "" : source);
            finest += states_finest(item) ? 1 : 0;
        }
    }
    if (assets.empty())
        return {};
    const std::vector<size_t> heads = link_entries(assets, sources);
    std::map<size_t, std::vector<std::string>> found;
    for (size_t i = 0; i < heads.size(); i++)
        found[heads[i]].push_back(assets[i]);
    const auto linked = std::count_if(found.begin(), found.end(),
                                      [](const auto &family) { return family.second.size() > 1; });
    if (linked < 2 && finest < 2)
        return {std::move(assets)};
    std::vector<std::vector<std::string>> lists;
    for (auto &family : found)
        lists.push_back(std::move(family.second));
    return lists;
}

/* A number for each path of ndpyramid's list that grows with coarser levels: the factors that it
   was made with. Without them levels are zoom levels, the coarsest first. */
static std::vector<double> coarseness(const zb_json *metadata, size_t count) {
    std::vector<double> numbers =
        number_list(zb_json_get(zb_json_get(metadata, "kwargs"), "factors"), count);
    for (size_t i = 0; numbers.size() < count; i++)
        numbers.push_back(-static_cast<double>(i));
    return numbers;
}

/* ndpyramid is known by its methods or by its factors; OME-NGFF 0.4 has the same list, in version 2
   of Zarr, and neither. */
static std::vector<std::string> ndpyramid_levels(const zb_node *group) {
    const zb_json *list = attribute(group, "multiscales");
    const zb_json *first = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : nullptr;
    const zb_json *metadata = zb_json_get(first, "metadata");
    const std::vector<std::string> paths = strings_of(zb_json_get(first, "datasets"), "path");
    const std::string method = json_text(zb_json_get(metadata, "method"));
    if (method.compare(0, 8, "pyramid_") != 0 &&
        zb_json_get(zb_json_get(metadata, "kwargs"), "factors") == nullptr)
        return {};
    const std::vector<double> numbers = coarseness(metadata, paths.size());
    std::vector<size_t> order(paths.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
    std::vector<std::string> levels;
    for (const size_t i : order)
        levels.push_back(paths[i]);
    return levels;
}

/* Sentinel-2 has its bands at several resolutions, in groups that are called by them:
   measurements/reflectance/r10m/b02, .../r20m/b02. What is not there is passed over when it is
   opened. */
static std::vector<std::string> eopf_levels(const zb_node *group, NearbyNodes &around) {
    static const char *const kAbove[] = {"measurements/reflectance", "quality/mask",
                                         "conditions/mask/detector_footprint"};
    const std::string path = zb_node_path(group);
    const bool may_be = std::any_of(std::begin(kAbove), std::end(kAbove),
                                    [&](const char *above) { return path == above; });
    return may_be && is_eopf_product(around) ? std::vector<std::string>{"r10m", "r20m", "r60m"}
                                             : std::vector<std::string>();
}

std::vector<std::vector<std::string>> group_pyramids(const zb_node *group, NearbyNodes &around) {
    const zb_json *layout = convention_layout(group, around);
    if (layout != nullptr)
        return families(layout);
    std::vector<std::string> paths = strings_of(zb_json_get(ome_image(group), "datasets"), "path");
    if (paths.empty())
        paths = ndpyramid_levels(group);
    if (paths.empty())
        paths = eopf_levels(group, around);
    return paths.empty() ? std::vector<std::vector<std::string>>()
                         : std::vector<std::vector<std::string>>{paths};
}

/* True when relative is the asset or lies below it; *rest is then what follows ("" or "/t"). */
static bool lies_in(const std::string &relative, const std::string &asset, std::string *rest) {
    if (relative.compare(0, asset.size(), asset) != 0)
        return false;
    *rest = relative.substr(asset.size());
    return rest->empty() || rest->front() == '/';
}

static void read_entry(const zb_json *layout, const std::string &asset, Pyramid *pyramid) {
    const zb_json *entry = zb_json_first(layout);
    for (; entry != nullptr; entry = zb_json_next(entry)) {
        const char *name = zb_json_string(zb_json_get(entry, "asset"));
        if (name != nullptr && asset == name)
            break;
    }
    const std::vector<double> list = number_list(zb_json_get(entry, "spatial:transform"), 6);
    if (!list.empty()) {
        pyramid->transform.emplace();
        std::copy(list.begin(), list.end(), pyramid->transform->begin());
    }
    pyramid->registration = json_text(zb_json_get(entry, "spatial:registration"));
    pyramid->shape = number_list(zb_json_get(entry, "spatial:shape"), 2);
}

/* Fills *pyramid when the array, whose path relative to the group is given, is one of these. */
static bool is_level(const std::vector<std::string> &assets, const std::string &above,
                     const std::string &relative, Pyramid *pyramid) {
    for (size_t i = 0; i < assets.size(); i++) {
        std::string rest;
        if (!lies_in(relative, assets[i], &rest))
            continue;
        for (const std::string &asset : assets)
            pyramid->levels.push_back(join_path(above, asset + rest));
        pyramid->group = above;
        pyramid->self = i;
        return true;
    }
    return false;
}

/* A list may have an array beside groups, as GDAL's own driver writes it: "t", "ovr_2x". The level
   is then the array of that name in the group. Only such names are looked at: on a network each
   look is a request. */
static void enter_groups(zb_hierarchy *hierarchy, const std::string &path, Pyramid *pyramid) {
    const std::string name = last_part(path);
    for (std::string &level : pyramid->levels) {
        if (last_part(level) == name || last_part(level).rfind("ovr_", 0) != 0)
            continue;
        const NodePtr node = open_node(hierarchy, level, nullptr);
        if (node != nullptr && zb_node_array(node.get()) == nullptr)
            level += "/" + name;
    }
}

/* Fills *pyramid when the array at path is one of the group's levels. */
static bool pyramid_of_group(const zb_node *group, const std::string &path, NearbyNodes &around,
                             Pyramid *pyramid) {
    const std::string above = zb_node_path(group);
    const std::string relative = above.empty() ? path : path.substr(above.size() + 1);
    for (const std::vector<std::string> &assets : group_pyramids(group, around)) {
        if (!is_level(assets, above, relative, pyramid))
            continue;
        enter_groups(zb_node_hierarchy(group), path, pyramid);
        const zb_json *layout = convention_layout(group, around);
        pyramid->of_groups = layout != nullptr && assets[pyramid->self] != relative;
        if (layout != nullptr)
            read_entry(layout, assets[pyramid->self], pyramid);
        else
            pyramid->ome_axes = strings_of(zb_json_get(ome_image(group), "axes"), "name");
        return true;
    }
    return false;
}

/* The nearest group that knows the array wins. */
Pyramid find_pyramid(const zb_node *array, NearbyNodes &around, uint32_t fewest_dimensions) {
    Pyramid pyramid;
    for (unsigned steps = 1;
         steps <= kPyramidReach && zb_node_array(array)->ndim >= fewest_dimensions; steps++) {
        const zb_node *group = around.group_above(steps);
        if (group != nullptr && pyramid_of_group(group, zb_node_path(array), around, &pyramid))
            break;
    }
    return pyramid;
}

bool may_be_level(const zb_array_info *finest, const zb_array_info *level) {
    double least = 1, most = HUGE_VAL; /* the factors that all dimensions may have */
    bool is_whole = true;              /* each may have one that is a whole number */
    for (uint32_t d = 0; d < finest->ndim; d++) {
        const auto fine = static_cast<double>(finest->shape[d]);
        const auto coarse = static_cast<double>(level->shape[d]);
        if (coarse > fine)
            return false;
        if (coarse == fine)
            continue;
        const double from = fine / (coarse + 2);
        const double to = coarse > 2 ? fine / (coarse - 2) : HUGE_VAL;
        least = std::max(least, from);
        most = std::min(most, to);
        is_whole = is_whole && std::floor(to) >= std::ceil(from);
    }
    return least <= most || is_whole;
}

/* Rows and columns may be exchanged by options for opening. */
bool is_of_other_shape(const Pyramid &pyramid, int width, int height) {
    const std::vector<double> &shape = pyramid.shape;
    return !shape.empty() && !(shape[0] == height && shape[1] == width) &&
           !(shape[0] == width && shape[1] == height);
}

} // namespace zarr3
