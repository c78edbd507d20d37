/* SPDX-License-Identifier: MIT */
/*
 * From what a program sets to the attributes of the array.
 *
 * Setters only change the dataset in memory. The store follows when the dataset is flushed or
 * closed: programs set a dozen properties one after the other, and each change of an attribute
 * rewrites a document. What goes wrong then is reported by FlushCache() or Close().
 *
 * The fill value is the exception (fresh_array.cpp): blocks that are read and pixels that are
 * written first have a new array settled.
 */
#include <algorithm>
#include <cerrno>

#include "array/attributes.h"
#include "base/errors.h"
#include "base/json_text.h"
#include "base/name_values.h"
#include "dataset/band.h"
#include "dataset/dataset.h"
#include "store/open_store.h"

#include "zarrbridge/change.h"

using namespace zarr3;

/* ---- Setters ---- */

CPLErr Zarr3Dataset::SetGeoTransform(GeoTransformIn transform) {
    if (!updates())
        return GDALPamDataset::SetGeoTransform(transform);
    GeoTransform given;
    for (int i = 0; i < 6; i++)
        given[static_cast<size_t>(i)] = transform[i];
    return place_at(given);
}

/* GDAL's word for "no geotransform" is the identity. */
CPLErr Zarr3Dataset::place_at(const GeoTransform &transform) {
    std::optional<GeoTransform> &known = place().transform;
    const GeoTransform identity = {0, 1, 0, 0, 0, 1};
    if (transform != identity && !is_usable(transform)) {
        CPLError(CE_Failure, CPLE_IllegalArg, "a geotransform that cannot be inverted");
        return CE_Failure;
    }
    known.reset();
    if (transform != identity)
        known = transform;
    edits.place = edits.transform = true;
    return CE_None;
}

CPLErr Zarr3Dataset::SetSpatialRef(const OGRSpatialReference *srs) {
    if (!updates())
        return GDALPamDataset::SetSpatialRef(srs);
    std::optional<OGRSpatialReference> &known = place().srs;
    known.reset();
    if (srs != nullptr && !srs->IsEmpty())
        known = *srs;
    edits.place = true;
    return CE_None;
}

static bool is_default(const char *domain) {
    return domain == nullptr || domain[0] == '\0';
}

CPLErr Zarr3Dataset::SetMetadata(MetadataList items, const char *domain) {
    if (!updates() || !is_default(domain))
        return GDALPamDataset::SetMetadata(items, domain);
    metadata().set("", items);
    edits.metadata = true;
    return GDALPamDataset::SetMetadata(nullptr, domain);
}

CPLErr Zarr3Dataset::SetMetadataItem(const char *name, const char *value, const char *domain) {
    if (!updates() || !is_default(domain))
        return GDALPamDataset::SetMetadataItem(name, value, domain);
    metadata().set("", name, value);
    edits.metadata = true;
    /* An older value in the sidecar would win. */
    if (GDALPamDataset::GetMetadataItem(name, domain) != nullptr)
        return GDALPamDataset::SetMetadataItem(name, nullptr, domain);
    return CE_None;
}

bool Zarr3Dataset::may_edit_bands() const {
    if (pinned_.empty() || count_bands(zb_node_array(node()), layout_.axes) == 1)
        return true;
    CPLError(CE_Failure, CPLE_NotSupported,
             "array /%s: this is a slice; properties of bands can be changed where the whole "
             "array is open",
             zb_node_path(node()));
    return false;
}

/* One for all bands, as the array has it. */
CPLErr Zarr3Dataset::set_nodata(const NoData &nodata, const char *text, int band) {
    if (nodata.kind == NoData::None) {
        char name[24];
        CPLError(CE_Failure, CPLE_NotSupported, "array /%s: %s is no value of the type %s",
                 zb_node_path(node()), text, zb_dtype_name(pixel_dtype(node()), name));
        return CE_Failure;
    }
    if (edits.nodata && nodata_band_ != band && nodata_.kind != NoData::None &&
        nodata_json(nodata_, node()) != nodata_json(nodata, node()))
        CPLError(CE_Warning, CPLE_AppDefined,
                 "array /%s has one nodata value for all bands: %s replaces what was set for band "
                 "%d",
                 zb_node_path(node()), text, nodata_band_);
    if (!empty_fresh_cache())
        return CE_Failure;
    nodata_ = nodata;
    nodata_band_ = band;
    edits.nodata = true;
    return CE_None;
}

/* Blocks of a new array that have been read hold its old fill value. Writing those that a program
   has changed makes the array an old one. */
bool Zarr3Dataset::empty_fresh_cache() {
    for (int i = 1; fresh_.is_fresh() && i <= nBands; i++) {
        if (GetRasterBand(i)->FlushCache(false) != CE_None)
            return false;
    }
    return true;
}

CPLErr Zarr3Dataset::delete_nodata() {
    if (!empty_fresh_cache())
        return CE_Failure;
    nodata_ = NoData();
    edits.nodata = true;
    return CE_None;
}

/* ---- The fill value of a new array ---- */

enum zb_code Zarr3Dataset::settle_fresh(zb_error *err) {
    return fresh_.is_fresh() ? fresh_.settle(hierarchy_.store.get(), &array_, nodata_, place(), err)
                             : ZB_OK;
}

enum zb_code Zarr3Dataset::prepare_read(zb_error *err) {
    return fresh_.has_stale_fill(nodata_) ? settle_fresh(err) : ZB_OK;
}

bool Zarr3Dataset::prepare_first_write() {
    (masked_ != nullptr ? masked_ : this)->forget_statistics();
    wrote_ = true;
    return keep_array();
}

bool Zarr3Dataset::keep_array() {
    fresh_.show();
    if (!fresh_.is_fresh())
        return true;
    zb_error err;
    if (settle_fresh(&err) == ZB_OK) {
        fresh_.end();
        return true;
    }
    report(err);
    return false;
}

/* ---- Collecting ---- */

/* A text that is a number where there was one stays a number. */
static std::string item_json(const zb_json *before, const std::string &text) {
    const enum zb_json_kind kind = zb_json_kind_of(before);
    const bool typed = before != nullptr && kind != ZB_JSON_STRING;
    const Json parsed = typed ? parse_json(text) : nullptr;
    return parsed != nullptr && zb_json_kind_of(parsed.get()) == kind ? text : json_quote(text);
}

/* Names are not compared in GDAL's way, which makes no difference between "History" and "history":
   in the document they are two. */
Zarr3Dataset::Items Zarr3Dataset::items() {
    Items found;
    /* A long_name that holds the descriptions of bands is not an item. */
    const zb_json *long_name = attribute(node(), "long_name");
    const bool descriptions_there =
        long_name == nullptr ? zb_node_array(node())->ndim <= 2 : !is_item(node(), long_name);
    for (const auto &[name, value] : name_values(metadata().items(""))) {
        const bool taken = EQUAL(name.c_str(), "long_name") && descriptions_there;
        if (is_item_name(name) && !taken)
            found[name] = value;
        else
            CPLDebug("ZARR3", "metadata item %s has no place in the store", name.c_str());
    }
    return found;
}

/* Items that other programs have written since this dataset saw them stay. */
void Zarr3Dataset::collect_metadata(const Items &now, AttributeChanges *changes) const {
    const auto present = members_of(zb_node_attributes(node()));
    for (const auto &[name, value] : known_items_) {
        if (now.count(name) == 0)
            changes->remove(name);
    }
    for (const auto &[name, value] : now) {
        const auto known = known_items_.find(name);
        const auto before = present.find(name);
        if (known == known_items_.end() || known->second != value)
            changes->set(name,
                         item_json(before == present.end() ? nullptr : before->second, value));
    }
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

/* Only what has been edited: an array may have 65536 bands. */
void Zarr3Dataset::collect_bands(AttributeChanges *changes) {
    const auto all_are = [](const std::vector<std::string> &values, const char *value) {
        return std::all_of(values.begin(), values.end(),
                           [&](const std::string &item) { return item == value; });
    };
    if (edits.descriptions) {
        const auto values =
            each_band(this, [](auto *band) { return json_quote(band->own_description()); });
        set_or_remove("long_name", values, all_are(values, "\"\""), changes);
    }
    if (edits.units)
        set_per_band("units", "units",
                     each_band(this, [](auto *band) { return json_quote(band->GetUnitType()); }),
                     "\"\"", changes);
    if (edits.scales) {
        set_per_band("scale_factor", "scales",
                     each_band(this, [](auto *band) { return json_number(band->GetScale()); }),
                     json_number(1), changes);
        set_per_band("add_offset", "offsets",
                     each_band(this, [](auto *band) { return json_number(band->GetOffset()); }),
                     json_number(0), changes);
    }
    if (edits.colours) {
        bool usual = true;
        const auto values = each_band(this, [&](auto *band) {
            const GDALColorInterp colour = band->GetColorInterpretation();
            usual = usual && colour == default_colour(node(), layout_, band->GetBand() - 1);
            return json_quote(GDALGetColorInterpretationName(colour));
        });
        set_or_remove("COLOR_INTERPRETATION", values, usual, changes);
    }
    if (edits.band_metadata) {
        const auto values = each_band(this, [](auto *band) {
            std::vector<std::pair<std::string, std::string>> members;
            for (const auto &[name, value] : name_values(band->own_metadata().List()))
                members.emplace_back(name, json_quote(value));
            return json_object(members);
        });
        if (all_are(values, "{}"))
            changes->remove("band_metadata");
        else
            changes->set("band_metadata", json_list(values));
    }
}

/* ---- Writing ---- */

enum zb_code Zarr3Dataset::commit(zb_error *err) {
    enum zb_code code = settle_fresh(err);
    AttributeChanges changes;
    if (code == ZB_OK && edits.place)
        code = write_changed_georeference(array_.shared_node(), layout_, place(), edits.transform,
                                          &changes, err);
    if (code != ZB_OK)
        return code;
    const Items now = items();
    if (edits.metadata)
        collect_metadata(now, &changes);
    collect_bands(&changes);
    if (edits.side_properties)
        collect_side_properties(&changes);
    if (edits.nodata)
        change_nodata(nodata_, node(), &changes);
    code = array_.change_attributes(changes, err);
    if (code == ZB_OK)
        code = update_levels(err);
    if (code != ZB_OK)
        return code;
    if (edits.side_properties)
        update_sidecar();
    edits = Edits();
    known_items_ = now;
    metadata().set("json:zarr.json", nullptr);
    return ZB_OK;
}

CPLErr Zarr3Dataset::FlushCache(bool at_closing) {
    CPLErr result = GDALPamDataset::FlushCache(at_closing);
    fresh_.show();
    if (!updates())
        return result;
    if (mask_ != nullptr && mask_->FlushCache(at_closing) != CE_None)
        result = CE_Failure;
    zb_error err;
    if (edits.any() && commit(&err) != ZB_OK) {
        report(err);
        result = CE_Failure;
    }
    if (array_.flush(&err) != ZB_OK) {
        report(err);
        result = CE_Failure;
    }
    return flush_levels(at_closing) ? result : CE_Failure;
}

void Zarr3Dataset::forget() {
    if (mask_ != nullptr)
        mask_->forget();
    for (const auto &level : levels_)
        level->forget();
    array_.abandon();
    overviews_at_close_.clear();
    fresh_.show();
    completes_ = false;
    edits = Edits();
    nPamFlags &= ~GPF_DIRTY;
}

/* A failure at the end is reported once; what could not be written is lost. */
CPLErr Zarr3Dataset::Close(ZARR3_CLOSE_PARAMETERS) {
    CPLErr result = CE_None;
    if (nOpenFlags != OPEN_FLAGS_CLOSED) {
        if (make_last_overviews() != CE_None)
            result = CE_Failure;
        if (FlushCache(true) != CE_None)
            result = CE_Failure;
        if (completes_ && complete(hierarchy_.store.get(), consolidate_) != CE_None)
            result = CE_Failure;
        if (updates())
            forget();
        overviews_.clear();
        levels_.clear();
        mask_.reset();
        if (GDALPamDataset::Close(ZARR3_CLOSE_ARGUMENTS) != CE_None)
            result = CE_Failure;
    }
    return result;
}
