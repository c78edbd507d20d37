/* SPDX-License-Identifier: MIT */
/* Scales stated: see scale_names.h. */
#include "scales/scale_names.h"

#include "attributes/attribute_list.h"
#include "dataset/edit_dataset.h"
#include "netcdf/lengths.h"
#include "scales/namesakes.h"
#include "scales/scales.h"
#include "tree/side.h"

#include <stdlib.h>
#include <string.h>

/* No name is one by which other Zarr programs would take another array for the coordinate. */
static const char *name_of(vol_node *dataset, const zb_json *scales, uint32_t d,
                           const char *other) {
    const vol_scale_names says = vol_scales_names(dataset, scales, d, dataset->name);
    const vol_node *scale = vol_scales_first(dataset, says.list);
    if (says.own)
        return says.own;
    if (scale && !vol_namesake_hides(dataset, scale))
        return scale->name;
    if (says.label)
        return says.label;
    return scale || !other || vol_scales_ask(&says, other) == VOL_SCALE_DIFFERS ? NULL : other;
}

/* The member with the names that the dimensions are going to have; malloc'ed, NULL without
   memory. */
static char *print(const zb_json *scales, const char *const *names, uint32_t ndim) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    for (const zb_json *one = zb_json_first(scales); one; one = zb_json_next(one)) {
        if (strcmp(zb_json_name(one), VOL_SCALES_NAMES) == 0)
            continue;
        zb_json_write_name(out, zb_json_name(one));
        zb_json_write_value(out, one);
    }
    zb_json_write_name(out, VOL_SCALES_NAMES);
    zb_json_begin_array(out);
    for (uint32_t d = 0; d < ndim; d++) {
        if (names[d])
            zb_json_write_string(out, names[d]);
        else
            zb_json_write_null(out);
    }
    zb_json_end_array(out);
    zb_json_end_object(out);
    return zb_json_writer_end(out, NULL);
}

static enum zb_code set_member(vol_node *dataset, const zb_json *scales, const char *const *names,
                               zb_error *err) {
    char *text = scales ? print(scales, names, zb_node_array(dataset->zarr)->ndim) : NULL;
    enum zb_code code = scales && !text ? zb_fail(err, ZB_ENOMEM, "no memory for dimension scales")
                                        : vol_side_set(dataset, ZB_HDF5_SCALES, text, err);
    free(text);
    vol_node_attrs_outdate(dataset);
    vol_lengths_change(dataset->file);
    dataset->file->scale_changes++;
    if (!scales)
        vol_scales_name_dimensions(dataset->file);
    dataset->file->changes++;
    return code;
}

static enum zb_code set(vol_node *dataset, const zb_json *scales, const char *const *others,
                        zb_error *err) {
    const uint32_t ndim = zb_node_array(dataset->zarr)->ndim;
    const char *names[ZB_MAX_NDIM];
    bool any = false, same = true;
    for (uint32_t d = 0; d < ndim; d++) {
        const char *now = vol_scales_name_now(dataset, d);
        names[d] =
            dataset->is_dimension ? now : name_of(dataset, scales, d, others ? others[d] : NULL);
        any |= names[d] != NULL;
        same &= now && names[d] ? strcmp(now, names[d]) == 0 : now == names[d];
    }
    enum zb_code code = set_member(dataset, scales, names, err);
    return code || same ? code : vol_edit_dimension_names(dataset, any ? names : NULL, err);
}

uint64_t vol_scales_changes(const vol_file *file) {
    return file->scale_changes;
}

enum zb_code vol_scales_set(vol_node *dataset, const char *json, const char *const *others,
                            zb_error *err) {
    zb_json *scales = NULL;
    enum zb_code code = json ? zb_json_parse(json, strlen(json), &scales, err) : ZB_OK;
    if (!code)
        code = set(dataset, scales, others, err);
    zb_json_free(scales);
    return code;
}

enum zb_code vol_scales_named(vol_node *dataset, zb_error *err) {
    const zb_json *now =
        dataset->kind == VOL_DATASET ? vol_side_get(dataset, ZB_HDF5_SCALES) : NULL;
    const char *others[ZB_MAX_NDIM];
    if (zb_json_kind_of(now) != ZB_JSON_OBJECT)
        return ZB_OK;
    for (uint32_t d = 0; d < zb_node_array(dataset->zarr)->ndim; d++)
        others[d] = vol_scales_name_now(dataset, d);
    char *json = zb_json_print(now);
    enum zb_code code = json ? vol_scales_set(dataset, json, others, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for dimension scales");
    free(json);
    return code;
}
