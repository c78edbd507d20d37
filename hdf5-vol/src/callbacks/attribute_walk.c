/* SPDX-License-Identifier: MIT */
/* Walks over attributes: see attribute_walk.h. */
#include "callbacks/attribute_walk.h"

#include "hdf5/errors.h"
#include "objects/locate.h"
#include "objects/open_ids.h"

#include <stdlib.h>
#include <string.h>

/* The index of creation stands for the document's order, and so does the native order, in which
   HDF5 gives few attributes as they were made (hdf5r lists by it; one that is renamed may keep its
   place there, and is the last one here, unless the order is tracked). That of names is strcmp's:
   h5diff and h5dump pair attributes by it. */
const vol_attr *vol_attrs_in_order(vol_attrs *attrs, H5_index_t index, H5_iter_order_t order,
                                   hsize_t n) {
    const size_t listed = vol_attrs_listed(attrs);
    if (n >= listed)
        return NULL;
    const size_t i = order == H5_ITER_DEC ? listed - 1 - (size_t)n : (size_t)n;
    return vol_attrs_at(attrs, index == H5_INDEX_NAME && order != H5_ITER_NATIVE, i);
}

/* The order is that in which H5_INDEX_CRT_ORDER goes. HDF5 tells the place of one of few attributes
   also where their order is not tracked. */
void vol_attr_tell(vol_node *owner, const vol_attr *attr, H5A_info_t *info) {
    vol_attrs *attrs = vol_node_attrs(owner);
    size_t order = 0;
    memset(info, 0, sizeof *info);
    info->cset = vol_attr_cset(attr);
    info->data_size = vol_attr_size(owner->file->lib, attr);
    info->corder_valid = attrs && vol_attrs_order(attrs, attr, &order);
    info->corder = info->corder_valid ? (H5O_msg_crt_idx_t)order : 0;
}

/* The operator may do what it likes, also change attributes: nothing is held across its calls. */
static herr_t call_operator(vol_node *owner, hid_t id, const H5VL_attr_iterate_args_t *args,
                            hsize_t n, bool *more) {
    vol_attrs *attrs = vol_node_attrs(owner);
    const vol_attr *attr = attrs ? vol_attrs_in_order(attrs, args->idx_type, args->order, n) : NULL;
    H5A_info_t info;
    *more = attr != NULL;
    if (!attr)
        return attrs ? 0 : -1;
    char *name = strdup(attr->name);
    if (!name) {
        VOL_PUSH(owner->file->lib, ATTR, CANTGET, "no memory for the name of '%s'", attr->name);
        return -1;
    }
    vol_attr_tell(owner, attr, &info);
    herr_t result = args->op(id, name, &info, args->op_data);
    free(name);
    return result;
}

/* Whether a walk can begin at a place: the first one serves also where there is no attribute. */
static bool is_in(vol_node *owner, hsize_t place) {
    vol_attrs *attrs = vol_node_attrs(owner);
    if (!attrs)
        return false;
    const size_t listed = vol_attrs_listed(attrs);
    if (place == 0 || place < listed)
        return true;
    VOL_PUSH(owner->file->lib, ATTR, BADVALUE, "'%s' has %zu attributes, and none at %llu",
             owner->path, listed, (unsigned long long)place);
    return false;
}

herr_t vol_attrs_iterate(const vol_object *object, const H5VL_loc_params_t *loc,
                         const H5VL_attr_iterate_args_t *args) {
    vol_node *owner = vol_locate(object, loc);
    hsize_t n = args->idx ? *args->idx : 0;
    herr_t result = 0;
    bool more = true;
    hid_t id = owner && is_in(owner, n) ? vol_node_register(object->handle, owner) : -1;
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
