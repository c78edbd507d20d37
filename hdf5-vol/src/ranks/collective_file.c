/* SPDX-License-Identifier: MIT */
/* Calls of all ranks on files: see collective.h. */
#include "ranks/collective.h"
#include "ranks/turn.h"
#include "file/names.h"
#include "tree/follow.h"

#include <string.h>

/* ---- Opening ---- */

/* A call that names a file, with the ranks of its access list. */
typedef struct call {
    vol_turn turn;
    hid_t alone; /* the list without its communicator: what one rank does by it asks no other */
} call;

/* False: an error was pushed. Without ranks there is nothing to end. */
static bool begin(h5_lib *lib, const char *what, const char *name, hid_t fapl, call *out) {
    *out = (call){.turn = {.lib = lib}, .alone = -1};
    out->turn.call = h5_ranks_call(what, name, strlen(name));
    if (!h5_ranks_of_list(lib, fapl, &out->turn.ranks))
        return false;
    if (!out->turn.ranks)
        return true;
    out->alone = h5_list_alone(lib, fapl);
    if (vol_turn_meet(&out->turn, out->alone < 0 ? -1 : 0) >= 0)
        return true;
    vol_release_id(lib, out->alone);
    h5_ranks_free(out->turn.ranks);
    return false;
}

/* The ranks stay where a file has taken them over. */
static void end(call *it, bool taken) {
    vol_release_id(it->turn.lib, it->alone);
    hid_t saved = vol_stack_save(it->turn.lib);
    if (!taken)
        h5_ranks_free(it->turn.ranks);
    vol_stack_restore(it->turn.lib, saved);
}

/* Rank 0 tells all whether a file is the native connector's: others might see it otherwise once
   something has been made there. */
static bool is_native(call *it, bool as_rank_0_sees_it) {
    h5_verdict answer = {.failed = as_rank_0_sees_it};
    h5_ranks_hear(it->turn.ranks, &answer);
    return answer.failed;
}

/* One that rank 0 alone has opened or created is closed where another rank has failed. */
static void *join(call *it, vol_object *file, hid_t fapl, hid_t dxpl) {
    h5_lib *lib = it->turn.lib;
    zb_error err = {0};
    if (vol_turn_end(&it->turn, file ? 0 : -1) < 0) {
        hid_t saved = vol_stack_save(lib);
        if (file)
            vol_file_class.close(file, dxpl, NULL);
        vol_stack_restore(lib, saved);
        end(it, false);
        return NULL;
    }
    const enum zb_code code = vol_handle_join(file->handle, it->turn.ranks, fapl, &err);
    end(it, true);
    if (!code)
        return file;
    vol_file_class.close(file, dxpl, NULL);
    VOL_PUSH_ZB(lib, FILE, CANTOPENFILE, &err);
    return NULL;
}

/* The other ranks would find nothing before an archive is complete. */
static void *create_alone(h5_lib *lib, const char *name, unsigned flags, hid_t fcpl, hid_t fapl,
                          hid_t dxpl, void **req) {
    if (!vol_filename_becomes_zip(name))
        return vol_file_create(lib, name, flags, fcpl, fapl, dxpl, req);
    VOL_PUSH(lib, FILE, UNSUPPORTED,
             "'%s': several ranks cannot write a zip archive; write a directory, and convert it",
             name);
    return NULL;
}

void *vol_collective_file_create(h5_lib *lib, const char *name, unsigned flags, hid_t fcpl,
                                 hid_t fapl, hid_t dxpl, void **req) {
    call it;
    void *file = NULL;
    vol_start(lib);
    if (!begin(lib, __func__, name, fapl, &it))
        return NULL;
    if (!it.turn.ranks)
        return vol_file_create(lib, name, flags, fcpl, fapl, dxpl, req);
    const bool leads = vol_turn_acts(&it.turn);
    if (is_native(&it, leads && vol_file_becomes_native(lib, name, flags, it.alone))) {
        end(&it, false);
        return vol_file_create(lib, name, flags, fcpl, fapl, dxpl, req);
    }
    if (leads)
        file = create_alone(lib, name, flags, fcpl, it.alone, dxpl, req);
    if (vol_turn_led(&it.turn, file ? 0 : -1) >= 0 && !leads)
        file = vol_file_open(lib, name, H5_ACC_RDWR, it.alone, dxpl, req);
    return join(&it, file, fapl, dxpl);
}

/* Rank 0 comes first: it may have to make a door its own. */
void *vol_collective_file_open(h5_lib *lib, const char *name, unsigned flags, hid_t fapl,
                               hid_t dxpl, void **req) {
    call it;
    vol_start(lib);
    if (!begin(lib, __func__, name, fapl, &it))
        return NULL;
    if (!it.turn.ranks)
        return vol_file_open(lib, name, flags, fapl, dxpl, req);
    const bool leads = vol_turn_acts(&it.turn);
    if (is_native(&it, leads && vol_file_is_native(lib, name, flags, it.alone))) {
        end(&it, false);
        return vol_file_open(lib, name, flags, fapl, dxpl, req);
    }
    return join(&it, vol_file_open(lib, name, flags, it.alone, dxpl, req), fapl, dxpl);
}

/* ---- Deleting ---- */

static herr_t delete_file(h5_lib *lib, H5VL_file_specific_args_t *args, hid_t dxpl, void **req) {
    call it;
    const hid_t fapl = args->args.del.fapl_id;
    vol_start(lib);
    if (!begin(lib, __func__, args->args.del.filename, fapl, &it))
        return -1;
    if (!it.turn.ranks)
        return vol_file_specific(lib, NULL, args, dxpl, req);
    const bool leads = vol_turn_acts(&it.turn);
    herr_t result = 0;
    if (is_native(&it, leads && !vol_filename_is_zarr(args->args.del.filename))) {
        end(&it, false);
        return vol_file_specific(lib, NULL, args, dxpl, req);
    }
    args->args.del.fapl_id = it.alone;
    if (leads)
        result = vol_file_specific(lib, NULL, args, dxpl, req);
    args->args.del.fapl_id = fapl;
    result = vol_turn_led(&it.turn, result);
    end(&it, false);
    return result;
}

/* ---- Flushing and closing ---- */

/* The turn of a handle that all ranks have. */
static vol_turn turn_of(const vol_object *object, const char *function) {
    vol_turn turn = vol_turn_begin(object, function, NULL, 0);
    if (turn.ranks && (!object->handle->is_collective || !h5_ranks_can_talk(turn.ranks)))
        turn.ranks = NULL;
    return turn;
}

/* The data of each rank, and the documents by rank 0. */
static herr_t flush(vol_turn *turn, vol_object *object, hid_t dxpl) {
    H5VL_file_specific_args_t args = {.op_type = H5VL_FILE_FLUSH, .args.flush.obj_type = H5I_FILE};
    if (vol_turn_meet(turn, 0) < 0)
        return -1;
    herr_t result = vol_turn_end(turn, vol_file_specific(turn->lib, object, &args, dxpl, NULL));
    if (result >= 0 && !vol_turn_acts(turn) && turn->file->writable)
        result = vol_turn_looks(turn, vol_follow_flush);
    return result;
}

herr_t vol_collective_file_specific(h5_lib *lib, void *obj, H5VL_file_specific_args_t *args,
                                    hid_t dxpl, void **req) {
    if (args->op_type == H5VL_FILE_DELETE)
        return delete_file(lib, args, dxpl, req);
    if (args->op_type == H5VL_FILE_FLUSH) {
        vol_turn turn = turn_of(obj, __func__);
        if (turn.ranks)
            return flush(&turn, obj, dxpl);
    }
    return vol_file_specific(lib, obj, args, dxpl, req);
}

herr_t vol_collective_file_close(void *obj, hid_t dxpl, void **req) {
    vol_object *object = obj;
    vol_turn turn = turn_of(object, __func__);
    if (turn.ranks && object->handle->files == 1 && flush(&turn, object, dxpl) < 0) {
        object->handle->is_collective = false; /* the next close is each rank's own */
        return -1;
    }
    return vol_file_class.close(obj, dxpl, req);
}
