/* SPDX-License-Identifier: MIT */
/*
 * Links. A hard link is the place of its node, so it is made, moved and deleted with the node;
 * other links are kept in an attribute of their group (links/link_entries.h). An entry that cannot
 * be read leads to a dataset that tells why (dataset/unreadable.h), so that walks and copies go on.
 */
#include "callbacks/classes.h"
#include "callbacks/elsewhere.h"
#include "callbacks/walks.h"
#include "copy/links.h"
#include "file/forget.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"
#include "links/aliases.h"
#include "links/edit_links.h"
#include "links/link_order.h"
#include "links/links.h"
#include "objects/committed_types.h"
#include "file/absent.h"
#include "tree/loose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Changing links ---- */

/* Both objects may be NULL (H5L_SAME_LOC), not both at once. */
static const vol_object *one_of(const vol_object *a, const vol_object *b) {
    return a ? a : b;
}

static void *under_of(const vol_object *object) {
    return object ? object->under : NULL;
}

static bool both_native(const vol_object *a, const vol_object *b) {
    return (!a || a->under) && (!b || b->under);
}

/* Another name for a node, or the first one of a dataset that was made without. */
static herr_t link_node(const vol_object *at, const H5VL_loc_params_t *loc, vol_node *node,
                        hid_t lcpl) {
    h5_lib *lib = at->lib;
    vol_place place;
    zb_error err = {0};
    if (!vol_may_change(at, "create a link"))
        return -1;
    if (at->file != node->file)
        return VOL_PUSH(lib, SYM, UNSUPPORTED, "a hard link cannot lead into another file");
    if (!vol_locate_place(at, loc, lcpl, &place))
        return -1;
    const uint64_t token = node->token;
    enum zb_code code = node->loose && vol_loose_hierarchy(node)
                            ? vol_edit_link(node, &place, &err)
                            : vol_alias_create(&place, node, &err);
    if (!code && node->kind == VOL_DATATYPE && node->token != token)
        code = vol_committed_rename(node, token, &err);
    vol_place_clear(&place);
    return code ? vol_push_making(lib, *lib->H5E_CANTCREATE_g, &err) : 0;
}

static herr_t create_hard(const H5VL_link_create_args_t *args, const vol_object *at,
                          const H5VL_loc_params_t *loc, const vol_object *target, hid_t lcpl) {
    h5_lib *lib = one_of(at, target)->lib;
    const vol_object *from = one_of(target, at), *to = one_of(at, target);
    if (from->under || to->under)
        return VOL_PUSH(lib, SYM, UNSUPPORTED, "a hard link cannot lead into another file");
    vol_node *node = vol_locate(from, &args->args.hard.curr_loc_params);
    return node ? link_node(to, loc, node, lcpl) : -1;
}

/* As HDF5 keeps the path of a soft link: single slashes, and none at its end. malloc'ed. */
static char *normal_path(const char *path) {
    char *normal = strdup(path);
    size_t size = 0;
    for (const char *at = path; normal && *at; at++)
        if (*at != '/' || size == 0 || normal[size - 1] != '/')
            normal[size++] = *at;
    if (size > 1 && normal[size - 1] == '/')
        size--;
    if (normal)
        normal[size] = 0;
    return normal;
}

static herr_t create_soft(const vol_object *at, const H5VL_loc_params_t *loc, const char *target,
                          hid_t lcpl) {
    char *normal = normal_path(target);
    if (!normal)
        VOL_PUSH(at->lib, SYM, CANTCREATE, "no memory for a link to '%s'", target);
    const vol_link_value value = {.type = H5L_TYPE_SOFT, .target = normal};
    herr_t result = normal ? vol_link_make(at, loc, lcpl, &value) : -1;
    free(normal);
    return result;
}

static herr_t create_zarr_link(const H5VL_link_create_args_t *args, const vol_object *at,
                               const H5VL_loc_params_t *loc, const vol_object *target, hid_t lcpl) {
    if (args->op_type == H5VL_LINK_CREATE_HARD)
        return create_hard(args, at, loc, target, lcpl);
    if (args->op_type == H5VL_LINK_CREATE_SOFT)
        return create_soft(at, loc, args->args.soft.target, lcpl);
    vol_link_value value;
    if (args->args.ud.type == H5L_TYPE_EXTERNAL &&
        vol_link_unpack(args->args.ud.buf, args->args.ud.buf_size, &value))
        return vol_link_make(at, loc, lcpl, &value);
    return VOL_PUSH(at->lib, SYM, UNSUPPORTED,
                    "Zarr stores have no user-defined links: use a soft or an external one");
}

static herr_t vol_link_create(H5VL_link_create_args_t *args, void *obj,
                              const H5VL_loc_params_t *loc, hid_t lcpl, hid_t lapl, hid_t dxpl,
                              void **req) {
    const vol_object *object = obj, *target = NULL;
    H5VL_link_create_args_t native = *args;
    if (args->op_type == H5VL_LINK_CREATE_HARD) {
        target = args->args.hard.curr_obj;
        native.args.hard.curr_obj = under_of(target);
    }
    h5_lib *lib = one_of(object, target)->lib;
    if (!both_native(object, target) &&
        !(vol_list_check(lib, lcpl, *lib->H5P_CLS_LINK_CREATE_ID_g) &&
          vol_list_check(lib, lapl, *lib->H5P_CLS_LINK_ACCESS_ID_g)))
        return -1;
    if (!both_native(object, target))
        return create_zarr_link(args, object, loc, target, lcpl);
    return lib->H5VLlink_create(&native, under_of(object), loc, lib->native, lcpl, lapl, dxpl, req);
}

static herr_t vol_link_copy(void *source, const H5VL_loc_params_t *source_loc, void *target,
                            const H5VL_loc_params_t *target_loc, hid_t lcpl, hid_t lapl, hid_t dxpl,
                            void **req) {
    h5_lib *lib = one_of(source, target)->lib;
    if (!both_native(source, target))
        return vol_link_copy_across(one_of(source, target), source_loc, one_of(target, source),
                                    target_loc, lcpl, dxpl);
    return lib->H5VLlink_copy(under_of(source), source_loc, under_of(target), target_loc,
                              lib->native, lcpl, lapl, dxpl, req);
}

static herr_t move_link(const vol_object *source, const H5VL_loc_params_t *source_loc,
                        const vol_object *target, const H5VL_loc_params_t *target_loc, hid_t lcpl) {
    h5_lib *lib = one_of(source, target)->lib;
    const vol_object *from = one_of(source, target), *to = one_of(target, source);
    vol_place place;
    vol_found found;
    zb_error err = {0};
    if (from->under || to->under || from->file != to->file)
        return VOL_PUSH(lib, SYM, UNSUPPORTED, "objects can only be moved within one file");
    if (!vol_may_change(to, "move an object") || !vol_locate_link(from, source_loc, &found) ||
        !vol_found_link(from, &found))
        return -1;
    if (!vol_locate_place(to, target_loc, lcpl, &place))
        return -1;
    enum zb_code code = vol_edit_move_link(found.link, &place, &err);
    vol_place_clear(&place);
    return code ? vol_push_making(lib, *lib->H5E_CANTCREATE_g, &err) : 0;
}

static herr_t vol_link_move(void *source, const H5VL_loc_params_t *source_loc, void *target,
                            const H5VL_loc_params_t *target_loc, hid_t lcpl, hid_t lapl, hid_t dxpl,
                            void **req) {
    h5_lib *lib = one_of(source, target)->lib;
    if (!both_native(source, target))
        return move_link(source, source_loc, target, target_loc, lcpl);
    return lib->H5VLlink_move(under_of(source), source_loc, under_of(target), target_loc,
                              lib->native, lcpl, lapl, dxpl, req);
}

/* With its last hard link a node goes, too. */
static herr_t delete_link(const vol_object *object, const H5VL_loc_params_t *loc) {
    zb_error err = {0};
    vol_found found;
    if (!vol_may_change(object, "delete an object") || !vol_locate_link(object, loc, &found) ||
        !vol_found_link(object, &found))
        return -1;
    return vol_edit_delete_link(found.link, &err) == ZB_OK
               ? 0
               : VOL_PUSH_ZB(object->lib, SYM, CANTDELETE, &err);
}

/* ---- Reading links ---- */

/* A link has its place in the order once its group has been listed. Where that cannot be, as on a
   web server, the place is not told. */
static bool find_place(const vol_object *object, const H5VL_loc_params_t *loc, vol_found *found) {
    vol_node *group = found->link->group;
    zb_error err = {0};
    if (!vol_order_flags(group) || vol_links_are_listed(group) ||
        vol_node_list(group, &err) != ZB_OK)
        return true;
    return vol_locate_link(object, loc, found) && vol_found_link(object, found);
}

static herr_t get_external(const vol_link_value *value, void *buffer, size_t size) {
    size_t full;
    char *packed = vol_link_pack(value, &full);
    if (packed && buffer)
        memcpy(buffer, packed, size < full ? size : full);
    free(packed);
    return packed ? 0 : -1;
}

static herr_t get_value(const vol_object *object, const vol_found *found, void *buffer,
                        size_t size) {
    vol_link_value value;
    if (!vol_link_value_of(found->link, &value))
        return vol_refuse(object->lib, "the value of a hard link");
    if (value.file)
        return get_external(&value, buffer, size);
    vol_copy_name(value.target, buffer, size, NULL);
    return 0;
}

/* What vol_link_get tells where the link was not found in this file. */
static herr_t get_elsewhere(const vol_object *object, const H5VL_loc_params_t *loc,
                            H5VL_link_get_args_t *args, hid_t dxpl) {
    H5VL_loc_params_t in_it;
    vol_object *holder = vol_open_holder(object, loc, dxpl, &in_it);
    if (!holder)
        return -1;
    herr_t result = vol_link_class.get(holder, &in_it, args, dxpl, NULL);
    vol_close_any(holder, dxpl);
    return result;
}

static herr_t vol_link_get(void *obj, const H5VL_loc_params_t *loc, H5VL_link_get_args_t *args,
                           hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLlink_get(object->under, loc, lib->native, args, dxpl, req);
    vol_file_tidy_all(object->file);
    vol_found found;
    if (!vol_locate_link(object, loc, &found))
        return get_elsewhere(object, loc, args, dxpl);
    if (!vol_found_link(object, &found))
        return -1;
    switch (args->op_type) {
    case H5VL_LINK_GET_INFO:
        if (!find_place(object, loc, &found))
            return -1;
        vol_link_tell(&found, args->args.get_info.linfo);
        return 0;
    case H5VL_LINK_GET_NAME: {
        H5VL_link_get_args_t *a = args;
        vol_copy_name(found.link->name, a->args.get_name.name, a->args.get_name.name_size,
                      a->args.get_name.name_len);
        return 0;
    }
    case H5VL_LINK_GET_VAL:
        return get_value(object, &found, args->args.get_val.buf, args->args.get_val.buf_size);
    }
    return vol_refuse(lib, "this question about a link");
}

/* ---- Others ---- */

/* A link that cannot be opened exists. Without a group on the way, and behind an external link that
   leads nowhere, there is an error, as in HDF5. Of the names without a link only "/" exists. */
static herr_t exists(const vol_object *object, const H5VL_loc_params_t *loc,
                     H5VL_link_specific_args_t *args, hid_t dxpl) {
    H5VL_loc_params_t in_it;
    vol_found found;
    if (vol_lookup(object, loc, false, &found, NULL)) {
        const bool is_there = found.link || found.node;
        *args->args.exists.exists = found.link || strcmp(loc->loc_data.loc_by_name.name, "/") == 0;
        if (!is_there)
            vol_absent_tell(object->node, loc->loc_data.loc_by_name.name);
        if (is_there || vol_has_holder(object, loc))
            return 0;
        return VOL_PUSH(object->lib, SYM, NOTFOUND, "no group holds '%s'",
                        loc->loc_data.loc_by_name.name);
    }
    vol_object *holder = vol_open_holder(object, loc, dxpl, &in_it);
    if (!holder)
        return -1;
    herr_t result = vol_link_class.specific(holder, &in_it, args, dxpl, NULL);
    vol_close_any(holder, dxpl);
    return result;
}

static herr_t vol_link_specific(void *obj, const H5VL_loc_params_t *loc,
                                H5VL_link_specific_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLlink_specific(object->under, loc, lib->native, args, dxpl, req);
    vol_file_tidy_all(object->file);
    switch (args->op_type) {
    case H5VL_LINK_DELETE:
        return delete_link(object, loc);
    case H5VL_LINK_EXISTS:
        return exists(object, loc, args, dxpl);
    case H5VL_LINK_ITER:
        return vol_links_iterate(object, loc, &args->args.iterate);
    }
    return vol_refuse(lib, "this operation on a link");
}

const H5VL_link_class_t vol_link_class = {
    .create = vol_link_create,
    .copy = vol_link_copy,
    .move = vol_link_move,
    .get = vol_link_get,
    .specific = vol_link_specific,
    .optional = vol_link_optional,
};
