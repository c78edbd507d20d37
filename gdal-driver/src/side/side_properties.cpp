/* SPDX-License-Identifier: MIT */
/*
 * The trees come from strangers. They are read by GDAL's own parser, as sidecar files are, and only
 * after everything has been cut off that could contradict the store or stand for something else: a
 * list of subdatasets, say, or a CRS.
 */
#include "side/side_properties.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>

#include "array/attributes.h"
#include "base/handles.h"
#include "base/json_text.h"
#include "base/name_values.h"
#include "base/number_text.h"
#include "cpl_conv.h"
#include "cpl_error.h"
#include "cpl_string.h"

namespace zarr3 {

bool is_own_domain(const char *domain) {
    static constexpr const char *kOthers[] = {
        "IMAGE_STRUCTURE", "SUBDATASETS",      "DERIVED_SUBDATASETS",
        "GROUP",           "ZARR3_UNREADABLE", "json:zarr.json",
        "xml:VRT",         "vrt_sources",      "new_vrt_sources",
        "LocationInfo",
    };
    return domain != nullptr && *domain != '\0' &&
           std::none_of(std::begin(kOthers), std::end(kOthers),
                        [&](const char *other) { return EQUAL(domain, other); });
}

static bool is_default_metadata(const CPLXMLNode *node) {
    return is_element(node, "Metadata") && *CPLGetXMLValue(node, "domain", "") == '\0';
}

bool is_statistic(const char *item) {
    return item != nullptr && STARTS_WITH_CI(item, "STATISTICS_");
}

static bool is_statistic(const CPLXMLNode *item) {
    return is_element(item, "MDI") && is_statistic(CPLGetXMLValue(item, "key", ""));
}

bool is_band(const CPLXMLNode *node) {
    return is_element(node, "PAMRasterBand");
}

/* An element of a dataset, or of a band, that is a side property as a whole. */
static bool is_side_property(const CPLXMLNode *node, bool of_band) {
    if (is_element(node, "Metadata"))
        return is_own_domain(CPLGetXMLValue(node, "domain", ""));
    if (!of_band)
        return is_element(node, "GCPList") || is_element(node, kArrayStatistics);
    return is_element(node, "Histograms") || is_element(node, "CategoryNames") ||
           is_element(node, "ColorTable") || is_element(node, "GDALRasterAttributeTable");
}

static void keep_of(CPLXMLNode *parent, bool of_band, bool others) {
    prune(parent, [&](CPLXMLNode *child) {
        if (child->eType != CXT_Element)
            return false;
        if (!of_band && is_band(child)) {
            keep_of(child, true, others);
            return !has_content(child);
        }
        if (of_band &&
            is_default_metadata(child)) { /* the other items are attributes of their own */
            prune(child, [&](const CPLXMLNode *item) {
                return item->eType == CXT_Element && is_statistic(item) == others;
            });
            return !has_content(child);
        }
        return is_side_property(child, of_band) == others;
    });
}

XmlTree no_side_properties() {
    return XmlTree(CPLCreateXMLNode(nullptr, CXT_Element, "PAMDataset"));
}

void keep_side_properties(CPLXMLNode *tree, bool others) {
    keep_of(tree, false, others);
}

XmlTree parse_side_properties(const std::string &text) {
    const CPLErrorStateBackuper state;
    const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
    XmlTree parsed(text.empty() ? nullptr : CPLParseXMLString(text.c_str()));
    const CPLXMLNode *root =
        parsed == nullptr ? nullptr : CPLGetXMLNode(parsed.get(), "=PAMDataset");
    if (root == nullptr)
        return XmlTree(nullptr);
    XmlTree tree = no_side_properties();
    tree->psChild = root->psChild == nullptr ? nullptr : CPLCloneXMLTree(root->psChild);
    keep_side_properties(tree.get(), false);
    return tree;
}

XmlTree side_properties_of(const zb_node *array) {
    return parse_side_properties(gdal_text(array, ZB_GDAL_PAM));
}

void change_side_properties(AttributeChanges *changes, const std::function<bool(XmlTree *)> &fn) {
    changes->derive(ZB_GDAL_PAM, [fn](const zb_json *now) {
        const char *stored = zb_json_string(now);
        XmlTree tree = parse_side_properties(stored == nullptr ? "" : stored);
        if (!fn(&tree))
            return compact_json(now);
        const std::string text = side_properties_text(tree.get());
        return text.empty() ? text : json_quote(text);
    });
}

static void write_points(CPLXMLNode *tree, const GDAL_GCP *points, int count) {
    CPLXMLNode *list = CPLGetXMLNode(tree, "GCPList");
    CPLXMLNode *child = list == nullptr ? nullptr : list->psChild;
    for (int i = 0; child != nullptr && i < count; child = child->psNext) {
        if (!is_element(child, "GCP"))
            continue;
        const GDAL_GCP &point = points[i++];
        CPLSetXMLValue(child, "#Pixel", number_text(point.dfGCPPixel).c_str());
        CPLSetXMLValue(child, "#Line", number_text(point.dfGCPLine).c_str());
        CPLSetXMLValue(child, "#X", number_text(point.dfGCPX).c_str());
        CPLSetXMLValue(child, "#Y", number_text(point.dfGCPY).c_str());
        if (point.dfGCPZ != 0)
            CPLSetXMLValue(child, "#Z", number_text(point.dfGCPZ).c_str());
    }
}

uint64_t band_of(const CPLXMLNode *node) {
    return strtoull(CPLGetXMLValue(node, "band", "0"), nullptr, 10);
}

bool is_item_list(const CPLXMLNode *node) {
    return is_element(node, "Metadata") &&
           (is_default_metadata(node) || is_own_domain(CPLGetXMLValue(node, "domain", ""))) &&
           CPLGetXMLValue(node, "format", nullptr) == nullptr;
}

/* visit(object, list) for the item lists of a dataset and of its bands. */
template <class Node, class Visit>
static void each_item_list(Node *tree, GDALDataset *dataset, const Visit &visit) {
    for (Node *child = tree->psChild; child != nullptr; child = child->psNext) {
        if (is_item_list(child))
            visit(static_cast<GDALMajorObject *>(dataset), child);
        const uint64_t number = is_band(child) ? band_of(child) : 0;
        if (number < 1 || number > static_cast<uint64_t>(dataset->GetRasterCount()))
            continue;
        GDALRasterBand *band = dataset->GetRasterBand(static_cast<int>(number));
        for (Node *part = child->psChild; part != nullptr; part = part->psNext) {
            if (is_item_list(part))
                visit(static_cast<GDALMajorObject *>(band), part);
        }
    }
}

static void write_items(GDALMajorObject *object, CPLXMLNode *list) {
    const char *domain = CPLGetXMLValue(list, "domain", "");
    prune(list, [](const CPLXMLNode *item) { return is_element(item, "MDI"); });
    CPLXMLNode *last = nullptr;
    /* Those that GDAL keeps, without what is derived from the store. */
    for (const auto &[name, value] : name_values(object->GDALMajorObject::GetMetadata(domain))) {
        CPLXMLNode *item =
            append(list, &last, CPLCreateXMLElementAndValue(nullptr, "MDI", value.c_str()));
        CPLAddXMLAttributeAndValue(item, "key", name.c_str());
        if (value.empty() || isspace(static_cast<unsigned char>(value[0])) != 0)
            CPLAddXMLAttributeAndValue(item, "value", value.c_str());
    }
}

/* Each text by itself: one that is not UTF-8 says nothing of the others. */
static void recode(CPLXMLNode *tree) {
    for (CPLXMLNode *node = tree; node != nullptr; node = node->psNext) {
        if (!CPLIsUTF8(node->pszValue, -1)) {
            const std::string text = to_utf8(node->pszValue);
            CPLFree(node->pszValue);
            node->pszValue = CPLStrdup(text.c_str());
        }
        recode(node->psChild);
    }
}

void write_exact(CPLXMLNode *tree, GDALDataset *dataset) {
    write_points(tree, dataset->GetGCPs(), dataset->GetGCPCount());
    each_item_list(tree, dataset, write_items);
    recode(tree);
}

static void read_items(GDALMajorObject *object, const CPLXMLNode *list) {
    CPLStringList items;
    for (const CPLXMLNode *item = list->psChild; item != nullptr; item = item->psNext) {
        if (is_element(item, "MDI"))
            items.AddNameValue(CPLGetXMLValue(item, "key", ""),
                               CPLGetXMLValue(item, "value", CPLGetXMLValue(item, "", "")));
    }
    /* As GDAL does: what has been read is no change. */
    object->GDALMajorObject::SetMetadata(items.List(), CPLGetXMLValue(list, "domain", ""));
}

void read_exact(const CPLXMLNode *tree, GDALDataset *dataset) {
    each_item_list(tree, dataset, read_items);
}

void keep_bands(CPLXMLNode *tree, const std::vector<uint64_t> &bands) {
    prune(tree, [&](CPLXMLNode *child) {
        if (!is_band(child))
            return false;
        const auto found = std::lower_bound(bands.begin(), bands.end(), band_of(child));
        if (found == bands.end() || *found != band_of(child))
            return true;
        CPLSetXMLValue(child, "#band", std::to_string(found - bands.begin() + 1).c_str());
        return false;
    });
}

bool drop_statistics(CPLXMLNode *tree, const std::vector<uint64_t> &bands) {
    bool dropped = false;
    if (tree == nullptr)
        return false;
    prune(tree, [&](CPLXMLNode *child) {
        if (is_element(child, kArrayStatistics))
            return dropped = true;
        if (!is_band(child) ||
            (!bands.empty() && !std::binary_search(bands.begin(), bands.end(), band_of(child))))
            return false;
        prune(child, [&](CPLXMLNode *part) {
            if (is_element(part, "Histograms"))
                return dropped = true;
            if (!is_default_metadata(part))
                return false;
            prune(part, [&](const CPLXMLNode *item) {
                dropped = dropped || is_statistic(item);
                return is_statistic(item);
            });
            return !has_content(part);
        });
        return !has_content(child);
    });
    return dropped;
}

void drop_places(CPLXMLNode *tree) {
    prune(tree, [](const CPLXMLNode *child) {
        const char *domain =
            is_element(child, "Metadata") ? CPLGetXMLValue(child, "domain", "") : "";
        return is_element(child, "GCPList") || EQUAL(domain, "RPC") || EQUAL(domain, "GEOLOCATION");
    });
}

void keep_meanings(CPLXMLNode *tree) {
    prune(tree, [](CPLXMLNode *child) {
        if (!is_band(child))
            return true;
        prune(child, [](const CPLXMLNode *part) {
            return part->eType == CXT_Element && !is_element(part, "CategoryNames") &&
                   !is_element(part, "ColorTable") && !is_element(part, "GDALRasterAttributeTable");
        });
        return !has_content(child);
    });
}

void drop_descriptions(CPLXMLNode *tree, const std::function<bool(int)> &drop) {
    prune(tree, [&](CPLXMLNode *child) {
        if (!is_band(child) || !drop(static_cast<int>(band_of(child))))
            return false;
        prune(child, [](const CPLXMLNode *part) { return is_element(part, "Description"); });
        return !has_content(child);
    });
}

/* The elements of datasets and bands, each with the number of its band before it. */
static std::set<std::string> elements_of(const CPLXMLNode *tree) {
    std::set<std::string> elements;
    for (const CPLXMLNode *child = tree->psChild; child != nullptr; child = child->psNext) {
        if (!is_band(child)) {
            elements.insert("0" + own_text(child));
            continue;
        }
        for (const CPLXMLNode *part = child->psChild; part != nullptr; part = part->psNext)
            elements.insert(std::to_string(band_of(child)) + own_text(part));
    }
    return elements;
}

void drop_known(CPLXMLNode *tree, const CPLXMLNode *known) {
    const std::set<std::string> elements = elements_of(known);
    prune(tree, [&](CPLXMLNode *child) {
        if (child->eType != CXT_Element)
            return false;
        if (!is_band(child))
            return elements.count("0" + own_text(child)) > 0;
        prune(child, [&](CPLXMLNode *part) {
            return part->eType == CXT_Element &&
                   elements.count(std::to_string(band_of(child)) + own_text(part)) > 0;
        });
        return !has_content(child);
    });
}

std::string side_properties_text(const CPLXMLNode *tree) {
    return has_content(tree) ? xml_text(tree) : std::string();
}

} // namespace zarr3
