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

#include <cstdlib>
#include <sstream>

namespace zarr3 {

const zb_json *attribute(const zb_node *node, const char *name) {
    return node == nullptr ? nullptr : zb_json_get(zb_node_attributes(node), name);
}

std::string attribute_text(const zb_node *node, const char *name) {
    const char *text = zb_json_string(attribute(node, name));
    return text == nullptr ? std::string() : std::string(text);
}

std::optional<double> attribute_number(const zb_node *node, const char *name) {
    const zb_json *value = attribute(node, name);
    if (zb_json_kind_of(value) == ZB_JSON_ARRAY && zb_json_count(value) == 1)
        value = zb_json_first(value);
    double number;
    if (!zb_json_double(value, &number))
        return std::nullopt;
    return number;
}

std::vector<double> number_list(const zb_json *value, size_t count) {
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) != count)
        return {};
    std::vector<double> numbers;
    for (const zb_json *item = zb_json_first(value); item != nullptr; item = zb_json_next(item)) {
        double number;
        if (!zb_json_double(item, &number))
            return {};
        numbers.push_back(number);
    }
    return numbers;
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
