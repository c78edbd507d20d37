/* SPDX-License-Identifier: MIT */
/* Statistics of arrays: see array_statistics.h. */
#include "side/array_statistics.h"

#include <cstdlib>
#include <string>

#include "base/number_text.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "side/side_properties.h"

namespace zarr3 {

std::optional<ArrayStatistics> array_statistics(const CPLXMLNode *tree) {
    const CPLXMLNode *node = tree == nullptr ? nullptr : CPLGetXMLNode(tree, kArrayStatistics);
    if (node == nullptr)
        return std::nullopt;
    const auto number = [node](const char *name) {
        return CPLAtof(CPLGetXMLValue(node, name, "nan"));
    };
    return ArrayStatistics{CPLTestBool(CPLGetXMLValue(node, "ApproxStats", "NO")),
                           number("Minimum"),
                           number("Maximum"),
                           number("Mean"),
                           number("StandardDeviation"),
                           strtoull(CPLGetXMLValue(node, "ValidSampleCount", "0"), nullptr, 10)};
}

bool drop_array_statistics(CPLXMLNode *tree) {
    const bool had = array_statistics(tree).has_value();
    if (had)
        prune(tree, [](const CPLXMLNode *child) { return is_element(child, kArrayStatistics); });
    return had;
}

void set_array_statistics(XmlTree *tree, const ArrayStatistics &statistics) {
    if (*tree == nullptr)
        *tree = no_side_properties();
    drop_array_statistics(tree->get());
    CPLXMLNode *node = CPLCreateXMLNode(tree->get(), CXT_Element, kArrayStatistics);
    const auto add = [node](const char *name, const std::string &text) {
        CPLCreateXMLElementAndValue(node, name, text.c_str());
    };
    add("ApproxStats", statistics.approximate ? "1" : "0");
    add("Minimum", number_text(statistics.minimum));
    add("Maximum", number_text(statistics.maximum));
    add("Mean", number_text(statistics.mean));
    add("StandardDeviation", number_text(statistics.deviation));
    add("ValidSampleCount", std::to_string(statistics.count));
}

} // namespace zarr3
