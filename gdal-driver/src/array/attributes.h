/* SPDX-License-Identifier: MIT */
/* Looking into a node's attributes. All functions accept NULL nodes and values. */
#ifndef ZARR3_ATTRIBUTES_H
#define ZARR3_ATTRIBUTES_H

#include <optional>
#include <string>
#include <vector>

#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

const zb_json *attribute(const zb_node *node, const char *name);

/* The string attribute, or "". */
std::string attribute_text(const zb_node *node, const char *name);

/* The attribute as a finite number; a list of one number counts as that number. */
std::optional<double> attribute_number(const zb_node *node, const char *name);

/* A list of exactly `count` finite numbers, or an empty vector. */
std::vector<double> number_list(const zb_json *value, size_t count);

/* Strings as they are, everything else as compact JSON. */
std::string json_text(const zb_json *value);

/* Splits at white space. */
std::vector<std::string> words(const std::string &text);

} // namespace zarr3

#endif
