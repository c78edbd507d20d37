/* SPDX-License-Identifier: MIT */
/* Datasets: the callbacks. The making of new ones is in create/spec.c, the data's way in
   data/transfer.c, the creation list of an existing one in create/creation_list.c. */
#include "callbacks/classes.h"
#include "callbacks/elsewhere.h"
#include "callbacks/unasked.h"
#include "create/creation_list.h"
#include "create/spec.h"
#include "data/transfer.h"
#include "dataset/dataset.h"
#include "dataset/deleted.h"
#include "dataset/edit_dataset.h"
#include "dataset/max_shape.h"
#include "dataset/unreadable.h"
#include "dataset/writers.h"
#include "file/forget.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"
#include "types/types.h"
#include "objects/committed_types.h"
#include "objects/open_ids.h"
#include "netcdf/lengths.h"
#include "file/absent.h"
#include "tree/edit.h"
#include "tree/side.h"

#include <stdlib.h>

/* HDF5 links a dataset without a name afterwards (h5py: group[name] = data). */
static enum zb_code create_node(vol_node *base, const char *name, hid_t lcpl, const vol_spec *spec,
                                vol_node **out, zb_error *err) {
    vol_place place;
    if (!name)
        return vol_edit_create_loose(base->file, &spec->spec, out, err);
    const vol_missing missing = vol_missing_groups(base->file->lib, lcpl, name, &spec->side);
    enum zb_code code = vol_place_for_new(base, name, missing, &place, err);
    if (!code) {
        code = vol_edit_create_array(&place, &spec->spec, out, err);
        vol_place_clear(&place);
    }
    return vol_absent_end(base, name, &spec->spec, code, out, err);
}

static vol_object *create_dataset(const vol_object *object, const H5VL_loc_params_t *loc,
                                  const char *name, hid_t lcpl, hid_t type, hid_t space,
                                  hid_t dcpl) {
    h5_lib *lib = object->lib;
    vol_spec spec;
    zb_error err = {0};
    vol_node *node = NULL;
    vol_node *base =
        vol_may_create(object, name, "create a dataset") ? vol_locate(object, loc) : NULL;
    if (!base)
        return NULL;
    enum zb_code code = vol_spec_make(object->file, type, space, dcpl, &spec, &err);
    if (!code)
        code = create_node(base, name, lcpl, &spec, &node, &err);
    if (!code)
        code = vol_max_shape_show(node, spec.max_shape, &err);
    vol_spec_clear(&spec);
    if (!code)
        return vol_object_new(object->handle, node, H5I_DATASET);
    vol_push_making(lib, *lib->H5E_CANTCREATE_g, &err);
    return NULL;
}

/* Lets a dataset of a store remember with which list it was opened, as the native ones do by
   themselves. Closes it and returns NULL on failure; a failure to open passes through. */
static vol_object *keep_dapl(vol_object *dataset, hid_t dapl) {
    if (!dataset || dataset->under)
        return dataset;
    h5_lib *lib = dataset->lib;
    if (dapl == H5P_DEFAULT || dapl == *lib->H5P_LST_DATASET_ACCESS_ID_g)
        return dataset;
    dataset->dapl = lib->H5Pcopy(dapl);
    if (dataset->dapl >= 0)
        return dataset;
    vol_object_free(dataset);
    return NULL;
}

static void *vol_dataset_create(void *obj, const H5VL_loc_params_t *loc, const char *name,
                                hid_t lcpl, hid_t type, hid_t space, hid_t dcpl, hid_t dapl,
                                hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under) {
        hid_t copy = vol_committed_copy(lib, type);
        void *under = lib->H5VLdataset_create(object->under, loc, lib->native, name, lcpl,
                                              copy < 0 ? type : copy, space, dcpl, dapl, dxpl, req);
        vol_release_id(lib, copy);
        return vol_object_pass(lib, H5I_DATASET, under);
    }
    if (!vol_list_check(lib, lcpl, *lib->H5P_CLS_LINK_CREATE_ID_g) ||
        !vol_list_check(lib, dcpl, *lib->H5P_CLS_DATASET_CREATE_ID_g) ||
        !vol_list_check(lib, dapl, *lib->H5P_CLS_DATASET_ACCESS_ID_g) || !vol_dapl_check(lib, dapl))
        return NULL;
    vol_file_tidy_all(object->file);
    return keep_dapl(create_dataset(object, loc, name, lcpl, type, space, dcpl), dapl);
}

static void *vol_dataset_open(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t dapl,
                              hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under) {
        void *under = lib->H5VLdataset_open(object->under, loc, lib->native, name, dapl, dxpl, req);
        vol_warn_of_link(object, loc, name, dxpl, under);
        vol_warn_of_sources(lib, dxpl, under);
        return vol_object_pass(lib, H5I_DATASET, under);
    }
    if (!vol_list_check(lib, dapl, *lib->H5P_CLS_DATASET_ACCESS_ID_g) || !vol_dapl_check(lib, dapl))
        return NULL;
    vol_file_tidy_all(object->file);
    vol_object *opened = vol_open_any(object, loc, name, dapl, dxpl);
    if (!opened || opened->type == H5I_DATASET)
        return keep_dapl(opened, dapl);
    const bool is_group = opened->type == H5I_GROUP;
    vol_close_any(opened, dxpl);
    VOL_PUSH(lib, SYM, CANTOPENOBJ, "'%s' is a %s, not a dataset", name,
             is_group ? "group" : "committed datatype");
    return NULL;
}

/* HDF5 crashes later when this fails: it frees its half of the object and keeps the id. So data
   that cannot be stored go on waiting, and the flush or the close of the file reports the error. */
static herr_t vol_dataset_close(void *obj, hid_t dxpl, void **req) {
    vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_closed(object,
                                 lib->H5VLdataset_close(object->under, lib->native, dxpl, req));
    if (vol_node_ids(object->node) == 1) {
        /* Otherwise no later call would tell of what cannot be stored. */
        const vol_handle *handle = object->handle;
        vol_writer_end(object->node, handle->files > 0 && !handle->given_up &&
                                         !object->node->loose && !lib->stopping);
        vol_deleted_forget(object->node);
    }
    vol_object_free(object);
    return 0;
}

/* ---- Reading and writing ---- */

/* The number of objects that are native: all of them, none, or, in a call on files of both kinds,
   some. */
static size_t count_native(size_t count, void *const objects[]) {
    size_t native = 0;
    for (size_t i = 0; i < count; i++)
        native += ((const vol_object *)objects[i])->under != NULL;
    return native;
}

/* The native objects behind ours; malloc'ed. */
static void **unwrap_all(size_t count, void *const objects[]) {
    void **under = calloc(count, sizeof *under);
    for (size_t i = 0; under && i < count; i++)
        under[i] = ((const vol_object *)objects[i])->under;
    return under;
}

/* A program that reads the text of a node that cannot be read, and has another file open for
   writing, is taken to copy it: h5repack does so where it changes filters or layouts. */
static bool copies_a_text(const vol_object *object) {
    zb_error err = {0};
    if (vol_unreadable_refuse_copy(object->node, &err) == ZB_OK ||
        !vol_object_another_is_written(object))
        return false;
    VOL_PUSH_ZB(object->lib, DATASET, READERROR, &err);
    return true;
}

/* H5Fset_mpi_atomicity: other ranks see at once what is written. */
static herr_t store_atomic(const vol_transfer *writes, size_t count) {
    zb_error err = {0};
    for (size_t i = 0; i < count; i++)
        if (writes[i].handle->is_atomic && vol_writer_flush(writes[i].node, &err) != ZB_OK)
            return VOL_PUSH_ZB(writes[i].node->file->lib, DATASET, WRITEERROR, &err);
    return 0;
}

/* netCDF makes a list for each transfer, and sets nothing in it but how ranks work together. To
   compare it with a default one takes longer than to read a small chunk. */
static bool are_of_netcdf(size_t count, void *objects[]) {
    bool are = true;
    for (size_t i = 0; i < count && are; i++) {
        const vol_object *object = objects[i];
        are = object->handle->manners.is_netcdf && !object->file->ranks;
    }
    return are;
}

/* The Zarr datasets' part of a call. `buffers` of a write are only read from. */
static herr_t transfer_zarr(h5_lib *lib, size_t count, void *objects[], hid_t mem_types[],
                            hid_t mem_spaces[], hid_t file_spaces[], hid_t dxpl,
                            const void *buffers[], bool writing) {
    const hid_t plain = *lib->H5P_LST_DATASET_XFER_ID_g;
    vol_dxpl list;
    if (vol_dxpl_make(lib, are_of_netcdf(count, objects) ? plain : dxpl, &list) < 0)
        return -1;
    vol_transfer one, *transfers = count == 1 ? &one : calloc(count, sizeof *transfers);
    if (!transfers) {
        vol_dxpl_clear(lib, &list);
        return VOL_PUSH(lib, DATASET, READERROR, "no memory for %zu datasets", count);
    }
    herr_t result = 0;
    for (size_t i = 0; i < count; i++) {
        const vol_object *object = objects[i];
        transfers[i] = (vol_transfer){.node = object->node,
                                      .handle = object->handle,
                                      .mem_type = mem_types[i],
                                      .mem_space = mem_spaces[i],
                                      .file_space = file_spaces[i],
                                      .buffer = (void *)(uintptr_t)buffers[i]};
        if (writing && result >= 0)
            result = vol_may_write(object, "write a dataset") ? 0 : -1;
        else if (result >= 0)
            result = copies_a_text(object) ? -1 : 0;
    }
    if (result >= 0)
        result = writing ? vol_write_datasets(lib, transfers, count, &list)
                         : vol_read_datasets(lib, transfers, count, &list);
    vol_dxpl_clear(lib, &list);
    if (writing && result >= 0)
        result = store_atomic(transfers, count);
    if (transfers != &one)
        free(transfers);
    return result;
}

static herr_t transfer_native(h5_lib *lib, size_t count, void *objects[], hid_t mem_types[],
                              hid_t mem_spaces[], hid_t file_spaces[], hid_t dxpl,
                              const void *buffers[], bool writing, void **req) {
    void **under = unwrap_all(count, objects);
    herr_t result = -1;
    if (under && writing)
        result = lib->H5VLdataset_write(count, under, lib->native, mem_types, mem_spaces,
                                        file_spaces, dxpl, buffers, req);
    else if (under)
        result = lib->H5VLdataset_read(count, under, lib->native, mem_types, mem_spaces,
                                       file_spaces, dxpl, (void **)buffers, req);
    free(under);
    return result;
}

/* A call on datasets of both kinds is split into calls on each. */
static herr_t transfer(size_t count, void *objects[], hid_t mem_types[], hid_t mem_spaces[],
                       hid_t file_spaces[], hid_t dxpl, const void *buffers[], bool writing,
                       void **req) {
    h5_lib *lib = ((const vol_object *)objects[0])->lib;
    size_t native = count_native(count, objects);
    herr_t result = 0;
    if (native == count)
        return transfer_native(lib, count, objects, mem_types, mem_spaces, file_spaces, dxpl,
                               buffers, writing, req);
    if (native == 0)
        return transfer_zarr(lib, count, objects, mem_types, mem_spaces, file_spaces, dxpl, buffers,
                             writing);
    for (size_t i = 0; i < count && result >= 0; i++)
        result = transfer(1, &objects[i], &mem_types[i], &mem_spaces[i], &file_spaces[i], dxpl,
                          &buffers[i], writing, req);
    return result;
}

static herr_t vol_dataset_read(size_t count, void *objects[], hid_t mem_types[], hid_t mem_spaces[],
                               hid_t file_spaces[], hid_t dxpl, void *buffers[], void **req) {
    return transfer(count, objects, mem_types, mem_spaces, file_spaces, dxpl,
                    (const void **)buffers, false, req);
}

static herr_t vol_dataset_write(size_t count, void *objects[], hid_t mem_types[],
                                hid_t mem_spaces[], hid_t file_spaces[], hid_t dxpl,
                                const void *buffers[], void **req) {
    return transfer(count, objects, mem_types, mem_spaces, file_spaces, dxpl, buffers, true, req);
}

/* ---- Information ---- */

static herr_t get_storage_size(const vol_object *object, hsize_t *out) {
    zb_error err = {0};
    uint64_t bytes;
    if (vol_writer_flush(object->node, &err) != ZB_OK ||
        zb_array_storage_size(object->node->zarr, &bytes, &err) != ZB_OK)
        return VOL_PUSH_ZB(object->lib, DATASET, CANTGET, &err);
    *out = bytes;
    return 0;
}

static hid_t get_type(const vol_object *object) {
    hid_t type = vol_node_type(object->node);
    const char *path = zb_json_string(vol_side_get(object->node, ZB_HDF5_NAMED));
    if (type < 0 || !path)
        return type;
    hid_t committed = vol_committed_type(object->handle, path, type);
    vol_release_id(object->lib, type);
    return committed;
}

static herr_t vol_dataset_get(void *obj, H5VL_dataset_get_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLdataset_get(object->under, lib->native, args, dxpl, req);
    hid_t id = -1;
    switch (args->op_type) {
    case H5VL_DATASET_GET_DAPL:
        args->args.get_dapl.dapl_id = id = object->dapl > 0
                                               ? lib->H5Pcopy(object->dapl)
                                               : lib->H5Pcreate(*lib->H5P_CLS_DATASET_ACCESS_ID_g);
        break;
    case H5VL_DATASET_GET_DCPL:
        id = vol_node_dcpl(object->node);
        args->args.get_dcpl.dcpl_id = id = id < 0 ? id : lib->H5Pcopy(id);
        break;
    case H5VL_DATASET_GET_SPACE:
        id = vol_node_space(object->node, true);
        vol_node_tell_shape(object->node);
        args->args.get_space.space_id = id;
        break;
    case H5VL_DATASET_GET_SPACE_STATUS:
        *args->args.get_space_status.status = H5D_SPACE_STATUS_ALLOCATED;
        return 0;
    case H5VL_DATASET_GET_STORAGE_SIZE:
        return get_storage_size(object, args->args.get_storage_size.storage_size);
    case H5VL_DATASET_GET_TYPE:
        args->args.get_type.type_id = id = get_type(object);
        break;
    }
    return id < 0 ? -1 : 0;
}

/* Whether a dataset can have that shape. */
static herr_t check_extent(h5_lib *lib, vol_node *node, const hsize_t *size) {
    const uint32_t ndim = zb_node_array(node->zarr)->ndim;
    const uint64_t *max_shape = vol_max_shape(node);
    if (vol_node_is_null(node))
        return VOL_PUSH(lib, DATASET, BADVALUE, "dataset '%s' has no shape (H5S_NULL) to change",
                        node->path);
    if (ndim > 0 && vol_list_member_layout(node) != H5D_CHUNKED)
        return VOL_PUSH(lib, DATASET, BADVALUE,
                        "dataset '%s' has contiguous or compact storage, and so a fixed shape",
                        node->path);
    for (uint32_t d = 0; max_shape && d < ndim; d++)
        if (size[d] > max_shape[d])
            return VOL_PUSH(
                lib, DATASET, BADVALUE,
                "dimension %u of '%s' cannot exceed the existing maximal size (new: %llu max: "
                "%llu)",
                d, node->path, (unsigned long long)size[d], (unsigned long long)max_shape[d]);
    return 0;
}

/* netCDF makes datasets longer and never shorter, and the other one of two programs lengthens what
   this one has not written (lengths.h). */
static enum zb_code resize(vol_node *node, const uint64_t *shape, zb_error *err) {
    const zb_array_info *info = zb_node_array(node->zarr);
    bool grows = node->file->options.is_netcdf && !node->is_dimension;
    for (uint32_t d = 0; d < info->ndim; d++)
        grows = grows && shape[d] >= info->shape[d];
    return grows ? vol_edit_extend(node, shape, err) : vol_edit_resize(node, shape, err);
}

static herr_t set_extent(const vol_object *object, const hsize_t *size) {
    h5_lib *lib = object->lib;
    vol_node *node = object->node;
    const uint32_t ndim = zb_node_array(node->zarr)->ndim;
    uint64_t shape[ZB_MAX_NDIM];
    zb_error err = {0};
    if (!vol_may_change(object, "resize a dataset") || check_extent(lib, node, size) < 0)
        return -1;
    if (ndim == 0)
        return 0;
    for (uint32_t d = 0; d < ndim; d++)
        shape[d] = size[d];
    if (resize(node, shape, &err) == ZB_OK) {
        vol_node_tell_shape(node);
        vol_lengths_change(node->file);
        return 0;
    }
    return VOL_PUSH_ZB(lib, DATASET, WRITEERROR, &err);
}

static herr_t vol_dataset_specific(void *obj, H5VL_dataset_specific_args_t *args, hid_t dxpl,
                                   void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLdataset_specific(object->under, lib->native, args, dxpl, req);
    switch (args->op_type) {
    case H5VL_DATASET_SET_EXTENT:
        return set_extent(object, args->args.set_extent.size);
    case H5VL_DATASET_FLUSH:
        return vol_flush_object(object, object->node, args->args.flush.dset_id);
    case H5VL_DATASET_REFRESH:
        return vol_refresh_node(object->node);
    }
    return vol_refuse(lib, "this operation on a dataset");
}

const H5VL_dataset_class_t vol_dataset_class = {
    .create = vol_dataset_create,
    .open = vol_dataset_open,
    .read = vol_dataset_read,
    .write = vol_dataset_write,
    .get = vol_dataset_get,
    .specific = vol_dataset_specific,
    .optional = vol_dataset_optional,
    .close = vol_dataset_close,
};
