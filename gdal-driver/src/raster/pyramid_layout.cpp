/* SPDX-License-Identifier: MIT */
#include "raster/pyramid_layout.h"

#include <new>

#include "zarrbridge/multiscales.h"

namespace zarr3 {

static void set_or_remove(const char *name, const char *value, AttributeChanges *changes) {
    if (value != nullptr)
        changes->set(name, value);
    else
        changes->remove(name);
}

/* Makes the changes that the core's `fn` gives, for as long as the list is alive. */
template <class Fn> static void change_list(const Fn &fn, AttributeChanges *changes) {
    zb_level_list list = {};
    if (fn(&list) != ZB_OK)
        throw std::bad_alloc();
    try {
        set_or_remove("multiscales", list.multiscales, changes);
        set_or_remove("zarr_conventions", list.zarr_conventions, changes);
    } catch (...) {
        zb_level_list_clear(&list);
        throw;
    }
    zb_level_list_clear(&list);
}

void put_into_layout(const zb_node *group, const std::vector<LayoutEntry> &entries,
                     AttributeChanges *changes) {
    const auto text_of = [](const std::string &text) {
        return text.empty() ? nullptr : text.c_str();
    };
    std::vector<zb_level_entry> list;
    for (const LayoutEntry &entry : entries)
        list.push_back({entry.asset.c_str(), text_of(entry.derived_from), text_of(entry.method),
                        static_cast<uint32_t>(entry.scale.size()), entry.scale.data(),
                        static_cast<uint64_t>(entry.width), static_cast<uint64_t>(entry.height),
                        entry.transform ? entry.transform->data() : nullptr});
    change_list(
        [&](zb_level_list *out) {
            return zb_level_list_put(group, list.data(), list.size(), out, nullptr);
        },
        changes);
}

} // namespace zarr3
