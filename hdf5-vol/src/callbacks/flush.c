/* SPDX-License-Identifier: MIT */
/* Flushing and refreshing: see flush.h. */
#include "callbacks/flush.h"

#include "dataset/writers_below.h"
#include "hdf5/errors.h"
#include "links/link_store.h"
#include "tree/edit.h"

/* The waiting data of a node and all below it. */
static herr_t flush_node(vol_node *node) {
    zb_error err = {0};
    if (vol_links_store_below(node, &err) == ZB_OK && vol_writer_flush_below(node, &err) == ZB_OK)
        return 0;
    VOL_PUSH_ZB(node->file->lib, SYM, CANTFLUSH, &err);
    return -1;
}

herr_t vol_flush_object(const vol_object *object, vol_node *node, hid_t id) {
    const vol_manners *manners = &object->handle->manners;
    if (flush_node(node) < 0)
        return -1;
    return manners->flushed ? manners->flushed(id, manners->flushed_context) : 0;
}

herr_t vol_refresh_node(vol_node *node) {
    zb_error err = {0};
    if (vol_edit_refresh(node, &err) == ZB_OK)
        return 0;
    VOL_PUSH_ZB(node->file->lib, SYM, READERROR, &err);
    return -1;
}
