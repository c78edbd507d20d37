/* SPDX-License-Identifier: MIT */
/* Nodes around one, each opened once: see pyramids.h. */
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "hierarchy/path.h"

typedef struct opened_node {
    zb__map_link link;
    zb_node *node; /* NULL: there is none */
    char path[];
} opened_node;

static opened_node *find_opened(const zb__opened *opened, const char *path, uint64_t hash) {
    for (zb__map_link *link = zb__map_first(&opened->by_path, hash); link;
         link = zb__map_next(link)) {
        opened_node *found = (opened_node *)link;
        if (strcmp(found->path, path) == 0)
            return found;
    }
    return NULL;
}

static const zb_node *opened_at(void *context, const char *path) {
    zb__opened *opened = context;
    const size_t size = strlen(path) + 1;
    const uint64_t hash = zb__hash(path, size);
    opened_node *own = find_opened(opened, path, hash);
    if (own)
        return own->node;
    own = zb__map_reserve(&opened->by_path) ? malloc(sizeof *own + size) : NULL;
    if (!own) {
        (void)zb__no_memory(&opened->failure);
        return NULL;
    }
    memcpy(own->path, path, size);
    own->node = NULL;
    zb__map_add(&opened->by_path, &own->link, hash);
    zb_error reason;
    const enum zb_code code = zb_node_open(opened->hierarchy, path, &own->node, &reason);
    if (code == ZB_EIO || code == ZB_ENOMEM || code == ZB_ECANCELLED)
        opened->failure = reason;
    return own->node;
}

zb_nodes zb__opened_nodes(zb__opened *opened) {
    return (zb_nodes){opened_at, opened};
}

enum zb_code zb__opened_check(const zb__opened *opened, zb_error *err) {
    const zb_error *failure = &opened->failure;
    return failure->code ? zb_fail(err, failure->code, "%s", failure->message) : ZB_OK;
}

void zb__opened_clear(zb__opened *opened) {
    for (zb__map_link *link = zb__map_after(&opened->by_path, NULL), *next; link; link = next) {
        next = zb__map_after(&opened->by_path, link);
        zb_node_release(((opened_node *)link)->node);
        free(link);
    }
    zb__map_free(&opened->by_path);
    *opened = (zb__opened){.hierarchy = NULL};
}
