/* SPDX-License-Identifier: MIT */
/* Looking into a node's attributes. All functions accept NULL nodes and values. */
#ifndef ZARR3_ATTRIBUTES_H
#define ZARR3_ATTRIBUTES_H

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/handles.h"
#include "zarrbridge/gdal_extension.h"
#include "zarrbridge/multiscales.h"

namespace zarr3 {

const zb_json *attribute(const zb_node *node, const char *name);

/* The string attribute, or "". */
std::string attribute_text(const zb_node *node, const char *name);

/* A value, or the attribute, as a finite number; a list of one number counts as that number. */
std::optional<double> single_number(const zb_json *value);
std::optional<double> attribute_number(const zb_node *node, const char *name);

/* A list of exactly `count` finite numbers, or an empty vector. */
std::vector<double> number_list(const zb_json *value, size_t count);

/* The GDAL extension (zarrbridge/gdal_extension.h) of a node, or of attributes; null: none. */
using GdalExtension = std::unique_ptr<zb_gdal_extension, Release<zb_gdal_extension_free>>;
GdalExtension gdal_extension(const zb_json *attributes);
GdalExtension gdal_extension(const zb_node *node);

/* Members of an extension as JSON, in the order of the table; "" for one that is not there. The
   attribute's value with them alone, "" for none of them. */
using GdalMembers = std::array<std::string, ZB_GDAL_MEMBERS>;
std::string gdal_extension_json(const GdalMembers &members);

/* A member of a node's that is a text, or "". */
std::string gdal_text(const zb_node *node, enum zb_gdal_member member);

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
