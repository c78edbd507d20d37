/* SPDX-License-Identifier: MIT */
/* What is copied, in a store and in an HDF5 file: the sources of walk.h. */
#include "copy/walk.h"

#include "hdf5/errors.h"
#include "links/aliases.h"
#include "links/links.h"
#include "objects/paths.h"

#include <stdlib.h>

/* ---- Stores ---- */

vol_copy_object vol_copy_node(vol_copy *copy, vol_node *node) {
    return (vol_copy_object){
        .kind = node->kind, .node = node, .copies = &copy->nodes, .key = node->token};
}

/* What another process has deleted since the group was listed is not copied. */
static herr_t each_stored_link(vol_copy *copy, const vol_copy_object *group, vol_copied *to) {
    zb_error err = {0};
    herr_t result = 0;
    if (vol_node_list(group->node, &err) != ZB_OK)
        return VOL_PUSH_ZB(copy->lib, SYM, CANTGET, &err);
    for (size_t i = 0; i < vol_links_count(group->node) && result >= 0; i++) {
        vol_link *link = vol_links_in_order(group->node, true, false, i);
        const enum zb_code code = vol_link_open(link, &err);
        vol_copy_link one = {
            .name = link->name, .type = H5L_TYPE_HARD, .is_place = !link->is_entry, .stored = link};
        if (link->is_entry && vol_link_value_of(link, &one.value))
            one.type = one.value.type;
        if (code == ZB_OK)
            result = vol_copy_meet(copy, to, &one);
        else if (code != ZB_ENOTFOUND)
            result = VOL_PUSH_ZB(copy->lib, SYM, CANTOPENOBJ, &err);
    }
    return result;
}

static herr_t push_unreadable(const vol_copy *copy, const vol_link *link) {
    zb_error err = {0};
    vol_link_add_context(link, &err);
    zb_error_prefix(&err, err.code, "cannot copy %s of %s", link->name, link->group->path);
    return VOL_PUSH_ZB(copy->lib, SYM, CANTOPENOBJ, &err);
}

static herr_t follow_stored(vol_copy *copy, const vol_copy_link *link, vol_copy_object *out,
                            bool *there) {
    vol_route route = {.left = VOL_LINKS_FOLLOWED};
    vol_found found = {.link = link->stored};
    if (link->type == H5L_TYPE_EXTERNAL)
        return VOL_PUSH(copy->lib, SYM, UNSUPPORTED,
                        "'%s' in %s leads to another file: what an external link of a store leads "
                        "to is not copied",
                        link->name, link->stored->group->path);
    vol_link_node(link->stored, &found.node, NULL);
    if (link->type == H5L_TYPE_HARD && !found.node)
        return push_unreadable(copy, link->stored);
    *there = found.node ||
             (link->stored->kind == VOL_LINK_SOFT && vol_path_enter(&route, &found, NULL) == ZB_OK);
    if (*there)
        *out = vol_copy_node(copy, found.node);
    return 0;
}

const vol_copy_source vol_copy_store = {.each_link = each_stored_link, .follow = follow_stored};

/* ---- HDF5 files ---- */

herr_t vol_copy_opened(vol_copy *copy, hid_t id, vol_copy_object *out) {
    h5_lib *lib = copy->lib;
    H5O_info2_t info;
    if (lib->H5Oget_info3(id, &info, H5O_INFO_BASIC) < 0)
        return -1;
    const H5I_type_t type = lib->H5Iget_type(id);
    *out = (vol_copy_object){.kind = type == H5I_GROUP     ? VOL_GROUP
                                     : type == H5I_DATASET ? VOL_DATASET
                                                           : VOL_DATATYPE,
                             .id = id,
                             .file = vol_imported_in(&copy->files, id, info.fileno),
                             .key = vol_token_get(&info.token)};
    if (!out->file)
        return -1;
    out->copies = &out->file->by_address;
    return 0;
}

/* The value of a link that is not hard, whose texts are in *text (malloc'ed, also after an
   error). */
static herr_t read_value(h5_lib *lib, hid_t group, const char *name, const H5L_info2_t *info,
                         char **text, vol_link_value *out) {
    zb_error err = {0};
    if (info->type != H5L_TYPE_SOFT && info->type != H5L_TYPE_EXTERNAL)
        return VOL_PUSH(lib, SYM, UNSUPPORTED,
                        "cannot copy '%s': Zarr stores have no user-defined links", name);
    *text = calloc(1, info->u.val_size + 1);
    if (!*text || lib->H5Lget_val(group, name, *text, info->u.val_size, H5P_DEFAULT) < 0)
        return -1;
    *out = (vol_link_value){.type = info->type, .target = *text};
    if (info->type == H5L_TYPE_SOFT || vol_link_unpack(*text, info->u.val_size, out))
        return 0;
    zb_fail(&err, ZB_EUNSUPPORTED, "its value is of another form");
    return vol_copy_failed(lib, name, &err);
}

/* The context of an iteration over links. */
typedef struct link_visit {
    vol_copy *copy;
    vol_copied *to;
} link_visit;

static herr_t visit_link(hid_t group, const char *name, const H5L_info2_t *info, void *context) {
    const link_visit *visit = context;
    vol_copy_link link = {.name = name, .type = info->type, .group = group};
    char *text = NULL;
    herr_t result = 0;
    link.is_place = info->type == H5L_TYPE_HARD;
    if (!link.is_place)
        result = read_value(visit->copy->lib, group, name, info, &text, &link.value);
    if (result >= 0)
        result = vol_copy_meet(visit->copy, visit->to, &link);
    free(text);
    return result;
}

static herr_t each_opened_link(vol_copy *copy, const vol_copy_object *group, vol_copied *to) {
    h5_lib *lib = copy->lib;
    link_visit visit = {.copy = copy, .to = to};
    unsigned order = 0;
    hid_t list = lib->H5Gget_create_plist(group->id);
    if (lib->H5Pget_link_creation_order(list, &order) < 0)
        order = 0;
    vol_release_id(lib, list);
    return lib->H5Literate2(group->id, order ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC,
                            NULL, visit_link, &visit);
}

/* The object that a link leads to; -1 when it leads nowhere (*dangles), or, with an error pushed,
   when that cannot be opened. */
static hid_t open_target(h5_lib *lib, const vol_copy_link *link, bool *dangles) {
    vol_silence silence;
    vol_silence_begin(lib, &silence);
    hid_t child = lib->H5Oopen(link->group, link->name, H5P_DEFAULT);
    vol_silence_end(lib, &silence);
    *dangles = child < 0 && vol_link_dangles(lib, link->group, link->name);
    if (child >= 0 || *dangles)
        return child;
    child = lib->H5Oopen(link->group, link->name, H5P_DEFAULT); /* for the reason */
    if (child < 0)
        VOL_PUSH(lib, SYM, CANTCOPY,
                 "what the link '%s' leads to is there and cannot be opened: mend that, or copy "
                 "without expanding such links",
                 link->name);
    return child;
}

static herr_t follow_opened(vol_copy *copy, const vol_copy_link *link, vol_copy_object *out,
                            bool *there) {
    h5_lib *lib = copy->lib;
    bool dangles = false;
    const hid_t id = link->type == H5L_TYPE_HARD
                         ? lib->H5Oopen(link->group, link->name, H5P_DEFAULT)
                         : open_target(lib, link, &dangles);
    *there = id >= 0;
    if (id < 0)
        return dangles ? 0 : -1;
    const herr_t result = vol_copy_opened(copy, id, out);
    if (result < 0)
        vol_release_id(lib, id);
    return result;
}

const vol_copy_source vol_copy_hdf5 = {.each_link = each_opened_link, .follow = follow_opened};
