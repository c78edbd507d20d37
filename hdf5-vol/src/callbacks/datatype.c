/* SPDX-License-Identifier: MIT */
/* Named datatypes, which Zarr does not have: all of it is pass-through. */
#include "callbacks/classes.h"
#include "hdf5/errors.h"

static void *vol_datatype_commit(void *obj, const H5VL_loc_params_t *loc, const char *name,
                                 hid_t type, hid_t lcpl, hid_t tcpl, hid_t tapl, hid_t dxpl,
                                 void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_pass(lib, H5I_DATATYPE,
                               lib->H5VLdatatype_commit(object->under, loc, lib->native, name, type,
                                                        lcpl, tcpl, tapl, dxpl, req));
    vol_refuse(lib, "a named datatype, which Zarr does not have,");
    return NULL;
}

static void *vol_datatype_open(void *obj, const H5VL_loc_params_t *loc, const char *name,
                               hid_t tapl, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_pass(
            lib, H5I_DATATYPE,
            lib->H5VLdatatype_open(object->under, loc, lib->native, name, tapl, dxpl, req));
    if (vol_locate_name(object, loc, name, tapl))
        VOL_PUSH(lib, SYM, CANTOPENOBJ, "'%s' is no named datatype: Zarr has none", name);
    return NULL;
}

static herr_t vol_datatype_get(void *obj, H5VL_datatype_get_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    return object->lib->H5VLdatatype_get(object->under, object->lib->native, args, dxpl, req);
}

static herr_t vol_datatype_specific(void *obj, H5VL_datatype_specific_args_t *args, hid_t dxpl,
                                    void **req) {
    const vol_object *object = obj;
    return object->lib->H5VLdatatype_specific(object->under, object->lib->native, args, dxpl, req);
}

static herr_t vol_datatype_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    return object->lib->H5VLdatatype_optional(object->under, object->lib->native, args, dxpl, req);
}

static herr_t vol_datatype_close(void *obj, hid_t dxpl, void **req) {
    vol_object *object = obj;
    h5_lib *lib = object->lib;
    return vol_object_closed(object,
                             lib->H5VLdatatype_close(object->under, lib->native, dxpl, req));
}

const H5VL_datatype_class_t vol_datatype_class = {
    .commit = vol_datatype_commit,
    .open = vol_datatype_open,
    .get = vol_datatype_get,
    .specific = vol_datatype_specific,
    .optional = vol_datatype_optional,
    .close = vol_datatype_close,
};
