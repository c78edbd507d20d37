/* SPDX-License-Identifier: MIT */
/* Changing a dataset: see edit_dataset.h. */
#include "dataset/edit_dataset.h"

#include "dataset/max_shape.h"
#include "dataset/unreadable.h"
#include "dataset/writers.h"
#include "tree/node_life.h"
#include "waiting/waiting_store.h"

#include "zarrbridge/change.h"

#include <stdlib.h>
#include <string.h>

enum zb_code vol_edit_dimension_names(vol_node *dataset, const char *const *names, zb_error *err) {
    zb_node *changed;
    enum zb_code code = vol_unreadable_refuse(dataset, err);
    if (!code)
        code = zb_array_set_dimension_names(dataset->zarr, names, &changed, err);
    if (!code)
        vol_node_replace(dataset, changed);
    return code;
}

static bool has_shape(const zb_node *array, const uint64_t *shape) {
    const zb_array_info *info = zb_node_array(array);
    return info && memcmp(info->shape, shape, info->ndim * sizeof *shape) == 0;
}

/* Shows an array of another shape, unless data wait that cannot be stored there. Takes it over.
   code: of what made it so. */
static enum zb_code adopt(vol_node *dataset, zb_node *changed, enum zb_code code, zb_error *err) {
    enum zb_code data = vol_writer_after_resize(dataset, changed, code ? NULL : err);
    if (data) {
        zb_node_release(changed);
        return code ? code : data;
    }
    vol_node_replace(dataset, changed);
    vol_node_know_shape(dataset);
    return code;
}

/* A program that goes by another shape than the document's, which a change of an attribute may have
   brought in, would cut off elements that another program has added. */
static enum zb_code fail_changed(const vol_node *dataset, zb_error *err) {
    return zb_fail(err, ZB_ECONFLICT,
                   "another program has changed the shape of %s, or has put another object there; "
                   "refresh it (H5Drefresh)",
                   dataset->path);
}

static enum zb_code check_known(const vol_node *dataset, zb_error *err) {
    return vol_node_shape_is_known(dataset) ? ZB_OK : fail_changed(dataset, err);
}

/* A resize that fails may have changed the shape already: the node becomes the store's of now, if
   that has the shape that was asked for. Another one is of another program, which this one has to
   look at first (vol_edit_refresh): else it would resize by what it does not know. */
static enum zb_code resize(vol_node *dataset, const uint64_t *shape, zb_node **out, zb_error *err) {
    enum zb_code code = zb_array_resize(dataset->zarr, shape, out, err);
    if (!code)
        return ZB_OK;
    if (code == ZB_ECONFLICT)
        code = fail_changed(dataset, err);
    if (code == ZB_ECONFLICT || zb_node_open(zb_node_hierarchy(dataset->zarr),
                                             zb_node_path(dataset->zarr), out, NULL) != ZB_OK)
        *out = NULL;
    if (*out && !has_shape(*out, shape)) {
        zb_node_release(*out);
        *out = NULL;
    }
    return code;
}

/* What waits is stored, or goes on waiting. */
static enum zb_code before(vol_node *dataset, const uint64_t *shape, zb_error *err) {
    enum zb_code code = vol_unreadable_refuse(dataset, err);
    if (!code)
        code = vol_writer_before_resize(dataset, shape, err);
    return code ? code : vol_waiting_flush(dataset, err);
}

enum zb_code vol_edit_extend(vol_node *dataset, const uint64_t *shape, zb_error *err) {
    zb_node *changed;
    enum zb_code code = before(dataset, shape, err);
    if (!code)
        code = zb_array_extend(dataset->zarr, shape, &changed, err);
    return code ? code : adopt(dataset, changed, ZB_OK, err);
}

enum zb_code vol_edit_resize(vol_node *dataset, const uint64_t *shape, zb_error *err) {
    zb_node *changed;
    enum zb_code code = before(dataset, shape, err);
    if (!code)
        code = check_known(dataset, err);
    if (code)
        return code;
    code = resize(dataset, shape, &changed, err);
    return changed ? adopt(dataset, changed, code, err) : code;
}

enum zb_code vol_edit_follow_shape(vol_node *dataset, zb_error *err) {
    zb_node *now;
    const enum zb_code code = zb_node_refresh(dataset->zarr, &now, err);
    return code ? code : adopt(dataset, now, ZB_OK, err);
}

/* ---- Appending ---- */

/* A writer that cannot go on with a longer array, of whatever length, stores what it has. */
static enum zb_code prepare(const vol_growth *one, zb_error *err) {
    const zb_array_info *info = zb_node_array(one->dataset->zarr);
    uint64_t shape[ZB_MAX_NDIM];
    const enum zb_code code = vol_unreadable_refuse(one->dataset, err);
    if (code)
        return code;
    memcpy(shape, info->shape, info->ndim * sizeof *shape);
    shape[one->dim] = UINT64_MAX;
    return vol_writer_before_resize(one->dataset, shape, err);
}

enum zb_code vol_edit_append(const vol_growth *all, size_t n, uint64_t count, uint64_t *start,
                             zb_error *err) {
    zb_append *appends = calloc(n, sizeof *appends);
    zb_node **grown = calloc(n, sizeof(zb_node *));
    enum zb_code code =
        appends && grown ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for %zu datasets", n);
    for (size_t i = 0; i < n && !code; i++) {
        code = prepare(&all[i], err);
        appends[i] = (zb_append){.array = all[i].dataset->zarr,
                                 .dim = all[i].dim,
                                 .most = vol_max_shape(all[i].dataset)};
    }
    if (!code)
        code = zb_array_append(appends, n, count, NULL, start, grown, err);
    for (size_t i = 0; i < n && grown && grown[i]; i++) {
        const enum zb_code data = adopt(all[i].dataset, grown[i], ZB_OK, code ? NULL : err);
        code = code ? code : data;
    }
    free(grown);
    free(appends);
    return code;
}
