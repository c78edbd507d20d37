/* SPDX-License-Identifier: MIT */
/* Walks over links: see link_walk.h. */
#include "callbacks/link_walk.h"

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

void vol_link_tell(const vol_found *found, H5L_info2_t *info) {
    vol_link_value value;
    const bool has_value = vol_link_value_of(found->link, &value);
    memset(info, 0, sizeof *info);
    info->cset = vol_name_cset(found->link->name);
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
    if (!walk->args->recursive && !link->named)
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
        node_of(walk, link, &node, &err) != ZB_OK) {
        VOL_PUSH_ZB(file->lib, SYM, CANTGET, &err);
        return -1;
    }
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
    if (vol_node_list(group, &err) != ZB_OK) {
        VOL_PUSH_ZB(group->file->lib, SYM, CANTGET, &err);
        return -1;
    }
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
        !vol_order_flags(group)) {
        VOL_PUSH(object->lib, SYM, BADVALUE, "creation order not tracked for links in group");
        return -1;
    }
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
