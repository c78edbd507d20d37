/* SPDX-License-Identifier: MIT */
/* Calls of all ranks on what is in a file: see collective.h; on files: collective_file.c. */
#include "ranks/collective.h"

#include "ranks/turn.h"
#include "dataset/edit_dataset.h"
#include "dataset/writers.h"
#include "tree/follow.h"
#include "tree/loose.h"
#include "waiting/waiting_store.h"

#include <string.h>

/* ---- Creating ---- */

/* `action` of rank 0; `open` of the others, once it has succeeded; `close` of what is open where
   another rank has failed. Nothing is shared that has no name yet. */
#define CREATE(name, action, open, close)                                                          \
    do {                                                                                           \
        vol_turn turn =                                                                            \
            vol_turn_begin(name ? obj : NULL, __func__, name, name ? strlen(name) : 0);            \
        if (vol_turn_meet(&turn, 0) < 0)                                                           \
            return NULL;                                                                           \
        void *made = vol_turn_acts(&turn) ? action : NULL;                                         \
        if (vol_turn_led(&turn, made ? 0 : -1) >= 0 && !vol_turn_acts(&turn))                      \
            made = vol_turn_looks(&turn, vol_follow_made) >= 0 ? open : NULL;                      \
        if (vol_turn_end(&turn, made ? 0 : -1) >= 0 || !made)                                      \
            return made;                                                                           \
        hid_t saved = vol_stack_save(turn.lib);                                                    \
        void *opened = made;                                                                       \
        close;                                                                                     \
        vol_stack_restore(turn.lib, saved);                                                        \
        return NULL;                                                                               \
    } while (0)

void *vol_collective_dataset_create(void *obj, const H5VL_loc_params_t *loc, const char *name,
                                    hid_t lcpl, hid_t type, hid_t space, hid_t dcpl, hid_t dapl,
                                    hid_t dxpl, void **req) {
    CREATE(name, vol_dataset_class.create(obj, loc, name, lcpl, type, space, dcpl, dapl, dxpl, req),
           vol_dataset_class.open(obj, loc, name, dapl, dxpl, req),
           vol_dataset_class.close(opened, dxpl, NULL));
}

void *vol_collective_group_create(void *obj, const H5VL_loc_params_t *loc, const char *name,
                                  hid_t lcpl, hid_t gcpl, hid_t gapl, hid_t dxpl, void **req) {
    CREATE(name, vol_group_class.create(obj, loc, name, lcpl, gcpl, gapl, dxpl, req),
           vol_group_class.open(obj, loc, name, gapl, dxpl, req),
           vol_group_class.close(opened, dxpl, NULL));
}

void *vol_collective_datatype_commit(void *obj, const H5VL_loc_params_t *loc, const char *name,
                                     hid_t type, hid_t lcpl, hid_t tcpl, hid_t tapl, hid_t dxpl,
                                     void **req) {
    CREATE(name, vol_datatype_class.commit(obj, loc, name, type, lcpl, tcpl, tapl, dxpl, req),
           vol_datatype_class.open(obj, loc, name, tapl, dxpl, req),
           vol_datatype_class.close(opened, dxpl, NULL));
}

/* ---- Other changes ---- */

static herr_t push_failure(h5_lib *lib, const zb_error *err) {
    return VOL_PUSH_ZB(lib, SYM, WRITEERROR, err);
}

/* What each rank does before rank 0 acts: what it has written may be concerned. */
static herr_t store_data(vol_turn *turn) {
    zb_error err = {0};
    if (!turn->ranks || vol_writer_flush_below(turn->file->root, &err) == ZB_OK)
        return 0;
    return push_failure(turn->lib, &err);
}

/* `action` of rank 0, after all have done `before`; the others do `look` afterwards. */
#define CHANGE(object, what, size, before, action, look)                                           \
    do {                                                                                           \
        vol_turn turn = vol_turn_begin(object, __func__, what, size);                              \
        if (turn.ranks && vol_turn_meet(&turn, before) < 0)                                        \
            return -1;                                                                             \
        herr_t result = vol_turn_acts(&turn) ? action : 0;                                         \
        result = vol_turn_led(&turn, result);                                                      \
        if (result >= 0 && !vol_turn_acts(&turn))                                                  \
            result = look;                                                                         \
        return vol_turn_end(&turn, result);                                                        \
    } while (0)

/* The name by which a location is given, if it is one. */
static const char *name_at(const H5VL_loc_params_t *loc) {
    return loc->type == H5VL_OBJECT_BY_NAME ? loc->loc_data.loc_by_name.name : "";
}

static size_t extent_size(const vol_object *object) {
    return object->under ? 0 : zb_node_array(object->node->zarr)->ndim * sizeof(hsize_t);
}

static herr_t prepare_extent(const vol_object *object, const hsize_t *size) {
    zb_error err = {0};
    const uint32_t ndim = zb_node_array(object->node->zarr)->ndim;
    uint64_t shape[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < ndim; d++)
        shape[d] = size[d];
    return vol_writer_before_resize(object->node, shape, &err) == ZB_OK
               ? 0
               : push_failure(object->lib, &err);
}

static herr_t follow_extent(const vol_object *object) {
    zb_error err = {0};
    return vol_edit_follow_shape(object->node, &err) == ZB_OK ? 0 : push_failure(object->lib, &err);
}

herr_t vol_collective_dataset_specific(void *obj, H5VL_dataset_specific_args_t *args, hid_t dxpl,
                                       void **req) {
    if (args->op_type != H5VL_DATASET_SET_EXTENT)
        return vol_dataset_class.specific(obj, args, dxpl, req);
    CHANGE(obj, args->args.set_extent.size, extent_size(obj),
           prepare_extent(obj, args->args.set_extent.size),
           vol_dataset_class.specific(obj, args, dxpl, req), follow_extent(obj));
}

/* An object that was made without a name has one now. */
static herr_t follow_link(vol_turn *turn, const H5VL_link_create_args_t *args, const vol_object *at,
                          const H5VL_loc_params_t *loc) {
    const vol_object *target =
        args->op_type == H5VL_LINK_CREATE_HARD ? args->args.hard.curr_obj : NULL;
    zb_error err = {0};
    vol_place place;
    if (vol_turn_looks(turn, vol_follow_change) < 0)
        return -1;
    if (!target || !target->node || !target->node->loose || !vol_loose_hierarchy(target->node) ||
        args->args.hard.curr_loc_params.type != H5VL_OBJECT_BY_SELF ||
        loc->type != H5VL_OBJECT_BY_NAME)
        return 0;
    enum zb_code code = vol_place_for_new(at->node, loc->loc_data.loc_by_name.name,
                                          (vol_missing){.make = false}, &place, &err);
    if (!code) {
        code = vol_edit_link(target->node, &place, &err);
        vol_place_clear(&place);
    }
    return code ? push_failure(turn->lib, &err) : 0;
}

herr_t vol_collective_link_create(H5VL_link_create_args_t *args, void *obj,
                                  const H5VL_loc_params_t *loc, hid_t lcpl, hid_t lapl, hid_t dxpl,
                                  void **req) {
    const vol_object *at = obj ? obj : args->args.hard.curr_obj;
    CHANGE(at, name_at(loc), strlen(name_at(loc)), store_data(&turn),
           vol_link_class.create(args, obj, loc, lcpl, lapl, dxpl, req),
           follow_link(&turn, args, at, loc));
}

herr_t vol_collective_link_copy(void *source, const H5VL_loc_params_t *source_loc, void *target,
                                const H5VL_loc_params_t *target_loc, hid_t lcpl, hid_t lapl,
                                hid_t dxpl, void **req) {
    CHANGE(target ? target : source, name_at(target_loc), strlen(name_at(target_loc)),
           store_data(&turn),
           vol_link_class.copy(source, source_loc, target, target_loc, lcpl, lapl, dxpl, req),
           vol_turn_looks(&turn, vol_follow_change));
}

/* The place that moves, if its node is open here: its ids move with it. */
static vol_link *open_place(const vol_turn *turn, const vol_object *from,
                            const H5VL_loc_params_t *loc) {
    vol_found found = {.link = NULL};
    if (!turn->ranks || h5_ranks_lead(turn->ranks) || !from || from->under ||
        from->file != turn->file)
        return NULL;
    hid_t saved = vol_stack_save(turn->lib);
    const bool is_there = vol_locate_link(from, loc, &found);
    vol_stack_restore(turn->lib, saved);
    return is_there && found.link && found.link->node && found.link->kind == VOL_LINK_HARD
               ? found.link
               : NULL;
}

static herr_t follow_move(vol_turn *turn, vol_link *link, const vol_object *to,
                          const H5VL_loc_params_t *loc) {
    zb_error err = {0};
    vol_place place;
    enum zb_code code = link ? vol_follow_made(turn->file, &err) : ZB_OK;
    if (!code && link && loc->type == H5VL_OBJECT_BY_NAME) {
        code = vol_place_for_new(to->node, loc->loc_data.loc_by_name.name,
                                 (vol_missing){.make = false}, &place, &err);
        if (!code) {
            code = vol_tree_move(link, place.group, place.name, &err);
            vol_place_clear(&place);
        }
    }
    return code ? push_failure(turn->lib, &err) : vol_turn_looks(turn, vol_follow_change);
}

herr_t vol_collective_link_move(void *source, const H5VL_loc_params_t *source_loc, void *target,
                                const H5VL_loc_params_t *target_loc, hid_t lcpl, hid_t lapl,
                                hid_t dxpl, void **req) {
    const vol_object *from = source ? source : target, *to = target ? target : source;
    vol_link *link = NULL;
    CHANGE(to, name_at(target_loc), strlen(name_at(target_loc)),
           (link = open_place(&turn, from, source_loc), store_data(&turn)),
           vol_link_class.move(source, source_loc, target, target_loc, lcpl, lapl, dxpl, req),
           follow_move(&turn, link, to, target_loc));
}

herr_t vol_collective_link_specific(void *obj, const H5VL_loc_params_t *loc,
                                    H5VL_link_specific_args_t *args, hid_t dxpl, void **req) {
    if (args->op_type != H5VL_LINK_DELETE)
        return vol_link_class.specific(obj, loc, args, dxpl, req);
    CHANGE(obj, name_at(loc), strlen(name_at(loc)), store_data(&turn),
           vol_link_class.specific(obj, loc, args, dxpl, req),
           vol_turn_looks(&turn, vol_follow_change));
}

herr_t vol_collective_object_copy(void *source, const H5VL_loc_params_t *source_loc,
                                  const char *source_name, void *target,
                                  const H5VL_loc_params_t *target_loc, const char *target_name,
                                  hid_t ocpypl, hid_t lcpl, hid_t dxpl, void **req) {
    CHANGE(target, target_name, strlen(target_name), store_data(&turn),
           vol_object_class.copy(source, source_loc, source_name, target, target_loc, target_name,
                                 ocpypl, lcpl, dxpl, req),
           vol_turn_looks(&turn, vol_follow_change));
}
