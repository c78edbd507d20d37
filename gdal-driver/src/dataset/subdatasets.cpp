/* SPDX-License-Identifier: MIT */
/*
 * Programs show subdatasets in dialogs and open the chosen one; some (QGIS) open all of them to be
 * able to say more. Hence a listing costs no more than reading the metadata documents, and a
 * description has what a user chooses by: shape, type, title, unit.
 *
 * Nothing vanishes: an array that cannot be opened, by the core or by GDAL, is listed with the
 * reason.
 */
#include "dataset/subdatasets.h"

#include <algorithm>
#include <map>
#include <set>

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "array/types.h"
#include "dataset/band_place.h"
#include "dataset/level_places.h"
#include "raster/layout.h"
#include "store/location.h"

namespace zarr3 {

/* A hierarchy may nest and branch without end; the list must stay readable. */
static constexpr unsigned kMaxDepth = 16;
static constexpr size_t kMaxNodes = 10000;

namespace {

/* One walk through a hierarchy. */
class Walk {
  public:
    explicit Walk(Listing *listing) : listing_(listing) {
    }

    enum zb_code visit(const zb_node *group, unsigned depth, zb_error *err) {
        Children children;
        const enum zb_code code = children.list(group, err);
        if (code == ZB_OK)
            take_all(group, children, depth);
        return code;
    }

    /* A variable that begins at a coarser level is its own finest one: bands of satellites have
       resolutions of their own. The others are overviews. */
    void take_coarser_levels() {
        for (const NodePtr &node : coarser_) {
            const std::string path = zb_node_path(node.get());
            const std::vector<std::string> finer = finer_places(path);
            if (std::none_of(finer.begin(), finer.end(),
                             [this](const std::string &place) { return arrays_.count(place) > 0; }))
                take_array(node, path);
        }
    }

    /* Coordinates can be told from data only when all arrays are known. */
    void sort_out_helpers() {
        std::vector<NodePtr> rasters;
        for (const NodePtr &node : listing_->rasters) {
            const bool helps = helpers_.count(zb_node_path(node.get())) > 0;
            (helps ? listing_->helpers : rasters).push_back(node);
        }
        listing_->rasters = std::move(rasters);
    }

  private:
    /* The first asset of a pyramid is the finest one; the others are its overviews. */
    void note_coarse_levels(const zb_node *group) {
        NearbyNodes around(group);
        for (const std::vector<std::string> &assets : group_pyramids(group, around)) {
            std::vector<std::string> finer;
            for (const std::string &asset : assets) {
                const std::string path = join_path(zb_node_path(group), asset);
                if (!finer.empty())
                    coarse_.emplace(path, finer);
                finer.push_back(path);
            }
        }
    }

    /* Of a group inside one that has the siblings: it is no raster of its own. */
    bool is_lost_level(const zb_node *group, const Children &siblings) const {
        const std::string path = zb_node_path(group);
        if (is_listed(path, level_raster(group))) /* opens no node */
            return false;
        const std::string raster = raster_of_level(siblings, group);
        return !raster.empty() && !is_listed(path, raster);
    }

    /* True if a pyramid's list has that group, or its array which is called like the raster. */
    bool is_listed(const std::string &group, const std::string &raster) const {
        return coarse_.count(group) != 0 || coarse_.count(join_path(group, last_part(raster))) != 0;
    }

    /* The finer levels' places for an array of a coarser level; none for others. */
    std::vector<std::string> finer_places(const std::string &path) const {
        std::vector<std::string> places;
        for (std::string level = path; !level.empty() && places.empty();
             level = parent_path(level)) {
            const auto found = coarse_.find(level);
            for (size_t i = 0; found != coarse_.end() && i < found->second.size(); i++)
                places.push_back(found->second[i] + path.substr(level.size()));
        }
        return places;
    }

    void take_all(const zb_node *group, const Children &children, unsigned depth) {
        note_coarse_levels(group);
        for (const zb_child &child : children)
            take(group, children, child, depth);
    }

    /* Lists what is inside once, also to tell what kind of group it is. */
    void take_group(const zb_node *group, const Children &siblings, unsigned depth) {
        const std::string path = zb_node_path(group);
        Children inside;
        zb_error err;
        if (inside.list(group, &err) != ZB_OK)
            listing_->unreadable.emplace_back(path, err.message);
        else if (is_lost_level(group, siblings))
            listing_->unreadable.emplace_back(
                path, "a level that is on no list, as a killed run of gdaladdo leaves it; gdaladdo "
                      "-clean removes it");
        else
            take_all(group, inside, depth);
    }

    void take(const zb_node *group, const Children &siblings, const zb_child &child,
              unsigned depth) {
        const std::string path = join_path(zb_node_path(group), child.name);
        if (++seen_ > kMaxNodes || depth >= kMaxDepth) {
            listing_->cut = true;
            return;
        }
        if (child.node == nullptr) {
            listing_->unreadable.emplace_back(path, child.reason == nullptr ? "" : child.reason);
            return;
        }
        if (zb_node_array(child.node) == nullptr) {
            take_group(child.node, siblings, depth + 1);
            return;
        }
        const NodePtr node = adopt_node(zb_node_retain(child.node));
        arrays_.insert(path);
        if (finer_places(path).empty()) {
            take_array(node, path);
            return;
        }
        note_helpers(node.get(), parent_path(path));
        coarser_.push_back(node);
    }

    void take_array(const NodePtr &node, const std::string &path) {
        const zb_array_info *info = zb_node_array(node.get());
        note_helpers(node.get(), parent_path(path));
        if (info->ndim < 2) {
            const std::string reason = without_type(info->dtype);
            if (reason.empty())
                listing_->small.push_back(node);
            else
                listing_->unreadable.emplace_back(path, reason);
            return;
        }
        Axes axes = {static_cast<int>(info->ndim) - 1, static_cast<int>(info->ndim) - 2};
        Layout layout;
        std::string reason;
        /* Whether its type and extents suit GDAL does not depend on the choice of axes, except for
           the number of bands, which MULTIBAND=NO or an index can mend. */
        const IndexRanges first(info->ndim - 2, 0);
        if (make_layout(info, axes, first, false, &layout, &reason))
            listing_->rasters.push_back(node);
        else
            listing_->unreadable.emplace_back(path, reason);
    }

    /* CF: `coordinates` and `bounds` name arrays in the same group that only help to use this
       one. */
    void note_helpers(const zb_node *node, const std::string &group) {
        for (const char *name : {"coordinates", "bounds", "grid_mapping"}) {
            for (const std::string &word : words(attribute_text(node, name)))
                helpers_.insert(join_path(group, word));
        }
        const std::string mask = gdal_text(node, ZB_GDAL_MASK);
        if (!mask.empty())
            helpers_.insert(join_path(group, mask));
    }

    Listing *listing_;
    size_t seen_ = 0;               /* nodes, of whatever kind */
    std::set<std::string> helpers_; /* paths that attributes of other arrays name */
    /* The coarser levels of pyramids by their paths, each with those of the finer ones. */
    std::map<std::string, std::vector<std::string>> coarse_;
    std::set<std::string> arrays_; /* paths of all */
    std::vector<NodePtr> coarser_; /* arrays of coarser levels */
};

} // namespace

enum zb_code list_arrays(const NodePtr &group, Listing *listing, zb_error *err) {
    Walk walk(listing);
    const enum zb_code code = walk.visit(group.get(), 0, err);
    walk.take_coarser_levels();
    walk.sort_out_helpers();
    return code;
}

/* "[365x180x360] /tas (Float32): Near-surface temperature, K" */
static std::string describe(const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    std::string shape;
    for (uint32_t dim = 0; dim < info->ndim; dim++)
        shape += (dim > 0 ? "x" : "") + std::to_string(info->shape[dim]);
    std::string text = "[" + shape + "] /" + shown_path(zb_node_path(array)) + " (" +
                       GDALGetDataTypeName(pixel_type(array)) + ")";
    const std::string title = attribute_text(array, "long_name");
    const std::string unit = attribute_text(array, "units");
    if (!title.empty())
        text += ": " + title;
    if (!unit.empty())
        text += (title.empty() ? ": " : ", ") + unit;
    return text;
}

/* Names begin with the path that was opened. QGIS looks for it in them, and shows the rest as the
   layer's name; without it QGIS shows the whole name. */
static std::string name_of(const Hierarchy &hierarchy, const zb_node *node,
                           const IndexRanges &indices, bool closed) {
    const std::string path = zb_node_path(node), &entry = hierarchy.entry;
    if (entry.empty())
        return subdataset_name(hierarchy.given, path, indices, closed);
    if (path.size() > entry.size() + 1)
        return subdataset_name(hierarchy.given, path.substr(entry.size() + 1), indices, closed);
    return subdataset_name(hierarchy.root, path, indices, closed); /* the array that was opened */
}

/* True if a node beside this one has a name that one of its slices may have, "t:1" beside "t". */
static bool has_namesakes(const zb_node *node) {
    const std::string start = std::string(zb_node_name(node)) + ":";
    NearbyNodes around(node);
    const zb_node *group = around.group_above(1);
    Children children;
    /* Without a listing nothing is known; a name that means both is an error then. */
    if (group == nullptr || children.list(group, nullptr) != ZB_OK)
        return false;
    return std::any_of(children.begin(), children.end(), [&](const zb_child &child) {
        return STARTS_WITH(child.name, start.c_str());
    });
}

/* GDAL's convention: numbered from 1, a name and a description each. */
static void add_subdataset(const std::string &name, const std::string &description, size_t number,
                           CPLStringList *list) {
    const std::string key = "SUBDATASET_" + std::to_string(number);
    list->AddString((key + "_NAME=" + name).c_str());
    list->AddString((key + "_DESC=" + description).c_str());
}

/* Item names are paths; a "=" in one would only move the beginning of the reason. */
void describe_unreadable(const Listing &listing, MetadataDomains *metadata) {
    CPLStringList list;
    for (const auto &[path, reason] : listing.unreadable) {
        CPLDebug("ZARR3", "/%s: %s", path.c_str(), reason.c_str());
        list.AddString(("/" + path + "=" + reason).c_str());
    }
    metadata->set("ZARR3_UNREADABLE", list.List());
}

void describe_listing(const Hierarchy &hierarchy, const Listing &listing, bool with_small,
                      MetadataDomains *metadata) {
    CPLStringList list;
    size_t number = 0;
    for (const auto *nodes : {&listing.rasters, &listing.helpers, &listing.small}) {
        if (nodes == &listing.small && !with_small)
            continue;
        for (const NodePtr &node : *nodes)
            add_subdataset(name_of(hierarchy, node.get(), {}, false), describe(node.get()),
                           ++number, &list);
    }
    metadata->set("SUBDATASETS", list.List());
    describe_unreadable(listing, metadata);
}

/* Where a slice lies along the extra dimensions: their coordinates, or their indices. */
static std::string place_of_slice(const zb_node *array, const Layout &layout, int slice,
                                  NearbyNodes &around) {
    std::string place = band_description(array, layout, slice, around);
    if (!place.empty())
        return place;
    const std::vector<uint64_t> index = layout.band_index(slice);
    for (size_t i = 0; i < index.size(); i++)
        place += (i > 0 ? ", " : "") + dimension_label(zb_node_array(array), layout.extra[i].dim) +
                 " " + std::to_string(index[i]);
    return place;
}

bool describe_slices(const Hierarchy &hierarchy, const NodePtr &array, const ArrayOptions &options,
                     MetadataDomains *metadata, std::string *reason) {
    NearbyNodes around(hierarchy.store, zb_node_path(array.get()));
    const zb_array_info *info = zb_node_array(array.get());
    const Pyramid pyramid = find_pyramid(array.get(), around);
    Axes axes;
    Layout layout;
    const IndexRanges first(info->ndim - 2, 0);
    if (!options.choose_axes(array.get(), around, pyramid, &axes, reason) ||
        !make_layout(info, axes, first, false, &layout, reason))
        return false;
    for (ExtraDimension &extra : layout.extra)
        extra.count = info->shape[extra.dim];
    const uint64_t slices = count_bands(info, axes);
    if (slices > kMaxBands)
        CPLError(CE_Warning, CPLE_AppDefined,
                 "array /%s: only %d of its %llu slices are listed; "
                 "\":FIRST-LAST\" after its name opens others",
                 zb_node_path(array.get()), static_cast<int>(kMaxBands),
                 static_cast<unsigned long long>(slices));
    layout.bands = static_cast<int>(std::min(slices, kMaxBands));
    const bool closed = has_namesakes(array.get());
    CPLStringList list;
    for (int slice = 0; slice < layout.bands; slice++) {
        const std::vector<uint64_t> index = layout.band_index(slice);
        add_subdataset(
            name_of(hierarchy, array.get(), IndexRanges(index.begin(), index.end()), closed),
            "/" + std::string(zb_node_path(array.get())) + " at " +
                place_of_slice(array.get(), layout, slice, around),
            static_cast<size_t>(slice) + 1, &list);
    }
    metadata->set("SUBDATASETS", list.List());
    return true;
}

} // namespace zarr3
