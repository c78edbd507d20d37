/* SPDX-License-Identifier: MIT */
/*
 * H5Ocopy from a Zarr store into an ordinary HDF5 file: h5copy, h5repack and h5py's Group.copy.
 *
 * Groups, datasets and attributes are made anew through the native connector. Data go over in
 * pieces. The references of dimension scales hold addresses, so they are written last, when all
 * objects have got theirs in the new file.
 */
#include "copy/walk.h"

#include "copy/attributes_to_hdf5.h"
#include "copy/data.h"
#include "create/creation_list.h"
#include "dataset/dataset.h"
#include "dataset/unreadable.h"
#include "file/forget.h"
#include "hdf5/errors.h"
#include "types/types.h"
#include "objects/locate.h"
#include "objects/token_search.h"
#include "waiting/waiting_store.h"

#include <string.h>

/* References that lead to copies are written when all copies are there. */
static bool expands(const vol_copy *copy) {
    return copy->flags & H5O_COPY_EXPAND_REFERENCE_FLAG;
}

static bool has_references(const vol_copy *copy, hid_t type) {
    return copy->lib->H5Tdetect_class(type, H5T_REFERENCE) > 0;
}

/* ---- Places in the file ---- */

/* What is called so in the copy of a group, or where the top's copy comes. */
static H5VL_loc_params_t in_group(const vol_copy *copy, const char *name) {
    return vol_loc_by_name(copy->lib, H5I_GROUP, name);
}

static char *path_of(const vol_copy_place *at) {
    const char *above = at->group ? at->group->path : NULL;
    if (!above)
        return strdup(".");
    const bool below_top = strcmp(above, ".") == 0;
    return vol_path_join(below_top ? "" : above, below_top ? "" : "/", at->name);
}

/* ---- Objects ---- */

/* A new object of a file: what HDF5's calls have in common. */
typedef struct new_object {
    const vol_copy *copy;
    vol_node *node;
    void *parent;
    const H5VL_loc_params_t *loc;
    const char *name;
} new_object;

/* The creation list is the one that the source shows, so chunks, filters and fill value carry
   over. */
static void *create_dataset(const new_object *to) {
    const vol_copy *copy = to->copy;
    h5_lib *lib = copy->lib;
    const hid_t dcpl = vol_node_dcpl(to->node), dxpl = copy->request->dxpl;
    hid_t type = vol_node_type(to->node);
    /* HDF5 takes a largest shape for chunked datasets alone. */
    hid_t space = vol_node_space(to->node, lib->H5Pget_layout(dcpl) == H5D_CHUNKED);
    void *dataset =
        lib->H5VLdataset_create(to->parent, to->loc, lib->native, to->name, copy->request->lcpl,
                                type, space, dcpl, *lib->H5P_LST_DATASET_ACCESS_ID_g, dxpl, NULL);
    const bool waits = expands(copy) && has_references(copy, type);
    if (dataset && !waits && vol_data_to_hdf5(copy, expands(copy), to->node, dataset, space) < 0) {
        vol_native_close(lib, dataset, H5I_DATASET, dxpl);
        dataset = NULL;
    }
    vol_release_id(lib, type);
    vol_release_id(lib, space);
    return dataset;
}

static void *create_group(const new_object *to) {
    h5_lib *lib = to->copy->lib;
    const vol_copy_request *request = to->copy->request;
    hid_t list = vol_group_list(to->node, *lib->H5P_CLS_GROUP_CREATE_ID_g);
    void *made = lib->H5VLgroup_create(to->parent, to->loc, lib->native, to->name, request->lcpl,
                                       list, *lib->H5P_LST_GROUP_ACCESS_ID_g, request->dxpl, NULL);
    vol_release_id(lib, list);
    return made;
}

static void *commit_datatype(const new_object *to) {
    h5_lib *lib = to->copy->lib;
    const vol_copy_request *request = to->copy->request;
    bool lacks_memory;
    hid_t type = vol_node_datatype(to->node, &lacks_memory);
    void *made = lib->H5VLdatatype_commit(to->parent, to->loc, lib->native, to->name, type,
                                          request->lcpl, *lib->H5P_LST_DATATYPE_CREATE_ID_g,
                                          *lib->H5P_LST_DATATYPE_ACCESS_ID_g, request->dxpl, NULL);
    vol_release_id(lib, type);
    return made;
}

/* The text that stands for an unreadable node is no copy of it. */
static herr_t make(vol_copy *copy, const vol_copy_object *object, const vol_copy_place *at,
                   vol_copied *out) {
    const H5VL_loc_params_t self = vol_self(H5I_GROUP);
    const new_object to = {.copy = copy,
                           .node = object->node,
                           .parent = at->group ? at->group->object : copy->request->to->under,
                           .loc = at->group ? &self : copy->request->loc,
                           .name = at->name};
    zb_error err = {0};
    if (vol_unreadable_refuse_copy(object->node, &err) != ZB_OK)
        return VOL_PUSH_ZB(copy->lib, DATASET, CANTCOPY, &err);
    out->path = path_of(at);
    if (!out->path)
        return VOL_PUSH(copy->lib, SYM, CANTCOPY, "no memory for a path");
    switch (object->kind) {
    case VOL_GROUP:
        out->type = H5I_GROUP;
        out->object = create_group(&to);
        break;
    case VOL_DATASET:
        out->type = H5I_DATASET;
        out->object = create_dataset(&to);
        break;
    case VOL_DATATYPE:
        out->type = H5I_DATATYPE;
        out->object = commit_datatype(&to);
        break;
    }
    return out->object ? 0 : -1;
}

static vol_native_target target_of(const vol_copy *copy, const vol_copied *copied) {
    return (vol_native_target){.lib = copy->lib,
                               .dxpl = copy->request->dxpl,
                               .object = copied->object,
                               .type = copied->type};
}

static herr_t complete(vol_copy *copy, const vol_copy_object *object, vol_copied *copied,
                       bool attributes) {
    vol_export references = {.copy = copy, .node = object->node, .are_null = true};
    const vol_reference_map map = {.visit = vol_export_reference, .context = &references};
    const vol_native_target target = target_of(copy, copied);
    if (attributes && vol_attrs_to_hdf5(&target, object->node, expands(copy) ? NULL : &map) < 0)
        return -1;
    return vol_comment_to_hdf5(object->node, copied->object, copied->type, copy->request->dxpl);
}

static void close_copy(const vol_copy *copy, vol_copied *copied) {
    if (copied->object)
        vol_native_close(copy->lib, copied->object, copied->type, copy->request->dxpl);
    copied->object = NULL;
}

/* All others are found from the top's copy. */
static void leave(vol_copy *copy, vol_copied *copied) {
    if (copied != copy->first)
        close_copy(copy, copied);
}

/* ---- Links ---- */

static herr_t link_again(vol_copy *copy, const vol_copy_place *at, const vol_copied *copied) {
    h5_lib *lib = copy->lib;
    const H5VL_loc_params_t loc = in_group(copy, at->name);
    H5VL_link_create_args_t args = {
        .op_type = H5VL_LINK_CREATE_HARD,
        .args.hard = {.curr_obj = copy->first->object,
                      .curr_loc_params = vol_copy_from_top(copy, copied)}};
    return lib->H5VLlink_create(&args, at->group->object, &loc, lib->native, copy->request->lcpl,
                                *lib->H5P_LST_LINK_ACCESS_ID_g, copy->request->dxpl, NULL);
}

static herr_t make_link(vol_copy *copy, const vol_copy_place *at, const vol_link_value *value) {
    const H5VL_loc_params_t loc = in_group(copy, at->name);
    return vol_link_make_native(copy->lib, at->group->object, &loc, copy->request->lcpl,
                                copy->request->dxpl, value);
}

/* ---- References to copies ---- */

static uint64_t new_address(void *context, uint64_t old) {
    const vol_copy *copy = context;
    const vol_node *node = vol_node_by_token(copy->first->node->file, old, NULL);
    return node ? vol_copy_address(copy, node) : 0;
}

/* What was left out of an object while its references had nothing to lead to. */
static herr_t copy_references(vol_copy *copy, const vol_copied *copied) {
    vol_export references = {.copy = copy, .node = copied->node, .expands = true};
    const vol_reference_map map = {.visit = vol_export_reference, .context = &references};
    const vol_native_target target = target_of(copy, copied);
    herr_t result = 0;
    hid_t elements = copied->type == H5I_DATASET ? vol_node_type(copied->node) : -1;
    const bool has = elements >= 0 && has_references(copy, elements);
    vol_release_id(copy->lib, elements);
    if (has) {
        hid_t space = vol_node_space(copied->node, false);
        result = vol_data_to_hdf5(copy, true, copied->node, copied->object, space);
        vol_release_id(copy->lib, space);
    }
    if (result >= 0 && !(copy->flags & H5O_COPY_WITHOUT_ATTR_FLAG))
        result = vol_reference_attrs_to_hdf5(&target, copied->node, &map);
    return result;
}

static herr_t finish_one(vol_copy *copy, vol_copied *copied) {
    const bool scales =
        !(copy->flags & H5O_COPY_WITHOUT_ATTR_FLAG) && vol_scales_are_referring(copied->node);
    const H5VL_loc_params_t loc = vol_copy_from_top(copy, copied);
    h5_lib *lib = copy->lib;
    if (!scales && !expands(copy))
        return 0;
    if (!copied->object)
        copied->object = lib->H5VLobject_open(copy->first->object, &loc, lib->native, &copied->type,
                                              copy->request->dxpl, NULL);
    const vol_native_target target = target_of(copy, copied);
    herr_t result = copied->object ? 0 : -1;
    if (result >= 0 && scales)
        result = vol_scales_to_hdf5(&target, copied->node, new_address, copy);
    if (result >= 0 && expands(copy))
        result = copy_references(copy, copied);
    leave(copy, copied);
    return result;
}

static herr_t finish(vol_copy *copy) {
    herr_t result = 0;
    for (vol_copied *one = copy->first; one && result >= 0; one = one->next)
        result = finish_one(copy, one);
    return result;
}

static const vol_copy_target into_hdf5 = {.make = make,
                                          .complete = complete,
                                          .link_again = link_again,
                                          .make_link = make_link,
                                          .leave = leave,
                                          .finish = finish};

/* ---- All ---- */

/* The link to the copy: whether it is there, or deleted. */
static bool ask_link(const vol_copy_request *request, H5VL_link_specific_t what) {
    h5_lib *lib = request->to->lib;
    const H5VL_loc_params_t loc = vol_loc_by_name(lib, request->loc->obj_type, request->name);
    bool there = false;
    H5VL_link_specific_args_t args = {.op_type = what, .args.exists.exists = &there};
    vol_silence silence;
    vol_silence_begin(lib, &silence);
    const herr_t done =
        lib->H5VLlink_specific(request->to->under, &loc, lib->native, &args, request->dxpl, NULL);
    vol_silence_end(lib, &silence);
    return done >= 0 && (there || what == H5VL_LINK_DELETE);
}

/* What a copy has begun when it fails goes again, as HDF5 itself links a copy that is complete. */
static herr_t remove_begun(const vol_copy_request *request) {
    if (ask_link(request, H5VL_LINK_EXISTS) && !ask_link(request, H5VL_LINK_DELETE))
        VOL_PUSH(request->to->lib, SYM, CANTCOPY,
                 "'%s' is not complete, and could not be removed: delete it", request->name);
    return -1;
}

herr_t vol_export_node(vol_node *node, const vol_copy_request *request) {
    h5_lib *lib = request->to->lib;
    zb_error err = {0};
    const bool is_taken = ask_link(request, H5VL_LINK_EXISTS);
    if (vol_writer_flush_below(node, &err) != ZB_OK)
        return VOL_PUSH_ZB(lib, SYM, CANTFLUSH, &err);
    vol_copy copy = {.from = &vol_copy_store, .to = &into_hdf5};
    const vol_copy_object top = vol_copy_node(&copy, node);
    vol_file_hold(node->file);
    herr_t result = vol_copy_begin(&copy, request);
    if (result >= 0)
        result = vol_copy_run(&copy, &top);
    if (copy.first)
        close_copy(&copy, copy.first);
    vol_copy_end(&copy);
    vol_file_let_go(node->file);
    return result < 0 && !is_taken ? remove_begun(request) : result;
}
