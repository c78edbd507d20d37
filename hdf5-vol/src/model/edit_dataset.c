/* SPDX-License-Identifier: MIT */
/* Changing a dataset: see edit_dataset.h. */
#include "model/edit_dataset.h"

#include "model/max_shape.h"
#include "model/node_life.h"
#include "model/turn.h"
#include "model/unreadable.h"
#include "model/waiting_store.h"
#include "model/writers.h"

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
static enum zb_code check_known(const vol_node *dataset, zb_error *err) {
    if (vol_node_shape_is_known(dataset))
        return ZB_OK;
    return zb_fail(err, ZB_ECONFLICT,
                   "another program has changed the shape of %s; refresh it (H5Drefresh)",
                   dataset->path);
}

/* A resize that fails may have changed the shape already: the node becomes the store's of now, if
   that has the shape that was asked for. Another one is of another program, which this one has to
   look at first (vol_edit_refresh): else it would resize by what it does not know. */
static enum zb_code resize(vol_node *dataset, const uint64_t *shape, zb_node **out, zb_error *err) {
    enum zb_code code = zb_array_resize(dataset->zarr, shape, out, err);
    if (!code)
        return ZB_OK;
    if (code == ZB_ECONFLICT ||
        zb_node_open(zb_node_store(dataset->zarr), zb_node_path(dataset->zarr), out, NULL) != ZB_OK)
        *out = NULL;
    if (*out && !has_shape(*out, shape)) {
        zb_node_release(*out);
        *out = NULL;
    }
    return code;
}

enum zb_code vol_edit_resize(vol_node *dataset, const uint64_t *shape, zb_error *err) {
    zb_node *changed;
    enum zb_code code = vol_unreadable_refuse(dataset, err);
    if (!code)
        code = vol_writer_before_resize(dataset, shape, err);
    if (!code)
        code = vol_waiting_flush(dataset, err);
    if (!code)
        code = check_known(dataset, err);
    if (code)
        return code;
    code = resize(dataset, shape, &changed, err);
    return changed ? adopt(dataset, changed, code, err) : code;
}

/* ---- Appending ---- */

typedef struct appending {
    const vol_growth *all;
    size_t n;
    uint64_t count, start;
    zb_append *appends; /* [n] */
    zb_node **grown;    /* [n] */
} appending;

/* The maximal size along the dimension that grows. */
static uint64_t end_of(const vol_growth *one) {
    const uint64_t *most = vol_max_shape(one->dataset);
    return most ? most[one->dim] : H5S_UNLIMITED;
}

/* The place that zb_array_append is going to give, in the turn. */
static enum zb_code find_start(appending *a, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < a->n && !code; i++) {
        zb_node *now;
        code = zb_node_refresh(a->appends[i].array, &now, err);
        if (code)
            return code;
        const zb_array_info *info = zb_node_array(now);
        const uint32_t dim = a->appends[i].dim;
        if (info && dim < info->ndim && info->shape[dim] > a->start)
            a->start = info->shape[dim];
        zb_node_release(now);
    }
    return code;
}

/* Asks the store only where there is an end. */
static enum zb_code check_ends(appending *a, zb_error *err) {
    const vol_growth *first = a->all;
    for (size_t i = 1; i < a->n; i++)
        if (end_of(&a->all[i]) < end_of(first))
            first = &a->all[i];
    const uint64_t end = end_of(first);
    if (end == H5S_UNLIMITED)
        return ZB_OK;
    const enum zb_code code = find_start(a, err);
    if (code || (a->start <= end && a->count <= end - a->start))
        return code;
    return zb_fail(err, ZB_EINVAL, "dimension %u of %s cannot exceed its maximal size (%llu)",
                   first->dim, first->dataset->path, (unsigned long long)end);
}

static enum zb_code append_in_turn(void *context, zb_error *err) {
    appending *a = context;
    const enum zb_code code = check_ends(a, err);
    return code ? code
                : zb_array_append(a->appends, a->n, a->count, NULL, &a->start, a->grown, err);
}

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
    appending a = {.all = all, .n = n, .count = count};
    enum zb_code code = ZB_OK;
    a.appends = calloc(n, sizeof *a.appends);
    a.grown = calloc(n, sizeof(zb_node *));
    if (!a.appends || !a.grown)
        code = zb_fail(err, ZB_ENOMEM, "no memory for %zu datasets", n);
    for (size_t i = 0; i < n && !code; i++) {
        code = prepare(&all[i], err);
        a.appends[i] = (zb_append){.array = all[i].dataset->zarr, .dim = all[i].dim};
    }
    if (!code)
        code = vol_in_turn(all->dataset->file, append_in_turn, &a, err);
    for (size_t i = 0; i < n && a.grown && a.grown[i]; i++) {
        const enum zb_code data = adopt(all[i].dataset, a.grown[i], ZB_OK, code ? NULL : err);
        code = code ? code : data;
    }
    free(a.grown);
    free(a.appends);
    *start = a.start;
    return code;
}
