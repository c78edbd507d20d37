/* SPDX-License-Identifier: MIT */
/* The addresses of nodes: see tokens.h. */
#include "objects/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

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

uint64_t vol_token_of_path(const char *path) {
    return token_of_hash(vol_hash(VOL_HASH_START, path, strlen(path)));
}

static uint64_t token_after(uint64_t token) {
    return token_of_hash(vol_hash(VOL_HASH_START, &token, sizeof token));
}

/* Of a node that has no name, as its path is that of another one. What comes to this path later
   must not get it, in whatever session. */
static uint64_t token_without_name(vol_file *file, const char *path) {
    const uint64_t token = vol_token_of_path(path);
    while (file->token_salt == 0)
        if (getrandom(&file->token_salt, sizeof file->token_salt, 0) < 0 && errno != EINTR)
            file->token_salt = (uint64_t)time(NULL);
    return token_of_hash(vol_hash(token, &file->token_salt, sizeof file->token_salt));
}

/* The token of the name that a path has. */
static uint64_t token_by_name(vol_file *file, const char *path) {
    if (vol_moved_is_plain(file))
        return vol_token_of_path(path);
    char *name = vol_moved_name(file, path);
    const uint64_t token = name ? vol_token_of_path(name) : token_without_name(file, path);
    free(name);
    return token;
}

/* Whether a token is that of a node which got it at another path, or has gone. */
static bool is_of_other_times(vol_file *file, uint64_t token) {
    const vol_node *node = vol_token_known(file, token);
    return vol_map_get(&file->dead_tokens, token) || (node && node->has_moved);
}

/* A token that is taken so leads on to the next one. */
static uint64_t token_at(vol_file *file, const char *path) {
    uint64_t token = token_by_name(file, path);
    while (is_of_other_times(file, token))
        token = token_after(token);
    return token;
}

/* As vol_node_set_path makes the path. */
uint64_t vol_token_of_link(const vol_link *link) {
    const vol_node *group = link->group;
    if (link->node)
        return link->node->token;
    char *path;
    if (asprintf(&path, "%s/%s", group->parent ? group->path : "", link->name) < 0)
        return 0;
    const uint64_t token = token_at(group->file, path);
    free(path);
    return token;
}

bool vol_token_register(vol_node *node) {
    if (!node->token || node->loose)
        node->token = token_at(node->file, node->path);
    node->has_moved = node->token != vol_token_of_path(node->path);
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

void vol_token_clear(vol_file *file) {
    vol_map_clear(&file->dead_tokens);
}

/* These tokens count down from the largest. Memory that runs out leaves the old one free. */
void vol_token_loosen(vol_node *node) {
    if (node->token && !node->loose)
        vol_map_set(&node->file->dead_tokens, node->token, node->file);
    node->loose = true;
    node->token = INT64_MAX - ++node->file->last_loose_token;
}
