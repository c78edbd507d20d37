/* SPDX-License-Identifier: MIT */
/* Objects behind external links: see elsewhere.h. */
#include "callbacks/elsewhere.h"

#include "callbacks/classes.h"
#include "dataset/deleted.h"
#include "file/find_store.h"
#include "file/linked_file.h"
#include "file/names.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"
#include "zarrbridge/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The file ---- */

/* The list that the link's access list names; else that of the file that holds the link, which is
   closed only after its objects. */
static hid_t file_list(const vol_object *object, hid_t lapl) {
    h5_lib *lib = object->lib;
    hid_t list = lapl > 0 ? lib->H5Pget_elink_fapl(lapl) : -1;
    if (list > 0)
        return list;
    list = vol_fapl_new(lib, &object->handle->manners);
    lib->H5Pset_fclose_degree(list, H5F_CLOSE_WEAK);
    return list;
}

/* Whether it is to be opened for writing: as the file that holds the link, unless the list says. */
static unsigned file_flags(const vol_object *object, hid_t lapl) {
    unsigned flags = H5_ACC_DEFAULT;
    if (lapl > 0 && object->lib->H5Pget_elink_acc_flags(lapl, &flags) < 0)
        flags = H5_ACC_DEFAULT;
    return flags == H5_ACC_DEFAULT ? (object->handle->writable ? H5_ACC_RDWR : 0) : flags;
}

/* Nothing in a store makes a program contact a host, and nothing that comes from one makes it open
   files of this machine. */
static bool may_follow(const vol_object *object, const vol_link *link, const char *to) {
    const bool from = vol_filename_is_url(object->file->path);
    if (!from && !zb_name_is_url(to) && !vol_filename_is_url(to))
        return true;
    VOL_PUSH(object->lib, SYM, NOTFOUND,
             "the external link '%s' in %s leads to '%s'%s, and is not followed: open that file "
             "by its own name",
             link->name, link->group->path, to, from ? " from a store on the network" : "");
    return false;
}

/* The same of a door, to which the link leads. One that is broken tells of it when it is opened. */
static bool may_pass(const vol_object *object, const vol_link *link, const char *path) {
    zb_door door;
    (void)zb_door_read(path, ZB_DOORS_ANY, &door, NULL);
    const bool may = !door.store || may_follow(object, link, door.store);
    zb_door_clear(&door);
    return may;
}

/* The file of a link; malloc'ed. Pushes an error and returns NULL when there is none. */
static char *file_of(const vol_object *object, const vol_link *link, hid_t lapl) {
    h5_lib *lib = object->lib;
    H5L_elink_traverse_t callback = NULL;
    void *context;
    if (lapl > 0 && lib->H5Pget_elink_cb(lapl, &callback, &context) >= 0 && callback) {
        vol_refuse(lib, "a callback for external links (H5Pset_elink_cb)");
        return NULL;
    }
    if (!may_follow(object, link, link->external))
        return NULL;
    char prefix[4096] = "";
    if (lapl > 0 && lib->H5Pget_elink_prefix(lapl, prefix, sizeof prefix) <= 0)
        *prefix = '\0';
    char *path = vol_linked_file("HDF5_EXT_PREFIX", prefix, object->file->path, link->external);
    if (!path)
        VOL_PUSH(lib, SYM, NOTFOUND,
                 "the external link '%s' in %s leads to the file '%s', which does not exist",
                 link->name, link->group->path, link->external);
    if (!path || may_pass(object, link, path))
        return path;
    free(path);
    return NULL;
}

/* ---- Objects ---- */

void vol_close_any(vol_object *object, hid_t dxpl) {
    h5_lib *lib = object->lib;
    if (object->under) {
        hid_t saved = vol_stack_save(lib);
        if (object->type == H5I_FILE)
            lib->H5VLfile_close(object->under, lib->native, dxpl, NULL);
        else if (object->type == H5I_GROUP)
            lib->H5VLgroup_close(object->under, lib->native, dxpl, NULL);
        else if (object->type == H5I_DATASET)
            lib->H5VLdataset_close(object->under, lib->native, dxpl, NULL);
        else
            lib->H5VLdatatype_close(object->under, lib->native, dxpl, NULL);
        vol_stack_restore(lib, saved);
    }
    vol_object_free(object);
}

static vol_object *open_on(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                           hid_t lapl, hid_t dxpl, vol_route *route);

static vol_object *open_in_store(const vol_object *object, const char *path, hid_t lapl, hid_t dxpl,
                                 const char *name, vol_route *route) {
    h5_lib *lib = object->lib;
    const H5VL_loc_params_t self = vol_self(H5I_FILE);
    hid_t list = file_list(object, lapl);
    vol_object *file = vol_file_open(lib, path, file_flags(object, lapl), list, dxpl, NULL);
    vol_release_id(lib, list);
    vol_object *opened = file ? open_on(file, &self, name, lapl, dxpl, route) : NULL;
    if (file)
        vol_close_any(file, dxpl);
    return opened;
}

/* Tells that a path leaves its file. */
static herr_t note_leaving(const char *parent_file, const char *parent_group,
                           const char *child_file, const char *child_object, unsigned *flags,
                           hid_t fapl, void *left) {
    (void)parent_file, (void)parent_group, (void)child_file, (void)child_object, (void)flags;
    (void)fapl;
    *(bool *)left = true;
    return 0;
}

/* Behind a further external link HDF5 gives ids to what it meets, as the wrap context says. That of
   a callback is the store's: the ids would pass for objects of stores. So H5Oopen follows a path
   first, which has a context of its own; `left` tells whether it has met such a link. */
static hid_t follow(h5_lib *lib, hid_t file, const char *name, hid_t lapl, bool *left) {
    const hid_t list = lib->H5Pcopy(lapl > 0 ? lapl : *lib->H5P_LST_LINK_ACCESS_ID_g);
    hid_t id = -1;
    *left = false;
    if (list >= 0 && lib->H5Pset_elink_cb(list, note_leaving, left) >= 0)
        id = lib->H5Oopen(file, name, list);
    vol_release_id(lib, list);
    return id;
}

/* A handle of ours on an object that has an id of HDF5's own. */
static vol_object *handle_of(h5_lib *lib, hid_t id, const H5VL_loc_params_t *loc, hid_t dxpl) {
    H5I_type_t type;
    const hid_t file = lib->H5Iget_file_id(id);
    void *under = NULL;
    if (file >= 0)
        under = lib->H5VLobject_open(lib->H5VLobject(file), loc, lib->native, &type, dxpl, NULL);
    vol_release_id(lib, file);
    return under ? vol_object_pass(lib, type, under) : NULL;
}

/* By its name, which HDF5 keeps for H5Iget_name; but by its token in a further file, where the name
   is another one. */
static vol_object *open_by_name(h5_lib *lib, hid_t file, const char *name, hid_t lapl, hid_t dxpl) {
    bool left;
    H5O_info2_t info;
    vol_object *opened = NULL;
    const H5VL_loc_params_t by_token = {.obj_type = H5I_FILE,
                                        .type = H5VL_OBJECT_BY_TOKEN,
                                        .loc_data.loc_by_token = {.token = &info.token}};
    const H5VL_loc_params_t by_name = vol_loc_by_name(lib, H5I_FILE, name);
    const hid_t id = follow(lib, file, name, lapl, &left);
    if (id >= 0 && lib->H5Oget_info3(id, &info, H5O_INFO_BASIC) >= 0)
        opened = handle_of(lib, id, left ? &by_token : &by_name, dxpl);
    vol_release_id(lib, id);
    return opened;
}

/* H5Fopen prepares what H5VLfile_open expects. HDF5 closes the file with the last object in it. */
static vol_object *open_in_native(const vol_object *object, const char *path, hid_t lapl,
                                  hid_t dxpl, const char *name) {
    h5_lib *lib = object->lib;
    hid_t list = file_list(object, lapl);
    lib->H5Pset_vol(list, lib->native, NULL);
    const hid_t file = lib->H5Fopen(path, file_flags(object, lapl), list);
    vol_release_id(lib, list);
    if (file < 0)
        return NULL;
    vol_object *opened = open_by_name(lib, file, name, lapl, dxpl);
    vol_release_id(lib, file);
    return opened;
}

/* Goes on in the file to which the route has led. */
static vol_object *go_on(const vol_object *object, hid_t lapl, hid_t dxpl, vol_route *route) {
    char *name = route->rest, *path = file_of(object, route->external, lapl);
    vol_object *opened = NULL;
    route->rest = NULL;
    route->external = NULL;
    if (path)
        opened = vol_filename_leads(path) ? open_in_store(object, path, lapl, dxpl, name, route)
                                          : open_in_native(object, path, lapl, dxpl, name);
    free(path);
    free(name);
    return opened;
}

/* Recursion ends with the links that the route may follow. */
static vol_object *open_on(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                           hid_t lapl, hid_t dxpl, vol_route *route) {
    vol_node *node = vol_locate_on(object, loc, name, route);
    if (node && vol_dataset_gives_way(node))
        node = vol_locate_on(object, loc, name, route);
    if (node)
        return vol_object_of_node(object->handle, node);
    return route->rest ? go_on(object, lapl, dxpl, route) : NULL;
}

/* The path, seen from the object, of a soft or external link that a location by index means;
   malloc'ed. NULL where it means none; then `found` has the node of a hard link. */
static char *path_of_link(const vol_object *object, const H5VL_loc_params_t *loc,
                          vol_found *found) {
    char *path;
    *found = (vol_found){.node = NULL};
    if (loc->type != H5VL_OBJECT_BY_IDX || !vol_lookup(object, loc, false, found, NULL) ||
        !found->link || found->node)
        return NULL;
    const int size = asprintf(&path, "%s/%s", loc->loc_data.loc_by_idx.name, found->link->name);
    return size < 0 ? NULL : path;
}

static H5VL_loc_params_t by_path(const H5VL_loc_params_t *by_index, const char *path) {
    return (H5VL_loc_params_t){
        .obj_type = by_index->obj_type,
        .type = H5VL_OBJECT_BY_NAME,
        .loc_data.loc_by_name = {.name = path, .lapl_id = by_index->loc_data.loc_by_idx.lapl_id}};
}

/* A location by name is the name seen from the object itself. */
static vol_object *open_location(const vol_object *object, const H5VL_loc_params_t *loc,
                                 const char *name, hid_t lapl, hid_t dxpl) {
    const H5VL_loc_params_t self = vol_self(loc->obj_type);
    const bool by_name = loc->type == H5VL_OBJECT_BY_NAME && !name;
    if (by_name)
        lapl = loc->loc_data.loc_by_name.lapl_id;
    if (by_name && !vol_list_check(object->lib, lapl, *object->lib->H5P_CLS_LINK_ACCESS_ID_g))
        return NULL;
    vol_route route = vol_route_of(object->lib, lapl);
    route.may_leave = true;
    return by_name ? open_on(object, &self, loc->loc_data.loc_by_name.name, lapl, dxpl, &route)
                   : open_on(object, loc, name, lapl, dxpl, &route);
}

vol_object *vol_open_any(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                         hid_t lapl, hid_t dxpl) {
    vol_found found = {.node = NULL};
    char *path = name ? NULL : path_of_link(object, loc, &found);
    if (found.node)
        return vol_object_of_node(object->handle, found.node);
    if (!path)
        return open_location(object, loc, name, lapl, dxpl);
    const H5VL_loc_params_t to = by_path(loc, path);
    vol_object *opened = open_location(object, &to, NULL, 0, dxpl);
    free(path);
    return opened;
}

/* Whether the way leaves the file before the last link, which is looked at and not followed. */
static bool leaves_before_end(const vol_object *object, const H5VL_loc_by_name_t *to) {
    vol_route route = vol_route_of(object->lib, to->lapl_id);
    vol_found found;
    route.may_leave = true;
    vol_path_find(object->node, to->name, &route, &found, NULL);
    free(route.rest);
    return route.external != NULL;
}

vol_object *vol_open_holder(const vol_object *object, const H5VL_loc_params_t *loc, hid_t dxpl,
                            H5VL_loc_params_t *in_it) {
    h5_lib *lib = object->lib;
    if (loc->type != H5VL_OBJECT_BY_NAME || !leaves_before_end(object, &loc->loc_data.loc_by_name))
        return NULL;
    vol_release_id(lib, lib->H5Eget_current_stack()); /* which empties it */
    *in_it = *loc;
    in_it->loc_data.loc_by_name.name += vol_holder_size(loc->loc_data.loc_by_name.name);
    char *holder =
        strndup(loc->loc_data.loc_by_name.name,
                (size_t)(in_it->loc_data.loc_by_name.name - loc->loc_data.loc_by_name.name));
    H5VL_loc_params_t to_holder = *loc;
    to_holder.loc_data.loc_by_name.name = holder;
    vol_object *opened = holder ? vol_open_any(object, &to_holder, NULL, 0, dxpl) : NULL;
    free(holder);
    if (opened)
        in_it->obj_type = opened->type; /* which native code believes */
    return opened;
}

vol_object *vol_open_elsewhere(const vol_object *object, const H5VL_loc_params_t *loc, hid_t dxpl) {
    vol_found found;
    char *path = path_of_link(object, loc, &found);
    const H5VL_loc_params_t to = path ? by_path(loc, path) : *loc;
    vol_object *opened = NULL;
    if (to.type == H5VL_OBJECT_BY_NAME && vol_leaves(object, &to))
        opened = open_location(object, &to, NULL, 0, dxpl);
    free(path);
    return opened;
}
