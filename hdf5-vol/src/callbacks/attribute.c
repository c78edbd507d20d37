/* SPDX-License-Identifier: MIT */
/* Attributes: the callbacks. The values are made in attributes/attributes.c, read by
   attributes/attributes.c and stored by attributes/write.c. */
#include "attributes/attributes.h"
#include "attributes/write.h"
#include "callbacks/classes.h"
#include "callbacks/walks.h"
#include "file/forget.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"
#include "objects/committed_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- Finding ---- */

/* The object that has the attributes: an index location names it, and counts in its attributes. */
static vol_node *locate_owner(const vol_object *object, const H5VL_loc_params_t *loc) {
    if (loc->type != H5VL_OBJECT_BY_IDX)
        return vol_locate(object, loc);
    if (!vol_list_check(object->lib, loc->loc_data.loc_by_idx.lapl_id,
                        *object->lib->H5P_CLS_LINK_ACCESS_ID_g))
        return NULL;
    const H5VL_loc_params_t self = vol_self(loc->obj_type);
    return vol_locate_name(object, &self, loc->loc_data.loc_by_idx.name,
                           loc->loc_data.loc_by_idx.lapl_id);
}

/* A missing attribute is H5E_NOTFOUND, which h5py makes a KeyError of. */
static const vol_attr *find_in(vol_node *owner, const H5VL_loc_params_t *loc, const char *name) {
    const H5VL_loc_by_idx_t *at = &loc->loc_data.loc_by_idx;
    vol_attrs *attrs = vol_node_attrs(owner);
    if (!attrs)
        return NULL;
    const vol_attr *attr = loc->type == H5VL_OBJECT_BY_IDX
                               ? vol_attrs_in_order(attrs, at->idx_type, at->order, at->n)
                               : vol_node_find_attr(owner, attrs, name);
    if (!attr)
        VOL_PUSH(owner->file->lib, ATTR, NOTFOUND, "can't locate attribute: '%s'",
                 name ? name : "(by index)");
    return attr;
}

/* The attribute that a question is about, and whose it is: an open one itself, or one of an object
   by name or index. */
static const vol_attr *locate_attr(const vol_object *object, const H5VL_loc_params_t *loc,
                                   const char *name, vol_node **owner) {
    *owner = object->node;
    if (loc->type == H5VL_OBJECT_BY_SELF && object->attr)
        return vol_attr_ids_get(object);
    *owner = locate_owner(object, loc);
    return *owner ? find_in(*owner, loc, name) : NULL;
}

/* ---- Creating, opening, closing ---- */

/* The attribute is there from now on, but goes into the document when it is written: JSON has no
   attribute without a value. HDF5 does not survive that closing fails, so a type without a form in
   JSON is refused here. */
static void *create_attr(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                         hid_t type, hid_t space, hid_t acpl) {
    h5_lib *lib = object->lib;
    H5T_cset_t cset = H5T_CSET_ASCII;
    vol_node *owner =
        vol_may_write(object, "create an attribute") ? locate_owner(object, loc) : NULL;
    vol_attrs *attrs = owner ? vol_node_attrs(owner) : NULL;
    if (!attrs)
        return NULL;
    const vol_attr *there = vol_attrs_find(attrs, name);
    if (there && !there->derived) {
        VOL_PUSH(lib, ATTR, EXISTS, "attribute '%s' exists already", name);
        return NULL;
    }
    if ((acpl > 0 && acpl != *lib->H5P_LST_ATTRIBUTE_CREATE_ID_g &&
         lib->H5Pget_char_encoding(acpl, &cset) < 0) ||
        vol_attr_check(owner, name, type, space) < 0 ||
        vol_attr_create_unwritten(owner, name, cset, type, space) < 0)
        return NULL;
    return vol_attr_ids_open(object->handle, owner, name,
                             (size_t)lib->H5Sget_select_npoints(space));
}

static void *vol_attr_create(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t type,
                             hid_t space, hid_t acpl, hid_t aapl, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under) {
        hid_t copy = vol_committed_copy(lib, type);
        void *under = lib->H5VLattr_create(object->under, loc, lib->native, name,
                                           copy < 0 ? type : copy, space, acpl, aapl, dxpl, req);
        vol_release_id(lib, copy);
        return vol_object_pass(lib, H5I_ATTR, under);
    }
    if (!vol_list_check(lib, acpl, *lib->H5P_CLS_ATTRIBUTE_CREATE_ID_g) ||
        !vol_list_check(lib, aapl, *lib->H5P_CLS_ATTRIBUTE_ACCESS_ID_g))
        return NULL;
    if (loc->type != H5VL_OBJECT_BY_SELF)
        vol_file_tidy_all(object->file);
    return create_attr(object, loc, name, type, space, acpl);
}

static void *vol_attr_open(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t aapl,
                           hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_pass(
            lib, H5I_ATTR,
            lib->H5VLattr_open(object->under, loc, lib->native, name, aapl, dxpl, req));
    if (!vol_list_check(lib, aapl, *lib->H5P_CLS_ATTRIBUTE_ACCESS_ID_g))
        return NULL;
    if (loc->type != H5VL_OBJECT_BY_SELF)
        vol_file_tidy_all(object->file);
    vol_node *owner = locate_owner(object, loc);
    const vol_attr *attr = owner ? find_in(owner, loc, name) : NULL;
    return attr ? vol_attr_ids_open(object->handle, owner, attr->name, attr->count) : NULL;
}

/* An attribute is written when its last id is closed. When that fails it goes on waiting, for the
   flush or the close of the file, which reports the error: HDF5 does not survive that closing an
   attribute fails. */
static void finish_attr(const vol_object *object) {
    if (!object->attr_deleted && !vol_attr_ids_others(object))
        vol_attr_store_unwritten(object->node, object->attr);
}

static herr_t vol_attr_close(void *obj, hid_t dxpl, void **req) {
    vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_closed(object,
                                 lib->H5VLattr_close(object->under, lib->native, dxpl, req));
    finish_attr(object);
    vol_object_free(object);
    return 0;
}

/* ---- Reading and writing ---- */

static herr_t read_attr(void *obj, hid_t mem_type, void *buffer, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLattr_read(object->under, lib->native, mem_type, buffer, dxpl, req);
    return vol_attr_read(object, mem_type, buffer, dxpl);
}

/* The type in which an attribute goes on showing when it is written as mem_type: its own. Only text
   takes fixed strings, too, which HDF5 would not convert: attributes that were fixed strings come
   back as text when the file is opened again. */
static hid_t shown_type(h5_lib *lib, const vol_attr *attr, hid_t mem_type) {
    return attr->kind == VOL_ATTR_FIXED ? lib->H5Tcopy(mem_type) : vol_attr_shown_type(lib, attr);
}

static herr_t write_attr(const vol_object *object, hid_t mem_type, const void *buffer, hid_t dxpl) {
    h5_lib *lib = object->lib;
    const vol_attr *attr =
        vol_may_write(object, "write an attribute") ? vol_attr_ids_get(object) : NULL;
    if (!attr)
        return -1;
    hid_t space = vol_attr_space(lib, attr), type = shown_type(lib, attr, mem_type);
    char *committed =
        attr->committed ? strdup(attr->committed) : NULL; /* attr goes when it is stored */
    const vol_attr_value value = {.name = object->attr,
                                  .type = mem_type,
                                  .space = space,
                                  .dxpl = dxpl,
                                  .data = buffer,
                                  .committed = committed,
                                  .is_utf8 = attr->is_utf8};
    herr_t result = space < 0 || type < 0 ? -1 : vol_attr_store(object->node, &value, type);
    free(committed);
    vol_release_id(lib, space);
    vol_release_id(lib, type);
    return result;
}

static herr_t vol_attr_write(void *obj, hid_t mem_type, const void *buffer, hid_t dxpl,
                             void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLattr_write(object->under, lib->native, mem_type, buffer, dxpl, req);
    return write_attr(obj, mem_type, buffer, dxpl);
}

/* ---- Information ---- */

static hid_t get_type(const vol_object *object, const vol_attr *attr) {
    hid_t type = vol_attr_shown_type(object->lib, attr);
    if (type < 0 || !attr->committed)
        return type;
    hid_t committed = vol_committed_type(object->handle, attr->committed, type);
    vol_release_id(object->lib, type);
    return committed;
}

/* An id of a deleted attribute knows the letters of its name. */
static hid_t get_list(const vol_object *object) {
    const vol_attrs *attrs = object->attr_deleted ? NULL : vol_node_attrs(object->node);
    const vol_attr *attr = attrs ? vol_attrs_find(attrs, object->attr) : NULL;
    return vol_attr_list(object->lib, attr ? vol_attr_cset(attr) : vol_charset_of(object->attr));
}

static herr_t get_info(const vol_object *object, const H5VL_attr_get_info_args_t *args) {
    vol_node *owner;
    const vol_attr *attr = locate_attr(object, &args->loc_params, args->attr_name, &owner);
    if (attr)
        vol_attr_tell(owner, attr, args->ainfo);
    return attr ? 0 : -1;
}

static herr_t get_name(const vol_object *object, const H5VL_attr_get_name_args_t *args) {
    vol_node *owner;
    const vol_attr *attr = locate_attr(object, &args->loc_params, NULL, &owner);
    if (attr)
        vol_copy_name(attr->name, args->buf, args->buf_size, args->attr_name_len);
    return attr ? 0 : -1;
}

/* For GET_INFO and GET_NAME the object is the attribute or its owner, depending on the location. */
static herr_t vol_attr_get(void *obj, H5VL_attr_get_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLattr_get(object->under, lib->native, args, dxpl, req);
    const vol_attr *open = NULL;
    if (object->attr && args->op_type != H5VL_ATTR_GET_ACPL && !(open = vol_attr_ids_get(object)))
        return -1;
    switch (args->op_type) {
    case H5VL_ATTR_GET_ACPL:
        args->args.get_acpl.acpl_id = get_list(object);
        return args->args.get_acpl.acpl_id < 0 ? -1 : 0;
    case H5VL_ATTR_GET_INFO:
        return get_info(object, &args->args.get_info);
    case H5VL_ATTR_GET_NAME:
        return get_name(object, &args->args.get_name);
    case H5VL_ATTR_GET_SPACE:
        args->args.get_space.space_id = vol_attr_space(lib, open);
        return args->args.get_space.space_id < 0 ? -1 : 0;
    case H5VL_ATTR_GET_STORAGE_SIZE:
        *args->args.get_storage_size.data_size = vol_attr_size(lib, open);
        return 0;
    case H5VL_ATTR_GET_TYPE:
        args->args.get_type.type_id = get_type(object, open);
        return args->args.get_type.type_id < 0 ? -1 : 0;
    }
    return vol_refuse(lib, "this question about an attribute");
}

/* ---- Existence and changes ---- */

/* Deletes the attribute of that name, or (name NULL) the one at an index. */
static herr_t delete_attr(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                          const H5VL_attr_delete_by_idx_args_t *at) {
    vol_node *owner = vol_may_write(object, "delete an attribute") ? vol_locate(object, loc) : NULL;
    vol_attrs *attrs = owner ? vol_node_attrs(owner) : NULL;
    if (!attrs)
        return -1;
    const vol_attr *attr = name ? vol_node_find_attr(owner, attrs, name)
                                : vol_attrs_in_order(attrs, at->idx_type, at->order, at->n);
    if (!attr)
        return VOL_PUSH(object->lib, ATTR, NOTFOUND, "can't locate attribute: '%s'",
                        name ? name : "(by index)");
    char *copy = strdup(attr->name); /* attr goes with the first change */
    herr_t result = copy ? vol_attr_remove(owner, copy) : -1;
    free(copy);
    return result;
}

static herr_t rename_attr(const vol_object *object, const H5VL_loc_params_t *loc,
                          const H5VL_attr_specific_args_t *args) {
    vol_node *owner = vol_may_write(object, "rename an attribute") ? vol_locate(object, loc) : NULL;
    return owner ? vol_attr_rename(owner, args->args.rename.old_name, args->args.rename.new_name)
                 : -1;
}

static herr_t vol_attr_specific(void *obj, const H5VL_loc_params_t *loc,
                                H5VL_attr_specific_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLattr_specific(object->under, loc, lib->native, args, dxpl, req);
    switch (args->op_type) {
    case H5VL_ATTR_DELETE:
        return delete_attr(object, loc, args->args.del.name, NULL);
    case H5VL_ATTR_DELETE_BY_IDX:
        return delete_attr(object, loc, NULL, &args->args.delete_by_idx);
    case H5VL_ATTR_RENAME:
        return rename_attr(object, loc, args);
    case H5VL_ATTR_EXISTS: {
        vol_node *owner = vol_locate(object, loc);
        vol_attrs *attrs = owner ? vol_node_attrs(owner) : NULL;
        if (!attrs)
            return -1;
        *args->args.exists.exists =
            vol_node_find_attr(owner, attrs, args->args.exists.name) != NULL;
        return 0;
    }
    case H5VL_ATTR_ITER:
        return vol_attrs_iterate(object, loc, &args->args.iterate);
    }
    return vol_refuse(lib, "this operation on an attribute");
}

const H5VL_attr_class_t vol_attr_class = {
    .create = vol_attr_create,
    .open = vol_attr_open,
    .read = read_attr,
    .write = vol_attr_write,
    .get = vol_attr_get,
    .specific = vol_attr_specific,
    .optional = vol_attr_optional,
    .close = vol_attr_close,
};
