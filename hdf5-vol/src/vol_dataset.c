/* SPDX-License-Identifier: MIT */
/* Datasets: the callbacks. Reading is in h5_read.c, the creation list in h5_dcpl.c. */
#include "vol_class.h"
#include "h5_dcpl.h"
#include "h5_error.h"
#include "h5_read.h"
#include "h5_type.h"

#include <stdlib.h>

static void *vol_dataset_create(void *obj, const H5VL_loc_params_t *loc, const char *name,
                                hid_t lcpl, hid_t type, hid_t space, hid_t dcpl, hid_t dapl,
                                hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_pass(lib, H5I_DATASET,
                               lib->H5VLdataset_create(object->under, loc, lib->native, name, lcpl,
                                                       type, space, dcpl, dapl, dxpl, req));
    vol_refuse_write(lib, "create a dataset");
    return NULL;
}

static void *vol_dataset_open(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t dapl,
                              hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_pass(
            lib, H5I_DATASET,
            lib->H5VLdataset_open(object->under, loc, lib->native, name, dapl, dxpl, req));
    vol_node *node = vol_locate_name(object, loc, name);
    if (node && node->kind == VOL_GROUP) {
        VOL_PUSH(lib, SYM, CANTOPENOBJ, "'%s' is a group, not a dataset", node->path);
        return NULL;
    }
    return node ? vol_object_new(node, H5I_DATASET, NULL) : NULL;
}

static herr_t vol_dataset_close(void *obj, hid_t dxpl, void **req) {
    vol_object *object = obj;
    h5_lib *lib = object->lib;
    herr_t result = 0;
    if (object->under)
        result = lib->H5VLdataset_close(object->under, lib->native, dxpl, req);
    vol_object_free(object);
    return result;
}

/* ---- Reading and writing ---- */

/* How many of the objects are native: all of them, none, or, in a call on files of both kinds,
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

static herr_t read_native(h5_lib *lib, size_t count, void *objects[], hid_t mem_types[],
                          hid_t mem_spaces[], hid_t file_spaces[], hid_t dxpl, void *buffers[],
                          void **req) {
    void **under = unwrap_all(count, objects);
    herr_t result = -1;
    if (under)
        result = lib->H5VLdataset_read(count, under, lib->native, mem_types, mem_spaces,
                                       file_spaces, dxpl, buffers, req);
    free(under);
    return result;
}

static herr_t read_zarr(h5_lib *lib, size_t count, void *objects[], hid_t mem_types[],
                        hid_t mem_spaces[], hid_t file_spaces[], hid_t dxpl, void *buffers[]) {
    vol_read one, *reads = count == 1 ? &one : calloc(count, sizeof *reads);
    if (!reads) {
        VOL_PUSH(lib, DATASET, READERROR, "no memory to read %zu datasets", count);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        const vol_object *object = objects[i];
        reads[i] = (vol_read){.node = object->node,
                              .mem_type = mem_types[i],
                              .mem_space = mem_spaces[i],
                              .file_space = file_spaces[i],
                              .buffer = buffers[i]};
    }
    herr_t result = vol_read_datasets(lib, reads, count, dxpl);
    if (reads != &one)
        free(reads);
    return result;
}

/* A call on datasets of both kinds is split into calls on each. */
static herr_t vol_dataset_read(size_t count, void *objects[], hid_t mem_types[], hid_t mem_spaces[],
                               hid_t file_spaces[], hid_t dxpl, void *buffers[], void **req) {
    h5_lib *lib = ((const vol_object *)objects[0])->lib;
    size_t native = count_native(count, objects);
    herr_t result = 0;
    if (native == count)
        return read_native(lib, count, objects, mem_types, mem_spaces, file_spaces, dxpl, buffers,
                           req);
    if (native == 0)
        return read_zarr(lib, count, objects, mem_types, mem_spaces, file_spaces, dxpl, buffers);
    for (size_t i = 0; i < count && result >= 0; i++)
        result = vol_dataset_read(1, &objects[i], &mem_types[i], &mem_spaces[i], &file_spaces[i],
                                  dxpl, &buffers[i], req);
    return result;
}

static herr_t vol_dataset_write(size_t count, void *objects[], hid_t mem_types[],
                                hid_t mem_spaces[], hid_t file_spaces[], hid_t dxpl,
                                const void *buffers[], void **req) {
    h5_lib *lib = ((const vol_object *)objects[0])->lib;
    if (count_native(count, objects) != count)
        return vol_refuse_write(lib, "write a dataset");
    void **under = unwrap_all(count, objects);
    herr_t result = -1;
    if (under)
        result = lib->H5VLdataset_write(count, under, lib->native, mem_types, mem_spaces,
                                        file_spaces, dxpl, buffers, req);
    free(under);
    return result;
}

/* ---- Information ---- */

/* Zarr arrays can be resized by anyone, but not through us: no dimension is unlimited. */
static hid_t new_space(h5_lib *lib, const zb_array_info *info) {
    hsize_t dims[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < info->ndim; d++)
        dims[d] = info->shape[d];
    return info->ndim == 0 ? lib->H5Screate(H5S_SCALAR)
                           : lib->H5Screate_simple((int)info->ndim, dims, NULL);
}

static herr_t get_storage_size(const vol_object *object, hsize_t *out) {
    zb_error err = {0};
    uint64_t bytes;
    if (zb_array_storage_size(object->node->zarr, &bytes, &err) != ZB_OK) {
        VOL_PUSH_ZB(object->lib, DATASET, CANTGET, &err);
        return -1;
    }
    *out = bytes;
    return 0;
}

static herr_t vol_dataset_get(void *obj, H5VL_dataset_get_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLdataset_get(object->under, lib->native, args, dxpl, req);
    hid_t id = -1;
    switch (args->op_type) {
    case H5VL_DATASET_GET_DAPL:
        args->args.get_dapl.dapl_id = id = lib->H5Pcreate(*lib->H5P_CLS_DATASET_ACCESS_ID_g);
        break;
    case H5VL_DATASET_GET_DCPL:
        id = vol_node_dcpl(object->node);
        args->args.get_dcpl.dcpl_id = id = id < 0 ? id : lib->H5Pcopy(id);
        break;
    case H5VL_DATASET_GET_SPACE:
        id = new_space(lib, zb_node_array(object->node->zarr));
        args->args.get_space.space_id = id;
        break;
    case H5VL_DATASET_GET_SPACE_STATUS:
        *args->args.get_space_status.status = H5D_SPACE_STATUS_ALLOCATED;
        return 0;
    case H5VL_DATASET_GET_STORAGE_SIZE:
        return get_storage_size(object, args->args.get_storage_size.storage_size);
    case H5VL_DATASET_GET_TYPE:
        id = vol_node_type(object->node);
        args->args.get_type.type_id = id = id < 0 ? id : lib->H5Tcopy(id);
        break;
    }
    return id < 0 ? -1 : 0;
}

/* Nothing is buffered, and data are read anew each time: flush and refresh have nothing to do. */
static herr_t vol_dataset_specific(void *obj, H5VL_dataset_specific_args_t *args, hid_t dxpl,
                                   void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLdataset_specific(object->under, lib->native, args, dxpl, req);
    if (args->op_type == H5VL_DATASET_SET_EXTENT)
        return vol_refuse_write(lib, "resize a dataset");
    return 0; /* flush and refresh */
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
