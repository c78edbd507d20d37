/* SPDX-License-Identifier: MIT */
/* See children.h. */
#include "tree/children.h"

#include "links/links.h"

/* Links that came meanwhile have moved the one of the current node, as names have an order. */
static void find_place(vol_children *walk) {
    const size_t count = vol_links_count(walk->group);
    size_t i = walk->at - 1;
    while (i < count && vol_links_at(walk->group, i) != walk->link)
        i++;
    if (i < count)
        walk->at = i + 1;
}

vol_node *vol_children_next(vol_children *walk, zb_error *err) {
    if (walk->link)
        find_place(walk);
    else if (!walk->begun && !walk->code && walk->group->kind == VOL_GROUP)
        walk->code = vol_node_list(walk->group, err);
    walk->begun = true;
    while (!walk->code && walk->at < vol_links_count(walk->group)) {
        walk->link = vol_links_at(walk->group, walk->at++);
        walk->is_new = vol_link_is_unopened(walk->link);
        const enum zb_code code = vol_link_open(walk->link, walk->passes_unopened ? NULL : err);
        if (!code && walk->link->node)
            return walk->link->node;
        if (code && code != ZB_ENOTFOUND && !walk->passes_unopened)
            walk->code = code;
    }
    return NULL;
}
