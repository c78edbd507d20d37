/* SPDX-License-Identifier: MIT */
/* The aliases of one node: see alias_list.h. */
#include "links/alias_list.h"

#include <stdlib.h>

enum zb_code vol_alias_list_add(vol_aliases *aliases, vol_link *alias, zb_error *err) {
    if (!vol_link_list_reserve(&aliases->list))
        return zb_fail(err, ZB_ENOMEM, "no memory for links");
    aliases->list.link[aliases->list.count++] = alias;
    alias->counted = true;
    return ZB_OK;
}

bool vol_alias_list_take(vol_aliases *aliases, vol_link *alias) {
    vol_link_list *list = &aliases->list;
    for (size_t i = 0; i < list->count; i++) {
        if (list->link[i] != alias)
            continue;
        list->link[i] = list->link[--list->count];
        alias->counted = false;
        aliases->changed = true;
        return true;
    }
    return false;
}

void vol_alias_list_free(vol_aliases *aliases) {
    if (aliases)
        vol_link_list_clear(&aliases->list);
    free(aliases);
}
