/* SPDX-License-Identifier: MIT */
/*
 * H5Ocopy from a Zarr store into an ordinary HDF5 file: h5copy, h5repack and h5py's Group.copy.
 *
 * Groups, datasets and attributes are made anew through the native connector. Data go over in
 * pieces. The references of dimension scales hold addresses, so they are written last, when all objects
 * have got theirs in the new file.
 */
#include "copy/to_hdf5.h"

#include "copy/attributes_to_hdf5.h"
#include "create/creation_list.h"
#include "hdf5/errors.h"
#include "copy/links.h"
#include "copy/nested.h"
#include "copy/pieces.h"
#include "copy/stored.h"
#include "copy/strings.h"
#include "hdf5/types.h"
#include "model/aliases.h"
#include "model/forget.h"
#include "model/link_order.h"
#include "model/links.h"
#include "model/map.h"
#include "model/max_shape.h"
#include "model/space.h"
#include "model/tokens.h"
#include "model/writers.h"
#include "objects/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct copy_job {
    h5_lib *lib;
    hid_t lcpl, dxpl;
    unsigned flags; /* H5O_COPY_... */
    vol_node *top;  /* where the copy began */
    void *new_top;  /* its native copy */
    H5I_type_t top_type;
    vol_map copies; /* from tokens to the copied_node of each, which the map owns */
} copy_job;

typedef struct copied_node {
    vol_node *node;
    char path[]; /* of its copy, seen from the copy of the top: "." for that */
} copied_node;

/* An error that was pushed stays. */
static void close_native(const copy_job *job, void *object, H5I_type_t type) {
    hid_t saved = vol_stack_save(job->lib);
    if (type == H5I_DATASET)
        job->lib->H5VLdataset_close(object, job->lib->native, job->dxpl, NULL);
    else if (type == H5I_DATATYPE)
        job->lib->H5VLdatatype_close(object, job->lib->native, job->dxpl, NULL);
    else
        job->lib->H5VLgroup_close(object, job->lib->native, job->dxpl, NULL);
    vol_stack_restore(job->lib, saved);
}

/* ---- References ---- */

static uint64_t address_of_copy(const copy_job *job, const vol_node *node);

/* The context of export_reference. */
typedef struct export_references {
    const copy_job *job;
    const vol_node *node;
    bool are_null; /* without the flag: HDF5's rule */
} export_references;

/* References that lead to copies are written when all copies are there. */
static bool expands(const copy_job *job) {
    return job->flags & H5O_COPY_EXPAND_REFERENCE_FLAG;
}

static bool has_references(const copy_job *job, hid_t type) {
    return job->lib->H5Tdetect_class(type, H5T_REFERENCE) > 0;
}

/* A vol_reference_visit: from a token in the store to an address in the HDF5 file. In compounds and
   sequences HDF5 itself leaves addresses of the other file, which mean nothing. */
static bool export_reference(const vol_form *form, uint64_t *token, void *context) {
    const export_references *all = context;
    const copy_job *job = all->job;
    const vol_node *node = vol_node_by_token(form->file, *token, NULL);
    if (!node || all->are_null) {
        *token = 0;
        return true;
    }
    *token = expands(job) ? address_of_copy(job, node) : 0;
    if (*token)
        return true;
    if (expands(job))
        VOL_PUSH(job->lib, SYM, CANTCOPY,
                 "a reference in '%s' leads to '%s', which is not copied: copy a group that holds "
                 "both",
                 all->node->path, node->path);
    else
        VOL_PUSH(
            job->lib, SYM, CANTCOPY,
            "the references in '%s' lead to places in the store: copy a group that holds their "
            "objects, too, with H5O_COPY_EXPAND_REFERENCE_FLAG (h5copy -f ref)",
            all->node->path);
    return false;
}

/* ---- Data ---- */

/* Reads and writes one piece. `space` is the dataset's dataspace. */
static herr_t copy_piece(const copy_job *job, const vol_pieces *pieces, vol_node *node,
                         void *dataset, hid_t space, void *buffer) {
    h5_lib *lib = job->lib;
    hid_t type = vol_node_type(node), mem_space = vol_pieces_select(pieces, lib, space);
    const void *data = buffer;
    if (mem_space < 0)
        return -1;
    herr_t result = vol_strings_read(pieces, node, buffer);
    if (result >= 0) {
        result = lib->H5VLdataset_write(1, &dataset, lib->native, &type, &mem_space, &space,
                                        job->dxpl, &data, NULL);
        vol_strings_free(pieces, buffer);
    }
    vol_release_id(lib, mem_space);
    return result;
}

/* Whether an element that nobody has written is the same on both sides. */
static bool fills_alike(const copy_job *job, vol_node *node, void *dataset, hid_t space,
                        const vol_pieces *probe) {
    h5_lib *lib = job->lib;
    const size_t size = vol_node_shown(node).size;
    hid_t type = vol_node_type(node), saved = vol_stack_save(lib);
    hid_t memory = vol_pieces_select(probe, lib, space);
    unsigned char *both = calloc(2, size);
    void *made = both;
    bool alike = both && memory >= 0 &&
                 lib->H5VLdataset_read(1, &dataset, lib->native, &type, &memory, &space, job->dxpl,
                                       &made, NULL) >= 0 &&
                 vol_strings_read(probe, node, both + size) >= 0 &&
                 memcmp(both, both + size, size) == 0;
    vol_release_id(lib, memory);
    vol_stack_restore(lib, saved);
    free(both);
    return alike;
}

/* Leaves out chunks that the store does not have. Only a chunked dataset gives the fill value for what
   is not written, in every file. */
static void leave_out(const copy_job *job, vol_node *node, void *dataset, hid_t space,
                      vol_pieces *pieces, vol_stored *stored) {
    vol_pieces probe;
    if (!zb_dtype_is_variable(pieces->info->dtype) &&
        job->lib->H5Pget_layout(vol_node_dcpl(node)) == H5D_CHUNKED &&
        vol_stored_of_array(node->zarr, stored) &&
        vol_pieces_left_out(pieces, stored->numbers, stored->count, &probe) &&
        fills_alike(job, node, dataset, space, &probe))
        vol_pieces_only(pieces, stored->numbers, stored->count);
}

/* Elements that are texts in the store go the way of a program's own. */
static herr_t copy_nested(const copy_job *job, vol_node *node, void *dataset, hid_t space,
                          vol_pieces *pieces) {
    const bool is_plain = job->lib->H5Tget_class(vol_node_type(node)) == H5T_REFERENCE;
    export_references references = {
        .job = job, .node = node, .are_null = is_plain && !expands(job)};
    const vol_reference_map map = {.visit = export_reference, .context = &references};
    herr_t result = 0;
    void *buffer = vol_nested_buffer(pieces, node);
    if (!buffer)
        return -1;
    for (; !pieces->done && result >= 0; vol_pieces_next(pieces))
        result = vol_nested_export(pieces, node, dataset, space, job->dxpl, &map, buffer);
    free(buffer);
    return result;
}

static herr_t copy_data(const copy_job *job, vol_node *node, void *dataset, hid_t space) {
    vol_pieces pieces;
    vol_pieces_begin(&pieces, node->zarr);
    if (pieces.done)
        return 0; /* an empty array */
    if (vol_node_is_nested(node))
        return copy_nested(job, node, dataset, space, &pieces);
    /* Elements are copied in the form in which programs see them. */
    const uint64_t bytes =
        pieces.bytes / pieces.info->dtype.size * (uint64_t)vol_node_shown(node).size;
    void *buffer = bytes > 0 ? calloc(1, bytes) : NULL; /* gaps between members are zeros */
    if (!buffer) {
        VOL_PUSH(job->lib, DATASET, READERROR, "no memory for a piece of %llu bytes",
                 (unsigned long long)bytes);
        return -1;
    }
    herr_t result = 0;
    vol_stored stored = {.array = NULL};
    leave_out(job, node, dataset, space, &pieces, &stored);
    for (; !pieces.done && result >= 0; vol_pieces_next(&pieces))
        result = copy_piece(job, &pieces, node, dataset, space, buffer);
    vol_stored_free(&stored);
    free(buffer);
    return result;
}

/* ---- Attributes ---- */

static herr_t copy_attrs(const copy_job *job, vol_node *node, void *object, H5I_type_t type) {
    export_references references = {.job = job, .node = node, .are_null = true};
    const vol_reference_map map = {.visit = export_reference, .context = &references};
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
    /* HDF5 takes a largest shape for chunked datasets alone. */
    hid_t space = vol_node_space(node, lib->H5Pget_layout(dcpl) == H5D_CHUNKED);
    void *dataset =
        lib->H5VLdataset_create(parent, loc, lib->native, name, job->lcpl, vol_node_type(node),
                                space, dcpl, *lib->H5P_LST_DATASET_ACCESS_ID_g, job->dxpl, NULL);
    const bool waits = expands(job) && has_references(job, vol_node_type(node));
    if (dataset && !waits && copy_data(job, node, dataset, space) < 0) {
        close_native(job, dataset, H5I_DATASET);
        dataset = NULL;
    }
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
    hid_t type = vol_node_datatype(node);
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
    return node->kind == VOL_GROUP && (!shallow || node == job->top);
}

static herr_t push_unreadable(const copy_job *job, const vol_link *link) {
    zb_error err = {0};
    vol_link_blame(link, &err);
    zb_error_prefix(&err, err.code, "cannot copy %s of %s", link->name, link->group->path);
    VOL_PUSH_ZB(job->lib, SYM, CANTOPENOBJ, &err);
    return -1;
}

static H5VL_loc_params_t by_name(const copy_job *job, H5I_type_t type, const char *name) {
    return (H5VL_loc_params_t){
        .obj_type = type,
        .type = H5VL_OBJECT_BY_NAME,
        .loc_data.loc_by_name = {.name = name, .lapl_id = *job->lib->H5P_LST_LINK_ACCESS_ID_g}};
}

/* A link that is no node's place: as it is, or what it leads to. */
static herr_t copy_named(copy_job *job, vol_link *link, void *new_group, const char *above) {
    const H5VL_loc_params_t self = vol_self(H5I_GROUP);
    const H5VL_loc_params_t loc = by_name(job, H5I_GROUP, link->name);
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
    if (vol_node_list(group, &err) != ZB_OK) {
        VOL_PUSH_ZB(job->lib, SYM, CANTGET, &err);
        return -1;
    }
    for (size_t i = 0; i < group->link_count && result >= 0; i++) {
        vol_link *link = vol_order_link(group, true, false, i);
        if (vol_link_open(link, &err) != ZB_OK) {
            VOL_PUSH_ZB(job->lib, SYM, CANTOPENOBJ, &err);
            result = -1;
        } else if (link->named)
            result = copy_named(job, link, new_group, above);
        else
            result = link->node ? copy_into(job, link->node, new_group, &self, link->name, above)
                                : push_unreadable(job, link);
    }
    return result;
}

/* Remembers where a node's copy is; NULL when memory runs out. */
static copied_node *remember(copy_job *job, vol_node *node, const char *above, const char *name) {
    const bool is_top = node == job->top, below_top = strcmp(above, ".") == 0;
    copied_node *copied = malloc(sizeof *copied + strlen(above) + strlen(name) + 2);
    if (!copied)
        return NULL;
    copied->node = node;
    if (is_top)
        strcpy(copied->path, ".");
    else
        sprintf(copied->path, "%s%s%s", below_top ? "" : above, below_top ? "" : "/", name);
    if (vol_map_set(&job->copies, node->token, copied))
        return copied;
    free(copied);
    return NULL;
}

/* Another hard link to a copy. */
static herr_t link_again(const copy_job *job, const copied_node *copied, void *parent,
                         const char *name) {
    const H5VL_loc_params_t loc = by_name(job, H5I_GROUP, name);
    H5VL_link_create_args_t args = {
        .op_type = H5VL_LINK_CREATE_HARD,
        .args.hard = {.curr_obj = job->new_top,
                      .curr_loc_params = by_name(job, job->top_type, copied->path)}};
    return job->lib->H5VLlink_create(&args, parent, &loc, job->lib->native, job->lcpl,
                                     *job->lib->H5P_LST_LINK_ACCESS_ID_g, job->dxpl, NULL);
}

/* above: the path of the copy's group, as in copied_node. */
static herr_t copy_into(copy_job *job, vol_node *node, void *parent, const H5VL_loc_params_t *loc,
                        const char *name, const char *above) {
    const H5I_type_t type = node->kind == VOL_DATASET    ? H5I_DATASET
                            : node->kind == VOL_DATATYPE ? H5I_DATATYPE
                                                         : H5I_GROUP;
    const copied_node *copied = vol_map_get(&job->copies, node->token);
    if (copied)
        return link_again(job, copied, parent, name);
    void *made = create_object(job, node, parent, loc, name);
    if (!made)
        return -1;
    copied = remember(job, node, above, name);
    herr_t result = copied ? copy_attrs(job, node, made, type) : -1;
    if (node == job->top) {
        job->new_top = made;
        job->top_type = type;
    }
    if (result >= 0 && has_copied_children(job, node))
        result = copy_children(job, node, made, copied->path);
    if (node != job->top)
        close_native(job, made, type); /* the top's copy is needed once more */
    return result;
}

/* ---- Dimension scales ---- */

/* The path of node's copy; NULL when it is not part of the job. */
static const char *path_in_copy(const copy_job *job, const vol_node *node) {
    const copied_node *copied = vol_map_get(&job->copies, node->token);
    return copied ? copied->path : NULL;
}

/* The address of a node's copy; 0 when it is not part of the job. */
static uint64_t address_of_copy(const copy_job *job, const vol_node *node) {
    const char *path = node ? path_in_copy(job, node) : NULL;
    H5O_token_t token = {{0}};
    if (!path)
        return 0;
    const H5VL_loc_params_t loc = by_name(job, job->top_type, path);
    H5VL_object_specific_args_t args = {.op_type = H5VL_OBJECT_LOOKUP,
                                        .args.lookup.token_ptr = &token};
    return job->lib->H5VLobject_specific(job->new_top, &loc, job->lib->native, &args, job->dxpl,
                                         NULL) < 0
               ? 0
               : vol_token_get(&token);
}

typedef struct address_job {
    const copy_job *job;
    vol_file *file;
} address_job;

static uint64_t new_address(void *context, uint64_t old) {
    const address_job *a = context;
    return address_of_copy(a->job, vol_node_by_token(a->file, old, NULL));
}

static herr_t copy_scales_of(const copy_job *job, vol_node *node) {
    const H5VL_loc_params_t loc = by_name(job, job->top_type, path_in_copy(job, node));
    address_job addresses = {.job = job, .file = node->file};
    vol_native_target target = {.lib = job->lib, .dxpl = job->dxpl};
    target.object = job->lib->H5VLobject_open(job->new_top, &loc, job->lib->native, &target.type,
                                              job->dxpl, NULL);
    if (!target.object)
        return -1;
    herr_t result = vol_scales_to_hdf5(&target, node, new_address, &addresses);
    close_native(job, target.object, H5I_DATASET);
    return result;
}

static herr_t copy_scale_lists(const copy_job *job) {
    herr_t result = 0;
    for (size_t i = 0; i < job->copies.room && result >= 0; i++) {
        const copied_node *copied = job->copies.entry[i].value;
        if (copied && vol_scales_are_referring(copied->node))
            result = copy_scales_of(job, copied->node);
    }
    return result;
}

/* ---- References to copies ---- */

/* What was left out of one object. */
static herr_t copy_references_of(const copy_job *job, vol_node *node, void *object,
                                 H5I_type_t type) {
    export_references references = {.job = job, .node = node};
    const vol_reference_map map = {.visit = export_reference, .context = &references};
    const vol_native_target target = {
        .lib = job->lib, .dxpl = job->dxpl, .object = object, .type = type};
    herr_t result = 0;
    if (type == H5I_DATASET && has_references(job, vol_node_type(node))) {
        hid_t space = vol_node_space(node, false);
        result = copy_data(job, node, object, space);
        vol_release_id(job->lib, space);
    }
    if (result >= 0 && !(job->flags & H5O_COPY_WITHOUT_ATTR_FLAG))
        result = vol_reference_attrs_to_hdf5(&target, node, &map);
    return result;
}

static herr_t copy_references(const copy_job *job) {
    herr_t result = 0;
    for (size_t i = 0; i < job->copies.room && result >= 0; i++) {
        const copied_node *copied = job->copies.entry[i].value;
        H5I_type_t type;
        if (!copied)
            continue;
        const H5VL_loc_params_t loc = by_name(job, job->top_type, copied->path);
        void *object =
            job->lib->H5VLobject_open(job->new_top, &loc, job->lib->native, &type, job->dxpl, NULL);
        result = object ? copy_references_of(job, copied->node, object, type) : -1;
        if (object)
            close_native(job, object, type);
    }
    return result;
}

static void forget_copies(copy_job *job) {
    for (size_t i = 0; i < job->copies.room; i++)
        free(job->copies.entry[i].value);
    vol_map_clear(&job->copies);
}

herr_t vol_copy_node(vol_node *node, const vol_object *target, const H5VL_loc_params_t *loc,
                     const char *name, hid_t ocpypl, hid_t lcpl, hid_t dxpl) {
    zb_error err = {0};
    if (vol_writer_flush_below(node, &err) != ZB_OK) {
        VOL_PUSH_ZB(target->lib, SYM, CANTFLUSH, &err);
        return -1;
    }
    copy_job job = {.lib = target->lib, .lcpl = lcpl, .dxpl = dxpl, .top = node};
    if (job.lib->H5Pget_copy_object(ocpypl, &job.flags) < 0)
        return -1;
    vol_file_hold(node->file);
    herr_t result = copy_into(&job, node, target->under, loc, name, ".");
    if (result >= 0 && !(job.flags & H5O_COPY_WITHOUT_ATTR_FLAG))
        result = copy_scale_lists(&job);
    if (result >= 0 && expands(&job))
        result = copy_references(&job);
    if (job.new_top)
        close_native(&job, job.new_top, job.top_type);
    forget_copies(&job);
    vol_file_let_go(node->file);
    return result;
}
