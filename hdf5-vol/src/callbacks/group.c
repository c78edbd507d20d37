/* SPDX-License-Identifier: MIT */
/* Groups: the callbacks. */
#include "callbacks/classes.h"
#include "callbacks/elsewhere.h"
#include "callbacks/unasked.h"
#include "create/creation_list.h"
#include "file/forget.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"
#include "links/link_order.h"
#include "links/links.h"
#include "file/absent.h"
#include "tree/edit.h"

#include <stdlib.h>
#include <string.h>

/* HDF5 links a group without a name afterwards. */
static enum zb_code make_at(vol_node *base, const char *name, vol_missing missing,
                            const char *attributes, vol_node **out, zb_error *err) {
    vol_place place;
    if (!name)
        return vol_edit_create_loose_group(base->file, attributes, out, err);
    enum zb_code code = vol_place_for_new(base, name, missing, &place, err);
    if (!code) {
        code = vol_edit_create_group(&place, attributes, out, err);
        vol_place_clear(&place);
    }
    return vol_absent_end(base, name, NULL, code, out, err);
}

static enum zb_code make(vol_node *base, const char *name, hid_t lcpl, hid_t gcpl, vol_node **out,
                         zb_error *err) {
    h5_lib *lib = base->file->lib;
    vol_changes members = {.count = 0}; /* those on the way have some, too */
    const vol_missing missing = vol_missing_groups(lib, lcpl, name, &members);
    char *attributes;
    unsigned order = 0;
    enum zb_code code = vol_list_member_attributes(lib, gcpl, &attributes, err);
    if (!code && missing.make)
        code = vol_list_member_add(lib, gcpl, &members, err);
    if (!code)
        code = make_at(base, name, missing, attributes, out, err);
    vol_changes_clear(&members);
    free(attributes);
    if (!code && lib->H5Pget_link_creation_order(gcpl, &order) >= 0)
        code = vol_order_begin(*out, order, err);
    return code;
}

static void *create_group(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                          hid_t lcpl, hid_t gcpl) {
    h5_lib *lib = object->lib;
    vol_node *node = NULL;
    zb_error err = {0};
    vol_node *base =
        vol_may_create(object, name, "create a group") ? vol_locate(object, loc) : NULL;
    if (!base)
        return NULL;
    if (make(base, name, lcpl, gcpl, &node, &err) == ZB_OK)
        return vol_object_new(object->handle, node, H5I_GROUP);
    vol_push_making(lib, *lib->H5E_CANTCREATE_g, &err);
    return NULL;
}

static void *vol_group_create(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t lcpl,
                              hid_t gcpl, hid_t gapl, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_pass(lib, H5I_GROUP,
                               lib->H5VLgroup_create(object->under, loc, lib->native, name, lcpl,
                                                     gcpl, gapl, dxpl, req));
    if (!vol_list_check(lib, lcpl, *lib->H5P_CLS_LINK_CREATE_ID_g) ||
        !vol_list_check(lib, gcpl, *lib->H5P_CLS_GROUP_CREATE_ID_g) ||
        !vol_list_check(lib, gapl, *lib->H5P_CLS_GROUP_ACCESS_ID_g))
        return NULL;
    vol_file_tidy_all(object->file);
    return create_group(object, loc, name, lcpl, gcpl);
}

static void *vol_group_open(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t gapl,
                            hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under) {
        void *under = lib->H5VLgroup_open(object->under, loc, lib->native, name, gapl, dxpl, req);
        vol_warn_of_link(object, loc, name, dxpl, under);
        return vol_object_pass(lib, H5I_GROUP, under);
    }
    if (!vol_list_check(lib, gapl, *lib->H5P_CLS_GROUP_ACCESS_ID_g))
        return NULL;
    vol_file_tidy_all(object->file);
    vol_object *opened = vol_open_any(object, loc, name, gapl, dxpl);
    if (!opened || opened->type == H5I_GROUP)
        return opened;
    const bool is_dataset = opened->type == H5I_DATASET;
    vol_close_any(opened, dxpl);
    VOL_PUSH(lib, SYM, CANTOPENOBJ, "'%s' is a %s, not a group", name,
             is_dataset ? "dataset" : "committed datatype");
    return NULL;
}

/* The only question that needs a listing. */
static herr_t get_info(const vol_object *object, const H5VL_group_get_info_args_t *args) {
    zb_error err = {0};
    vol_node *group = vol_locate(object, &args->loc_params);
    if (!group)
        return -1;
    if (vol_node_list(group, &err) != ZB_OK)
        return VOL_PUSH_ZB(object->lib, SYM, CANTGET, &err);
    memset(args->ginfo, 0, sizeof *args->ginfo);
    args->ginfo->storage_type = H5G_STORAGE_TYPE_UNKNOWN;
    args->ginfo->nlinks = vol_links_count(group);
    args->ginfo->max_corder = (int64_t)vol_order_last(group);
    return 0;
}

static herr_t vol_group_get(void *obj, H5VL_group_get_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLgroup_get(object->under, lib->native, args, dxpl, req);
    switch (args->op_type) {
    case H5VL_GROUP_GET_GCPL:
        args->args.get_gcpl.gcpl_id = vol_group_list(object->node, *lib->H5P_CLS_GROUP_CREATE_ID_g);
        return args->args.get_gcpl.gcpl_id < 0 ? -1 : 0;
    case H5VL_GROUP_GET_INFO:
        return get_info(object, &args->args.get_info);
    }
    return vol_refuse(lib, "this question about a group");
}

/* Mounting is between native files only. */
static herr_t vol_group_specific(void *obj, H5VL_group_specific_args_t *args, hid_t dxpl,
                                 void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under) {
        H5VL_group_specific_args_t native = *args;
        if (args->op_type == H5VL_GROUP_MOUNT) {
            const vol_object *child = args->args.mount.child_file;
            if (!child->under)
                return vol_refuse(lib, "mounting");
            native.args.mount.child_file = child->under;
        }
        return lib->H5VLgroup_specific(object->under, lib->native, &native, dxpl, req);
    }
    if (args->op_type == H5VL_GROUP_FLUSH)
        return vol_flush_object(object, object->node, args->args.flush.grp_id);
    if (args->op_type == H5VL_GROUP_REFRESH)
        return vol_refresh_node(object->node);
    return vol_refuse(lib, "mounting");
}

static herr_t vol_group_close(void *obj, hid_t dxpl, void **req) {
    vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_closed(object,
                                 lib->H5VLgroup_close(object->under, lib->native, dxpl, req));
    vol_object_free(object);
    return 0;
}

const H5VL_group_class_t vol_group_class = {
    .create = vol_group_create,
    .open = vol_group_open,
    .get = vol_group_get,
    .specific = vol_group_specific,
    .optional = vol_group_optional,
    .close = vol_group_close,
};
