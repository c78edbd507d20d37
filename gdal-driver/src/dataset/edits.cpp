/* SPDX-License-Identifier: MIT */
#include "dataset/edits.h"

#include <algorithm>
#include <set>

#include "array/attributes.h"
#include "array/conventions.h"
#include "array/hdf5_side.h"
#include "array/stated_texts.h"
#include "base/json_text.h"
#include "base/name_values.h"
#include "dataset/band.h"
#include "dataset/dataset.h"

namespace zarr3 {

/* A text that is a number where there was one stays a number. */
static std::string item_json(const zb_json *before, const std::string &text) {
    const enum zb_json_kind kind = zb_json_kind_of(before);
    const bool typed = before != nullptr && kind != ZB_JSON_STRING;
    const Json parsed = typed ? parse_json(text) : nullptr;
    return parsed != nullptr && zb_json_kind_of(parsed.get()) == kind ? text : json_quote(text);
}

/* It is shown no longer, as in the store, and not told of at the next flush. */
static void refuse_item(const std::string &name, MetadataDomains *metadata) {
    CPLError(CE_Warning, CPLE_NotSupported,
             name == kHdf5Side
                 ? "metadata item %s is not stored: it is what HDF5 knows of another array; remove "
                   "it from the source, or give it another name"
                 : "metadata item %s is not stored: a convention has this name for an attribute; "
                   "set the CRS or the geotransform in place of it, or give the item another name",
             name.c_str());
    metadata->set("", name.c_str(), nullptr);
}

/* Names are not compared in GDAL's way, which makes no difference between "History" and "history":
   in the document they are two. */
Items items_of(const zb_node *node, MetadataDomains *metadata) {
    Items found;
    /* A long_name that holds the descriptions of bands is not an item. */
    const zb_json *long_name = attribute(node, "long_name");
    const bool descriptions_there =
        long_name == nullptr ? zb_node_array(node)->ndim <= 2 : !is_item(node, long_name);
    for (const auto &[name, value] : name_values(metadata->items(""))) {
        const bool taken = EQUAL(name.c_str(), "long_name") && descriptions_there;
        if (is_item_name(name) && !taken)
            found[to_utf8(name)] = value;
        else if (is_place_attribute(name) || zb_gdal_owns_attribute(name.c_str()) ||
                 name == kHdf5Side)
            refuse_item(name, metadata);
        else
            CPLDebug("ZARR3", "metadata item %s has no place in the store", name.c_str());
    }
    return found;
}

namespace {

/* The attributes of an array, and which of them are text that reads as a number. */
struct Attributes {
    explicit Attributes(const zb_node *node)
        : members(members_of(node == nullptr ? nullptr : zb_node_attributes(node))), texts(node) {
    }

    const zb_json *find(const std::string &name) const {
        const auto found = members.find(name);
        return found == members.end() ? nullptr : found->second;
    }
    bool is_text(const zb_json *member) const {
        zb_value value = {};
        const bool reads = member != nullptr && zb_value_parse(member, &value);
        const bool number = reads && value.kind == ZB_VALUE_NUMBERS && !texts.has(member, value);
        if (reads)
            zb_value_clear(&value);
        return !number;
    }

    std::unordered_map<std::string, const zb_json *> members;
    StatedTexts texts;
};

} // namespace

void collect_items(const zb_node *node, const zb_node *source, const Items &known, const Items &now,
                   AttributeChanges *changes) {
    const Attributes present(node), copied(source);
    TextStatements texts(node);
    const auto state = [&](const std::string &name, const std::string &value, bool is_text) {
        if (!texts.state(name, value, is_text))
            CPLError(CE_Warning, CPLE_NotSupported,
                     "metadata item %s is a number for other programs: the attribute %s, which "
                     "would tell that it is text, is of another program or version",
                     name.c_str(), kHdf5Side);
    };
    for (const auto &[name, value] : known) {
        if (now.count(name) != 0)
            continue;
        changes->remove(name);
        state(name, "", false);
    }
    for (const auto &[name, value] : now) {
        const auto old = known.find(name);
        if (old != known.end() && old->second == value)
            continue;
        const Attributes &types = present.find(name) != nullptr ? present : copied;
        const zb_json *before = types.find(name);
        const std::string json = item_json(before, value);
        changes->set(name, json);
        state(name, json, types.is_text(before));
    }
    texts.add_to(changes);
}

/* One value when all bands have the same, else a list; nothing where none has any. */
static void set_per_band(const char *single, const char *list,
                         const std::vector<std::string> &values, const std::string &nothing,
                         AttributeChanges *changes) {
    const bool same = std::all_of(values.begin(), values.end(),
                                  [&](const std::string &value) { return value == values[0]; });
    changes->remove(single);
    changes->remove(list);
    if (!same)
        changes->set(list, json_list(values));
    else if (values[0] != nothing)
        changes->set(single, values[0]);
}

/* A list under one name, or the one value; nothing where all bands have what goes without
   saying. */
static void set_or_remove(const char *name, const std::vector<std::string> &values, bool usual,
                          AttributeChanges *changes) {
    if (usual)
        changes->remove(name);
    else
        changes->set(name, values.size() == 1 ? values[0] : json_list(values));
}

/* A value of each band, as JSON text. */
template <class Fn> static std::vector<std::string> each_band(Zarr3Dataset *dataset, Fn fn) {
    std::vector<std::string> values;
    for (int i = 1; i <= dataset->GetRasterCount(); i++)
        values.push_back(fn(static_cast<Zarr3RasterBand *>(dataset->GetRasterBand(i))));
    return values;
}

static bool all_are(const std::vector<std::string> &values, const char *value) {
    return std::all_of(values.begin(), values.end(),
                       [&](const std::string &item) { return item == value; });
}

static void collect_colours(Zarr3Dataset *raster, AttributeChanges *changes) {
    bool usual = true;
    const auto values = each_band(raster, [&](auto *band) {
        const GDALColorInterp colour = band->told_colour();
        usual = usual &&
                colour == default_colour(raster->node(), raster->layout(), band->GetBand() - 1);
        return json_quote(GDALGetColorInterpretationName(colour));
    });
    set_or_remove("COLOR_INTERPRETATION", values, usual, changes);
}

/* Members that cannot be items stay. Of items of one name the first counts, as in GDAL. */
static std::string band_items_json(const zb_json *before, CSLConstList items) {
    const auto present = members_of(before);
    std::vector<std::pair<std::string, std::string>> members;
    std::set<std::string> names;
    for (const auto &[item, value] : name_values(items)) {
        const std::string name = to_utf8(item);
        const auto old = present.find(name);
        if (names.insert(name).second)
            members.emplace_back(name,
                                 item_json(old == present.end() ? nullptr : old->second, value));
    }
    for (const auto &[name, value] : present) {
        if (!can_name_item(name))
            members.emplace_back(name, compact_json(value));
    }
    return json_object(members);
}

static void collect_band_items(Zarr3Dataset *raster, AttributeChanges *changes) {
    const auto values = each_band(raster, [raster](auto *band) {
        return band_items_json(raster->band_item("band_metadata", band->GetBand() - 1),
                               band->own_metadata().List());
    });
    if (all_are(values, "{}"))
        changes->remove("band_metadata");
    else
        changes->set("band_metadata", json_list(values));
}

void collect_bands(Zarr3Dataset *raster, AttributeChanges *changes) {
    const Edits &edits = raster->edits;
    if (edits.descriptions) {
        const auto values =
            each_band(raster, [](auto *band) { return json_quote(band->own_description()); });
        set_or_remove("long_name", values, all_are(values, "\"\""), changes);
    }
    if (edits.units)
        set_per_band("units", "units",
                     each_band(raster, [](auto *band) { return json_quote(band->GetUnitType()); }),
                     "\"\"", changes);
    if (edits.scales) {
        set_per_band("scale_factor", "scales",
                     each_band(raster, [](auto *band) { return json_number(band->GetScale()); }),
                     json_number(1), changes);
        set_per_band("add_offset", "offsets",
                     each_band(raster, [](auto *band) { return json_number(band->GetOffset()); }),
                     json_number(0), changes);
    }
    if (edits.band_nodata) {
        const auto values = each_band(raster, [raster](auto *band) {
            const NoData nodata = band->nodata();
            return nodata.kind == NoData::None ? "null" : nodata_json(nodata, raster->node());
        });
        changes->set("_FillValues", json_list(values));
    }
    if (edits.colours)
        collect_colours(raster, changes);
    if (edits.band_metadata)
        collect_band_items(raster, changes);
}

} // namespace zarr3
