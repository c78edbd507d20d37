/* SPDX-License-Identifier: MIT */
/* Changing a dataset: see edit_dataset.h. */
#include "model/edit_dataset.h"

#include "model/node_life.h"
#include "model/unreadable.h"
#include "model/waiting_store.h"
#include "model/writers.h"

#include "zarrbridge/change.h"

enum zb_code vol_edit_dimension_names(vol_node *dataset, const char *const *names, zb_error *err) {
    zb_node *changed;
    enum zb_code code = vol_unreadable_refuse(dataset, err);
    if (!code)
        code = zb_array_set_dimension_names(dataset->zarr, names, &changed, err);
    if (!code)
        vol_node_replace(dataset, changed);
    return code;
}

/* A resize that fails may have changed the shape already: the node becomes the store's of now,
   unless data wait that could not be stored there. */
enum zb_code vol_edit_resize(vol_node *dataset, const uint64_t *shape, zb_error *err) {
    zb_node *changed = NULL;
    enum zb_code code = vol_unreadable_refuse(dataset, err);
    if (!code)
        code = vol_writer_before_resize(dataset, shape, err);
    if (!code)
        code = vol_waiting_flush(dataset, err);
    if (code)
        return code;
    code = zb_array_resize(dataset->zarr, shape, &changed, err);
    if (code && zb_node_open(zb_node_store(dataset->zarr), zb_node_path(dataset->zarr), &changed,
                             NULL) != ZB_OK)
        return code;
    enum zb_code data = vol_writer_after_resize(dataset, changed, code ? NULL : err);
    if (data) {
        zb_node_release(changed);
        return code ? code : data;
    }
    vol_node_replace(dataset, changed);
    return code;
}
