/* SPDX-License-Identifier: MIT */
/* Values as JSON text, for the attributes that we write. */
#ifndef ZARR3_JSON_TEXT_H
#define ZARR3_JSON_TEXT_H

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "zarrbridge/json.h"

namespace zarr3 {

/* Text that is not UTF-8 (GDAL's metadata may be anything) is taken for Latin-1. */
std::string to_utf8(const std::string &text);
std::string json_quote(const std::string &text);

/* The fewest digits that read back as the same double, with a point or an exponent; what JSON has
   no number for as a string. */
std::string json_number(double value);

std::string json_numbers(const std::vector<double> &values);

/* What `write` gives to the core's writer. */
std::string json_of(const std::function<void(zb_json_writer *)> &write);

/* Of values that are JSON text already. */
std::string json_list(const std::vector<std::string> &values);
std::string json_object(const std::vector<std::pair<std::string, std::string>> &members);

} // namespace zarr3

#endif
