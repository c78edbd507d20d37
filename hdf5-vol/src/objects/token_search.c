/* SPDX-License-Identifier: MIT */
/* From tokens to nodes: see token_search.h. */
#include "objects/token_search.h"

#include "file/forget.h"
#include "links/links.h"
#include "objects/tokens.h"
#include "tree/children.h"

/* Lists groups until the token turns up: a reference from an earlier session may name anything. */
static vol_node *search_token(vol_node *group, uint64_t token) {
    if (group->kind != VOL_GROUP || vol_node_list(group, NULL) != ZB_OK)
        return NULL;
    vol_node *found = vol_token_known(group->file, token);
    for (size_t i = 0; i < vol_links_count(group) && !found; i++)
        if (vol_link_is_unopened(vol_links_at(group, i)) &&
            vol_token_of_link(vol_links_at(group, i)) == token &&
            vol_link_open(vol_links_at(group, i), NULL) == ZB_OK)
            found = vol_links_at(group, i)->node;
    vol_children walk = {.group = group, .passes_unopened = true};
    for (vol_node *child; !found && (child = vol_children_next(&walk, NULL));)
        if (!(found = search_token(child, token)))
            vol_link_forget(walk.link);
    return found;
}

vol_node *vol_node_by_token(vol_file *file, uint64_t token, zb_error *err) {
    vol_node *node = vol_token_known(file, token);
    if (!node)
        node = search_token(file->root, token);
    if (!node)
        zb_fail(err, ZB_ENOTFOUND, "no object of %s has the address %llu", file->shown,
                (unsigned long long)token);
    return node;
}
