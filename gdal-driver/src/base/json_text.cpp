/* SPDX-License-Identifier: MIT */
/* The core parses and checks what is made here before it stores it. */
#include "base/json_text.h"

#include <new>

#include "base/handles.h"
#include "base/number_text.h"
#include "cpl_conv.h"
#include "cpl_string.h"

namespace zarr3 {

std::string json_of(const std::function<void(zb_json_writer *)> &write) {
    zb_json_writer *writer = zb_json_writer_new();
    write(writer);
    const CoreText text(zb_json_writer_end(writer, nullptr));
    if (!text)
        throw std::bad_alloc();
    return text.get();
}

std::string to_utf8(const std::string &text) {
    if (CPLIsUTF8(text.c_str(), -1))
        return text;
    const GdalText recoded(CPLRecode(text.c_str(), CPL_ENC_ISO8859_1, CPL_ENC_UTF8));
    return recoded.get();
}

std::string json_quote(const std::string &text) {
    const std::string utf8 = to_utf8(text);
    return json_of([&](zb_json_writer *writer) { zb_json_write_string(writer, utf8.c_str()); });
}

std::string json_number(double value) {
    return json_of([&](zb_json_writer *writer) { zb_json_write_double(writer, value); });
}

std::string json_numbers(const std::vector<double> &values) {
    return json_of([&](zb_json_writer *writer) {
        zb_json_begin_array(writer);
        for (const double value : values)
            zb_json_write_double(writer, value);
        zb_json_end_array(writer);
    });
}

std::string json_list(const std::vector<std::string> &values) {
    return json_of([&](zb_json_writer *writer) {
        zb_json_begin_array(writer);
        for (const std::string &value : values)
            zb_json_write_raw(writer, value.c_str());
        zb_json_end_array(writer);
    });
}

std::string json_object(const std::vector<std::pair<std::string, std::string>> &members) {
    std::vector<std::string> names;
    for (const auto &member : members)
        names.push_back(to_utf8(member.first));
    return json_of([&](zb_json_writer *writer) {
        zb_json_begin_object(writer);
        for (size_t i = 0; i < members.size(); i++) {
            zb_json_write_name(writer, names[i].c_str());
            zb_json_write_raw(writer, members[i].second.c_str());
        }
        zb_json_end_object(writer);
    });
}

} // namespace zarr3
