/* SPDX-License-Identifier: MIT */
/*
 * H5Ocopy from an ordinary HDF5 file into a Zarr store: h5repack, h5copy and h5py's Group.copy.
 *
 * The source is read by HDF5's public calls, as any program would; the target is made as by our own
 * H5Gcreate, H5Dcreate and H5Acreate. References of dimension scales lead to the copies
 * (scale_references.h).
 */
#include "copy/from_hdf5.h"

#include "attributes/write.h"
#include "copy/attributes_to_hdf5.h"
#include "copy/data.h"
#include "copy/imported.h"
#include "copy/indexed.h"
#include "copy/links.h"
#include "copy/references.h"
#include "copy/scale_references.h"
#include "create/creation_list.h"
#include "create/spec.h"
#include "dataset/dataset.h"
#include "dataset/max_shape.h"
#include "hdf5/errors.h"
#include "links/aliases.h"
#include "links/edit_links.h"
#include "links/link_order.h"
#include "tree/map.h"

#include <stdlib.h>
#include <string.h>

#include "zarrbridge/conventions.h"

typedef struct import_job {
    h5_lib *lib;
    vol_handle *handle; /* of the target */
    hid_t dxpl;
    unsigned flags; /* H5O_COPY_... */
    const vol_reference_map *references;
    vol_import_references *paths; /* what `references` asks */
    vol_imported *made;
    vol_put_offs *later;
    vol_scales_import *scales;
    vol_node **top; /* the copy, as soon as it is there */
} import_job;

/* An object of the source, or of a file that an external link leads to. */
typedef struct import_source {
    hid_t id;
    vol_imported_file *file; /* what has been made of the objects of its file */
    uint64_t address;        /* there */
} import_source;

/* ---- Attributes ---- */

/* The references in an attribute's value. */
static herr_t map_attribute(const import_job *job, vol_node *owner, hid_t type, hid_t space,
                            void *data) {
    h5_lib *lib = job->lib;
    vol_form *form;
    zb_error err = {0};
    const hssize_t count = lib->H5Sget_select_npoints(space);
    if (lib->H5Tdetect_class(type, H5T_REFERENCE) <= 0)
        return 0;
    if (vol_form_new(owner->file, type, &form, &err) != ZB_OK)
        return vol_import_failed(job->lib, owner->path, &err);
    const bool good = vol_elements_references(form, count > 0 ? (size_t)count : 0, data,
                                              job->references->visit, job->references->context);
    hid_t saved = vol_stack_save(lib);
    vol_form_free(form);
    vol_stack_restore(lib, saved);
    return good ? 0 : -1;
}

static herr_t import_value(const import_job *job, hid_t attr, hid_t type, hid_t space,
                           vol_node *owner, const char *name, H5T_cset_t cset) {
    h5_lib *lib = job->lib;
    void *data;
    bool is_null = lib->H5Sget_simple_extent_type(space) == H5S_NULL;
    if (vol_attr_check(owner, name, type, space) < 0 || vol_attr_zeros(lib, type, space, &data) < 0)
        return -1;
    const vol_attr_value value = {.name = name,
                                  .type = type,
                                  .space = space,
                                  .dxpl = job->dxpl,
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
    const import_job *job;
    const import_source *from;
    vol_node *owner;
} attr_visit;

static herr_t import_attr(hid_t source, const char *name, const H5A_info_t *info, void *context) {
    const attr_visit *visit = context;
    const import_job *job = visit->job;
    h5_lib *lib = job->lib;
    vol_node *node = visit->owner;
    hid_t attr = lib->H5Aopen(source, name, H5P_DEFAULT);
    if (attr < 0)
        return -1;
    hid_t type = lib->H5Aget_type(attr), space = lib->H5Aget_space(attr);
    herr_t result;
    if (vol_scales_import_takes(node, name))
        result = vol_scales_import_attr(job->scales, attr, name, node, visit->from->file);
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

/* And the comment. */
static herr_t import_attrs(const import_job *job, const import_source *from, vol_node *node) {
    h5_lib *lib = job->lib;
    const hid_t source = from->id;
    if (vol_comment_from_hdf5(source, node) < 0)
        return -1;
    if (job->flags & H5O_COPY_WITHOUT_ATTR_FLAG)
        return 0;
    attr_visit visit = {.job = job, .from = from, .owner = node};
    const H5_index_t index = tracks_attributes(lib, source) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    return lib->H5Aiterate2(source, index, H5_ITER_INC, NULL, import_attr, &visit);
}

/* Of an object whose elements, if any, are there. */
static herr_t complete(const import_job *job, const import_source *from, vol_node *node) {
    if (import_attrs(job, from, node) < 0)
        return -1;
    return vol_import_references_met(job->paths, node);
}

/* ---- Objects ---- */

static herr_t import_object(const import_job *job, hid_t source, const vol_place *place, bool top);

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
static bool is_indexed(const import_job *job) {
    return job->handle->file->options.shards.cut == VOL_CUT_FILE;
}

static void note_top(const import_job *job, vol_node *made) {
    if (!*job->top)
        *job->top = made;
}

static herr_t make_dataset(const import_job *job, hid_t source, hid_t space, const vol_place *place,
                           vol_node **out, vol_import_form *form) {
    h5_lib *lib = job->lib;
    vol_spec spec;
    zb_error err = {0};
    hid_t dcpl = lib->H5Dget_create_plist(source);
    form->type = lib->H5Dget_type(source);
    zb_dtype_detail detail;
    enum zb_code code = vol_spec_make(job->handle->file, form->type, space, dcpl, &spec, &err);
    if (!code)
        code = take_zarr_type(lib, source, form->type, &detail, &spec, &err);
    if (!code && is_indexed(job))
        code = vol_indexed_describe(lib, form->type, dcpl, &spec, &err);
    if (!code)
        code = vol_edit_create_array(place, &spec.spec, out, &err);
    if (!code)
        note_top(job, *out);
    if (!code)
        code = vol_max_shape_show(*out, spec.max_shape, &err);
    if (!code)
        choose_form(*out, form);
    vol_spec_clear(&spec);
    vol_release_id(lib, dcpl);
    return code ? vol_import_failed(job->lib, place->name, &err) : 0;
}

/* Any object may be met again: by another hard link, by one that is expanded, and the top by its
   own, from a group above. Without, links that lead in a circle would have no end. */
static herr_t remember(const import_job *job, const import_source *from, vol_node *node) {
    if (vol_map_set(&from->file->by_address, from->address, node))
        return 0;
    return VOL_PUSH(job->lib, SYM, CANTCOPY, "no memory for the links of '%s'", node->path);
}

static herr_t import_dataset(const import_job *job, const import_source *from,
                             const vol_place *place) {
    h5_lib *lib = job->lib;
    vol_node *node = NULL;
    const hid_t source = from->id;
    hid_t space = lib->H5Dget_space(source);
    vol_import_form form;
    const vol_import data = {.lib = lib, .dxpl = job->dxpl, .references = job->references};
    herr_t result = make_dataset(job, source, space, place, &node, &form);
    if (result >= 0)
        result = remember(job, from, node);
    if (result >= 0)
        result = is_indexed(job) ? vol_indexed_take(lib, job->dxpl, source, node)
                                 : vol_data_from_hdf5(&data, source, &form, space, node);
    vol_release_id(lib, form.type);
    vol_release_id(lib, space);
    return result < 0 ? -1 : complete(job, from, node);
}

/* The context of an iteration over links. */
typedef struct link_visit {
    const import_job *job;
    hid_t source;    /* the group that holds them */
    vol_node *group; /* of the target */
} link_visit;

/* A link that is copied as it is. */
static herr_t import_value_link(const import_job *job, hid_t source, const char *name,
                                const H5L_info2_t *info, const vol_place *place) {
    h5_lib *lib = job->lib;
    zb_error err = {0};
    if (info->type != H5L_TYPE_SOFT && info->type != H5L_TYPE_EXTERNAL)
        return VOL_PUSH(lib, SYM, UNSUPPORTED,
                        "cannot copy '%s': Zarr stores have no user-defined links", name);
    char *text = calloc(1, info->u.val_size + 1);
    if (!text || lib->H5Lget_val(source, name, text, info->u.val_size, H5P_DEFAULT) < 0) {
        free(text);
        return -1;
    }
    vol_link_value value = {.target = text};
    enum zb_code code;
    if (info->type == H5L_TYPE_SOFT)
        code = vol_edit_create_soft(place, text, &err);
    else if (vol_link_unpack(text, info->u.val_size, &value))
        code = vol_edit_create_external(place, value.file, value.target, &err);
    else
        code = zb_fail(&err, ZB_EUNSUPPORTED, "its value is of another form");
    free(text);
    return code ? vol_import_failed(job->lib, name, &err) : 0;
}

/* Links other than hard ones are copied as they are at first. Those that the caller wants expanded
   are, in the end, where they lead to an object. */
static herr_t import_link(hid_t source, const char *name, const H5L_info2_t *info, void *context) {
    const link_visit *visit = context;
    const import_job *job = visit->job;
    h5_lib *lib = job->lib;
    vol_place place = {.group = visit->group, .name = (char *)(uintptr_t)name};
    if (info->type != H5L_TYPE_HARD) {
        const unsigned expand = info->type == H5L_TYPE_SOFT       ? H5O_COPY_EXPAND_SOFT_LINK_FLAG
                                : info->type == H5L_TYPE_EXTERNAL ? H5O_COPY_EXPAND_EXT_LINK_FLAG
                                                                  : 0;
        if (import_value_link(job, source, name, info, &place) < 0)
            return -1;
        if (!(job->flags & expand) ||
            vol_put_off_add(lib, job->later, visit->source, visit->group, name))
            return 0;
        return VOL_PUSH(lib, SYM, CANTCOPY, "no memory for link '%s'", name);
    }
    hid_t child = lib->H5Oopen(source, name, H5P_DEFAULT);
    if (child < 0)
        return -1;
    herr_t result = import_object(job, child, &place, false);
    vol_release_id(lib, child);
    return result;
}

/* The object that a link leads to; -1 when it leads nowhere (*dangles), or, with an error pushed,
   when that cannot be opened. */
static hid_t follow_link(h5_lib *lib, const vol_put_off *link, bool *dangles) {
    vol_silence silence;
    vol_silence_begin(lib, &silence);
    hid_t child = lib->H5Oopen(link->source, link->name, H5P_DEFAULT);
    vol_silence_end(lib, &silence);
    *dangles = child < 0 && vol_link_dangles(lib, link->source, link->name);
    if (child >= 0 || *dangles)
        return child;
    child = lib->H5Oopen(link->source, link->name, H5P_DEFAULT); /* for the reason */
    if (child < 0)
        VOL_PUSH(lib, SYM, CANTCOPY,
                 "what the link '%s' leads to is there and cannot be opened: mend that, or copy "
                 "without expanding such links",
                 link->name);
    return child;
}

/* Puts an object where the link stands that leads there. It keeps the link's number. */
static herr_t expand_link(const import_job *job, vol_put_off *put_off) {
    h5_lib *lib = job->lib;
    const vol_place place = {.group = put_off->group, .name = put_off->name};
    zb_error err = {0};
    bool dangles;
    hid_t child = follow_link(lib, put_off, &dangles);
    if (child < 0)
        return dangles ? 0 : -1;
    vol_link *link = vol_links_find(place.group, place.name);
    const uint64_t order = link ? link->order : 0;
    herr_t result = 0;
    if (link && vol_edit_delete_link(link, &err) != ZB_OK)
        result = vol_import_failed(lib, place.name, &err);
    if (result >= 0)
        result = import_object(job, child, &place, false);
    if (result >= 0)
        vol_order_replace(vol_links_find(place.group, place.name), order);
    vol_release_id(lib, child);
    return result;
}

/* The first of the links that have been put off. Those in what is copied for it come before the
   others, so that the files that external links lead to are soon closed. */
static herr_t expand_first(const import_job *job) {
    vol_put_off *link = vol_put_off_take(job->later);
    vol_put_offs others = *job->later;
    *job->later = (vol_put_offs){.first = NULL};
    const herr_t result = expand_link(job, link);
    vol_put_off_append(job->later, &others);
    vol_put_off_free(job->lib, link);
    return result;
}

/* With the source's creation list; *order: its H5P_CRT_ORDER_... flags. */
static enum zb_code make_group(const import_job *job, hid_t source, const vol_place *place,
                               vol_node **out, unsigned *order, zb_error *err) {
    h5_lib *lib = job->lib;
    char *attributes;
    hid_t list = lib->H5Gget_create_plist(source);
    if (lib->H5Pget_link_creation_order(list, order) < 0)
        *order = 0;
    enum zb_code code = vol_list_member_attributes(lib, list, &attributes, err);
    vol_release_id(lib, list);
    if (!code)
        code = vol_edit_create_group(place, attributes, out, err);
    free(attributes);
    if (!code)
        note_top(job, *out);
    return code ? code : vol_order_begin(*out, *order, err);
}

static herr_t import_group(const import_job *job, const import_source *from, const vol_place *place,
                           bool top) {
    h5_lib *lib = job->lib;
    const hid_t source = from->id;
    vol_node *node;
    zb_error err = {0};
    unsigned order = 0;
    if (make_group(job, source, place, &node, &order, &err) != ZB_OK)
        return vol_import_failed(job->lib, place->name, &err);
    link_visit visit = {.job = job, .source = source, .group = node};
    if (remember(job, from, node) < 0 || complete(job, from, node) < 0)
        return -1;
    if (!top && (job->flags & H5O_COPY_SHALLOW_HIERARCHY_FLAG))
        return 0;
    return lib->H5Literate2(source, order ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, NULL,
                            import_link, &visit);
}

static herr_t import_datatype(const import_job *job, const import_source *from,
                              const vol_place *place) {
    h5_lib *lib = job->lib;
    const hid_t source = from->id;
    vol_node *node;
    zb_error err = {0};
    hid_t list = lib->H5Tget_create_plist(source);
    enum zb_code code = vol_datatype_make(place->group->file, source, list, place, &node, &err);
    vol_release_id(lib, list);
    if (code)
        return vol_import_failed(job->lib, place->name, &err);
    note_top(job, node);
    return remember(job, from, node) < 0 ? -1 : complete(job, from, node);
}

static herr_t import_object(const import_job *job, hid_t source, const vol_place *place, bool top) {
    H5O_info2_t info;
    zb_error err = {0};
    if (job->lib->H5Oget_info3(source, &info, H5O_INFO_BASIC) < 0)
        return -1;
    const import_source from = {.id = source,
                                .file = vol_imported_in(job->made, source, info.fileno),
                                .address = vol_token_get(&info.token)};
    if (!from.file)
        return -1;
    vol_import_references_of(job->paths, from.file);
    vol_node *made = vol_map_get(&from.file->by_address, from.address);
    if (made)
        return vol_alias_create(place, made, &err) == ZB_OK
                   ? 0
                   : vol_import_failed(job->lib, place->name, &err);
    switch (job->lib->H5Iget_type(source)) {
    case H5I_GROUP:
        return import_group(job, &from, place, top);
    case H5I_DATASET:
        return import_dataset(job, &from, place);
    default:
        return import_datatype(job, &from, place);
    }
}

/* HDF5 wraps what it registers in the context of the source, so it wants the native object. */
hid_t vol_import_open(const vol_object *from, const H5VL_loc_params_t *from_loc, const char *name,
                      hid_t dxpl) {
    h5_lib *lib = from->lib;
    const H5VL_loc_params_t loc = vol_loc_by_name(lib, from_loc->obj_type, name);
    H5I_type_t type;
    void *native = lib->H5VLobject_open(from->under, &loc, lib->native, &type, dxpl, NULL);
    return native ? lib->H5VLwrap_register(native, type) : -1;
}

/* Copies with references that lead on. */
static herr_t import_top(import_job *job, hid_t source, const vol_object *to,
                         const vol_place *place) {
    vol_import_references references;
    herr_t result = vol_import_references_begin(&references, source, to->file, place, job->flags);
    const vol_reference_map map = {.visit = vol_import_reference, .context = &references};
    job->references = &map;
    job->paths = &references;
    if (result >= 0)
        result = import_object(job, source, place, true);
    while (result >= 0 && job->later->first)
        result = expand_first(job);
    if (result >= 0)
        result = vol_import_references_settle(&references);
    vol_import_references_end(&references);
    return result;
}

herr_t vol_import_object(hid_t source, const vol_place *place, const vol_copy_request *request,
                         vol_node **begun) {
    const vol_object *to = request->to;
    vol_scales_import scales = {.lib = to->lib, .dxpl = request->dxpl};
    vol_imported made = {.lib = to->lib};
    vol_put_offs later = {.first = NULL};
    import_job job = {.lib = to->lib,
                      .handle = to->handle,
                      .dxpl = request->dxpl,
                      .made = &made,
                      .later = &later,
                      .scales = &scales,
                      .top = begun};
    if (job.lib->H5Pget_copy_object(request->ocpypl, &job.flags) < 0)
        return -1;
    herr_t result = import_top(&job, source, to, place);
    if (vol_scales_import_end(&scales, result >= 0) < 0)
        result = -1;
    for (vol_put_off *link; (link = vol_put_off_take(&later));)
        vol_put_off_free(job.lib, link);
    vol_imported_clear(&made);
    return result;
}
