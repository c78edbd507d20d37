/* SPDX-License-Identifier: MIT */
/* Links that are expanded later: see put_off.h. */
#include "copy/put_off.h"

#include "hdf5/errors.h"

#include <stdlib.h>
#include <string.h>

bool vol_put_off_add(h5_lib *lib, vol_put_offs *queue, hid_t source, vol_node *group,
                     const char *name) {
    const size_t size = strlen(name) + 1;
    vol_put_off *link = malloc(sizeof *link + size);
    if (!link || lib->H5Iinc_ref(source) < 0) {
        free(link);
        return false;
    }
    *link = (vol_put_off){.source = source, .group = group};
    memcpy(link->name, name, size);
    vol_node_pin(group);
    if (queue->last)
        queue->last->next = link;
    else
        queue->first = link;
    queue->last = link;
    return true;
}

vol_put_off *vol_put_off_take(vol_put_offs *queue) {
    vol_put_off *link = queue->first;
    if (link)
        queue->first = link->next;
    if (!queue->first)
        queue->last = NULL;
    return link;
}

void vol_put_off_append(vol_put_offs *queue, vol_put_offs *rest) {
    if (!rest->first)
        return;
    if (queue->last)
        queue->last->next = rest->first;
    else
        queue->first = rest->first;
    queue->last = rest->last;
    *rest = (vol_put_offs){.first = NULL};
}

void vol_put_off_free(h5_lib *lib, vol_put_off *link) {
    if (!link)
        return;
    vol_node_unpin(link->group);
    vol_release_id(lib, link->source);
    free(link);
}
