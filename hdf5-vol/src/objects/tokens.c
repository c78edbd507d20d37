/* SPDX-License-Identifier: MIT */
/* The addresses of nodes: see tokens.h. */
#include "objects/tokens.h"

#include <string.h>

/* FNV-1a: small, and good enough for a table. */
uint64_t vol_hash(uint64_t hash, const void *data, size_t size) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Every node is in the table from the moment it is made. */
vol_node *vol_token_known(const vol_file *file, uint64_t token) {
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
    if (vol_token_known(node->file, node->token))
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
