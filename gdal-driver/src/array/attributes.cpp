/* SPDX-License-Identifier: MIT */
/*
 * Attributes are the least trustworthy part of a store: no specification binds them, every writer
 * has habits of its own, and anything can stand where a number is expected. All functions here
 * answer "not there" for whatever has another form than the one asked for, and never complain: an
 * attribute that makes no sense is the same to a raster as one that is missing.
 *
 * Numbers come out as doubles. Where all 64 bits matter (nodata), the caller asks the JSON value.
 */
#include "array/attributes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <sstream>

#include "zarrbridge/conventions.h"

namespace zarr3 {

const zb_json *attribute(const zb_node *node, const char *name) {
    return node == nullptr ? nullptr : zb_json_get(zb_node_attributes(node), name);
}

std::string attribute_text(const zb_node *node, const char *name) {
    const char *text = zb_json_string(attribute(node, name));
    return text == nullptr ? std::string() : std::string(text);
}

/* Elements of a number, or of a list of numbers (but not of lists), all of them finite. */
static std::vector<double> numbers_of(const zb_json *json) {
    zb_value value;
    std::vector<double> numbers;
    if (!zb_value_parse(json, &value))
        return numbers;
    const bool usable =
        value.kind == ZB_VALUE_NUMBERS && value.dtype.kind != ZB_KIND_BOOL && value.ndim <= 1;
    const char *element = static_cast<const char *>(value.data);
    for (size_t i = 0; usable && i < value.count; i++, element += value.dtype.size)
        numbers.push_back(zb_element_to_double(element, value.dtype));
    zb_value_clear(&value);
    const bool finite = std::all_of(numbers.begin(), numbers.end(),
                                    [](double number) { return std::isfinite(number); });
    return finite ? numbers : std::vector<double>();
}

std::optional<double> single_number(const zb_json *value) {
    const std::vector<double> numbers = numbers_of(value);
    return numbers.size() == 1 ? std::optional<double>(numbers[0]) : std::nullopt;
}

std::optional<double> attribute_number(const zb_node *node, const char *name) {
    return single_number(attribute(node, name));
}

std::vector<double> number_list(const zb_json *value, size_t count) {
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY)
        return {};
    const std::vector<double> numbers = numbers_of(value);
    return numbers.size() == count ? numbers : std::vector<double>();
}

/* Without memory what it says would pass for nothing. */
GdalExtension gdal_extension(const zb_json *attributes) {
    zb_gdal_extension *extension;
    if (zb_gdal_extension_parse(attributes, &extension, nullptr) != ZB_OK)
        throw std::bad_alloc();
    return GdalExtension(extension);
}

GdalExtension gdal_extension(const zb_node *node) {
    return gdal_extension(node == nullptr ? nullptr : zb_node_attributes(node));
}

std::string gdal_extension_json(const GdalMembers &members) {
    std::vector<zb_gdal_change> changes;
    for (unsigned i = 0; i < members.size(); i++) {
        if (!members[i].empty())
            changes.push_back({static_cast<enum zb_gdal_member>(i), members[i].c_str()});
    }
    char *text = nullptr;
    if (zb_gdal_extension_change(nullptr, changes.data(), changes.size(), &text, nullptr) != ZB_OK)
        throw std::bad_alloc();
    const CoreText owner(text);
    return text == nullptr ? std::string() : std::string(text);
}

std::string gdal_text(const zb_node *node, enum zb_gdal_member member) {
    const GdalExtension extension = gdal_extension(node);
    const char *text = zb_json_string(zb_gdal_extension_get(extension.get(), member));
    return text == nullptr ? std::string() : std::string(text);
}

std::string compact_json(const zb_json *value) {
    const CoreText text(value == nullptr ? nullptr : zb_json_print(value));
    return text == nullptr ? std::string() : text.get();
}

std::string json_text(const zb_json *value) {
    const char *string = zb_json_string(value);
    return string != nullptr ? string : compact_json(value);
}

Json parse_json(const std::string &text) {
    zb_json *parsed = nullptr;
    if (zb_json_parse(text.c_str(), text.size(), &parsed, nullptr) != ZB_OK)
        return nullptr;
    return Json(parsed);
}

std::unordered_map<std::string, const zb_json *> members_of(const zb_json *object) {
    std::unordered_map<std::string, const zb_json *> members;
    for (const zb_json *member = zb_json_first(object); member != nullptr;
         member = zb_json_next(member))
        members.emplace(zb_json_name(member), member);
    return members;
}

std::vector<std::string> words(const std::string &text) {
    std::istringstream stream(text);
    std::vector<std::string> result;
    for (std::string word; stream >> word;)
        result.push_back(word);
    return result;
}

} // namespace zarr3
