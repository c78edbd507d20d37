/* SPDX-License-Identifier: MIT */
/* Objects of any kind: opening by name, index or token, information, and walks over whole
   hierarchies. */
#include "attributes/attributes.h"
#include "attributes/write.h"
#include "callbacks/classes.h"
#include "callbacks/elsewhere.h"
#include "callbacks/unasked.h"
#include "copy/walk.h"
#include "create/creation_list.h"
#include "file/forget.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"
#include "links/aliases.h"
#include "links/edit_links.h"
#include "links/link_store.h"
#include "links/links.h"
#include "objects/changed.h"
#include "objects/reference_count.h"
#include "objects/type_users.h"
#include "tree/edit.h"
#include "tree/map.h"
#include "waiting/waiting_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Flushing and refreshing ---- */

/* The waiting data of a node and all below it. */
static herr_t flush_node(vol_node *node) {
    zb_error err = {0};
    return vol_links_store_below(node, &err) == ZB_OK && vol_writer_flush_below(node, &err) == ZB_OK
               ? 0
               : VOL_PUSH_ZB(node->file->lib, SYM, CANTFLUSH, &err);
}

herr_t vol_flush_object(const vol_object *object, vol_node *node, hid_t id) {
    const vol_manners *manners = &object->handle->manners;
    if (flush_node(node) < 0)
        return -1;
    return manners->flushed ? manners->flushed(id, manners->flushed_context) : 0;
}

herr_t vol_refresh_node(vol_node *node) {
    zb_error err = {0};
    return vol_edit_refresh(node, &err) == ZB_OK
               ? 0
               : VOL_PUSH_ZB(node->file->lib, SYM, READERROR, &err);
}

static void *vol_object_open(void *obj, const H5VL_loc_params_t *loc, H5I_type_t *type, hid_t dxpl,
                             void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under) {
        void *under = lib->H5VLobject_open(object->under, loc, lib->native, type, dxpl, req);
        vol_warn_of_link(object, loc, NULL, dxpl, under);
        if (under && *type == H5I_DATASET)
            vol_warn_of_sources(lib, dxpl, under);
        return under ? vol_object_pass(lib, *type, under) : NULL;
    }
    vol_file_tidy_all(object->file);
    vol_object *opened = vol_open_any(object, loc, NULL, 0, dxpl);
    if (opened)
        *type = opened->type;
    return opened;
}

/* Removes what a copy that has failed had begun to make. The error that has been pushed stays,
   below one that says what could not be removed. Groups that were made on the way stay: another
   program may have made something in them. */
static void remove_begun(h5_lib *lib, vol_node *begun) {
    zb_error err = {0};
    hid_t saved = vol_stack_save(lib);
    const enum zb_code code = vol_edit_discard(begun, &err);
    vol_stack_restore(lib, saved);
    if (code)
        VOL_PUSH_ZB(lib, SYM, CANTCOPY, &err);
}

/* HDF5 reads the source, and may come back. */
static herr_t import_object(hid_t source, const vol_place *place, const vol_copy_request *request,
                            vol_node **begun) {
    vol_file_hold(request->to->file);
    const herr_t result = vol_import_object(source, place, request, begun);
    vol_file_let_go(request->to->file);
    return result;
}

/* Of an object that has been found in a store (`node`) or in an HDF5 file (`native`). */
static herr_t copy_found(vol_node *node, hid_t native, vol_node *base,
                         const vol_copy_request *request) {
    h5_lib *lib = request->to->lib;
    vol_place place;
    zb_error err = {0};
    vol_node *begun = NULL;
    herr_t result = -1;
    const vol_missing missing = vol_missing_groups(lib, request->lcpl, request->name, NULL);
    if (vol_place_find(base, request->name, missing, &place, &err) == ZB_OK) {
        result = node ? vol_copy_in_stores(node, &place, request, &begun)
                      : import_object(native, &place, request, &begun);
        vol_place_clear(&place);
    } else {
        vol_push_making(lib, *lib->H5E_CANTCOPY_g, &err);
    }
    if (result < 0 && begun)
        remove_begun(lib, begun);
    return result;
}

/* The source is found before groups are made on the way to the target. */
static herr_t copy_to_zarr(const vol_object *from, const H5VL_loc_params_t *loc, const char *name,
                           const vol_copy_request *request) {
    const vol_object *to = request->to;
    vol_node *node = NULL;
    hid_t native = -1;
    vol_node *base = vol_may_change(to, "copy an object") ? vol_locate(to, request->loc) : NULL;
    if (!base)
        return -1;
    if (from->under)
        native = vol_import_open(from, loc, name, request->dxpl);
    else
        node = vol_locate_name(from, loc, name, 0);
    if (node && to->file->options.shards.cut == VOL_CUT_FILE) {
        VOL_PUSH(to->lib, SYM, UNSUPPORTED, "'%s' is in a store, not in an HDF5 file", name);
        return -1;
    }
    if (native < 0 && !node)
        return -1;
    herr_t result = copy_found(node, native, base, request);
    if (native >= 0)
        vol_release_id(to->lib, native);
    return result;
}

/* References in stores are paths, which are copied as they are, or become null. */
static bool check_copy_list(h5_lib *lib, hid_t ocpypl) {
    unsigned flags = 0;
    if (lib->H5Pget_copy_object(ocpypl, &flags) < 0)
        return false;
    if (!(flags & H5O_COPY_EXPAND_REFERENCE_FLAG))
        return true;
    vol_refuse(lib, "copying from store to store what references lead to "
                    "(H5O_COPY_EXPAND_REFERENCE_FLAG)");
    return false;
}

/* Opens a source whose name leads to another store; *out is NULL where it leads to none. What HDF5
   registers of an object of its own would be wrapped in the context of this one. */
static bool open_elsewhere(const vol_object *from, const H5VL_loc_params_t *loc, const char *name,
                           hid_t dxpl, vol_object **out) {
    h5_lib *lib = from->lib;
    const H5VL_loc_params_t by_name = vol_loc_by_name(lib, loc->obj_type, name);
    if (from->under || loc->type != H5VL_OBJECT_BY_SELF || !vol_leaves(from, &by_name))
        return true;
    *out = vol_open_any(from, &by_name, NULL, 0, dxpl);
    if (!*out || !(*out)->under)
        return *out != NULL;
    vol_close_any(*out, dxpl);
    VOL_PUSH(lib, SYM, UNSUPPORTED, "'%s' is in an HDF5 file: to copy it, open the object first",
             name);
    return false;
}

static herr_t vol_object_copy(void *source, const H5VL_loc_params_t *source_loc,
                              const char *source_name, void *target,
                              const H5VL_loc_params_t *target_loc, const char *target_name,
                              hid_t ocpypl, hid_t lcpl, hid_t dxpl, void **req) {
    const vol_object *from = source, *to = target;
    h5_lib *lib = from->lib;
    vol_object *elsewhere = NULL;
    if (!open_elsewhere(from, source_loc, source_name, dxpl, &elsewhere))
        return -1;
    if (elsewhere) {
        const H5VL_loc_params_t self = vol_self(elsewhere->type);
        herr_t result = vol_object_copy(elsewhere, &self, ".", target, target_loc, target_name,
                                        ocpypl, lcpl, dxpl, req);
        vol_close_any(elsewhere, dxpl);
        return result;
    }
    if (from->under && to->under)
        return lib->H5VLobject_copy(from->under, source_loc, source_name, to->under, target_loc,
                                    target_name, lib->native, ocpypl, lcpl, dxpl, req);
    if (!vol_list_check(lib, ocpypl, *lib->H5P_CLS_OBJECT_COPY_ID_g) ||
        !vol_list_check(lib, lcpl, *lib->H5P_CLS_LINK_CREATE_ID_g) ||
        (!from->under && !to->under && !check_copy_list(lib, ocpypl)))
        return -1;
    const vol_copy_request request = {.to = to,
                                      .loc = target_loc,
                                      .name = target_name,
                                      .ocpypl = ocpypl,
                                      .lcpl = lcpl,
                                      .dxpl = dxpl};
    if (!to->under)
        return copy_to_zarr(from, source_loc, source_name, &request);
    vol_node *node = vol_locate_name(from, source_loc, source_name, 0);
    return node ? vol_export_node(node, &request) : -1;
}

/* ---- Information ---- */

static H5O_type_t object_type(const vol_node *node) {
    return node->kind == VOL_DATASET    ? H5O_TYPE_DATASET
           : node->kind == VOL_DATATYPE ? H5O_TYPE_NAMED_DATATYPE
                                        : H5O_TYPE_GROUP;
}

/* Of the times one is known, as in HDF5's older object headers. It costs a look at the store, and
   the number of attributes one at the scales of the dimensions: both are only found when asked
   for. */
static herr_t fill_info(vol_node *node, unsigned fields, H5O_info2_t *info) {
    memset(info, 0, sizeof *info);
    info->fileno = (unsigned long)node->file->number;
    vol_token_set(&info->token, node->token);
    info->type = object_type(node);
    if (fields & H5O_INFO_BASIC)
        info->rc = vol_reference_count(node) + vol_type_users(node);
    if ((fields & H5O_INFO_TIME) && vol_list_member_tracks_times(node))
        info->ctime = vol_node_changed(node);
    if (fields & H5O_INFO_NUM_ATTRS) {
        vol_attrs *attrs = vol_node_attrs(node);
        if (!attrs)
            return -1;
        info->num_attrs = vol_attrs_listed(attrs);
    }
    return 0;
}

static herr_t get_of_node(h5_lib *lib, vol_node *node, H5VL_object_get_args_t *args) {
    switch (args->op_type) {
    case H5VL_OBJECT_GET_NAME:
        vol_copy_name(node->loose ? "" : node->path, args->args.get_name.buf,
                      args->args.get_name.buf_size, args->args.get_name.name_len);
        return 0;
    case H5VL_OBJECT_GET_TYPE:
        *args->args.get_type.obj_type = object_type(node);
        return 0;
    case H5VL_OBJECT_GET_INFO:
        return fill_info(node, args->args.get_info.fields, args->args.get_info.oinfo);
    default:
        return vol_refuse(lib, "this question about an object");
    }
}

static herr_t vol_object_get(void *obj, const H5VL_loc_params_t *loc, H5VL_object_get_args_t *args,
                             hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        /* GET_FILE returns the native file as it is: the library wraps it itself. */
        return lib->H5VLobject_get(object->under, loc, lib->native, args, dxpl, req);
    if (loc->type != H5VL_OBJECT_BY_SELF)
        vol_file_tidy_all(object->file);
    if (args->op_type == H5VL_OBJECT_GET_FILE) {
        /* Each call makes an object of its own, for which the library makes an id. */
        void *file = vol_object_new(object->handle, object->file->root, H5I_FILE);
        *args->args.get_file.file = file;
        return file ? 0 : -1;
    }
    vol_object *elsewhere = vol_open_elsewhere(object, loc, dxpl);
    if (elsewhere) {
        const H5VL_loc_params_t self = vol_self(elsewhere->type);
        herr_t result = vol_object_get(elsewhere, &self, args, dxpl, req);
        vol_close_any(elsewhere, dxpl);
        return result;
    }
    vol_node *node = vol_locate(object, loc);
    return node ? get_of_node(lib, node, args) : -1;
}

/* ---- Walks ---- */

typedef struct object_walk {
    const H5VL_object_visit_args_t *args;
    hid_t id;       /* of the start */
    uint64_t count; /* of objects so far */
    vol_map seen;   /* objects with several names that were visited */
} object_walk;

/* Whether an object is met for the first time: each is visited once. */
static bool is_new(vol_map *seen, vol_node *node) {
    if (vol_alias_count(node) == 0)
        return true;
    if (vol_map_get(seen, node->token))
        return false;
    return vol_map_set(seen, node->token, node);
}

static herr_t visit(object_walk *walk, vol_node *node, const char *name);

/* Links that cannot be opened lead to no object: a walk over links shows them. */
static herr_t visit_children(object_walk *walk, vol_node *node, const char *name) {
    const H5VL_object_visit_args_t *args = walk->args;
    bool at_start = strcmp(name, ".") == 0;
    herr_t result = 0;
    for (size_t i = 0; i < vol_links_count(node) && result == 0; i++) {
        vol_link *link = vol_links_in_order(node, args->idx_type == H5_INDEX_CRT_ORDER,
                                            args->order == H5_ITER_DEC, i);
        vol_node *child;
        zb_error err = {0};
        char *child_name = NULL;
        enum zb_code code = vol_link_node(link, &child, &err);
        if (code && code != ZB_ENOTFOUND)
            return VOL_PUSH_ZB(node->file->lib, SYM, CANTGET, &err);
        if (code || !child)
            continue;
        if (asprintf(&child_name, "%s%s%s", at_start ? "" : name, at_start ? "" : "/", link->name) <
            0)
            return -1;
        result = visit(walk, child, child_name);
        free(child_name);
        if (node->file->writable) /* the operator may have deleted the link */
            vol_file_tidy_all(node->file);
        else
            vol_link_forget(link);
    }
    return result;
}

/* Visits node and what is below it, which is forgotten afterwards; `name` is relative to the start,
   "." for the start itself. */
static herr_t visit(object_walk *walk, vol_node *node, const char *name) {
    h5_lib *lib = node->file->lib;
    H5O_info2_t info;
    zb_error err = {0};
    if (!is_new(&walk->seen, node))
        return 0;
    if (vol_walk_count(node->file, &walk->count, &err) != ZB_OK)
        return VOL_PUSH_ZB(lib, SYM, CANTGET, &err);
    if (fill_info(node, walk->args->fields, &info) < 0)
        return -1;
    vol_node_pin(node);
    herr_t result = walk->args->op(walk->id, name, &info, walk->args->op_data);
    if (result == 0 && node->kind == VOL_GROUP) {
        if (vol_node_list(node, &err) == ZB_OK) {
            result = visit_children(walk, node, name);
        } else {
            VOL_PUSH_ZB(lib, SYM, CANTGET, &err);
            result = -1;
        }
    }
    vol_node_unpin(node);
    vol_tree_forget(node);
    return result;
}

static herr_t visit_from(const vol_object *object, const H5VL_loc_params_t *loc,
                         const H5VL_object_visit_args_t *args) {
    vol_node *start = vol_locate(object, loc);
    object_walk walk = {.args = args};
    walk.id = start ? vol_node_register(object->handle, start) : -1;
    if (walk.id < 0)
        return -1;
    herr_t result = visit(&walk, start, ".");
    vol_map_clear(&walk.seen);
    vol_release_id(object->lib, walk.id);
    return result;
}

/* A soft link leads to an object or to none; without a group on its way there is an error, as in
   HDF5. Behind an external link there is an object or none, whatever keeps it from being opened. */
static herr_t leads_somewhere(const vol_object *object, const H5VL_loc_params_t *loc, hid_t dxpl,
                              hbool_t *out) {
    h5_lib *lib = object->lib;
    vol_found found;
    bool is_cut;
    if (vol_lookup(object, loc, true, &found, &is_cut)) {
        *out = found.node != NULL;
        if (!is_cut)
            return 0;
        return VOL_PUSH(lib, SYM, NOTFOUND, "a group is missing on the way to which '%s' leads",
                        loc->loc_data.loc_by_name.name);
    }
    if (loc->type != H5VL_OBJECT_BY_NAME || !vol_leaves(object, loc))
        return -1;
    vol_object *elsewhere = vol_open_any(object, loc, NULL, 0, dxpl);
    *out = elsewhere != NULL;
    if (elsewhere)
        vol_close_any(elsewhere, dxpl);
    vol_release_id(lib, lib->H5Eget_current_stack()); /* which empties it */
    return 0;
}

/* From 1.14.6 on the library answers "no" where the last link of a name is missing. Before, that
   was an error, as a missing group on the way still is. */
static bool tells_missing(const h5_lib *lib) {
    return h5_lib_is_since(lib, 1, 14, 6);
}

/* The question is about a link, which may be in another file: one that is not there is what it is
   in HDF5's own files. */
static herr_t exists(vol_object *object, const H5VL_loc_params_t *loc, hid_t dxpl, hbool_t *out) {
    hbool_t is_there = false;
    H5VL_link_specific_args_t link = {.op_type = H5VL_LINK_EXISTS, .args.exists.exists = &is_there};
    if (vol_link_class.specific(object, loc, &link, dxpl, NULL) < 0)
        return -1;
    if (is_there || vol_path_is_itself(loc->loc_data.loc_by_name.name))
        return leads_somewhere(object, loc, dxpl, out);
    *out = false;
    if (tells_missing(object->lib))
        return 0;
    return VOL_PUSH(object->lib, SYM, NOTFOUND, "object '%s' doesn't exist",
                    loc->loc_data.loc_by_name.name);
}

static herr_t change_references(vol_node *node, int delta) {
    zb_error err = {0};
    return vol_reference_change(node, delta, &err) == ZB_OK
               ? 0
               : VOL_PUSH_ZB(node->file->lib, SYM, WRITEERROR, &err);
}

static herr_t vol_object_specific(void *obj, const H5VL_loc_params_t *loc,
                                  H5VL_object_specific_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLobject_specific(object->under, loc, lib->native, args, dxpl, req);
    if (loc->type != H5VL_OBJECT_BY_SELF)
        vol_file_tidy_all(object->file);
    vol_node *node;
    switch (args->op_type) {
    case H5VL_OBJECT_CHANGE_REF_COUNT:
        node = vol_may_write(object, "change a reference count") ? vol_locate(object, loc) : NULL;
        return node ? change_references(node, args->args.change_rc.delta) : -1;
    case H5VL_OBJECT_EXISTS:
        return exists(obj, loc, dxpl, args->args.exists.exists);
    case H5VL_OBJECT_LOOKUP:
        node = vol_locate(object, loc);
        if (node)
            vol_token_set(args->args.lookup.token_ptr, node->token);
        return node ? 0 : -1;
    case H5VL_OBJECT_VISIT:
        return visit_from(object, loc, &args->args.visit);
    case H5VL_OBJECT_FLUSH:
        node = vol_locate(object, loc);
        return node ? vol_flush_object(object, node, args->args.flush.obj_id) : -1;
    case H5VL_OBJECT_REFRESH:
        node = vol_locate(object, loc);
        return node ? vol_refresh_node(node) : -1;
    }
    return vol_refuse(lib, "this operation on an object");
}

const H5VL_object_class_t vol_object_class = {
    .open = vol_object_open,
    .copy = vol_object_copy,
    .get = vol_object_get,
    .specific = vol_object_specific,
    .optional = vol_object_optional,
};
