/* SPDX-License-Identifier: MIT */
/* The core parses and checks what is made here before it stores it. */
#include "base/json_text.h"

#include <cmath>

#include "base/handles.h"
#include "base/number_text.h"
#include "cpl_conv.h"
#include "cpl_string.h"

namespace zarr3 {

std::string json_quote(const std::string &text) {
    std::string utf8 = text;
    if (!CPLIsUTF8(text.c_str(), -1)) {
        const GdalText recoded(CPLRecode(text.c_str(), CPL_ENC_ISO8859_1, CPL_ENC_UTF8));
        utf8 = recoded.get();
    }
    std::string quoted = "\"";
    for (const char c : utf8) {
        if (c == '"' || c == '\\')
            quoted += std::string("\\") + c;
        else if (static_cast<unsigned char>(c) < 0x20)
            quoted += CPLSPrintf("\\u%04x", c);
        else
            quoted += c;
    }
    return quoted + "\"";
}

std::string json_number(double value) {
    if (std::isnan(value))
        return "\"NaN\"";
    if (std::isinf(value))
        return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    return number_text(value);
}

std::string json_numbers(const std::vector<double> &values) {
    std::vector<std::string> items;
    for (const double value : values)
        items.push_back(json_number(value));
    return json_list(items);
}

std::string json_list(const std::vector<std::string> &values) {
    std::string text = "[";
    for (const std::string &value : values)
        text += (text.size() > 1 ? "," : "") + value;
    return text + "]";
}

std::string json_object(const std::vector<std::pair<std::string, std::string>> &members) {
    std::string text = "{";
    for (const auto &member : members)
        text += (text.size() > 1 ? "," : "") + json_quote(member.first) + ":" + member.second;
    return text + "}";
}

} // namespace zarr3
