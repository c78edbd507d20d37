/* SPDX-License-Identifier: MIT */
/* Attributes: the callbacks. What they hold is made in h5_attrs.c, and stored by h5_attr_write.c.
 */
#include "vol_class.h"
#include "h5_attr_write.h"
#include "h5_attrs.h"
#include "h5_error.h"
#include "h5_refs.h"
#include "h5_type.h"

#include <stdlib.h>
#include <string.h>

/* ---- Finding ---- */

/* Number n of the attributes in the order that an index stands for: the document's for the order
   of creation, strcmp's for names (h5diff and h5dump pair attributes by it). */
static const vol_attr *attr_at(const vol_attrs *attrs, H5_index_t index, H5_iter_order_t order,
                               hsize_t n) {
    if (n >= attrs->listed)
        return NULL;
    size_t i = order == H5_ITER_DEC ? attrs->listed - 1 - (size_t)n : (size_t)n;
    return index == H5_INDEX_CRT_ORDER ? attrs->in_order[i] : attrs->by_name[i];
}

/* The object that has the attributes: an index location names it, and counts in its attributes. */
static vol_node *locate_owner(const vol_object *object, const H5VL_loc_params_t *loc) {
    if (loc->type != H5VL_OBJECT_BY_IDX)
        return vol_locate(object, loc);
    const H5VL_loc_params_t self = {.obj_type = loc->obj_type, .type = H5VL_OBJECT_BY_SELF};
    return vol_locate_name(object, &self, loc->loc_data.loc_by_idx.name);
}

/* A missing attribute is H5E_NOTFOUND, which h5py makes a KeyError of. */
static const vol_attr *find_in(vol_node *owner, const H5VL_loc_params_t *loc, const char *name) {
    const H5VL_loc_by_idx_t *at = &loc->loc_data.loc_by_idx;
    const vol_attrs *attrs = vol_node_attrs(owner);
    if (!attrs)
        return NULL;
    const vol_attr *attr = loc->type == H5VL_OBJECT_BY_IDX
                               ? attr_at(attrs, at->idx_type, at->order, at->n)
                               : vol_attrs_find(attrs, name);
    if (!attr)
        VOL_PUSH(owner->file->lib, ATTR, NOTFOUND, "can't locate attribute: '%s'",
                 name ? name : "(by index)");
    return attr;
}

/* What an open attribute holds now: it may have been rewritten or deleted since it was opened. */
static const vol_attr *open_attr(const vol_object *object) {
    const vol_attrs *attrs = vol_node_attrs(object->node);
    const vol_attr *attr = attrs ? vol_attrs_find(attrs, object->attr) : NULL;
    if (attrs && !attr)
        VOL_PUSH(object->lib, ATTR, NOTFOUND, "attribute '%s' %s", object->attr,
                 object->pending ? "has not been written yet" : "has been deleted");
    return attr;
}

/* The attribute that a question is about: an open one itself, or one of an object by name or
   index. */
static const vol_attr *locate_attr(const vol_object *object, const H5VL_loc_params_t *loc,
                                   const char *name) {
    if (loc->type == H5VL_OBJECT_BY_SELF && object->attr)
        return open_attr(object);
    vol_node *owner = locate_owner(object, loc);
    return owner ? find_in(owner, loc, name) : NULL;
}

/* ---- Creating, opening, closing ---- */

/* JSON has no attribute without a value: it is stored when it is written, or at the latest when it
   is closed. HDF5 does not survive that closing fails, so what has no form is refused here. */
static void *create_attr(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                         hid_t type, hid_t space) {
    h5_lib *lib = object->lib;
    vol_node *owner =
        vol_may_write(object, "create an attribute") ? locate_owner(object, loc) : NULL;
    const vol_attrs *attrs = owner ? vol_node_attrs(owner) : NULL;
    if (!attrs)
        return NULL;
    const vol_attr *there = vol_attrs_find(attrs, name);
    if ((there && !vol_attr_is_derived(owner, there)) || vol_pending_find(owner, name)) {
        VOL_PUSH(lib, ATTR, EXISTS, "attribute '%s' exists already", name);
        return NULL;
    }
    if (vol_attr_check(owner, name, type, space) < 0)
        return NULL;
    vol_object *attr = vol_object_of_attr(object->handle, owner, name);
    if (!attr)
        return NULL;
    if (!vol_pending_new(attr, type, space)) {
        VOL_PUSH(lib, ATTR, CANTCREATE, "no memory for attribute '%s'", name);
        vol_object_free(attr);
        return NULL;
    }
    return attr;
}

/* Zeros, as HDF5 would show them. */
static herr_t store_unwritten(const vol_object *object) {
    const vol_pending *pending = object->pending;
    void *zeros;
    if (vol_attr_zeros(object->lib, pending->type, pending->space, &zeros) < 0)
        return -1;
    const vol_attr_value value = {.name = object->attr,
                                  .type = pending->type,
                                  .space = pending->space,
                                  .dxpl = *object->lib->H5P_LST_DATASET_XFER_ID_g,
                                  .data = zeros};
    herr_t result = vol_attr_store(object, &value);
    free(zeros);
    return result;
}

static void *vol_attr_create(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t type,
                             hid_t space, hid_t acpl, hid_t aapl, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_pass(lib, H5I_ATTR,
                               lib->H5VLattr_create(object->under, loc, lib->native, name, type,
                                                    space, acpl, aapl, dxpl, req));
    return create_attr(object, loc, name, type, space);
}

static void *vol_attr_open(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t aapl,
                           hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_pass(
            lib, H5I_ATTR,
            lib->H5VLattr_open(object->under, loc, lib->native, name, aapl, dxpl, req));
    vol_node *owner = locate_owner(object, loc);
    const vol_attr *attr = owner ? find_in(owner, loc, name) : NULL;
    return attr ? vol_object_of_attr(object->handle, owner, attr->name) : NULL;
}

/* Programs delete an attribute that they could not write (h5py does), and look at that result. */
static void forget_failed(vol_object *object) {
    free(object->node->failed_attr);
    object->node->failed_attr = object->attr;
    object->attr = NULL;
}

/* Deletes one that never came to be. */
static bool delete_unwritten(vol_node *owner, const char *name) {
    vol_pending *pending = vol_pending_find(owner, name);
    if (pending)
        pending->failed = true; /* it is not going to be stored any more */
    if (pending || !owner->failed_attr || strcmp(owner->failed_attr, name) != 0)
        return pending != NULL;
    free(owner->failed_attr);
    owner->failed_attr = NULL;
    return true;
}

static herr_t vol_attr_close(void *obj, hid_t dxpl, void **req) {
    vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_closed(object,
                                 lib->H5VLattr_close(object->under, lib->native, dxpl, req));
    if (object->pending && (object->pending->failed || store_unwritten(object) < 0))
        forget_failed(object);
    vol_object_free(object);
    return 0;
}

/* ---- Reading ---- */

static herr_t push_no_conversion(const vol_object *object) {
    VOL_PUSH(object->lib, ATTR, CANTCONVERT,
             "attribute '%s' cannot be converted to the type that was asked for", object->attr);
    return -1;
}

/* Numbers and fixed strings: by HDF5's own conversion, which works in place. */
static herr_t read_plain(const vol_object *object, const vol_attr *attr, hid_t mem_type, void *out,
                         hid_t dxpl) {
    h5_lib *lib = object->lib;
    const size_t from_size = attr->dtype.size, to_size = lib->H5Tget_size(mem_type);
    const size_t room = attr->count * (from_size > to_size ? from_size : to_size);
    hid_t type = vol_attr_type(lib, attr);
    void *work = malloc(room), *background = calloc(1, room);
    herr_t result = -1;
    if (work && background && type >= 0) {
        memcpy(work, attr->data, attr->count * from_size);
        memcpy(background, out, attr->count * to_size);
        result = lib->H5Tconvert(type, mem_type, attr->count, work, background, dxpl);
    }
    if (result >= 0)
        memcpy(out, work, attr->count * to_size);
    if (type >= 0)
        lib->H5Tclose(type);
    free(work);
    free(background);
    return result < 0 ? push_no_conversion(object) : 0;
}

/* Each string is a copy that the program frees. */
static herr_t read_text(const vol_object *object, const vol_attr *attr, hid_t mem_type, char **out,
                        hid_t dxpl) {
    h5_lib *lib = object->lib;
    if (lib->H5Tis_variable_str(mem_type) <= 0)
        return push_no_conversion(object);
    for (size_t i = 0; i < attr->count; i++) {
        const char *text = ((char *const *)attr->data)[i];
        size_t size = strlen(text) + 1;
        out[i] = vol_vlen_alloc(lib, dxpl, size);
        if (!out[i])
            return -1;
        memcpy(out[i], text, size);
    }
    return 0;
}

static herr_t vol_attr_read(void *obj, hid_t mem_type, void *buffer, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLattr_read(object->under, lib->native, mem_type, buffer, dxpl, req);
    const vol_attr *attr = open_attr(object);
    if (!attr)
        return -1;
    switch (attr->kind) {
    case VOL_ATTR_NUMBER:
    case VOL_ATTR_FIXED:
    case VOL_ATTR_BYTES:
        return read_plain(object, attr, mem_type, buffer, dxpl);
    case VOL_ATTR_TEXT:
        return read_text(object, attr, mem_type, buffer, dxpl);
    case VOL_ATTR_REFS:
        break;
    }
    if (vol_refs_read(object, attr, mem_type, buffer, dxpl) < 0)
        return push_no_conversion(object);
    return 0;
}

/* An attribute keeps its shape, and gets the type that it is written with. */
static herr_t write_attr(vol_object *object, hid_t mem_type, const void *buffer, hid_t dxpl) {
    h5_lib *lib = object->lib;
    if (!vol_may_write(object, "write an attribute"))
        return -1;
    const vol_attr *attr = object->pending ? NULL : open_attr(object);
    if (!object->pending && !attr)
        return -1;
    hid_t space =
        object->pending ? lib->H5Scopy(object->pending->space) : vol_attr_space(lib, attr);
    const vol_attr_value value = {
        .name = object->attr, .type = mem_type, .space = space, .dxpl = dxpl, .data = buffer};
    herr_t result = space < 0 ? -1 : vol_attr_store(object, &value);
    if (space >= 0)
        vol_close_space(lib, space);
    if (result >= 0)
        vol_pending_free(object);
    else if (object->pending)
        object->pending->failed = true;
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

static void fill_info(const vol_attr *attr, H5A_info_t *info) {
    memset(info, 0, sizeof *info);
    info->cset = H5T_CSET_UTF8;
    info->data_size = vol_attr_size(attr);
}

/* Of one that has been created, but not written. */
static herr_t get_of_pending(const vol_object *object, H5VL_attr_get_args_t *args) {
    h5_lib *lib = object->lib;
    switch (args->op_type) {
    case H5VL_ATTR_GET_ACPL:
        args->args.get_acpl.acpl_id = lib->H5Pcreate(*lib->H5P_CLS_ATTRIBUTE_CREATE_ID_g);
        return args->args.get_acpl.acpl_id < 0 ? -1 : 0;
    case H5VL_ATTR_GET_INFO:
        memset(args->args.get_info.ainfo, 0, sizeof *args->args.get_info.ainfo);
        return 0;
    case H5VL_ATTR_GET_NAME: {
        H5VL_attr_get_name_args_t *name = &args->args.get_name;
        vol_copy_name(object->attr, name->buf, name->buf_size, name->attr_name_len);
        return 0;
    }
    case H5VL_ATTR_GET_SPACE:
        args->args.get_space.space_id = lib->H5Scopy(object->pending->space);
        return args->args.get_space.space_id < 0 ? -1 : 0;
    case H5VL_ATTR_GET_STORAGE_SIZE:
        *args->args.get_storage_size.data_size = 0;
        return 0;
    case H5VL_ATTR_GET_TYPE:
        args->args.get_type.type_id = lib->H5Tcopy(object->pending->type);
        return args->args.get_type.type_id < 0 ? -1 : 0;
    }
    return vol_refuse(lib, "this question about an attribute");
}

/* For GET_INFO and GET_NAME the object is the attribute or its owner, depending on the location. */
static herr_t vol_attr_get(void *obj, H5VL_attr_get_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLattr_get(object->under, lib->native, args, dxpl, req);
    const vol_attr *open = NULL;
    if (object->pending)
        return get_of_pending(object, args);
    if (object->attr && args->op_type != H5VL_ATTR_GET_ACPL && !(open = open_attr(object)))
        return -1;
    switch (args->op_type) {
    case H5VL_ATTR_GET_ACPL:
        args->args.get_acpl.acpl_id = lib->H5Pcreate(*lib->H5P_CLS_ATTRIBUTE_CREATE_ID_g);
        return args->args.get_acpl.acpl_id < 0 ? -1 : 0;
    case H5VL_ATTR_GET_INFO: {
        const H5VL_attr_get_info_args_t *info = &args->args.get_info;
        const vol_attr *attr = locate_attr(object, &info->loc_params, info->attr_name);
        if (attr)
            fill_info(attr, info->ainfo);
        return attr ? 0 : -1;
    }
    case H5VL_ATTR_GET_NAME: {
        H5VL_attr_get_name_args_t *name = &args->args.get_name;
        const vol_attr *attr = locate_attr(object, &name->loc_params, NULL);
        if (attr)
            vol_copy_name(attr->name, name->buf, name->buf_size, name->attr_name_len);
        return attr ? 0 : -1;
    }
    case H5VL_ATTR_GET_SPACE:
        args->args.get_space.space_id = vol_attr_space(lib, open);
        return args->args.get_space.space_id < 0 ? -1 : 0;
    case H5VL_ATTR_GET_STORAGE_SIZE:
        *args->args.get_storage_size.data_size = vol_attr_size(open);
        return 0;
    case H5VL_ATTR_GET_TYPE:
        args->args.get_type.type_id = vol_attr_type(lib, open);
        return args->args.get_type.type_id < 0 ? -1 : 0;
    }
    return vol_refuse(lib, "this question about an attribute");
}

/* ---- Existence and iteration ---- */

/* The operator may do what it likes, also change attributes: nothing is held across its calls. */
static herr_t call_operator(vol_node *owner, hid_t id, const H5VL_attr_iterate_args_t *args,
                            hsize_t n, bool *more) {
    const vol_attrs *attrs = vol_node_attrs(owner);
    const vol_attr *attr = attrs ? attr_at(attrs, args->idx_type, args->order, n) : NULL;
    H5A_info_t info;
    *more = attr != NULL;
    if (!attr)
        return attrs ? 0 : -1;
    char *name = strdup(attr->name);
    if (!name)
        return -1;
    fill_info(attr, &info);
    herr_t result = args->op(id, name, &info, args->op_data);
    free(name);
    return result;
}

static herr_t vol_attr_iterate(const vol_object *object, const H5VL_loc_params_t *loc,
                               const H5VL_attr_iterate_args_t *args) {
    vol_node *owner = vol_locate(object, loc);
    hsize_t n = args->idx ? *args->idx : 0;
    herr_t result = 0;
    bool more = true;
    hid_t id = owner ? vol_node_register(object->handle, owner) : -1;
    if (id < 0)
        return -1;
    while (more && result == 0) {
        result = call_operator(owner, id, args, n, &more);
        n += more;
    }
    if (args->idx)
        *args->idx = n;
    vol_release_id(object->lib, id);
    return result;
}

/* By name, or (name NULL) the one at an index. */
static herr_t delete_attr(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                          const H5VL_attr_delete_by_idx_args_t *at) {
    vol_node *owner = vol_may_write(object, "delete an attribute") ? vol_locate(object, loc) : NULL;
    const vol_attrs *attrs = owner ? vol_node_attrs(owner) : NULL;
    if (!attrs)
        return -1;
    const vol_attr *attr =
        name ? vol_attrs_find(attrs, name) : attr_at(attrs, at->idx_type, at->order, at->n);
    if (!attr && name && delete_unwritten(owner, name))
        return 0;
    if (!attr) {
        VOL_PUSH(object->lib, ATTR, NOTFOUND, "can't locate attribute: '%s'",
                 name ? name : "(by index)");
        return -1;
    }
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
        const vol_attrs *attrs = owner ? vol_node_attrs(owner) : NULL;
        if (!attrs)
            return -1;
        *args->args.exists.exists = vol_attrs_find(attrs, args->args.exists.name) ||
                                    vol_pending_find(owner, args->args.exists.name);
        return 0;
    }
    case H5VL_ATTR_ITER:
        return vol_attr_iterate(object, loc, &args->args.iterate);
    }
    return vol_refuse(lib, "this operation on an attribute");
}

const H5VL_attr_class_t vol_attr_class = {
    .create = vol_attr_create,
    .open = vol_attr_open,
    .read = vol_attr_read,
    .write = vol_attr_write,
    .get = vol_attr_get,
    .specific = vol_attr_specific,
    .optional = vol_attr_optional,
    .close = vol_attr_close,
};
