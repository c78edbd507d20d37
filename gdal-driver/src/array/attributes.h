/* SPDX-License-Identifier: MIT */
/* Looking into a node's attributes. All functions accept NULL nodes and values. */
#ifndef ZARR3_ATTRIBUTES_H
#define ZARR3_ATTRIBUTES_H

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/handles.h"
#include "zarrbridge/multiscales.h"

namespace zarr3 {

/* The attribute of what GDAL alone knows of an array: a string (side/side_properties.h). */
constexpr char kSideProperties[] = "zarrbridge:gdal";

const zb_json *attribute(const zb_node *node, const char *name);

/* The attribute of a raster that names the array beside it which is its mask. */
constexpr char kMask[] = ZB_MASK_ATTRIBUTE;

/* The string attribute, or "". */
std::string attribute_text(const zb_node *node, const char *name);

/* The attribute as a finite number; a list of one number counts as that number. */
std::optional<double> attribute_number(const zb_node *node, const char *name);

/* A list of exactly `count` finite numbers, or an empty vector. */
std::vector<double> number_list(const zb_json *value, size_t count);

/* Compact JSON text, the same for all spellings of one value; "" for none. */
std::string compact_json(const zb_json *value);

/* Strings as they are, everything else as compact JSON. */
std::string json_text(const zb_json *value);

/* Null when the text is not JSON. */
Json parse_json(const std::string &text);

/* The members of an object by their names, for many look-ups. They live as long as the object. */
std::unordered_map<std::string, const zb_json *> members_of(const zb_json *object);

/* Splits at white space. */
std::vector<std::string> words(const std::string &text);

} // namespace zarr3

#endif
