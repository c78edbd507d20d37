/* SPDX-License-Identifier: MIT */
/* The list of the aliases of one node: see aliases.h. */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_ALIAS_LIST_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_ALIAS_LIST_H

#include "links/link_list.h"
#include "links/links.h"

/* In no order. */
typedef struct vol_aliases {
    vol_link_list list;
    bool changed; /* since it was stored */
} vol_aliases;

enum zb_code vol_alias_list_add(vol_aliases *aliases, vol_link *alias, zb_error *err);

/* Takes one out, which is to be stored. False when it is not there. */
bool vol_alias_list_take(vol_aliases *aliases, vol_link *alias);

/* Frees the list (NULL: nothing), and no link: these may have gone. */
void vol_alias_list_free(vol_aliases *aliases);

#endif
