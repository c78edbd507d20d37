/* SPDX-License-Identifier: MIT */
#include "node/version.h"

#include <stdatomic.h>

#include "hierarchy/version.h"
#include "node/node.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

void zb__node_mark_version(zb_node *node, uint64_t home, const zb_object_info *info) {
    node->home = home;
    node->version = zb__version_word(&info->validator);
    atomic_store(&node->seen, node->version);
}

bool zb__node_unchanged(const zb_node *node, const zb_object_info *info) {
    return node->version && node->version == zb__version_word(&info->validator);
}
