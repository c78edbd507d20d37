/* SPDX-License-Identifier: MIT */
/*
 * "Optional" operations: questions about objects that programs take for native ones. Only those
 * that h5py and the HDF5 tools need have an answer for Zarr; the others (caches, file drivers,
 * SWMR, direct chunk access, ...) are refused with an error.
 */
#include "callbacks/classes.h"
#include "data/strings.h"
#include "hdf5/errors.h"
#include "model/writers.h"

#include <string.h>

/* Adds the bytes that the arrays below a node take in the store; arrays that cannot be read count
   as nothing. */
static void add_storage(vol_node *node, hsize_t *bytes) {
    uint64_t size;
    if (node->kind == VOL_DATASET && vol_writer_flush(node, NULL) == ZB_OK &&
        zb_array_storage_size(node->zarr, &size, NULL) == ZB_OK)
        *bytes += size;
    if (node->kind != VOL_GROUP || vol_node_list(node, NULL) != ZB_OK)
        return;
    for (size_t i = 0; i < node->link_count; i++)
        if (node->link[i]->node)
            add_storage(node->link[i]->node, bytes);
}

herr_t vol_file_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLfile_optional(object->under, lib->native, args, dxpl, req);
    H5VL_native_file_optional_args_t *native = args->args;
    switch (args->op_type) {
    case H5VL_NATIVE_FILE_GET_FREE_SECTIONS:
        *native->get_free_sections.sect_count = 0;
        return 0;
    case H5VL_NATIVE_FILE_GET_FREE_SPACE:
        *native->get_freespace.size = 0;
        return 0;
    case H5VL_NATIVE_FILE_GET_INFO:
        memset(native->get_info.finfo, 0, sizeof *native->get_info.finfo);
        return 0;
    case H5VL_NATIVE_FILE_GET_SIZE:
        *native->get_size.size = 0;
        add_storage(object->file->root, native->get_size.size);
        if (*native->get_size.size == 0)
            *native->get_size.size = 1; /* h5stat of HDF5 2.2 asserts that there is something */
        return 0;
    default:
        return vol_refuse(lib, "this operation of the native file format");
    }
}

/* Arrives on files and datasets as well. h5py compares and hashes objects by it. */
static herr_t get_objinfo(const vol_object *object, const H5VL_native_group_get_objinfo_t *args) {
    vol_found found;
    H5G_stat_t *info = args->statbuf;
    if (!vol_locate_link(object, &args->loc_params, &found))
        return -1;
    if (!info)
        return 0;
    memset(info, 0, sizeof *info);
    info->fileno[0] = (unsigned long)object->file->number;
    info->nlink = 1;
    info->type = H5G_LINK;
    if (found.node) {
        info->objno[0] = (unsigned long)found.node->token;
        info->type = found.node->kind == VOL_DATASET ? H5G_DATASET : H5G_GROUP;
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
    return vol_refuse(lib, "this operation of the native file format");
}

/* The chunks of the grid, written or not: Zarr keeps no list of those that exist. */
static herr_t get_num_chunks(const vol_object *object, hsize_t *count) {
    const zb_array_info *info = zb_node_array(object->node->zarr);
    hsize_t chunks = 1;
    for (uint32_t d = 0; d < info->ndim; d++) {
        uint64_t along = zb_array_chunk_count(object->node->zarr, ZB_GRID_INNER, d);
        if (__builtin_mul_overflow(chunks, along, &chunks))
            return vol_refuse(object->lib, "counting more than 2^64 chunks");
    }
    *count = chunks;
    return 0;
}

/* Chunks have no addresses, so questions about a single one are refused. */
herr_t vol_dataset_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLdataset_optional(object->under, lib->native, args, dxpl, req);
    H5VL_native_dataset_optional_args_t *native = args->args;
    switch (args->op_type) {
    case H5VL_NATIVE_DATASET_GET_CHUNK_INDEX_TYPE:
        *native->get_chunk_idx_type.idx_type = H5D_CHUNK_IDX_BTREE;
        return 0;
    case H5VL_NATIVE_DATASET_GET_NUM_CHUNKS:
        return get_num_chunks(object, native->get_num_chunks.nchunks);
    case H5VL_NATIVE_DATASET_GET_VLEN_BUF_SIZE:
        return vol_strings_size(lib, object->node, native->get_vlen_buf_size.type_id,
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

herr_t vol_object_optional(void *obj, const H5VL_loc_params_t *loc, H5VL_optional_args_t *args,
                           hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLobject_optional(object->under, loc, lib->native, args, dxpl, req);
    H5VL_native_object_optional_args_t *native = args->args;
    switch (args->op_type) {
    case H5VL_NATIVE_OBJECT_GET_COMMENT:
        vol_copy_name("", native->get_comment.buf, native->get_comment.buf_size,
                      native->get_comment.comment_len);
        return 0;
    case H5VL_NATIVE_OBJECT_GET_NATIVE_INFO:
        memset(native->get_native_info.ninfo, 0, sizeof *native->get_native_info.ninfo);
        return 0;
    default:
        return vol_refuse(lib, "this operation of the native file format");
    }
}
