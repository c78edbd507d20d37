/* SPDX-License-Identifier: MIT */
/* Flushing and refreshing: see flush.h. */
#include "callbacks/flush.h"

#include "hdf5/errors.h"
#include "model/aliases.h"
#include "model/edit.h"
#include "model/writers.h"

herr_t vol_flush_node(vol_node *node) {
    zb_error err = {0};
    if (vol_links_store_below(node, &err) == ZB_OK && vol_writer_flush_below(node, &err) == ZB_OK)
        return 0;
    VOL_PUSH_ZB(node->file->lib, SYM, CANTFLUSH, &err);
    return -1;
}

herr_t vol_refresh_node(vol_node *node) {
    zb_error err = {0};
    if (vol_edit_refresh(node, &err) == ZB_OK)
        return 0;
    VOL_PUSH_ZB(node->file->lib, SYM, READERROR, &err);
    return -1;
}
