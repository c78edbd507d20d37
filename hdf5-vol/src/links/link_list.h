/* SPDX-License-Identifier: MIT */
/* Lists of links. Finding, inserting and taking want them in the order of their names. */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_LINK_LIST_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_LINK_LIST_H

#include "tree/structs.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct vol_link_list {
    vol_link **link;
    size_t count, capacity;
} vol_link_list;

/* The one of that name; NULL when there is none. */
vol_link *vol_link_list_find(const vol_link_list *list, const char *name);

/* Reserves memory for one more. False when memory runs out. */
bool vol_link_list_reserve(vol_link_list *list);

/* Puts a link into a list that has memory for it and none of the name. */
void vol_link_list_insert(vol_link_list *list, vol_link *link);

/* Takes out the one of that name, which is there. */
void vol_link_list_take(vol_link_list *list, const char *name);

/* Frees the list, and no link. */
void vol_link_list_clear(vol_link_list *list);

#endif
