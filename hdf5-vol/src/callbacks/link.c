/* SPDX-License-Identifier: MIT */
/*
 * Links: one hard link for each node, so links are made, moved and deleted with their nodes. An
 * entry that cannot be read leads to a dataset that tells why (model/unreadable.h), so that walks and
 * copies go on.
 */
#include "callbacks/classes.h"
#include "model/edit.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"

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

/* The only link that can be made is the first one of a dataset that was made without a name. */
static herr_t name_dataset(const vol_object *at, const H5VL_loc_params_t *loc, vol_node *dataset,
                           hid_t lcpl) {
    h5_lib *lib = at->lib;
    const H5VL_loc_params_t self = vol_self(loc->obj_type);
    const char *name = loc->loc_data.loc_by_name.name;
    vol_place place;
    zb_error err = {0};
    vol_node *base = vol_may_write(at, "create a link") ? vol_locate(at, &self) : NULL;
    if (!base)
        return -1;
    if (base->file != dataset->file) {
        VOL_PUSH(lib, SYM, UNSUPPORTED,
                 "a dataset without a name can only be linked in its own "
                 "file");
        return -1;
    }
    enum zb_code code = vol_place_find(base, name, vol_makes_groups(lib, lcpl), &place, &err);
    if (!code) {
        code = vol_edit_link(dataset, &place, &err);
        vol_place_clear(&place);
    }
    return code ? vol_push_making(lib, *lib->H5E_CANTCREATE_g, &err) : 0;
}

static herr_t create_zarr_link(const H5VL_link_create_args_t *args, const vol_object *at,
                               const H5VL_loc_params_t *loc, const vol_object *target, hid_t lcpl) {
    h5_lib *lib = one_of(at, target)->lib;
    if (args->op_type != H5VL_LINK_CREATE_HARD) {
        VOL_PUSH(lib, SYM, UNSUPPORTED,
                 "Zarr stores have no soft, external or user-defined links: copy the object, or "
                 "store its path as an attribute");
        return -1;
    }
    const H5VL_loc_params_t *target_loc = &args->args.hard.curr_loc_params;
    vol_node *node = target && !target->under ? vol_locate(target, target_loc) : NULL;
    if (node && node->loose && node->own_store && (!at || !at->under))
        return name_dataset(one_of(at, target), loc, node, lcpl);
    if (target && !target->under && !node)
        return -1;
    VOL_PUSH(
        lib, SYM, UNSUPPORTED,
        "an object of a Zarr store has one name only: copy it (H5Ocopy) instead of linking it");
    return -1;
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
    if (!both_native(source, target)) {
        VOL_PUSH(lib, SYM, UNSUPPORTED,
                 "an object of a Zarr store has one name only: copy it "
                 "(H5Ocopy) instead of its link");
        return -1;
    }
    return lib->H5VLlink_copy(under_of(source), source_loc, under_of(target), target_loc,
                              lib->native, lcpl, lapl, dxpl, req);
}

/* A location without a name of its own means the link that leads to its node. */
static vol_link *link_of(const vol_found *found) {
    return found->link ? found->link : vol_link_of(found->node);
}

static herr_t move_link(const vol_object *source, const H5VL_loc_params_t *source_loc,
                        const vol_object *target, const H5VL_loc_params_t *target_loc, hid_t lcpl) {
    h5_lib *lib = one_of(source, target)->lib;
    const vol_object *from = one_of(source, target), *to = one_of(target, source);
    const H5VL_loc_params_t self = vol_self(target_loc->obj_type);
    const char *name = target_loc->loc_data.loc_by_name.name;
    vol_place place;
    vol_found found;
    zb_error err = {0};
    if (from->under || to->under || from->file != to->file) {
        VOL_PUSH(lib, SYM, UNSUPPORTED, "objects can only be moved within one file");
        return -1;
    }
    if (!vol_may_write(to, "move an object") || !vol_locate_link(from, source_loc, &found))
        return -1;
    vol_node *base = vol_locate(to, &self);
    if (!base)
        return -1;
    enum zb_code code = vol_place_find(base, name, vol_makes_groups(lib, lcpl), &place, &err);
    if (!code) {
        code = vol_edit_move(link_of(&found), &place, &err);
        vol_place_clear(&place);
    }
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

/* The node goes with it, and all below the node. */
static herr_t delete_link(const vol_object *object, const H5VL_loc_params_t *loc) {
    zb_error err = {0};
    vol_found found;
    if (!vol_may_write(object, "delete an object") || !vol_locate_link(object, loc, &found))
        return -1;
    if (vol_edit_delete(link_of(&found), &err) == ZB_OK)
        return 0;
    VOL_PUSH_ZB(object->lib, SYM, CANTDELETE, &err);
    return -1;
}

/* ---- Reading links ---- */

/* The value of a soft link; NULL of a hard one, also of that to the root, which has no entry. */
static const char *value_of(const vol_found *found) {
    const vol_link *link = found->link;
    return link && link->kind == VOL_LINK_SOFT ? link->target : NULL;
}

/* Creation order is not known. */
static void fill_info(const vol_found *found, H5L_info2_t *info) {
    const char *value = value_of(found);
    memset(info, 0, sizeof *info);
    info->cset = H5T_CSET_UTF8;
    info->type = value ? H5L_TYPE_SOFT : H5L_TYPE_HARD;
    if (value)
        info->u.val_size = strlen(value) + 1;
    else
        vol_token_set(&info->u.token, found->node->token);
}

static herr_t get_value(const vol_object *object, const vol_found *found, void *buffer,
                        size_t size) {
    const char *value = value_of(found);
    if (!value)
        return vol_refuse(object->lib, "the value of a hard link");
    vol_copy_name(value, buffer, size, NULL);
    return 0;
}

static herr_t vol_link_get(void *obj, const H5VL_loc_params_t *loc, H5VL_link_get_args_t *args,
                           hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLlink_get(object->under, loc, lib->native, args, dxpl, req);
    vol_found found;
    if (!vol_locate_link(object, loc, &found))
        return -1;
    switch (args->op_type) {
    case H5VL_LINK_GET_INFO:
        fill_info(&found, args->args.get_info.linfo);
        return 0;
    case H5VL_LINK_GET_NAME: {
        H5VL_link_get_args_t *a = args;
        vol_copy_name(found.link ? found.link->name : found.node->name, a->args.get_name.name,
                      a->args.get_name.name_size, a->args.get_name.name_len);
        return 0;
    }
    case H5VL_LINK_GET_VAL:
        return get_value(object, &found, args->args.get_val.buf, args->args.get_val.buf_size);
    }
    return vol_refuse(lib, "this question about a link");
}

/* ---- Iteration ---- */

/* A walk over links. */
typedef struct link_walk {
    const H5VL_link_iterate_args_t *args;
    hid_t id;       /* of the start */
    uint64_t count; /* of links so far */
} link_walk;

static herr_t iterate(link_walk *walk, vol_node *group, const char *prefix, hsize_t *position);

/* Calls the operator for one link, and for those below it. The link's group is pinned. */
static herr_t iterate_one(link_walk *walk, const vol_link *link, const char *prefix) {
    const H5VL_link_iterate_args_t *args = walk->args;
    h5_lib *lib = link->group->file->lib;
    vol_node *node = link->node;
    H5L_info2_t info;
    zb_error err = {0};
    hsize_t start = 0;
    char *name = NULL;
    if (vol_walk_count(link->group->file, &walk->count, &err) != ZB_OK) {
        VOL_PUSH_ZB(lib, SYM, CANTGET, &err);
        return -1;
    }
    if (asprintf(&name, "%s%s", prefix, link->name) < 0)
        return -1;
    fill_info(&(vol_found){.node = node, .link = (vol_link *)(uintptr_t)link}, &info);
    herr_t result = args->op(walk->id, name, &info, args->op_data);
    free(name);
    if (result != 0 || !args->recursive || !node || node->kind != VOL_GROUP)
        return result;
    if (asprintf(&name, "%s%s/", prefix, node->name) < 0)
        return -1;
    result = iterate(walk, node, name, &start);
    free(name);
    return result;
}

/* Calls the operator for the links of `group` from *position on. Names are given relative to the
   start. The nodes of the group are forgotten afterwards. */
static herr_t iterate(link_walk *walk, vol_node *group, const char *prefix, hsize_t *position) {
    zb_error err = {0};
    herr_t result = 0;
    if (vol_node_list(group, &err) != ZB_OK) {
        VOL_PUSH_ZB(group->file->lib, SYM, CANTGET, &err);
        return -1;
    }
    vol_node_pin(group);
    for (; *position < group->link_count && result == 0; ++*position) {
        size_t i = (size_t)*position;
        result = iterate_one(
            walk, group->link[walk->args->order == H5_ITER_DEC ? group->link_count - 1 - i : i],
            prefix);
    }
    vol_node_unpin(group);
    vol_tree_forget(group, VOL_KEPT_NODES);
    return result;
}

static herr_t vol_link_iterate(const vol_object *object, const H5VL_loc_params_t *loc,
                               const H5VL_link_iterate_args_t *args) {
    hsize_t position = args->idx_p ? *args->idx_p : 0;
    vol_node *group = vol_locate(object, loc);
    if (!group)
        return -1;
    hid_t id = vol_node_register(object->handle, group);
    if (id < 0)
        return -1;
    link_walk walk = {.args = args, .id = id};
    herr_t result = iterate(&walk, group, "", &position);
    if (args->idx_p)
        *args->idx_p = position;
    vol_release_id(object->lib, id);
    return result;
}

/* A link that cannot be opened exists. */
static herr_t vol_link_specific(void *obj, const H5VL_loc_params_t *loc,
                                H5VL_link_specific_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLlink_specific(object->under, loc, lib->native, args, dxpl, req);
    switch (args->op_type) {
    case H5VL_LINK_DELETE:
        return delete_link(object, loc);
    case H5VL_LINK_EXISTS: {
        vol_found found;
        if (!vol_lookup(object, loc, &found))
            return -1;
        *args->args.exists.exists = found.link || found.node;
        return 0;
    }
    case H5VL_LINK_ITER:
        return vol_link_iterate(object, loc, &args->args.iterate);
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
