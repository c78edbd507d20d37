/* SPDX-License-Identifier: MIT */
/* What waits of a node and of all below it: see writers_below.h. */
#include "dataset/writers_below.h"

#include "dataset/writers.h"
#include "tree/waiting_store.h"

static enum zb_code flush_all(vol_node *node, zb_error *err) {
    zb_error other;
    enum zb_code data = vol_writer_flush(node, err);
    enum zb_code attributes = vol_waiting_flush(node, data ? &other : err);
    return data ? data : attributes;
}

enum zb_code vol_writer_flush_below(vol_node *node, zb_error *err) {
    return vol_node_each_below(node, flush_all, err);
}

static enum zb_code close_all(vol_node *node, zb_error *err) {
    enum zb_code code = vol_writer_close(node, err);
    return code ? code : vol_waiting_flush(node, err);
}

enum zb_code vol_writer_close_below(vol_node *node, zb_error *err) {
    return vol_node_each_below(node, close_all, err);
}

static enum zb_code abandon_all(vol_node *node, zb_error *err) {
    (void)err;
    vol_waiting_forget(node);
    vol_writer_abandon(node);
    return ZB_OK;
}

void vol_writer_abandon_below(vol_node *node) {
    vol_node_each_below(node, abandon_all, NULL);
}
