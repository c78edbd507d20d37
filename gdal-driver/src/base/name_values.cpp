/* SPDX-License-Identifier: MIT */
#include "base/name_values.h"

#include <cstring>

namespace zarr3 {

static const char *separator_of(const char *item) {
    const char *found = strchr(item, '=');
    return found != nullptr ? found : strchr(item, ':');
}

std::vector<std::pair<std::string, std::string>> name_values(CSLConstList list) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (; list != nullptr && *list != nullptr; list++) {
        const char *separator = separator_of(*list);
        if (separator != nullptr)
            pairs.emplace_back(std::string(*list, separator), separator + 1);
    }
    return pairs;
}

/* The place of the item, or -1. A program may look for a name that has a "=". */
static int find_item(CSLConstList list, const char *name) {
    const size_t length = name == nullptr ? 0 : strlen(name);
    int alike = -1;
    for (int i = 0; name != nullptr && list != nullptr && list[i] != nullptr; i++) {
        if (!EQUALN(list[i], name, length) ||
            (list[i][length] != '=' && list[i] + length != separator_of(list[i])))
            continue;
        if (strncmp(list[i], name, length) == 0)
            return i;
        alike = alike < 0 ? i : alike;
    }
    return alike;
}

const char *item_value(CSLConstList list, const char *name) {
    const int found = find_item(list, name);
    return found < 0 ? nullptr : list[found] + strlen(name) + 1;
}

void set_item(CPLStringList *list, const char *name, const char *value) {
    if (name == nullptr)
        return;
    const int found = find_item(list->List(), name);
    const std::string item = std::string(name) + "=" + (value == nullptr ? "" : value);
    if (found < 0 && value != nullptr)
        list->AddString(item.c_str());
    if (found < 0)
        return;
    CPLStringList changed;
    for (int i = 0; i < list->size(); i++) {
        if (i != found)
            changed.AddString((*list)[i]);
        else if (value != nullptr)
            changed.AddString(item.c_str());
    }
    list->Assign(changed.StealList(), TRUE); /* an empty list is not assigned by "=" */
}

} // namespace zarr3
