/* SPDX-License-Identifier: MIT */
/*
 * Entries and members that are not ours to change stay word for word. An entry that is put gets its
 * scale, its shape and its place anew, for these follow from the raster; what else it says stays.
 */
#include "raster/pyramid_layout.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "array/attributes.h"
#include "array/conventions.h"
#include "base/json_text.h"

namespace zarr3 {

using Members = std::vector<std::pair<std::string, std::string>>; /* names, JSON text */

static const zb_json *list_of(const zb_node *group) {
    const zb_json *list = zb_json_get(attribute(group, "multiscales"), "layout");
    return zb_json_kind_of(list) == ZB_JSON_ARRAY ? list : nullptr;
}

bool may_have_layout(const zb_node *group) {
    if (attribute(group, "multiscales") == nullptr)
        return true;
    NearbyNodes around(group);
    return list_of(group) != nullptr && follows(group, kMultiscales, around);
}

/* Strings in quotes, unlike json_text(). */
static std::string value_text(const zb_json *value) {
    const char *text = zb_json_string(value);
    return text != nullptr ? json_quote(text) : json_text(value);
}

/* The members of an object but for some. */
static Members other_members(const zb_json *object, const std::vector<const char *> &without) {
    Members members;
    if (zb_json_kind_of(object) != ZB_JSON_OBJECT)
        return members;
    for (const zb_json *member = zb_json_first(object); member != nullptr;
         member = zb_json_next(member)) {
        const char *name = zb_json_name(member);
        if (std::none_of(without.begin(), without.end(),
                         [name](const char *one) { return strcmp(name, one) == 0; }))
            members.emplace_back(name, value_text(member));
    }
    return members;
}

/* Elements are at the centres of pixels: the first one of a coarser level lies between those of the
   finer level that it covers. */
static std::string relative_place(const std::vector<double> &scale) {
    std::vector<double> shift;
    for (const double factor : scale)
        shift.push_back((factor - 1) / 2);
    return json_object({{"scale", json_numbers(scale)}, {"translation", json_numbers(shift)}});
}

static std::string text_of(const LayoutEntry &entry, const zb_json *before) {
    std::vector<const char *> without = {"asset", "derived_from", "transform", "spatial:shape",
                                         "spatial:transform"};
    if (!entry.method.empty())
        without.push_back("resampling_method");
    Members members = {{"asset", json_quote(entry.asset)}};
    if (!entry.derived_from.empty())
        members.emplace_back("derived_from", json_quote(entry.derived_from));
    members.emplace_back("transform", relative_place(entry.scale));
    if (!entry.method.empty())
        members.emplace_back("resampling_method", json_quote(entry.method));
    members.emplace_back("spatial:shape", "[" + std::to_string(entry.height) + "," +
                                              std::to_string(entry.width) + "]");
    if (entry.transform)
        members.emplace_back("spatial:transform",
                             json_numbers({entry.transform->begin(), entry.transform->end()}));
    for (const auto &member : other_members(before, without))
        members.push_back(member);
    return json_object(members);
}

static std::string asset_of(const zb_json *entry) {
    return json_text(zb_json_get(entry, "asset"));
}

static void set_list(const zb_node *group, const std::vector<std::string> &list,
                     AttributeChanges *changes) {
    std::vector<std::string> declared = other_declarations(group, {&kMultiscales});
    if (list.empty()) {
        changes->remove("multiscales");
    } else {
        Members members = {{"layout", json_list(list)}};
        for (const auto &member : other_members(attribute(group, "multiscales"), {"layout"}))
            members.push_back(member);
        changes->set("multiscales", json_object(members));
        declared.push_back(declaration(kMultiscales, "zarr-conventions/multiscales", "multiscales",
                                       "Multiscale layout of zarr datasets"));
    }
    if (declared.empty())
        changes->remove("zarr_conventions");
    else
        changes->set("zarr_conventions", json_list(declared));
}

static double product_of(const std::vector<double> &factors) {
    return std::accumulate(factors.begin(), factors.end(), 1.0, std::multiplies<>());
}

static std::string source_of(const zb_json *entry) {
    return json_text(zb_json_get(entry, "derived_from"));
}

/* How much coarser than its source an entry is; 0 where it does not say. */
static double factor_of(const zb_json *entry, size_t ndim) {
    const zb_json *scale = zb_json_get(zb_json_get(entry, "transform"), "scale");
    const std::vector<double> factors = number_list(scale, ndim);
    return factors.empty() ? 0 : product_of(factors);
}

/* How much coarser than the finest level each entry is; 0 for others, and where the list does not
   say. A level may be made of one that is made of another one: the factors of all count. */
static std::vector<double> coarseness(const std::vector<std::string> &list,
                                      const std::string &finest, size_t ndim) {
    static constexpr int kLongestChain = 64; /* as many halves are left of no size; ends circles */
    std::vector<std::string> assets;
    std::unordered_map<std::string, std::pair<std::string, double>> steps;
    for (const std::string &text : list) {
        const Json entry = parse_json(text);
        assets.push_back(asset_of(entry.get()));
        steps.try_emplace(assets.back(), source_of(entry.get()), factor_of(entry.get(), ndim));
    }
    std::vector<double> result;
    for (std::string asset : assets) {
        double product = 1;
        for (int n = 0; n < kLongestChain && asset != finest && product > 0; n++) {
            const auto step = steps.find(asset);
            product *= step == steps.end() ? 0 : step->second.second;
            asset = step == steps.end() ? std::string() : step->second.first;
        }
        result.push_back(asset == finest ? product : 0);
    }
    return result;
}

/* Readers go by the order of the list: the last level is the coarsest. */
static void insert_by_size(const LayoutEntry &entry, const std::string &text,
                           std::vector<std::string> *list) {
    size_t place = list->size();
    if (!entry.derived_from.empty()) {
        const std::vector<double> sizes = coarseness(*list, entry.derived_from, entry.scale.size());
        const double own = product_of(entry.scale);
        const auto coarser =
            std::find_if(sizes.begin(), sizes.end(), [own](double other) { return other > own; });
        place = static_cast<size_t>(coarser - sizes.begin());
    }
    list->insert(list->begin() + static_cast<std::ptrdiff_t>(place), text);
}

/* True if the entry stands where a level of another size did. */
static bool changes_size(const LayoutEntry &entry, const zb_json *before) {
    return !entry.derived_from.empty() &&
           (source_of(before) != entry.derived_from ||
            factor_of(before, entry.scale.size()) != product_of(entry.scale));
}

void put_into_layout(const zb_node *group, const std::vector<LayoutEntry> &entries,
                     AttributeChanges *changes) {
    std::vector<std::string> list, known;
    std::vector<std::pair<const LayoutEntry *, std::string>> inserted;
    for (const zb_json *item = zb_json_first(list_of(group)); item != nullptr;
         item = zb_json_next(item)) {
        const auto entry =
            std::find_if(entries.begin(), entries.end(),
                         [item](const LayoutEntry &one) { return one.asset == asset_of(item); });
        known.push_back(asset_of(item));
        if (entry == entries.end())
            list.push_back(json_text(item));
        else if (changes_size(*entry, item))
            inserted.emplace_back(&*entry, text_of(*entry, item));
        else
            list.push_back(text_of(*entry, item));
    }
    for (const LayoutEntry &entry : entries) {
        if (std::find(known.begin(), known.end(), entry.asset) == known.end())
            inserted.emplace_back(&entry, text_of(entry, nullptr));
    }
    for (const auto &[entry, text] : inserted)
        insert_by_size(*entry, text, &list);
    set_list(group, list, changes);
}

void take_out_of_layout(const zb_node *group, const std::vector<std::string> &assets,
                        bool finest_stays, AttributeChanges *changes) {
    std::vector<std::string> list, sources, finest;
    const auto is_in = [](const std::vector<std::string> &names, const std::string &name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    const zb_json *first = zb_json_first(list_of(group));
    for (const zb_json *item = first; item != nullptr; item = zb_json_next(item)) {
        const std::string source = source_of(item);
        (is_in(assets, asset_of(item)) ? finest : sources).push_back(source);
    }
    for (const zb_json *item = first; item != nullptr; item = zb_json_next(item)) {
        const std::string asset = asset_of(item);
        const bool is_alone = !finest_stays && is_in(finest, asset) && !is_in(sources, asset);
        if (!is_in(assets, asset) && !is_alone)
            list.push_back(json_text(item));
    }
    set_list(group, list, changes);
}

} // namespace zarr3
