/* SPDX-License-Identifier: MIT */
/*
 * A hostile list is as long as the document allows; each is looked through once. A program that
 * resizes an array knows nothing of its lists. Along a single dimension each item still has its
 * band; along several, a list of another length says nothing.
 */
#include "dataset/band_lists.h"

#include "array/attributes.h"

namespace zarr3 {

static std::vector<const zb_json *> items_of(const zb_node *array, const Layout &layout,
                                             const char *name) {
    std::vector<const zb_json *> items;
    const zb_json *list = attribute(array, name);
    const bool fits = zb_json_count(list) == count_bands(zb_node_array(array), layout.axes);
    if (zb_json_kind_of(list) == ZB_JSON_ARRAY && (fits || layout.extra.size() == 1)) {
        for (const zb_json *item = zb_json_first(list); item; item = zb_json_next(item))
            items.push_back(item);
    }
    return items;
}

const zb_json *BandLists::item(const NodePtr &array, const Layout &layout, const char *name,
                               uint64_t number) {
    if (array_ != array) {
        lists_.clear();
        array_ = array;
    }
    auto known = lists_.find(name);
    if (known == lists_.end())
        known = lists_.emplace(name, items_of(array.get(), layout, name)).first;
    return number < known->second.size() ? known->second[number] : nullptr;
}

} // namespace zarr3
