/* SPDX-License-Identifier: MIT */
/* Committed datatypes: the callbacks. */
#include "callbacks/classes.h"
#include "callbacks/elsewhere.h"
#include "create/creation_list.h"
#include "create/spec.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"

static enum zb_code make(vol_node *base, const char *name, hid_t type, hid_t lcpl, hid_t tcpl,
                         vol_node **out, zb_error *err) {
    vol_place place;
    if (!name)
        return vol_datatype_make(base->file, type, tcpl, NULL, out, err);
    const vol_missing missing = vol_missing_groups(base->file->lib, lcpl, name, NULL);
    enum zb_code code = vol_place_find(base, name, missing, &place, err);
    if (code)
        return code;
    code = vol_datatype_make(base->file, type, tcpl, &place, out, err);
    vol_place_clear(&place);
    return code;
}

/* HDF5 marks the program's type as committed and keeps what we return in it: in a type that cannot
   change, which all of the process share, that stays for good. H5Tclose refuses such a type and no
   other one; of the others it takes back the reference that was added for it. */
static bool may_commit(h5_lib *lib, hid_t type) {
    hid_t saved = vol_stack_save(lib);
    const bool counted = lib->H5Iinc_ref(type) > 0;
    const bool closed = counted && lib->H5Tclose(type) >= 0;
    if (counted && !closed)
        lib->H5Idec_ref(type);
    vol_stack_restore(lib, saved);
    if (!closed)
        VOL_PUSH(lib, SYM, BADTYPE,
                 "a type that cannot change, as those of HDF5 and those that are locked, cannot be "
                 "committed: commit a copy (H5Tcopy)");
    return closed;
}

static void *commit(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                    hid_t type, hid_t lcpl, hid_t tcpl) {
    vol_node *node = NULL;
    zb_error err = {0};
    vol_node *base = vol_may_change(object, "commit a datatype") ? vol_locate(object, loc) : NULL;
    if (!base)
        return NULL;
    if (make(base, name, type, lcpl, tcpl, &node, &err) == ZB_OK)
        return vol_object_new(object->handle, node, H5I_DATATYPE);
    vol_push_making(object->lib, *object->lib->H5E_CANTCREATE_g, &err);
    return NULL;
}

static void *vol_datatype_commit(void *obj, const H5VL_loc_params_t *loc, const char *name,
                                 hid_t type, hid_t lcpl, hid_t tcpl, hid_t tapl, hid_t dxpl,
                                 void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_pass(lib, H5I_DATATYPE,
                               lib->H5VLdatatype_commit(object->under, loc, lib->native, name, type,
                                                        lcpl, tcpl, tapl, dxpl, req));
    if (!vol_list_check(lib, lcpl, *lib->H5P_CLS_LINK_CREATE_ID_g) ||
        !vol_list_check(lib, tcpl, *lib->H5P_CLS_DATATYPE_CREATE_ID_g) ||
        !vol_list_check(lib, tapl, *lib->H5P_CLS_DATATYPE_ACCESS_ID_g) || !may_commit(lib, type))
        return NULL;
    return commit(object, loc, name, type, lcpl, tcpl);
}

static void *vol_datatype_open(void *obj, const H5VL_loc_params_t *loc, const char *name,
                               hid_t tapl, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_pass(
            lib, H5I_DATATYPE,
            lib->H5VLdatatype_open(object->under, loc, lib->native, name, tapl, dxpl, req));
    if (!vol_list_check(lib, tapl, *lib->H5P_CLS_DATATYPE_ACCESS_ID_g))
        return NULL;
    vol_object *opened = vol_open_any(object, loc, name, tapl, dxpl);
    if (!opened || opened->type == H5I_DATATYPE)
        return opened;
    vol_close_any(opened, dxpl);
    VOL_PUSH(lib, SYM, CANTOPENOBJ, "'%s' is no committed datatype", name);
    return NULL;
}

/* The type in HDF5's own encoding, of which HDF5 makes the type of each id. */
static herr_t encode(vol_node *node, void *buffer, size_t *size) {
    h5_lib *lib = node->file->lib;
    bool lacks_memory;
    hid_t type = vol_node_datatype(node, &lacks_memory);
    herr_t result = type < 0 ? -1 : lib->H5Tencode(type, buffer, size);
    vol_release_id(lib, type);
    if (result < 0)
        VOL_PUSH(lib, SYM, CANTGET,
                 lacks_memory ? "no memory for the type '%s'"
                              : "'%s' is no committed datatype any more",
                 node->path);
    return result;
}

static herr_t vol_datatype_get(void *obj, H5VL_datatype_get_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLdatatype_get(object->under, lib->native, args, dxpl, req);
    size_t size = 0;
    switch (args->op_type) {
    case H5VL_DATATYPE_GET_BINARY_SIZE:
        return encode(object->node, NULL, args->args.get_binary_size.size);
    case H5VL_DATATYPE_GET_BINARY:
        size = args->args.get_binary.buf_size;
        return encode(object->node, args->args.get_binary.buf, &size);
    case H5VL_DATATYPE_GET_TCPL:
        args->args.get_tcpl.tcpl_id =
            vol_list_member_new(object->node, *lib->H5P_CLS_DATATYPE_CREATE_ID_g);
        return args->args.get_tcpl.tcpl_id < 0 ? -1 : 0;
    }
    return vol_refuse(lib, "this question about a committed datatype");
}

static herr_t vol_datatype_specific(void *obj, H5VL_datatype_specific_args_t *args, hid_t dxpl,
                                    void **req) {
    const vol_object *object = obj;
    if (object->under)
        return object->lib->H5VLdatatype_specific(object->under, object->lib->native, args, dxpl,
                                                  req);
    return args->op_type == H5VL_DATATYPE_FLUSH
               ? vol_flush_object(object, object->node, args->args.flush.type_id)
               : vol_refresh_node(object->node);
}

static herr_t vol_datatype_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    if (object->under)
        return object->lib->H5VLdatatype_optional(object->under, object->lib->native, args, dxpl,
                                                  req);
    return vol_refuse(object->lib, "this operation of the native file format");
}

static herr_t vol_datatype_close(void *obj, hid_t dxpl, void **req) {
    vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_closed(object,
                                 lib->H5VLdatatype_close(object->under, lib->native, dxpl, req));
    vol_object_free(object);
    return 0;
}

const H5VL_datatype_class_t vol_datatype_class = {
    .commit = vol_datatype_commit,
    .open = vol_datatype_open,
    .get = vol_datatype_get,
    .specific = vol_datatype_specific,
    .optional = vol_datatype_optional,
    .close = vol_datatype_close,
};
