/* SPDX-License-Identifier: MIT */
/*
 * H5Ocopy from an ordinary HDF5 file into a Zarr store: h5repack, h5copy and h5py's Group.copy.
 *
 * The source is read by HDF5's public calls, as any program would; the target is made as by our own
 * H5Gcreate, H5Dcreate and H5Acreate. References of dimension scales lead to the copies
 * (scale_references.h).
 */
#include "copy/walk.h"

#include "attributes/write.h"
#include "copy/attributes_to_hdf5.h"
#include "copy/data.h"
#include "encoded/indexed.h"
#include "copy/references.h"
#include "copy/scale_references.h"
#include "create/creation_list.h"
#include "create/spec.h"
#include "dataset/dataset.h"
#include "dataset/max_shape.h"
#include "hdf5/errors.h"
#include "links/link_order.h"

#include <stdlib.h>
#include <string.h>

#include "zarrbridge/conventions.h"

typedef struct import_job {
    vol_copy copy; /* the first member */
    vol_import_references references;
    vol_scales_import scales;
} import_job;

/* ---- Attributes ---- */

/* The references in an attribute's value. */
static herr_t map_attribute(import_job *job, vol_node *owner, hid_t type, hid_t space, void *data) {
    h5_lib *lib = job->copy.lib;
    const vol_reference_map map = {.visit = vol_import_reference, .context = &job->references};
    const hssize_t count = lib->H5Sget_select_npoints(space);
    return lib->H5Tdetect_class(type, H5T_REFERENCE) > 0 && count > 0
               ? vol_references_map(owner->file, type, (size_t)count, data, &map)
               : 0;
}

static herr_t import_value(import_job *job, hid_t attr, hid_t type, hid_t space, vol_node *owner,
                           const char *name, H5T_cset_t cset) {
    h5_lib *lib = job->copy.lib;
    void *data;
    bool is_null = lib->H5Sget_simple_extent_type(space) == H5S_NULL;
    if (vol_attr_check(owner, name, type, space) < 0 || vol_attr_zeros(lib, type, space, &data) < 0)
        return -1;
    const vol_attr_value value = {.name = name,
                                  .type = type,
                                  .space = space,
                                  .dxpl = job->copy.request->dxpl,
                                  .data = data,
                                  .is_utf8 = vol_charset_is_needed(name, cset)};
    herr_t result = is_null ? 0 : lib->H5Aread(attr, type, data);
    if (result >= 0) {
        result = is_null ? 0 : map_attribute(job, owner, type, space, data);
        if (result >= 0)
            result = vol_attr_store(owner, &value, type);
        hid_t saved = vol_stack_save(lib);
        if (!is_null)
            lib->H5Treclaim(type, space, H5P_DEFAULT, data);
        vol_stack_restore(lib, saved);
    }
    free(data);
    return result;
}

/* The context of an iteration over attributes. */
typedef struct attr_visit {
    import_job *job;
    const vol_copy_object *from;
    vol_node *owner;
} attr_visit;

static herr_t import_attr(hid_t source, const char *name, const H5A_info_t *info, void *context) {
    const attr_visit *visit = context;
    import_job *job = visit->job;
    h5_lib *lib = job->copy.lib;
    vol_node *node = visit->owner;
    hid_t attr = lib->H5Aopen(source, name, H5P_DEFAULT);
    if (attr < 0)
        return -1;
    hid_t type = lib->H5Aget_type(attr), space = lib->H5Aget_space(attr);
    herr_t result;
    if (vol_scales_import_takes(node, name))
        result = vol_scales_import_attr(&job->scales, attr, name, node, visit->from->file);
    else
        result = import_value(job, attr, type, space, node, name, info->cset);
    vol_release_id(lib, type);
    vol_release_id(lib, space);
    vol_release_id(lib, attr);
    return result < 0 ? -1 : 0;
}

/* Whether the source keeps the order in which its attributes were made. */
static bool tracks_attributes(h5_lib *lib, hid_t source) {
    const H5I_type_t type = lib->H5Iget_type(source);
    hid_t list = type == H5I_DATASET ? lib->H5Dget_create_plist(source)
                 : type == H5I_GROUP ? lib->H5Gget_create_plist(source)
                                     : lib->H5Tget_create_plist(source);
    unsigned flags = 0;
    const bool tracks = list >= 0 && lib->H5Pget_attr_creation_order(list, &flags) >= 0 &&
                        (flags & H5P_CRT_ORDER_TRACKED);
    vol_release_id(lib, list);
    return tracks;
}

static herr_t import_attrs(import_job *job, const vol_copy_object *from, vol_node *node) {
    h5_lib *lib = job->copy.lib;
    attr_visit visit = {.job = job, .from = from, .owner = node};
    const H5_index_t index = tracks_attributes(lib, from->id) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    return lib->H5Aiterate2(from->id, index, H5_ITER_INC, NULL, import_attr, &visit);
}

/* The elements, if any, are there. */
static herr_t complete(vol_copy *copy, const vol_copy_object *object, vol_copied *copied,
                       bool attributes) {
    import_job *job = (import_job *)copy;
    if (vol_comment_from_hdf5(object->id, copied->copy) < 0 ||
        (attributes && import_attrs(job, object, copied->copy) < 0))
        return -1;
    vol_import_references_met(&job->references, copied);
    return 0;
}

/* ---- Objects ---- */

/* Elements are read as the new dataset shows them; bytes and text of any length as they are. */
static void choose_form(vol_node *node, vol_import_form *form) {
    const zb_dtype stored = zb_node_array(node->zarr)->dtype;
    form->dtype = vol_node_shown(node);
    uint32_t scale; /* of times, whose int64 is all of them */
    zb_dtype_unit(stored, &scale);
    const bool is_narrow =
        stored.kind == ZB_KIND_UTF32 || (scale == 0 && zb_dtype_shown(stored).kind != stored.kind);
    form->narrow = is_narrow ? stored : (zb_dtype){.size = 0};
}

/* The type that the source has kept of a store, in place of the one that its elements would get. */
static enum zb_code take_zarr_type(h5_lib *lib, hid_t source, hid_t type, zb_dtype_detail *detail,
                                   vol_spec *spec, zb_error *err) {
    zb_dtype kept, host = spec->spec.dtype;
    if (!vol_zarr_type_of(lib, source, type, detail, &kept))
        return ZB_OK;
    kept.swapped = host.swapped;
    host.swapped = false;
    spec->spec.dtype = kept;
    kept.swapped = false;
    if (!spec->spec.fill_value)
        return ZB_OK;
    void *fill = malloc(kept.size);
    if (!fill)
        return zb_fail(err, ZB_ENOMEM, "no memory for a fill value");
    const bool good = vol_zarr_type_holds(host, spec->fill, 1, kept) &&
                      zb_dtype_convert(host, spec->fill, kept, fill, 1);
    free(spec->fill);
    spec->spec.fill_value = spec->fill = fill;
    return good ? ZB_OK : vol_fail_narrow(err);
}

/* Whether datasets stay where they are. */
static bool is_indexed(const vol_place *place) {
    return place->group->file->options.shards.cut == VOL_CUT_FILE;
}

static herr_t make_dataset(const vol_copy *copy, hid_t source, hid_t space, const vol_place *place,
                           vol_node **out, vol_import_form *form) {
    h5_lib *lib = copy->lib;
    vol_spec spec;
    zb_error err = {0};
    hid_t dcpl = lib->H5Dget_create_plist(source);
    form->type = lib->H5Dget_type(source);
    zb_dtype_detail detail;
    enum zb_code code = vol_spec_make(place->group->file, form->type, space, dcpl, &spec, &err);
    if (!code)
        code = take_zarr_type(lib, source, form->type, &detail, &spec, &err);
    if (!code && is_indexed(place))
        code = vol_indexed_describe(lib, form->type, dcpl, &spec, &err);
    if (!code)
        code = vol_edit_create_array(place, &spec.spec, out, &err);
    if (!code)
        code = vol_max_shape_show(*out, spec.max_shape, &err);
    if (!code)
        choose_form(*out, form);
    vol_spec_clear(&spec);
    vol_release_id(lib, dcpl);
    return code ? vol_copy_failed(lib, place->name, &err) : 0;
}

static herr_t import_dataset(import_job *job, hid_t source, const vol_place *place,
                             vol_node **out) {
    h5_lib *lib = job->copy.lib;
    hid_t space = lib->H5Dget_space(source);
    vol_import_form form;
    const vol_reference_map map = {.visit = vol_import_reference, .context = &job->references};
    const vol_import data = {.lib = lib, .dxpl = job->copy.request->dxpl, .references = &map};
    herr_t result = make_dataset(&job->copy, source, space, place, out, &form);
    if (result >= 0)
        result = is_indexed(place) ? vol_indexed_take(lib, job->copy.request->dxpl, source, *out)
                                   : vol_data_from_hdf5(&data, source, &form, space, *out);
    vol_release_id(lib, form.type);
    vol_release_id(lib, space);
    return result;
}

/* With the source's creation list. */
static enum zb_code import_group(h5_lib *lib, hid_t source, const vol_place *place, vol_node **out,
                                 zb_error *err) {
    char *attributes;
    unsigned order = 0;
    hid_t list = lib->H5Gget_create_plist(source);
    if (lib->H5Pget_link_creation_order(list, &order) < 0)
        order = 0;
    enum zb_code code = vol_list_member_attributes(lib, list, &attributes, err);
    vol_release_id(lib, list);
    if (!code)
        code = vol_edit_create_group(place, attributes, out, err);
    free(attributes);
    return code ? code : vol_order_begin(*out, order, err);
}

static enum zb_code import_datatype(h5_lib *lib, hid_t source, const vol_place *place,
                                    vol_node **out, zb_error *err) {
    hid_t list = lib->H5Tget_create_plist(source);
    enum zb_code code = vol_datatype_make(place->group->file, source, list, place, out, err);
    vol_release_id(lib, list);
    return code;
}

static herr_t make(vol_copy *copy, const vol_copy_object *object, const vol_copy_place *at,
                   vol_copied *out) {
    import_job *job = (import_job *)copy;
    const vol_place place = vol_copy_store_place(copy, at);
    zb_error err = {0};
    vol_import_references_of(&job->references, object->file);
    if (object->kind == VOL_DATASET)
        return import_dataset(job, object->id, &place, &out->copy);
    const enum zb_code code =
        object->kind == VOL_GROUP
            ? import_group(copy->lib, object->id, &place, &out->copy, &err)
            : import_datatype(copy->lib, object->id, &place, &out->copy, &err);
    return code ? vol_copy_failed(copy->lib, at->name, &err) : 0;
}

/* ---- All ---- */

static herr_t finish(vol_copy *copy) {
    return vol_import_references_settle(&((import_job *)copy)->references, copy->first);
}

static const vol_copy_target into_store = {.has_places = true,
                                           .make = make,
                                           .complete = complete,
                                           .link_again = vol_copy_link_in_store,
                                           .make_link = vol_copy_value_in_store,
                                           .finish = finish};

/* HDF5 wraps what it registers in the context of the source, so it wants the native object. */
hid_t vol_import_open(const vol_object *from, const H5VL_loc_params_t *from_loc, const char *name,
                      hid_t dxpl) {
    h5_lib *lib = from->lib;
    const H5VL_loc_params_t loc = vol_loc_by_name(lib, from_loc->obj_type, name);
    H5I_type_t type;
    void *native = lib->H5VLobject_open(from->under, &loc, lib->native, &type, dxpl, NULL);
    return native ? lib->H5VLwrap_register(native, type) : -1;
}

/* With references that lead on. */
static herr_t import_top(import_job *job, hid_t source) {
    vol_copy *copy = &job->copy;
    vol_copy_object top;
    herr_t result = vol_import_references_begin(&job->references, source, copy->place, copy->flags);
    if (result >= 0)
        result = vol_copy_opened(copy, source, &top);
    if (result >= 0)
        result = vol_copy_run(copy, &top);
    vol_import_references_end(&job->references);
    return vol_scales_import_end(&job->scales, result >= 0) < 0 ? -1 : result;
}

herr_t vol_import_object(hid_t source, const vol_place *place, const vol_copy_request *request,
                         vol_node **begun) {
    import_job job = {.copy = {.from = &vol_copy_hdf5, .to = &into_store, .place = place},
                      .scales = {.lib = request->to->lib, .dxpl = request->dxpl}};
    herr_t result = vol_copy_begin(&job.copy, request);
    if (result >= 0)
        result = import_top(&job, source);
    if (job.copy.first)
        *begun = job.copy.first->copy;
    vol_copy_end(&job.copy);
    return result;
}
