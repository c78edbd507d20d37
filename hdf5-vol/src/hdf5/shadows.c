/* SPDX-License-Identifier: MIT */
/* The private file in memory and its objects: see shadows.h. */
#include "hdf5/shadows.h"

#include "hdf5/claims.h"

#include <stdlib.h>

typedef struct vol_shadows {
    void *file, *group, *dataset, *attr, *datatype;
} vol_shadows;

#define CORE_INCREMENT 65536 /* bytes; the file never grows beyond one step */

/* Through the native connector by id: H5Fcreate cannot be called inside a callback. */
static void *create_file(h5_lib *lib) {
    hid_t fapl = lib->H5Pcreate(*lib->H5P_CLS_FILE_ACCESS_ID_g);
    void *file = NULL;
    if (lib->H5Pset_fapl_core(fapl, CORE_INCREMENT, false) >= 0 &&
        lib->H5Pset_vol(fapl, lib->native, NULL) >= 0)
        file =
            lib->H5VLfile_create("zarrbridge-shadow", H5_ACC_TRUNC, *lib->H5P_LST_FILE_CREATE_ID_g,
                                 fapl, *lib->H5P_LST_DATASET_XFER_ID_g, NULL);
    lib->H5Pclose(fapl);
    return file;
}

/* HDF5 takes it for any committed datatype of a store where it makes a dataset or an attribute of
   one without asking us, in an ordinary file. Nothing converts to it, so that writing to such a
   dataset fails. */
static void *commit_type(h5_lib *lib, void *file, const H5VL_loc_params_t *self) {
    hid_t type = lib->H5Tcreate(H5T_OPAQUE, 1);
    void *made = NULL;
    if (type >= 0 &&
        lib->H5Tset_tag(type, "a committed datatype of a Zarr store: use a copy (H5Tcopy)") >= 0)
        made = lib->H5VLdatatype_commit(
            file, self, lib->native, "t", type, *lib->H5P_LST_LINK_CREATE_ID_g,
            *lib->H5P_LST_DATATYPE_CREATE_ID_g, *lib->H5P_LST_DATATYPE_ACCESS_ID_g,
            *lib->H5P_LST_DATASET_XFER_ID_g, NULL);
    if (type >= 0)
        lib->H5Tclose(type);
    return made;
}

/* The root group serves for all groups. get_conn_cls will answer with its class. */
static bool create_objects(h5_lib *lib, vol_shadows *made) {
    const hid_t dxpl = *lib->H5P_LST_DATASET_XFER_ID_g;
    const hid_t type = *lib->H5T_NATIVE_INT8_g;
    const H5VL_loc_params_t self = {.obj_type = H5I_FILE, .type = H5VL_OBJECT_BY_SELF};
    hid_t space = lib->H5Screate(H5S_SCALAR);
    made->group = lib->H5VLgroup_open(made->file, &self, lib->native, "/",
                                      *lib->H5P_LST_GROUP_ACCESS_ID_g, dxpl, NULL);
    made->dataset = lib->H5VLdataset_create(
        made->file, &self, lib->native, "d", *lib->H5P_LST_LINK_CREATE_ID_g, type, space,
        *lib->H5P_LST_DATASET_CREATE_ID_g, *lib->H5P_LST_DATASET_ACCESS_ID_g, dxpl, NULL);
    made->attr = lib->H5VLattr_create(made->file, &self, lib->native, "a", type, space,
                                      *lib->H5P_LST_ATTRIBUTE_CREATE_ID_g,
                                      *lib->H5P_LST_ATTRIBUTE_ACCESS_ID_g, dxpl, NULL);
    lib->H5Sclose(space);
    made->datatype = commit_type(lib, made->file, &self);
    return made->group && made->dataset && made->attr && made->datatype &&
           lib->H5VLintrospect_get_conn_cls(made->file, lib->native, H5VL_GET_CONN_LVL_TERM,
                                            &lib->native_cls) >= 0;
}

herr_t vol_shadows_make(h5_lib *lib) {
    if (lib->shadows)
        return 0;
    vol_shadows *made = calloc(1, sizeof *made);
    if (!made)
        return -1;
    made->file = create_file(lib);
    lib->shadows = made;
    if (made->file && create_objects(lib, made))
        return 0;
    vol_shadows_drop(lib);
    return -1;
}

void vol_shadows_drop(h5_lib *lib) {
    vol_shadows *made = lib->shadows;
    if (!made)
        return;
    /* Closing runs native code that may ask get_object for our dying objects: it must not find
       what is about to go. */
    lib->shadows = NULL;
    const hid_t dxpl = *lib->H5P_LST_DATASET_XFER_ID_g;
    if (made->datatype)
        lib->H5VLdatatype_close(made->datatype, lib->native, dxpl, NULL);
    if (made->attr)
        lib->H5VLattr_close(made->attr, lib->native, dxpl, NULL);
    if (made->dataset)
        lib->H5VLdataset_close(made->dataset, lib->native, dxpl, NULL);
    if (made->group)
        lib->H5VLgroup_close(made->group, lib->native, dxpl, NULL);
    if (made->file)
        lib->H5VLfile_close(made->file, lib->native, dxpl, NULL);
    free(made);
}

void *vol_shadow_of(const h5_lib *lib, H5I_type_t type) {
    const vol_shadows *made = lib->shadows;
    if (!VOL_CLAIM_OBJECTS || !made)
        return NULL;
    switch (type) {
    case H5I_FILE:
        return made->file;
    case H5I_GROUP:
        return made->group;
    case H5I_DATASET:
        return made->dataset;
    case H5I_ATTR:
        return made->attr;
    case H5I_DATATYPE:
        return made->datatype;
    default:
        return NULL;
    }
}
