/* SPDX-License-Identifier: MIT */
/* The addresses of nodes: see tokens.h. */
#include "model/tokens.h"

#include "model/forget.h"
#include "model/links.h"

#include <string.h>

/* FNV-1a: small, and good enough for a table. */
uint64_t vol_hash(uint64_t hash, const void *data, size_t size) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Every node is in the table from the moment it is made. */
static vol_node *known_by_token(const vol_file *file, uint64_t token) {
    vol_node *node = file->by_token[token % VOL_TOKEN_BUCKETS];
    while (node && node->token != token)
        node = node->next_by_token;
    return node;
}

/* Zero and the largest values mean "undefined" to HDF5. */
static uint64_t token_of_hash(uint64_t hash) {
    hash &= INT64_MAX;
    return hash ? hash : 1;
}

/* As vol_node_set_path makes the path. */
uint64_t vol_token_of_link(const vol_link *link) {
    const vol_node *group = link->group;
    uint64_t hash = VOL_HASH_START;
    if (link->node)
        return link->node->token;
    if (group->parent)
        hash = vol_hash(hash, group->path, strlen(group->path));
    hash = vol_hash(hash, "/", 1);
    return token_of_hash(vol_hash(hash, link->name, strlen(link->name)));
}

uint64_t vol_token_of_path(const char *path) {
    return token_of_hash(vol_hash(VOL_HASH_START, path, strlen(path)));
}

bool vol_token_register(vol_node *node) {
    node->token = vol_token_of_path(node->path);
    if (known_by_token(node->file, node->token))
        return false;
    vol_node **bucket = &node->file->by_token[node->token % VOL_TOKEN_BUCKETS];
    node->next_by_token = *bucket;
    *bucket = node;
    return true;
}

void vol_token_unregister(vol_node *node) {
    vol_node **link = &node->file->by_token[node->token % VOL_TOKEN_BUCKETS];
    while (*link && *link != node)
        link = &(*link)->next_by_token;
    if (*link)
        *link = node->next_by_token;
    node->next_by_token = NULL;
}

/* These tokens count down from the largest. */
void vol_token_loosen(vol_node *node) {
    node->loose = true;
    node->token = INT64_MAX - ++node->file->last_loose_token;
}

/* Lists groups until the token turns up: a reference from an earlier session may name anything. */
static vol_node *search_token(vol_node *group, uint64_t token) {
    if (group->kind != VOL_GROUP || vol_node_list(group, NULL) != ZB_OK)
        return NULL;
    vol_node *found = known_by_token(group->file, token);
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
    vol_node *node = known_by_token(file, token);
    if (!node)
        node = search_token(file->root, token);
    if (!node)
        zb_fail(err, ZB_ENOTFOUND, "no object of %s has the address %llu", file->shown,
                (unsigned long long)token);
    return node;
}
