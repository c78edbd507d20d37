/* SPDX-License-Identifier: MIT */
/* From tokens to nodes: see token_search.h. */
#include "objects/token_search.h"

#include "file/forget.h"
#include "links/links.h"
#include "objects/tokens.h"

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
    for (size_t i = 0; i < vol_links_count(group) && !found; i++) {
        vol_link *link = vol_links_at(group, i);
        found = vol_link_open(link, NULL) == ZB_OK && link->node ? search_token(link->node, token)
                                                                 : NULL;
        if (!found)
            vol_link_forget(link);
    }
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
