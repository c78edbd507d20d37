/* SPDX-License-Identifier: MIT */
/*
 * "Optional" operations: questions about objects that programs take for native ones. Only those
 * that h5py and the HDF5 tools need have an answer for Zarr, also where a store has nothing of the
 * kind (free space, offsets, headers): the tools print or compare them. The others (caches, file
 * drivers, ...) are refused with an error.
 */
#include "callbacks/chunks.h"
#include "callbacks/classes.h"
#include "callbacks/walks.h"
#include "create/creation_list.h"
#include "data/transfer.h"
#include "dataset/writers.h"
#include "file/open_files.h"
#include "file/forget.h"
#include "hdf5/claims.h"
#include "hdf5/errors.h"
#include "links/links.h"
#include "objects/changed.h"
#include "objects/comment.h"
#include "objects/reference_count.h"
#include "objects/type_users.h"
#include "tree/children.h"

#include <stdlib.h>
#include <string.h>

/* Answers a question about the file format, which a store has not. */
static herr_t answer_format(h5_lib *lib, void *answer, size_t size) {
    if (!VOL_CLAIM_FORMAT)
        return vol_refuse(lib, "this question about the native file format");
    memset(answer, 0, size);
    return 0;
}

/* Adds the bytes that the arrays below a node take in the store; arrays that cannot be read count
   as nothing. */
static void add_storage(vol_node *node, hsize_t *bytes) {
    uint64_t size;
    if (node->kind == VOL_DATASET && vol_writer_flush(node, NULL) == ZB_OK &&
        zb_array_storage_size(node->zarr, &size, NULL) == ZB_OK)
        *bytes += size;
    vol_children walk = {.group = node, .passes_unopened = true};
    for (vol_node *child; (child = vol_children_next(&walk, NULL));) {
        add_storage(child, bytes);
        vol_link_forget(walk.link);
    }
    vol_tree_forget(node);
}

/* A store can be read while it is written, at any time. So the mode only flushes what readers have
   not seen, and lasts, for H5Fget_intent. */
static herr_t start_swmr_write(const vol_object *object) {
    zb_error err = {0};
    if (!vol_may_write(object, "start to write in SWMR mode"))
        return -1;
    if (object->handle->swmr == H5_ACC_SWMR_WRITE)
        return VOL_PUSH(object->lib, FILE, BADVALUE, "file '%s' is written in SWMR mode already",
                        object->file->shown);
    if (vol_file_flush(object->file, object->handle, &err) != ZB_OK)
        return VOL_PUSH_ZB(object->lib, FILE, CANTFLUSH, &err);
    object->handle->swmr = H5_ACC_SWMR_WRITE;
    return 0;
}

/* H5Fset_mpi_atomicity, H5Fget_mpi_atomicity: only parallel HDF5 declares their arguments. */
typedef union atomicity_args {
    struct {
        hbool_t *flag;
    } get;
    struct {
        hbool_t flag;
    } set;
} atomicity_args;

enum { GET_ATOMICITY = 26, SET_ATOMICITY = 27 };

/* A read sees whole inner chunks, and what another rank has written once that rank has flushed. */
static herr_t answer_atomicity(const vol_object *object, int operation, atomicity_args *args) {
    if (operation == GET_ATOMICITY)
        *args->get.flag = object->handle->is_atomic;
    else
        object->handle->is_atomic = args->set.flag;
    return 0;
}

herr_t vol_file_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLfile_optional(object->under, lib->native, args, dxpl, req);
    H5VL_native_file_optional_args_t *native = args->args;
    switch (args->op_type) {
    case H5VL_NATIVE_FILE_GET_FREE_SECTIONS:
        return answer_format(lib, native->get_free_sections.sect_count,
                             sizeof *native->get_free_sections.sect_count);
    case H5VL_NATIVE_FILE_GET_FREE_SPACE:
        return answer_format(lib, native->get_freespace.size, sizeof *native->get_freespace.size);
    case H5VL_NATIVE_FILE_GET_INFO:
        return answer_format(lib, native->get_info.finfo, sizeof *native->get_info.finfo);
    case H5VL_NATIVE_FILE_GET_SIZE:
        *native->get_size.size = 0;
        add_storage(object->file->root, native->get_size.size);
        if (VOL_CLAIM_FORMAT && *native->get_size.size == 0)
            *native->get_size.size = 1; /* h5stat of HDF5 2.2 asserts that there is something */
        return 0;
    case H5VL_NATIVE_FILE_START_SWMR_WRITE:
        return start_swmr_write(object);
    case GET_ATOMICITY:
    case SET_ATOMICITY:
        return answer_atomicity(object, args->op_type, args->args);
    case H5VL_NATIVE_FILE_SET_LIBVER_BOUNDS: /* as in access lists: of HDF5's file format */
        return 0;
    default:
        return vol_refuse(lib, "this operation of the native file format");
    }
}

/* Arrives on files and datasets as well. h5py compares and hashes objects by it. */
static herr_t get_objinfo(const vol_object *object, const H5VL_native_group_get_objinfo_t *args) {
    vol_found found;
    H5G_stat_t *info = args->statbuf;
    if (!vol_locate_link(object, &args->loc_params, &found) ||
        (args->follow_link && !vol_locate_target(object, &found)))
        return -1;
    if (!info)
        return 0;
    memset(info, 0, sizeof *info);
    info->fileno[0] = (unsigned long)object->file->number;
    info->type = H5G_LINK;
    if (found.node) {
        info->nlink = vol_reference_count(found.node) + vol_type_users(found.node);
        info->objno[0] = (unsigned long)found.node->token;
        if (vol_list_member_tracks_times(found.node))
            info->mtime = vol_node_changed(found.node);
        info->type = found.node->kind == VOL_DATASET    ? H5G_DATASET
                     : found.node->kind == VOL_DATATYPE ? H5G_TYPE
                                                        : H5G_GROUP;
    } else if (found.link->kind == VOL_LINK_EXTERNAL) {
        info->type = H5G_UDLINK;
    } else if (found.link->target) {
        info->linklen = strlen(found.link->target) + 1;
    }
    return 0;
}

herr_t vol_group_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLgroup_optional(object->under, lib->native, args, dxpl, req);
    const H5VL_native_group_optional_args_t *native = args->args;
    if (args->op_type == H5VL_NATIVE_GROUP_GET_OBJINFO)
        return get_objinfo(object, &native->get_objinfo);
    if (args->op_type == H5VL_NATIVE_GROUP_ITERATE_OLD)
        return vol_walk_links_old(object, &native->iterate_old);
    return vol_refuse(lib, "this operation of the native file format");
}

/* ---- Datasets and attributes ---- */

herr_t vol_dataset_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLdataset_optional(object->under, lib->native, args, dxpl, req);
    if (vol_is_about_chunks(args->op_type))
        return vol_chunks_optional(object, args);
    if (vol_is_append(lib, args->op_type))
        return vol_append_optional(object, args);
    H5VL_native_dataset_optional_args_t *native = args->args;
    switch (args->op_type) {
    case H5VL_NATIVE_DATASET_GET_VLEN_BUF_SIZE:
        return vol_read_size(lib, object->node, native->get_vlen_buf_size.type_id,
                             native->get_vlen_buf_size.space_id, native->get_vlen_buf_size.size);
    case H5VL_NATIVE_DATASET_GET_OFFSET:
        *native->get_offset.offset = HADDR_UNDEF;
        return 0;
    default:
        return vol_refuse(lib, "this operation of the native file format");
    }
}

herr_t vol_attr_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLattr_optional(object->under, lib->native, args, dxpl, req);
    const H5VL_native_attr_optional_args_t *native = args->args;
    if (args->op_type == H5VL_NATIVE_ATTR_ITERATE_OLD)
        return vol_walk_attributes_old(object, &native->iterate_old);
    return vol_refuse(lib, "this operation of the native file format");
}

herr_t vol_link_optional(void *obj, const H5VL_loc_params_t *loc, H5VL_optional_args_t *args,
                         hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLlink_optional(object->under, loc, lib->native, args, dxpl, req);
    return vol_refuse(lib, "this operation of the native file format");
}

/* ---- Comments ---- */

/* HDF5 ends a text with NUL where the buffer has room for one, and not else: programs give a buffer
   of the text's length, and end it themselves. */
static herr_t get_comment(vol_node *node, const H5VL_native_object_get_comment_t *args) {
    const char *text = vol_comment(node);
    const size_t length = strlen(text);
    if (args->buf)
        memcpy(args->buf, text, args->buf_size < length + 1 ? args->buf_size : length + 1);
    if (args->comment_len)
        *args->comment_len = length;
    return 0;
}

static herr_t set_comment(const vol_object *object, vol_node *node, const char *text) {
    zb_error err = {0};
    if (!vol_may_write(object, "set a comment"))
        return -1;
    return vol_comment_set(node, text, &err) == ZB_OK
               ? 0
               : VOL_PUSH_ZB(object->lib, SYM, WRITEERROR, &err);
}

herr_t vol_object_optional(void *obj, const H5VL_loc_params_t *loc, H5VL_optional_args_t *args,
                           hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLobject_optional(object->under, loc, lib->native, args, dxpl, req);
    H5VL_native_object_optional_args_t *native = args->args;
    vol_node *node;
    switch (args->op_type) {
    case H5VL_NATIVE_OBJECT_GET_COMMENT:
        node = vol_locate(object, loc);
        return node ? get_comment(node, &native->get_comment) : -1;
    case H5VL_NATIVE_OBJECT_SET_COMMENT:
        node = vol_locate(object, loc);
        return node ? set_comment(object, node, native->set_comment.comment) : -1;
    case H5VL_NATIVE_OBJECT_GET_NATIVE_INFO:
        return answer_format(lib, native->get_native_info.ninfo,
                             sizeof *native->get_native_info.ninfo);
    default:
        return vol_refuse(lib, "this operation of the native file format");
    }
}
