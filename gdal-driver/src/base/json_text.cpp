/* SPDX-License-Identifier: MIT */
/* The core parses and checks what is made here before it stores it. */
#include "base/json_text.h"

#include <cstdlib>
#include <new>

#include "cpl_conv.h"
#include "cpl_string.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

static std::string print(const zb_value &value) {
    char *text = zb_value_print(&value);
    if (text == nullptr)
        throw std::bad_alloc();
    const std::string json = text;
    free(text);
    return json;
}

std::string json_quote(const std::string &text) {
    std::string utf8 = text;
    if (!CPLIsUTF8(text.c_str(), -1)) {
        char *recoded = CPLRecode(text.c_str(), CPL_ENC_ISO8859_1, CPL_ENC_UTF8);
        utf8 = recoded;
        CPLFree(recoded);
    }
    char *element = utf8.data();
    zb_value value = {};
    value.kind = ZB_VALUE_TEXTS;
    value.count = 1;
    value.data = &element;
    return print(value);
}

static zb_value doubles(double *values, size_t count) {
    zb_value value = {};
    value.kind = ZB_VALUE_NUMBERS;
    value.dtype = {ZB_KIND_FLOAT, sizeof(double), false};
    value.count = count;
    value.data = values;
    return value;
}

std::string json_number(double number) {
    return print(doubles(&number, 1));
}

std::string json_numbers(std::vector<double> values) {
    zb_value value = doubles(values.data(), values.size());
    value.ndim = 1;
    value.shape[0] = values.size();
    return print(value);
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
