/* SPDX-License-Identifier: MIT */
/* H5Giterate and H5Aiterate1 by way of the present walks: see old_walks.h. */
#include "callbacks/old_walks.h"

#include "callbacks/attribute_walk.h"
#include "callbacks/link_walk.h"
#include "file/forget.h"

/* HDF5 tells where the walk has stopped also after an error of the operator, unlike H5Literate. */
typedef struct link_walk {
    const H5VL_native_group_iterate_old_t *args;
    hsize_t place;
} link_walk;

static herr_t visit_link(hid_t group, const char *name, const H5L_info2_t *info, void *context) {
    link_walk *walk = context;
    (void)info;
    walk->place++;
    return walk->args->op(group, name, walk->args->op_data);
}

herr_t vol_walk_links_old(const vol_object *group, const H5VL_native_group_iterate_old_t *args) {
    hsize_t start = args->idx;
    link_walk context = {.args = args, .place = start};
    const H5VL_link_iterate_args_t walk = {.recursive = false,
                                           .idx_type = H5_INDEX_NAME,
                                           .order = H5_ITER_INC,
                                           .idx_p = &start,
                                           .op = visit_link,
                                           .op_data = &context};
    vol_file_tidy_all(group->file);
    const herr_t result = vol_links_iterate(group, &args->loc_params, &walk);
    if (args->last_obj)
        *args->last_obj = context.place;
    return result;
}

static herr_t visit_attribute(hid_t owner, const char *name, const H5A_info_t *info,
                              void *context) {
    const H5VL_native_attr_iterate_old_t *args = context;
    (void)info;
    return args->op(owner, name, args->op_data);
}

herr_t vol_walk_attributes_old(const vol_object *owner,
                               const H5VL_native_attr_iterate_old_t *args) {
    hsize_t place = args->attr_num ? *args->attr_num : 0;
    const H5VL_loc_params_t self = vol_self(owner->type);
    const H5VL_attr_iterate_args_t walk = {.idx_type = H5_INDEX_CRT_ORDER,
                                           .order = H5_ITER_INC,
                                           .idx = &place,
                                           .op = visit_attribute,
                                           .op_data = (void *)(uintptr_t)args};
    const herr_t result = vol_attrs_iterate(owner, &self, &walk);
    if (args->attr_num)
        *args->attr_num = (unsigned)place;
    return result;
}
