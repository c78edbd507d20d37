/* SPDX-License-Identifier: MIT */
#include "node/version.h"

#include <stdatomic.h>

#include "base/mix.h"
#include "node/node.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* A validator in one word, so that a node can keep it without a lock; 0 when it says nothing. */
uint64_t zb__version_word(const zb_validator *v) {
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof v->word / sizeof *v->word; i++)
        hash = zb__mix(hash, v->word[i]);
    return v->valid ? (hash ? hash : 1) : 0;
}

void zb__node_mark_version(zb_node *node, uint64_t home, const zb_object_info *info) {
    node->home = home;
    node->version = zb__version_word(&info->validator);
    atomic_store(&node->seen, node->version);
}

bool zb__node_unchanged(const zb_node *node, const zb_object_info *info) {
    return node->version && node->version == zb__version_word(&info->validator);
}
