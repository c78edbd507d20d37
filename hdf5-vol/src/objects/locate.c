/* SPDX-License-Identifier: MIT */
/* From HDF5's locations to links and nodes: see locate.h. */
#include "objects/locate.h"

#include "hdf5/errors.h"
#include "hdf5/property_lists.h"
#include "model/links.h"
#include "model/tokens.h"

H5VL_loc_params_t vol_self(H5I_type_t type) {
    return (H5VL_loc_params_t){.obj_type = type, .type = H5VL_OBJECT_BY_SELF};
}

/* Links are in the order of their names whatever index is asked for: Zarr knows no other. */
static enum zb_code find_by_index(const vol_object *object, const H5VL_loc_by_idx_t *at,
                                  vol_found *out, zb_error *err) {
    vol_node *group = vol_node_find(object->node, at->name, err);
    if (!group)
        return err->code;
    enum zb_code code = vol_node_list(group, err);
    if (code)
        return code;
    if (at->n >= group->link_count)
        return zb_fail(err, ZB_ENOTFOUND, "group %s has %zu links, none with index %llu",
                       group->path, group->link_count, (unsigned long long)at->n);
    const size_t i = (size_t)at->n;
    out->link = group->link[at->order == H5_ITER_DEC ? group->link_count - 1 - i : i];
    out->node = out->link->node;
    return ZB_OK;
}

static enum zb_code find_location(const vol_object *object, const H5VL_loc_params_t *loc,
                                  vol_found *out, zb_error *err) {
    *out = (vol_found){.node = object->node};
    switch (loc->type) {
    case H5VL_OBJECT_BY_SELF:
        return ZB_OK;
    case H5VL_OBJECT_BY_NAME:
        return vol_path_find(object->node, loc->loc_data.loc_by_name.name, out, err);
    case H5VL_OBJECT_BY_TOKEN:
        out->node =
            vol_node_by_token(object->file, vol_token_get(loc->loc_data.loc_by_token.token), err);
        return out->node ? ZB_OK : err->code;
    case H5VL_OBJECT_BY_IDX:
        return find_by_index(object, &loc->loc_data.loc_by_idx, out, err);
    }
    return zb_fail(err, ZB_EINVAL, "unknown kind of location");
}

/* Whether the location's access list is one. Pushes an error when not. */
static bool has_list(h5_lib *lib, const H5VL_loc_params_t *loc) {
    const hid_t class = *lib->H5P_CLS_LINK_ACCESS_ID_g;
    if (loc->type == H5VL_OBJECT_BY_NAME)
        return vol_list_check(lib, loc->loc_data.loc_by_name.lapl_id, class);
    return loc->type != H5VL_OBJECT_BY_IDX ||
           vol_list_check(lib, loc->loc_data.loc_by_idx.lapl_id, class);
}

/* The caller's name for it, for messages. */
static const char *location_name(const H5VL_loc_params_t *loc) {
    switch (loc->type) {
    case H5VL_OBJECT_BY_NAME:
        return loc->loc_data.loc_by_name.name;
    case H5VL_OBJECT_BY_IDX:
        return loc->loc_data.loc_by_idx.name;
    default:
        return ".";
    }
}

/* h5py makes a KeyError of H5E_NOTFOUND; the words are HDF5's own, which users know. */
static void push_not_found(h5_lib *lib, const char *name, const zb_error *err) {
    if (err->code == ZB_ENOTFOUND)
        VOL_PUSH(lib, SYM, NOTFOUND, "object '%s' doesn't exist", name);
    else
        VOL_PUSH_ZB(lib, SYM, CANTOPENOBJ, err);
}

bool vol_locate_link(const vol_object *object, const H5VL_loc_params_t *loc, vol_found *out) {
    zb_error err = {0};
    if (!has_list(object->lib, loc))
        return false;
    if (find_location(object, loc, out, &err) == ZB_OK)
        return true;
    push_not_found(object->lib, location_name(loc), &err);
    return false;
}

vol_node *vol_locate(const vol_object *object, const H5VL_loc_params_t *loc) {
    zb_error err = {0};
    vol_found found;
    if (!vol_locate_link(object, loc, &found))
        return NULL;
    if (!found.node) {
        vol_link_blame(found.link, &err);
        VOL_PUSH_ZB(object->lib, SYM, CANTOPENOBJ, &err);
    }
    return found.node;
}

vol_node *vol_locate_name(const vol_object *object, const H5VL_loc_params_t *loc,
                          const char *name) {
    zb_error err = {0};
    vol_node *base = vol_locate(object, loc);
    if (!base || !name)
        return base;
    vol_node *node = vol_node_find(base, name, &err);
    if (!node)
        push_not_found(object->lib, name, &err);
    return node;
}

bool vol_lookup(const vol_object *object, const H5VL_loc_params_t *loc, vol_found *out) {
    zb_error err = {0};
    if (!has_list(object->lib, loc))
        return false;
    if (find_location(object, loc, out, &err) == ZB_OK)
        return true;
    *out = (vol_found){.node = NULL};
    if (err.code == ZB_ENOTFOUND)
        return true;
    push_not_found(object->lib, location_name(loc), &err);
    return false;
}
