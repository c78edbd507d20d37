/* SPDX-License-Identifier: MIT */
/* Lists of links: see link_list.h. */
#include "links/link_list.h"

#include "links/links.h"

#include <stdlib.h>
#include <string.h>

/* The place of a name, or the one where it would be inserted. */
static size_t position(const vol_link_list *list, const char *name, bool *found) {
    size_t low = 0, high = list->count;
    *found = false;
    if (high > 0 && strcmp(list->link[high - 1]->name, name) < 0) /* listings come in order */
        return high;
    while (low < high && !*found) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(list->link[middle]->name, name);
        *found = order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

vol_link *vol_link_list_find(const vol_link_list *list, const char *name) {
    bool found;
    size_t at = position(list, name, &found);
    return found ? list->link[at] : NULL;
}

bool vol_link_list_reserve(vol_link_list *list) {
    if (list->count < list->capacity)
        return true;
    size_t capacity = list->capacity ? 2 * list->capacity : 8;
    vol_link **grown = realloc(list->link, capacity * sizeof *grown);
    if (!grown)
        return false;
    list->link = grown;
    list->capacity = capacity;
    return true;
}

void vol_link_list_insert(vol_link_list *list, vol_link *link) {
    bool found;
    size_t at = position(list, link->name, &found);
    memmove(&list->link[at + 1], &list->link[at], (list->count - at) * sizeof list->link[0]);
    list->link[at] = link;
    list->count++;
}

void vol_link_list_take(vol_link_list *list, const char *name) {
    bool found;
    size_t at = position(list, name, &found);
    list->count--;
    memmove(&list->link[at], &list->link[at + 1], (list->count - at) * sizeof list->link[0]);
}

void vol_link_list_clear(vol_link_list *list) {
    free(list->link);
    *list = (vol_link_list){.link = NULL};
}
