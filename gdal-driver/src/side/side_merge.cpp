/* SPDX-License-Identifier: MIT */
/* Changes of side properties that leave others alone: see side_merge.h. */
#include "side/side_merge.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cpl_conv.h"
#include "cpl_string.h"
#include "side/side_properties.h"

namespace zarr3 {

namespace {

/* A property: an element, or an item in a list of items. */
struct Part {
    std::string element; /* its name, of metadata with the domain */
    std::string item;    /* the key; "" of what is no item */
    bool is_item;
    const CPLXMLNode *node; /* in a tree that outlives this; null: taken away */
};

/* By the number of the band; 0 is the dataset. */
using Parts = std::map<uint64_t, std::vector<Part>>;

} // namespace

/* ---- Trees taken apart ---- */

static void add_parts(const CPLXMLNode *parent, std::vector<Part> *parts) {
    for (const CPLXMLNode *child = parent->psChild; child != nullptr; child = child->psNext) {
        if (child->eType != CXT_Element || is_band(child))
            continue;
        std::string element = child->pszValue;
        if (is_element(child, "Metadata"))
            element += std::string("\t") + CPLGetXMLValue(child, "domain", "");
        if (!is_item_list(child)) {
            parts->push_back({element, "", false, child});
            continue;
        }
        for (const CPLXMLNode *item = child->psChild; item != nullptr; item = item->psNext) {
            if (is_element(item, "MDI"))
                parts->push_back({element, CPLGetXMLValue(item, "key", ""), true, item});
        }
    }
}

static Parts parts_of(const CPLXMLNode *tree) {
    Parts parts;
    if (tree == nullptr)
        return parts;
    add_parts(tree, &parts[0]);
    for (const CPLXMLNode *child = tree->psChild; child != nullptr; child = child->psNext) {
        if (is_band(child))
            add_parts(child, &parts[band_of(child)]);
    }
    return parts;
}

/* ---- Changes ---- */

/* The places of parts in a list, by what they are. A hostile store may have many. */
using Index = std::map<std::tuple<std::string, std::string, bool>, size_t>;

static Index::key_type key_of(const Part &part) {
    return {part.element, part.item, part.is_item};
}

static Index index_of(const std::vector<Part> &parts) {
    Index index;
    for (size_t i = 0; i < parts.size(); i++)
        index.emplace(key_of(parts[i]), i);
    return index;
}

/* The name that items share which mean something only together; "" of a part by itself. */
static std::string group_of(const Part &part) {
    const size_t tab = part.element.find('\t');
    if (tab == std::string::npos)
        return "";
    const std::string domain = part.element.substr(tab + 1);
    for (const char *whole : {"RPC", "GEOLOCATION"}) {
        if (EQUAL(domain.c_str(), whole))
            return whole;
    }
    return domain.empty() && part.is_item && is_statistic(part.item.c_str()) ? "STATISTICS" : "";
}

namespace {

struct Changes {
    std::vector<Part> parts;      /* what they are now */
    std::set<std::string> groups; /* whose parts are all among these */
};

} // namespace

static Changes changes_between(const std::vector<Part> &before, const std::vector<Part> &after) {
    const Index old = index_of(before), now = index_of(after);
    Changes changes;
    for (const auto &[key, place] : old) {
        if (now.count(key) != 0)
            continue;
        changes.parts.push_back(before[place]);
        changes.parts.back().node = nullptr;
    }
    for (const Part &part : after) {
        const auto known = old.find(key_of(part));
        if (known == old.end() || own_text(before[known->second].node) != own_text(part.node))
            changes.parts.push_back(part);
    }
    for (const Part &part : changes.parts)
        changes.groups.insert(group_of(part));
    changes.groups.erase("");
    for (const Part &part : after) {
        if (changes.groups.count(group_of(part)) != 0)
            changes.parts.push_back(part);
    }
    return changes;
}

static bool merge_parts(const std::vector<Part> &before, const std::vector<Part> &after,
                        std::vector<Part> *stored) {
    const Changes changes = changes_between(before, after);
    Index places = index_of(*stored);
    for (Part &part : *stored) {
        if (changes.groups.count(group_of(part)) != 0)
            part.node = nullptr;
    }
    for (const Part &part : changes.parts) {
        const auto [place, is_new] = places.emplace(key_of(part), stored->size());
        if (is_new)
            stored->push_back(part);
        else
            (*stored)[place->second].node = part.node;
    }
    return !changes.parts.empty();
}

/* ---- Trees put together ---- */

static void add_to(CPLXMLNode *parent, const std::vector<Part> &parts) {
    struct List {
        CPLXMLNode *node, *last;
    };
    std::map<std::string, List> lists;
    CPLXMLNode *last = nullptr;
    for (const Part &part : parts) {
        if (part.node == nullptr)
            continue;
        if (!part.is_item) {
            append(parent, &last, copy_of(part.node));
            continue;
        }
        const auto [list, is_new] = lists.emplace(part.element, List{nullptr, nullptr});
        if (is_new) {
            const std::string domain = part.element.substr(part.element.find('\t') + 1);
            list->second.node =
                append(parent, &last, CPLCreateXMLNode(nullptr, CXT_Element, "Metadata"));
            if (!domain.empty())
                CPLAddXMLAttributeAndValue(list->second.node, "domain", domain.c_str());
        }
        append(list->second.node, &list->second.last, copy_of(part.node));
    }
}

static XmlTree tree_of(const Parts &parts) {
    XmlTree tree = no_side_properties();
    CPLXMLNode *last = nullptr;
    for (const auto &[band, own] : parts) {
        if (band == 0) {
            add_to(tree.get(), own);
            for (last = tree->psChild; last != nullptr && last->psNext != nullptr;)
                last = last->psNext;
        } else if (std::any_of(own.begin(), own.end(),
                               [](const Part &part) { return part.node != nullptr; })) {
            CPLXMLNode *node =
                append(tree.get(), &last, CPLCreateXMLNode(nullptr, CXT_Element, "PAMRasterBand"));
            CPLAddXMLAttributeAndValue(node, "band", std::to_string(band).c_str());
            add_to(node, own);
        }
    }
    return tree;
}

bool merge_side_properties(const CPLXMLNode *before, const CPLXMLNode *after, XmlTree *stored) {
    const Parts old = parts_of(before), now = parts_of(after);
    static const std::vector<Part> kNone;
    const auto of = [](const Parts &parts, uint64_t band) -> const std::vector<Part> & {
        const auto found = parts.find(band);
        return found == parts.end() ? kNone : found->second;
    };
    Parts merged = parts_of(stored->get());
    bool changed = false;
    for (const auto &[band, parts] : old)
        changed = merge_parts(parts, of(now, band), &merged[band]) || changed;
    for (const auto &[band, parts] : now) {
        if (old.count(band) == 0)
            changed = merge_parts(kNone, parts, &merged[band]) || changed;
    }
    if (changed)
        *stored = tree_of(merged);
    return changed;
}

} // namespace zarr3
