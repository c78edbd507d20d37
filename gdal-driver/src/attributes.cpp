/* SPDX-License-Identifier: MIT */
/*
 * Attributes are the least trustworthy part of a store: no specification binds them, every writer
 * has habits of its own, and anything can stand where a number is expected. All functions here
 * answer "not there" for whatever has another form than the one asked for, and never complain: an
 * attribute that makes no sense is the same to a raster as one that is missing.
 *
 * Numbers come out as doubles. Where all 64 bits matter (nodata), the caller asks the JSON value.
 */
#include "attributes.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

namespace zarr3 {

/* The Zarr conventions framework: a convention is known by its UUID, else by the address of its
   schema or specification; its name means nothing. */
const char *const kProjUuid = "f17cb550-5864-4468-aeb7-f3180cfb622f";
const char *const kSpatialUuid = "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4";
const char *const kMultiscalesUuid = "d35379db-88df-4056-af3a-620245f8e347";

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

std::string json_text(const zb_json *value) {
    const char *string = zb_json_string(value);
    if (string != nullptr)
        return string;
    char *printed = value == nullptr ? nullptr : zb_json_print(value);
    if (printed == nullptr)
        return {};
    const std::string text = printed;
    free(printed);
    return text;
}

std::vector<std::string> words(const std::string &text) {
    std::istringstream stream(text);
    std::vector<std::string> result;
    for (std::string word; stream >> word;)
        result.push_back(word);
    return result;
}

/* "https://.../zarr-conventions/proj/..." names the repository "/proj/" and its early homes
   "/geo-proj/". */
static bool address_names(const zb_json *entry, const char *member, const char *repository) {
    const char *address = zb_json_string(zb_json_get(entry, member));
    if (address == nullptr || strstr(address, "zarr-") == nullptr)
        return false;
    const std::string plain = std::string("/") + repository + "/";
    const std::string early = std::string("/geo-") + repository + "/";
    return strstr(address, plain.c_str()) != nullptr || strstr(address, early.c_str()) != nullptr;
}

bool declares_convention(const zb_node *node, const char *uuid, const char *repository) {
    const zb_json *list = attribute(node, "zarr_conventions");
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY)
        return false;
    for (const zb_json *entry = zb_json_first(list); entry != nullptr;
         entry = zb_json_next(entry)) {
        const char *id = zb_json_string(zb_json_get(entry, "uuid"));
        if (id != nullptr) {
            if (strcmp(id, uuid) == 0)
                return true;
            continue;
        }
        if (address_names(entry, "schema_url", repository) ||
            address_names(entry, "spec_url", repository))
            return true;
    }
    return false;
}

bool declares_proj(const zb_node *node) {
    return declares_convention(node, kProjUuid, "proj");
}

bool declares_spatial(const zb_node *node) {
    return declares_convention(node, kSpatialUuid, "spatial");
}

bool declares_multiscales(const zb_node *node) {
    return declares_convention(node, kMultiscalesUuid, "multiscales");
}

} // namespace zarr3
