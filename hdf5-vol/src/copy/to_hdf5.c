/* SPDX-License-Identifier: MIT */
/*
 * H5Ocopy from a Zarr store into an ordinary HDF5 file: h5copy, h5repack and h5py's Group.copy.
 *
 * Groups, datasets and attributes are made anew through the native connector. Data go over in
 * pieces. The references of dimension scales hold addresses, so they are written last, when all
 * objects have got theirs in the new file.
 */
#include "copy/to_hdf5.h"

#include "copy/attributes_to_hdf5.h"
#include "copy/copies.h"
#include "copy/data.h"
#include "copy/links.h"
#include "create/creation_list.h"
#include "dataset/dataset.h"
#include "dataset/unreadable.h"
#include "file/forget.h"
#include "hdf5/errors.h"
#include "hdf5/types.h"
#include "links/aliases.h"
#include "links/links.h"
#include "objects/locate.h"
#include "objects/token_search.h"
#include "tree/waiting_store.h"

typedef struct copy_job {
    vol_copies copies;
    h5_lib *lib;
    hid_t lcpl, dxpl;
    unsigned flags; /* H5O_COPY_... */
} copy_job;

/* References that lead to copies are written when all copies are there. */
static bool expands(const copy_job *job) {
    return job->flags & H5O_COPY_EXPAND_REFERENCE_FLAG;
}

static bool has_references(const copy_job *job, hid_t type) {
    return job->lib->H5Tdetect_class(type, H5T_REFERENCE) > 0;
}

/* ---- Attributes ---- */

static herr_t copy_attrs(const copy_job *job, vol_node *node, void *object, H5I_type_t type) {
    vol_export references = {.copies = &job->copies, .node = node, .are_null = true};
    const vol_reference_map map = {.visit = vol_export_reference, .context = &references};
    const vol_native_target target = {
        .lib = job->lib, .dxpl = job->dxpl, .object = object, .type = type};
    return job->flags & H5O_COPY_WITHOUT_ATTR_FLAG
               ? 0
               : vol_attrs_to_hdf5(&target, node, expands(job) ? NULL : &map);
}

/* ---- The tree ---- */

static herr_t copy_into(copy_job *job, vol_node *node, void *parent, const H5VL_loc_params_t *loc,
                        const char *name, const char *above);

/* The creation list is the one that the source shows, so chunks, filters and fill value carry
   over. */
static void *create_dataset(const copy_job *job, vol_node *node, void *parent,
                            const H5VL_loc_params_t *loc, const char *name) {
    h5_lib *lib = job->lib;
    const hid_t dcpl = vol_node_dcpl(node);
    hid_t type = vol_node_type(node);
    /* HDF5 takes a largest shape for chunked datasets alone. */
    hid_t space = vol_node_space(node, lib->H5Pget_layout(dcpl) == H5D_CHUNKED);
    void *dataset =
        lib->H5VLdataset_create(parent, loc, lib->native, name, job->lcpl, type, space, dcpl,
                                *lib->H5P_LST_DATASET_ACCESS_ID_g, job->dxpl, NULL);
    const bool waits = expands(job) && has_references(job, type);
    if (dataset && !waits &&
        vol_data_to_hdf5(&job->copies, expands(job), node, dataset, space) < 0) {
        vol_native_close(lib, dataset, H5I_DATASET, job->dxpl);
        dataset = NULL;
    }
    vol_release_id(lib, type);
    vol_release_id(lib, space);
    return dataset;
}

static void *create_group(const copy_job *job, vol_node *node, void *parent,
                          const H5VL_loc_params_t *loc, const char *name) {
    h5_lib *lib = job->lib;
    hid_t list = vol_group_list(node, *lib->H5P_CLS_GROUP_CREATE_ID_g);
    void *made = lib->H5VLgroup_create(parent, loc, lib->native, name, job->lcpl, list,
                                       *lib->H5P_LST_GROUP_ACCESS_ID_g, job->dxpl, NULL);
    vol_release_id(lib, list);
    return made;
}

static void *commit_datatype(const copy_job *job, vol_node *node, void *parent,
                             const H5VL_loc_params_t *loc, const char *name) {
    h5_lib *lib = job->lib;
    bool lacks_memory;
    hid_t type = vol_node_datatype(node, &lacks_memory);
    void *made = lib->H5VLdatatype_commit(parent, loc, lib->native, name, type, job->lcpl,
                                          *lib->H5P_LST_DATATYPE_CREATE_ID_g,
                                          *lib->H5P_LST_DATATYPE_ACCESS_ID_g, job->dxpl, NULL);
    vol_release_id(lib, type);
    return made;
}

static void *create_object(const copy_job *job, vol_node *node, void *parent,
                           const H5VL_loc_params_t *loc, const char *name) {
    if (node->kind == VOL_DATATYPE)
        return commit_datatype(job, node, parent, loc, name);
    return node->kind == VOL_DATASET ? create_dataset(job, node, parent, loc, name)
                                     : create_group(job, node, parent, loc, name);
}

/* A shallow copy makes the groups directly below the top, but nothing in them. */
static bool has_copied_children(const copy_job *job, const vol_node *node) {
    bool shallow = job->flags & H5O_COPY_SHALLOW_HIERARCHY_FLAG;
    return node->kind == VOL_GROUP && (!shallow || node == job->copies.top);
}

/* The text that stands for a node is no copy of it. */
static herr_t refuse_unreadable(const copy_job *job, const vol_node *node) {
    zb_error err = {0};
    return vol_unreadable_refuse_copy(node, &err) == ZB_OK
               ? 0
               : VOL_PUSH_ZB(job->lib, DATASET, CANTCOPY, &err);
}

static herr_t push_unreadable(const copy_job *job, const vol_link *link) {
    zb_error err = {0};
    vol_link_add_context(link, &err);
    zb_error_prefix(&err, err.code, "cannot copy %s of %s", link->name, link->group->path);
    return VOL_PUSH_ZB(job->lib, SYM, CANTOPENOBJ, &err);
}

/* A link that is no node's place: as it is, or what it leads to. */
static herr_t copy_named(copy_job *job, vol_link *link, void *new_group, const char *above) {
    const H5VL_loc_params_t self = vol_self(H5I_GROUP);
    const H5VL_loc_params_t loc = vol_loc_by_name(job->lib, H5I_GROUP, link->name);
    vol_route route = {.left = VOL_LINKS_FOLLOWED};
    vol_found found = {.link = link};
    vol_link_node(link, &found.node, NULL);
    const bool expand =
        link->kind == VOL_LINK_SOFT && (job->flags & H5O_COPY_EXPAND_SOFT_LINK_FLAG);
    if (found.node || (expand && vol_path_enter(&route, &found, NULL) == ZB_OK))
        return copy_into(job, found.node, new_group, &self, link->name, above);
    vol_link_value value;
    if (!vol_link_value_of(link, &value))
        return push_unreadable(job, link);
    if (value.file && (job->flags & H5O_COPY_EXPAND_EXT_LINK_FLAG))
        return vol_refuse(job->lib, "copying what an external link leads to");
    return vol_link_make_native(job->lib, new_group, &loc, job->lcpl, job->dxpl, &value);
}

static herr_t copy_children(copy_job *job, vol_node *group, void *new_group, const char *above) {
    const H5VL_loc_params_t self = vol_self(H5I_GROUP);
    zb_error err = {0};
    herr_t result = 0;
    if (vol_node_list(group, &err) != ZB_OK)
        return VOL_PUSH_ZB(job->lib, SYM, CANTGET, &err);
    for (size_t i = 0; i < vol_links_count(group) && result >= 0; i++) {
        vol_link *link = vol_links_in_order(group, true, false, i);
        if (vol_link_open(link, &err) != ZB_OK) {
            VOL_PUSH_ZB(job->lib, SYM, CANTOPENOBJ, &err);
            result = -1;
        } else if (link->is_entry)
            result = copy_named(job, link, new_group, above);
        else
            result = link->node ? copy_into(job, link->node, new_group, &self, link->name, above)
                                : push_unreadable(job, link);
    }
    return result;
}

/* Another hard link to a copy. */
static herr_t link_again(const copy_job *job, const vol_copied *copied, void *parent,
                         const char *name) {
    const H5VL_loc_params_t loc = vol_loc_by_name(job->lib, H5I_GROUP, name);
    H5VL_link_create_args_t args = {
        .op_type = H5VL_LINK_CREATE_HARD,
        .args.hard = {.curr_obj = job->copies.new_top,
                      .curr_loc_params =
                          vol_loc_by_name(job->lib, job->copies.top_type, copied->path)}};
    return job->lib->H5VLlink_create(&args, parent, &loc, job->lib->native, job->lcpl,
                                     *job->lib->H5P_LST_LINK_ACCESS_ID_g, job->dxpl, NULL);
}

/* above: the path of the copy's group, as in vol_copied. */
static herr_t copy_into(copy_job *job, vol_node *node, void *parent, const H5VL_loc_params_t *loc,
                        const char *name, const char *above) {
    const H5I_type_t type = node->kind == VOL_DATASET    ? H5I_DATASET
                            : node->kind == VOL_DATATYPE ? H5I_DATATYPE
                                                         : H5I_GROUP;
    const vol_copied *copied = vol_map_get(&job->copies.all, node->token);
    if (copied)
        return link_again(job, copied, parent, name);
    void *made =
        refuse_unreadable(job, node) < 0 ? NULL : create_object(job, node, parent, loc, name);
    if (!made)
        return -1;
    copied = vol_copies_add(&job->copies, node, above, name);
    herr_t result = copied ? copy_attrs(job, node, made, type) : -1;
    if (result >= 0)
        result = vol_comment_to_hdf5(node, made, type, job->dxpl);
    if (node == job->copies.top) {
        job->copies.new_top = made;
        job->copies.top_type = type;
    }
    if (result >= 0 && has_copied_children(job, node))
        result = copy_children(job, node, made, copied->path);
    if (node != job->copies.top)
        vol_native_close(job->lib, made, type, job->dxpl); /* the top's copy is needed once more */
    return result;
}

/* ---- Dimension scales ---- */

typedef struct address_job {
    const vol_copies *copies;
    vol_file *file;
} address_job;

static uint64_t new_address(void *context, uint64_t old) {
    const address_job *a = context;
    return vol_copies_address(a->copies, vol_node_by_token(a->file, old, NULL));
}

static herr_t copy_scales_of(const copy_job *job, vol_node *node) {
    address_job addresses = {.copies = &job->copies, .file = node->file};
    vol_native_target target = {.lib = job->lib, .dxpl = job->dxpl};
    target.object = vol_copies_open(&job->copies, node, &target.type);
    if (!target.object)
        return -1;
    herr_t result = vol_scales_to_hdf5(&target, node, new_address, &addresses);
    vol_native_close(job->lib, target.object, H5I_DATASET, job->dxpl);
    return result;
}

static herr_t copy_scale_lists(const copy_job *job) {
    herr_t result = 0;
    for (size_t i = 0; i < job->copies.all.capacity && result >= 0; i++) {
        const vol_copied *copied = job->copies.all.entry[i].value;
        if (copied && vol_scales_are_referring(copied->node))
            result = copy_scales_of(job, copied->node);
    }
    return result;
}

/* ---- References to copies ---- */

/* What was left out of one object. */
static herr_t copy_references_of(const copy_job *job, vol_node *node, void *object,
                                 H5I_type_t type) {
    vol_export references = {.copies = &job->copies, .node = node, .expands = true};
    const vol_reference_map map = {.visit = vol_export_reference, .context = &references};
    const vol_native_target target = {
        .lib = job->lib, .dxpl = job->dxpl, .object = object, .type = type};
    herr_t result = 0;
    hid_t elements = type == H5I_DATASET ? vol_node_type(node) : -1;
    const bool has = elements >= 0 && has_references(job, elements);
    vol_release_id(job->lib, elements);
    if (has) {
        hid_t space = vol_node_space(node, false);
        result = vol_data_to_hdf5(&job->copies, true, node, object, space);
        vol_release_id(job->lib, space);
    }
    if (result >= 0 && !(job->flags & H5O_COPY_WITHOUT_ATTR_FLAG))
        result = vol_reference_attrs_to_hdf5(&target, node, &map);
    return result;
}

static herr_t copy_references(const copy_job *job) {
    herr_t result = 0;
    for (size_t i = 0; i < job->copies.all.capacity && result >= 0; i++) {
        const vol_copied *copied = job->copies.all.entry[i].value;
        H5I_type_t type;
        if (!copied)
            continue;
        void *object = vol_copies_open(&job->copies, copied->node, &type);
        result = object ? copy_references_of(job, copied->node, object, type) : -1;
        if (object)
            vol_native_close(job->lib, object, type, job->dxpl);
    }
    return result;
}

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

herr_t vol_copy_node(vol_node *node, const vol_copy_request *request) {
    h5_lib *lib = request->to->lib;
    zb_error err = {0};
    const bool is_taken = ask_link(request, H5VL_LINK_EXISTS);
    if (vol_writer_flush_below(node, &err) != ZB_OK)
        return VOL_PUSH_ZB(lib, SYM, CANTFLUSH, &err);
    copy_job job = {.copies = {.lib = lib, .dxpl = request->dxpl, .top = node},
                    .lib = lib,
                    .lcpl = request->lcpl,
                    .dxpl = request->dxpl};
    if (lib->H5Pget_copy_object(request->ocpypl, &job.flags) < 0)
        return -1;
    vol_file_hold(node->file);
    herr_t result = copy_into(&job, node, request->to->under, request->loc, request->name, ".");
    if (result >= 0 && !(job.flags & H5O_COPY_WITHOUT_ATTR_FLAG))
        result = copy_scale_lists(&job);
    if (result >= 0 && expands(&job))
        result = copy_references(&job);
    vol_copies_end(&job.copies);
    vol_file_let_go(node->file);
    return result < 0 && !is_taken ? remove_begun(request) : result;
}
