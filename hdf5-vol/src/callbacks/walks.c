/* SPDX-License-Identifier: MIT */
/* Walks over links and attributes: see walks.h. */
#include "callbacks/walks.h"

#include "copy/links.h"
#include "file/forget.h"
#include "hdf5/errors.h"
#include "links/aliases.h"
#include "links/link_order.h"
#include "links/links.h"
#include "objects/locate.h"
#include "objects/open_ids.h"
#include "objects/tokens.h"
#include "tree/map.h"
#include "tree/node.h"

#include <stdlib.h>
#include <string.h>

/* ---- Links ---- */

void vol_link_tell(const vol_found *found, H5L_info2_t *info) {
    vol_link_value value;
    const bool has_value = vol_link_value_of(found->link, &value);
    memset(info, 0, sizeof *info);
    info->cset = vol_charset_of(found->link->name);
    if (found->link->order > 0) {
        info->corder_valid = true;
        info->corder = (int64_t)found->link->order - 1;
    }
    info->type = has_value ? value.type : H5L_TYPE_HARD;
    if (has_value)
        info->u.val_size =
            strlen(value.target) + 1 + (value.file ? strlen(value.file) + 2 : 0); /* as packed */
    else
        vol_token_set(&info->u.token,
                      found->node ? found->node->token : vol_token_of_link(found->link));
}

/* A walk over links. */
typedef struct link_walk {
    const H5VL_link_iterate_args_t *args;
    hid_t id;        /* of the start */
    uint64_t count;  /* of links so far */
    vol_map entered; /* groups with several names that the walk has been in */
} link_walk;

/* Whether a group is entered for the first time. */
static bool enter(link_walk *walk, vol_node *group) {
    if (vol_alias_count(group) == 0)
        return true;
    if (vol_map_get(&walk->entered, group->token))
        return false;
    return vol_map_set(&walk->entered, group->token, group);
}

static herr_t iterate(link_walk *walk, vol_node *group, const char *prefix, hsize_t *position);

/* The node of a link, as far as the walk needs it: an alias tells by it what it is, and a walk that
   goes on below asks for groups. A node that has gone since its group was listed is none. */
static enum zb_code node_of(const link_walk *walk, vol_link *link, vol_node **out, zb_error *err) {
    *out = NULL;
    if (!walk->args->recursive && !link->is_entry)
        return ZB_OK;
    enum zb_code code = vol_link_node(link, out, err);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

/* Calls the operator for one link, and for those below it, whose group is `node` where it is
   one. */
static herr_t iterate_from(link_walk *walk, vol_link *link, vol_node *node, const char *prefix) {
    const H5VL_link_iterate_args_t *args = walk->args;
    H5L_info2_t info;
    hsize_t start = 0;
    char *name = vol_path_join(prefix, link->name, "");
    if (!name)
        return -1;
    vol_link_tell(&(vol_found){.node = node, .link = link}, &info);
    herr_t result = args->op(walk->id, name, &info, args->op_data);
    if (result == 0 && args->recursive && node && node->kind == VOL_GROUP && enter(walk, node)) {
        char *below = vol_path_join(name, "/", ""); /* the link may have gone */
        result = below ? iterate(walk, node, below, &start) : -1;
        free(below);
    }
    free(name);
    return result;
}

/* The same with the node opened, and forgotten afterwards. The link's group is pinned. */
static herr_t iterate_one(link_walk *walk, vol_link *link, const char *prefix) {
    vol_file *file = link->group->file;
    vol_node *node;
    zb_error err = {0};
    if (vol_walk_count(file, &walk->count, &err) != ZB_OK ||
        node_of(walk, link, &node, &err) != ZB_OK)
        return VOL_PUSH_ZB(file->lib, SYM, CANTGET, &err);
    if (!node)
        return iterate_from(walk, link, NULL, prefix);
    vol_node_pin(node);
    herr_t result = iterate_from(walk, link, node, prefix);
    vol_node_unpin(node);
    if (walk->args->recursive && file->writable) /* the operator may have deleted the link */
        vol_file_tidy_all(file);
    else if (walk->args->recursive)
        vol_link_forget(link);
    return result;
}

/* Calls the operator for the links of `group` from *position on. Names are given relative to the
   start. A walk that goes on below forgets the list of links afterwards. */
static herr_t iterate(link_walk *walk, vol_node *group, const char *prefix, hsize_t *position) {
    const H5VL_link_iterate_args_t *args = walk->args;
    zb_error err = {0};
    herr_t result = 0;
    if (vol_node_list(group, &err) != ZB_OK)
        return VOL_PUSH_ZB(group->file->lib, SYM, CANTGET, &err);
    vol_node_pin(group);
    for (; *position < vol_links_count(group) && result == 0; ++*position)
        result = iterate_one(walk,
                             vol_links_in_order(group, args->idx_type == H5_INDEX_CRT_ORDER,
                                                args->order == H5_ITER_DEC, (size_t)*position),
                             prefix);
    vol_node_unpin(group);
    if (args->recursive)
        vol_tree_forget(group);
    return result;
}

/* Whether a walk can begin there. */
static bool is_in(vol_node *group, hsize_t position) {
    h5_lib *lib = group->file->lib;
    zb_error err = {0};
    if (vol_node_list(group, &err) != ZB_OK)
        VOL_PUSH_ZB(lib, SYM, CANTGET, &err);
    else if (position >= vol_links_count(group))
        VOL_PUSH(lib, SYM, BADVALUE, "'%s' has %zu links, and none at %llu", group->path,
                 vol_links_count(group), (unsigned long long)position);
    else
        return true;
    return false;
}

herr_t vol_links_iterate(const vol_object *object, const H5VL_loc_params_t *loc,
                         const H5VL_link_iterate_args_t *args) {
    hsize_t position = args->idx_p ? *args->idx_p : 0;
    vol_node *group = vol_locate(object, loc);
    link_walk walk = {.args = args};
    if (group && args->idx_type == H5_INDEX_CRT_ORDER && !args->recursive &&
        !vol_order_flags(group))
        return VOL_PUSH(object->lib, SYM, BADVALUE,
                        "creation order not tracked for links in group");
    if (group && position > 0 && !is_in(group, position))
        return -1;
    walk.id = group ? vol_node_register(object->handle, group) : -1;
    if (walk.id < 0)
        return -1;
    if (args->recursive)
        enter(&walk, group);
    herr_t result = iterate(&walk, group, "", &position);
    vol_map_clear(&walk.entered);
    if (args->idx_p && result >= 0) /* HDF5 leaves it after an error */
        *args->idx_p = position;
    vol_release_id(object->lib, walk.id);
    return result;
}

/* ---- Attributes ---- */

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
    if (!name)
        return VOL_PUSH(owner->file->lib, ATTR, CANTGET, "no memory for the name of '%s'",
                        attr->name);
    vol_attr_tell(owner, attr, &info);
    herr_t result = args->op(id, name, &info, args->op_data);
    free(name);
    return result;
}

/* Whether a walk can begin at a place: the first one serves also where there is no attribute. */
static bool has_place(vol_node *owner, hsize_t place) {
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
    hid_t id = owner && has_place(owner, n) ? vol_node_register(object->handle, owner) : -1;
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

/* ---- The walks of HDF5 before 1.8 ---- */

/* HDF5 tells where the walk has stopped also after an error of the operator, unlike H5Literate. */
typedef struct old_walk {
    const H5VL_native_group_iterate_old_t *args;
    hsize_t place;
} old_walk;

static herr_t visit_link(hid_t group, const char *name, const H5L_info2_t *info, void *context) {
    old_walk *walk = context;
    (void)info;
    walk->place++;
    return walk->args->op(group, name, walk->args->op_data);
}

herr_t vol_walk_links_old(const vol_object *group, const H5VL_native_group_iterate_old_t *args) {
    hsize_t start = args->idx;
    old_walk context = {.args = args, .place = start};
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
