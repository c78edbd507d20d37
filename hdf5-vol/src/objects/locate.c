/* SPDX-License-Identifier: MIT */
/* From HDF5's locations to links and nodes: see locate.h. */
#include "objects/locate.h"

#include "file/forget.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"
#include "links/aliases.h"
#include "links/link_order.h"
#include "links/links.h"
#include "objects/token_search.h"

#include <stdlib.h>
#include <string.h>

H5VL_loc_params_t vol_self(H5I_type_t type) {
    return (H5VL_loc_params_t){.obj_type = type, .type = H5VL_OBJECT_BY_SELF};
}

H5VL_loc_params_t vol_loc_by_name(const h5_lib *lib, H5I_type_t type, const char *name) {
    return (H5VL_loc_params_t){
        .obj_type = type,
        .type = H5VL_OBJECT_BY_NAME,
        .loc_data.loc_by_name = {.name = name, .lapl_id = *lib->H5P_LST_LINK_ACCESS_ID_g}};
}

static enum zb_code find_by_index(const vol_object *object, const H5VL_loc_by_idx_t *at,
                                  vol_found *out, zb_error *err) {
    vol_node *group = vol_node_find(object->node, at->name, err);
    if (!group)
        return err->code;
    enum zb_code code = vol_node_list(group, err);
    if (code)
        return code;
    if (at->n >= vol_links_count(group))
        return zb_fail(err, ZB_ENOTFOUND, "group %s has %zu links, none with index %llu",
                       group->path, vol_links_count(group), (unsigned long long)at->n);
    const bool by_creation = at->idx_type == H5_INDEX_CRT_ORDER;
    if (by_creation && !vol_order_flags(group))
        return zb_fail(err, ZB_EINVAL, "creation order not tracked for links in group %s",
                       group->path);
    out->link = vol_links_in_order(group, by_creation, at->order == H5_ITER_DEC, (size_t)at->n);
    return vol_link_node(out->link, &out->node, err);
}

vol_route vol_route_of(h5_lib *lib, hid_t lapl) {
    vol_route route = {.left = VOL_LINKS_FOLLOWED};
    if (lapl > 0 && lapl != *lib->H5P_LST_LINK_ACCESS_ID_g &&
        lib->H5Pget_nlinks(lapl, &route.left) < 0)
        route.left = VOL_LINKS_FOLLOWED;
    return route;
}

static enum zb_code find_location(const vol_object *object, const H5VL_loc_params_t *loc,
                                  vol_route *route, vol_found *out, zb_error *err) {
    vol_file_tidy(object->file);
    *out = (vol_found){.node = object->node};
    switch (loc->type) {
    case H5VL_OBJECT_BY_SELF:
        return ZB_OK;
    case H5VL_OBJECT_BY_NAME:
        *route = vol_route_of(object->lib, loc->loc_data.loc_by_name.lapl_id);
        return vol_path_find(object->node, loc->loc_data.loc_by_name.name, route, out, err);
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
    vol_route route = {.left = VOL_LINKS_FOLLOWED};
    if (!has_list(object->lib, loc))
        return false;
    if (find_location(object, loc, &route, out, &err) == ZB_OK)
        return true;
    push_not_found(object->lib, location_name(loc), &err);
    return false;
}

bool vol_found_link(const vol_object *object, const vol_found *found) {
    if (found->link)
        return true;
    VOL_PUSH(object->lib, SYM, NOTFOUND,
             "a path that is '/' or ends in '.' names no link: it is '%s'", found->node->path);
    return false;
}

static enum zb_code find_node(const vol_object *object, const H5VL_loc_params_t *loc,
                              vol_route *route, vol_found *out, zb_error *err) {
    enum zb_code code = find_location(object, loc, route, out, err);
    return code || out->node ? code : vol_path_enter(route, out, err);
}

vol_node *vol_locate(const vol_object *object, const H5VL_loc_params_t *loc) {
    zb_error err = {0};
    vol_found found;
    vol_route route = {.left = VOL_LINKS_FOLLOWED};
    if (!has_list(object->lib, loc))
        return NULL;
    if (find_node(object, loc, &route, &found, &err) == ZB_OK)
        return found.node;
    push_not_found(object->lib, location_name(loc), &err);
    return NULL;
}

vol_node *vol_locate_target(const vol_object *object, vol_found *found) {
    zb_error err = {0};
    vol_route route = {.left = VOL_LINKS_FOLLOWED};
    if (found->node || vol_path_enter(&route, found, &err) == ZB_OK)
        return found->node;
    push_not_found(object->lib, found->link->name, &err);
    return NULL;
}

/* The base of a name is in this file. */
vol_node *vol_locate_on(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                        vol_route *route) {
    zb_error err = {0};
    vol_node *base = vol_locate(object, loc);
    if (!base || !name)
        return base;
    vol_found found;
    enum zb_code code = vol_path_find(base, name, route, &found, &err);
    if (!code && !found.node)
        code = vol_path_enter(route, &found, &err);
    if (!code)
        return found.node;
    if (!route->rest)
        push_not_found(object->lib, name, &err);
    return NULL;
}

vol_node *vol_locate_name(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                          hid_t lapl) {
    vol_route route = vol_route_of(object->lib, lapl);
    return vol_locate_on(object, loc, name, &route);
}

bool vol_leaves(const vol_object *object, const H5VL_loc_params_t *loc) {
    vol_route route = vol_route_of(object->lib, loc->loc_data.loc_by_name.lapl_id);
    vol_found found;
    route.may_leave = true;
    if (vol_path_find(object->node, loc->loc_data.loc_by_name.name, &route, &found, NULL) ==
            ZB_OK &&
        !found.node)
        vol_path_enter(&route, &found, NULL);
    free(route.rest);
    return route.external != NULL;
}

bool vol_locate_place(const vol_object *object, const H5VL_loc_params_t *loc, hid_t lcpl,
                      vol_place *out) {
    h5_lib *lib = object->lib;
    const H5VL_loc_params_t self = vol_self(loc->obj_type);
    zb_error err = {0};
    vol_node *base = vol_locate(object, &self);
    if (!base)
        return false;
    const char *path = loc->loc_data.loc_by_name.name;
    if (vol_place_find(base, path, vol_missing_groups(lib, lcpl, path, NULL), out, &err) == ZB_OK)
        return true;
    vol_push_making(lib, *lib->H5E_CANTCREATE_g, &err);
    return false;
}

bool vol_lookup(const vol_object *object, const H5VL_loc_params_t *loc, bool follow, vol_found *out,
                bool *is_cut) {
    zb_error err = {0};
    vol_route route = {.left = VOL_LINKS_FOLLOWED};
    if (!has_list(object->lib, loc))
        return false;
    enum zb_code code = follow ? find_node(object, loc, &route, out, &err)
                               : find_location(object, loc, &route, out, &err);
    if (is_cut)
        *is_cut = route.is_cut;
    if (code == ZB_OK)
        return true;
    *out = (vol_found){.node = NULL};
    if (err.code == ZB_ENOTFOUND)
        return true;
    push_not_found(object->lib, location_name(loc), &err);
    return false;
}

size_t vol_holder_size(const char *path) {
    size_t size = strlen(path);
    while (size > 0 && path[size - 1] == '/')
        size--;
    while (size > 0 && path[size - 1] != '/')
        size--;
    return size;
}

bool vol_has_holder(const vol_object *object, const H5VL_loc_params_t *loc) {
    vol_found found = {.node = NULL};
    const char *path = loc->type == H5VL_OBJECT_BY_NAME ? loc->loc_data.loc_by_name.name : "/";
    const size_t size = vol_holder_size(path);
    if (size == 0)
        return *path == '/' || object->node->kind == VOL_GROUP;
    H5VL_loc_params_t to_holder = *loc;
    char *name = strndup(path, size);
    to_holder.loc_data.loc_by_name.name = name;
    const bool looked = name && vol_lookup(object, &to_holder, true, &found, NULL);
    free(name);
    return looked && found.node && found.node->kind == VOL_GROUP;
}
