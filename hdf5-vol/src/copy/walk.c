/* SPDX-License-Identifier: MIT */
/* See walk.h. */
#include "copy/walk.h"

#include "hdf5/errors.h"
#include "links/aliases.h"
#include "links/edit_links.h"
#include "links/link_order.h"
#include "links/links.h"
#include "objects/locate.h"
#include "objects/tokens.h"

#include <stdlib.h>
#include <string.h>

herr_t vol_copy_failed(h5_lib *lib, const char *name, zb_error *err) {
    zb_error_prefix(err, err->code, "cannot copy '%s'", name);
    return VOL_PUSH_ZB(lib, SYM, CANTCOPY, err);
}

static herr_t fail_memory(const vol_copy *copy, const char *name) {
    return VOL_PUSH(copy->lib, SYM, CANTCOPY, "no memory for the copy of '%s'", name);
}

const vol_copied *vol_copy_of(const vol_copy *copy, const vol_node *node) {
    return vol_map_get(&copy->nodes, node->token);
}

static void release_object(const vol_copy *copy, const vol_copy_object *object) {
    if (!object->node)
        vol_release_id(copy->lib, object->id);
}

/* ---- Objects ---- */

static vol_copied *add_copied(vol_copy *copy, const vol_copy_object *object) {
    vol_copied *copied = calloc(1, sizeof *copied);
    if (!copied)
        return NULL;
    copied->node = object->node;
    if (copy->last)
        copy->last->next = copied;
    else
        copy->first = copied;
    return copy->last = copied;
}

/* A copy that has just been made gets what belongs to it, and its links. */
static herr_t fill(vol_copy *copy, const vol_copy_object *object, bool is_top, vol_copied *copied) {
    const bool is_whole = is_top || !(copy->flags & H5O_COPY_SHALLOW_HIERARCHY_FLAG);
    if (copy->to->complete(copy, object, copied, !(copy->flags & H5O_COPY_WITHOUT_ATTR_FLAG)) < 0)
        return -1;
    return object->kind == VOL_GROUP && is_whole ? copy->from->each_link(copy, object, copied) : 0;
}

/* Any object may be met again: by another hard link, by one that is expanded, and the top by its
   own, from a group above. */
static herr_t put(vol_copy *copy, const vol_copy_place *at, const vol_copy_object *object) {
    vol_copied *copied = vol_map_get(object->copies, object->key);
    if (copied)
        return copy->to->link_again(copy, at, copied);
    copied = add_copied(copy, object);
    if (!copied)
        return fail_memory(copy, at->name);
    if (copy->to->make(copy, object, at, copied) < 0)
        return -1;
    if (!copied->copy && !copied->object)
        return 0;
    const herr_t result = vol_map_set(object->copies, object->key, copied)
                              ? fill(copy, object, !at->group, copied)
                              : fail_memory(copy, at->name);
    if (copy->to->leave)
        copy->to->leave(copy, copied);
    return result;
}

/* ---- Links ---- */

/* Copies what a link leads to. *there: it leads somewhere. */
static herr_t put_target(vol_copy *copy, const vol_copy_place *at, const vol_copy_link *link,
                         bool *there) {
    vol_copy_object object;
    herr_t result = copy->from->follow(copy, link, &object, there);
    if (result < 0 || !*there)
        return result;
    result = put(copy, at, &object);
    release_object(copy, &object);
    return result;
}

/* A link that is copied after all others. */
typedef struct vol_copy_later {
    struct vol_copy_later *next;
    vol_copied *group;
    vol_copy_link link;
    char name[];
} later;

static void free_later(const vol_copy *copy, later *one) {
    if (!one->link.stored)
        vol_release_id(copy->lib, one->link.group);
    free(one);
}

static herr_t add_later(vol_copy *copy, vol_copied *group, const vol_copy_link *link) {
    const size_t size = strlen(link->name) + 1;
    later *one = malloc(sizeof *one + size);
    if (!one || (!link->stored && copy->lib->H5Iinc_ref(link->group) < 0)) {
        free(one);
        return fail_memory(copy, link->name);
    }
    *one = (later){.group = group, .link = *link};
    memcpy(one->name, link->name, size);
    one->link.name = one->name;
    one->link.value = (vol_link_value){.target = NULL}; /* borrowed */
    if (copy->later_last)
        copy->later_last->next = one;
    else
        copy->later = one;
    copy->later_last = one;
    return 0;
}

/* Puts an object where a link stands in the copy, whose number it keeps. */
static herr_t put_later(vol_copy *copy, const later *one) {
    const vol_copy_place at = {.group = one->group, .name = one->name};
    vol_node *group = one->group->copy;
    vol_copy_object object;
    bool there;
    herr_t result = copy->from->follow(copy, &one->link, &object, &there);
    if (result < 0 || !there)
        return result;
    vol_link *link = vol_link_entry_find(group, one->name);
    const uint64_t order = link ? link->order : 0;
    if (link)
        vol_alias_remove(link);
    result = put(copy, &at, &object);
    if (result >= 0)
        vol_order_replace(vol_links_find(group, one->name), order);
    release_object(copy, &object);
    return result;
}

/* The first of them. Those in what is copied for it come before the others, so that the files that
   external links lead to are soon closed. */
static herr_t put_first_later(vol_copy *copy) {
    later *one = copy->later, *rest = one->next, *rest_last = rest ? copy->later_last : NULL;
    copy->later = copy->later_last = NULL;
    const herr_t result = put_later(copy, one);
    if (copy->later_last)
        copy->later_last->next = rest;
    else
        copy->later = rest;
    copy->later_last = rest_last ? rest_last : copy->later_last;
    free_later(copy, one);
    return result;
}

static unsigned expanding(H5L_type_t type) {
    return type == H5L_TYPE_SOFT       ? H5O_COPY_EXPAND_SOFT_LINK_FLAG
           : type == H5L_TYPE_EXTERNAL ? H5O_COPY_EXPAND_EXT_LINK_FLAG
                                       : 0;
}

herr_t vol_copy_meet(vol_copy *copy, vol_copied *group, const vol_copy_link *link) {
    const vol_copy_place at = {.group = group, .name = link->name};
    const bool is_hard = link->type == H5L_TYPE_HARD;
    const bool leads = is_hard || (copy->flags & expanding(link->type));
    const bool is_later = leads && copy->to->has_places && !link->is_place;
    bool there = false;
    if (copy->to->passes && copy->to->passes(copy, link))
        return 0;
    if (leads && !is_later && put_target(copy, &at, link, &there) < 0)
        return -1;
    if (!there && !is_hard && copy->to->make_link(copy, &at, &link->value) < 0)
        return -1;
    return is_later ? add_later(copy, group, link) : 0;
}

/* ---- The whole ---- */

herr_t vol_copy_begin(vol_copy *copy, const vol_copy_request *request) {
    copy->request = request;
    copy->lib = copy->files.lib = request->to->lib;
    return copy->lib->H5Pget_copy_object(request->ocpypl, &copy->flags);
}

herr_t vol_copy_run(vol_copy *copy, const vol_copy_object *top) {
    const vol_copy_place at = {.name = copy->place ? copy->place->name : copy->request->name};
    herr_t result = put(copy, &at, top);
    while (result >= 0 && copy->later)
        result = put_first_later(copy);
    return result < 0 ? -1 : copy->to->finish(copy);
}

void vol_copy_end(vol_copy *copy) {
    for (later *one = copy->later, *next; one; one = next) {
        next = one->next;
        free_later(copy, one);
    }
    for (vol_copied *one = copy->first, *next; one; one = next) {
        next = one->next;
        free(one->path);
        free(one);
    }
    vol_map_clear(&copy->nodes);
    vol_imported_clear(&copy->files);
}

/* ---- Places in HDF5 files ---- */

H5VL_loc_params_t vol_copy_from_top(const vol_copy *copy, const vol_copied *copied) {
    return vol_loc_by_name(copy->lib, copy->first->type, copied->path);
}

uint64_t vol_copy_address(const vol_copy *copy, const vol_node *node) {
    const vol_copied *copied = vol_copy_of(copy, node);
    H5O_token_t token = {{0}};
    H5VL_object_specific_args_t args = {.op_type = H5VL_OBJECT_LOOKUP,
                                        .args.lookup.token_ptr = &token};
    if (!copied)
        return 0;
    const H5VL_loc_params_t loc = vol_copy_from_top(copy, copied);
    return copy->lib->H5VLobject_specific(copy->first->object, &loc, copy->lib->native, &args,
                                          copy->request->dxpl, NULL) < 0
               ? 0
               : vol_token_get(&token);
}

/* ---- Links in stores ---- */

vol_place vol_copy_store_place(const vol_copy *copy, const vol_copy_place *at) {
    return (vol_place){.group = at->group ? at->group->copy : copy->place->group,
                       .name = (char *)(uintptr_t)at->name};
}

herr_t vol_copy_link_in_store(vol_copy *copy, const vol_copy_place *at, const vol_copied *copied) {
    const vol_place place = vol_copy_store_place(copy, at);
    zb_error err = {0};
    return vol_alias_create(&place, copied->copy, &err) == ZB_OK
               ? 0
               : vol_copy_failed(copy->lib, at->name, &err);
}

/* A group that was copied as it is stored has its links already. */
herr_t vol_copy_value_in_store(vol_copy *copy, const vol_copy_place *at,
                               const vol_link_value *value) {
    const vol_place place = vol_copy_store_place(copy, at);
    zb_error err = {0};
    if (vol_link_entry_find(place.group, place.name))
        return 0;
    const enum zb_code code =
        value->file ? vol_edit_create_external(&place, value->file, value->target, &err)
                    : vol_edit_create_soft(&place, value->target, &err);
    return code ? vol_copy_failed(copy->lib, at->name, &err) : 0;
}
