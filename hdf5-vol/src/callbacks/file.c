/* SPDX-License-Identifier: MIT */
/*
 * Files: opening a store, deciding whether a path is ours, and HDF5's questions about open files.
 *
 * A path belongs to us when it names a directory with a zarr.json, an archive or a URL (names.h); a
 * file that is created, also when its name ends in ".zarr" or lies in a store. Everything else goes
 * to the native connector, so that with HDF5_VOL_CONNECTOR=zarr one program can use both kinds.
 */
#include "attributes/write.h"
#include "callbacks/chunks.h"
#include "callbacks/classes.h"
#include "create/creation_list.h"
#include "file/find_store.h"
#include "file/new_door.h"
#include "file/open_files.h"
#include "file/names.h"
#include "file/new_store.h"
#include "file/owners.h"
#include "hdf5/errors.h"
#include "hdf5/shadows.h"
#include "links/link_order.h"
#include "netcdf/store_numbers.h"
#include "file/absent.h"
#include "waiting/waiting_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A copy of fapl that leads to the native connector. The caller closes it. */
static hid_t native_fapl(h5_lib *lib, hid_t fapl) {
    hid_t copy = lib->H5Pcopy(fapl);
    if (copy >= 0)
        lib->H5Pset_vol(copy, lib->native, NULL);
    return copy;
}

/* Gives an opened or created store its object, and lets go of the handle. The shadows come first:
   an object without one would be a danger to native code. */
static void *object_of_handle(h5_lib *lib, vol_handle *handle) {
    vol_object *object = NULL;
    vol_append_register(lib);
    if (vol_shadows_make(lib) >= 0)
        object = vol_object_new(handle, handle->file->root, H5I_FILE);
    vol_handle_release(handle); /* the object holds it now */
    if (!object && lib->live == 0)
        vol_shadows_drop(lib);
    return object;
}

static enum zb_code create_store(h5_lib *lib, const char *name, bool truncate, hid_t fcpl,
                                 const vol_options *options, vol_handle **out, zb_error *err) {
    char *attributes;
    unsigned order = 0;
    enum zb_code code = vol_list_member_attributes(lib, fcpl, &attributes, err);
    if (!code)
        code = vol_store_create(lib, name, options, truncate, attributes, out, err);
    free(attributes);
    if (code || lib->H5Pget_link_creation_order(fcpl, &order) < 0)
        return code;
    code = vol_order_begin((*out)->file->root, order, err);
    if (code)
        vol_handle_release(*out);
    return code;
}

/* Creates a store by a creation list, or opens one (-1). On failure h5py takes the class of its
   exception from the errno. */
static void *store_of_path(h5_lib *lib, const char *name, unsigned flags, hid_t fcpl, hid_t fapl,
                           const vol_options *options) {
    zb_error err = {0};
    vol_handle *handle;
    const bool create = fcpl >= 0;
    if (!vol_fapl_check(lib, fapl, create || flags & H5_ACC_RDWR))
        return NULL;
    enum zb_code code =
        create ? create_store(lib, name, flags & H5_ACC_TRUNC, fcpl, options, &handle, &err)
               : vol_handle_open(lib, name, options, flags & H5_ACC_RDWR, &handle, &err);
    const bool is_taken = code == ZB_ECONFLICT || err.sys_errno == EEXIST;
    if (create && is_taken && !(flags & H5_ACC_TRUNC) && vol_absent_is_others(NULL, name) &&
        vol_handle_open(lib, name, options, true, &handle, NULL) == ZB_OK)
        code = ZB_OK;
    if (create && code == ZB_OK)
        vol_absent_made(NULL, name);
    if (code != ZB_OK) {
        VOL_PUSH_ZB(lib, FILE, CANTOPENFILE, &err);
        return NULL;
    }
    handle->swmr = flags & (H5_ACC_SWMR_WRITE | H5_ACC_SWMR_READ);
    const bool is_read = vol_fapl_read(lib, fapl, &handle->manners);
    handle->manners.is_netcdf = options->is_netcdf;
    if (is_read)
        return object_of_handle(lib, handle);
    vol_handle_release(handle);
    return NULL;
}

static bool becomes_store(const char *name, const vol_options *options) {
    return vol_filename_is_zarr(name) || vol_filename_becomes_zarr(name) ||
           options->naming == VOL_NAMING_ALL || !vol_env_is_ours();
}

/* Whether a new file is HDF5's own in spite of its name: one that is never on a disk; and, where
   the name does not speak for a store, one whose driver keeps bytes elsewhere. */
static bool driver_is_native(h5_lib *lib, const char *name, hid_t fapl) {
    enum vol_driver driver = vol_fapl_driver(lib, fapl);
    return driver == VOL_DRIVER_MEMORY || driver == VOL_DRIVER_IMAGE ||
           (driver == VOL_DRIVER_OTHER && vol_env_is_ours() && !vol_filename_is_zarr(name) &&
            !vol_filename_becomes_zarr(name));
}

/* Whether a new file is left to the native connector. door: what vol_new_door_find has found. */
static bool becomes_native(h5_lib *lib, const char *name, hid_t fapl, const vol_options *options,
                           const vol_new_door *door) {
    const bool is_native = driver_is_native(lib, name, fapl);
    return door->store ? door->is_new && is_native : !becomes_store(name, options) || is_native;
}

/* The door is made when the store is there. Where that fails the store stays, empty. */
static void *create_behind(h5_lib *lib, const char *name, vol_new_door *door, unsigned flags,
                           hid_t fcpl, hid_t fapl, const vol_options *options) {
    zb_error err = {0};
    void *file = NULL;
    if (door->is_new) /* what another program has put there in the meantime is not replaced */
        flags &= ~H5_ACC_TRUNC;
    if (vol_fcpl_check(lib, fcpl))
        file = store_of_path(lib, door->store, flags, fcpl, fapl, options);
    if (file && vol_new_door_make(name, door, &err) != ZB_OK) {
        vol_object_free(file);
        VOL_PUSH_ZB(lib, FILE, CANTOPENFILE, &err);
        file = NULL;
    }
    vol_new_door_clear(door);
    return file;
}

bool vol_file_becomes_native(h5_lib *lib, const char *name, unsigned flags, hid_t fapl) {
    vol_options options;
    vol_new_door door = {.store = NULL};
    hid_t saved = vol_stack_save(lib);
    const bool known =
        vol_info_options(lib, fapl, &options) &&
        vol_new_door_find(name, &options, flags & H5_ACC_TRUNC, &door, NULL) == ZB_OK;
    const bool native = known && becomes_native(lib, name, fapl, &options, &door);
    vol_new_door_clear(&door);
    vol_stack_restore(lib, saved);
    return native;
}

/* HDF5 calls this with HDF5_VOL_CONNECTOR or an explicit access list only: creation never searches
   plugins. With an explicit list the program wants a store whatever its name. */
void *vol_file_create(h5_lib *lib, const char *name, unsigned flags, hid_t fcpl, hid_t fapl,
                      hid_t dxpl, void **req) {
    vol_options options;
    vol_new_door door;
    zb_error err = {0};
    vol_start(lib);
    if (!vol_info_options(lib, fapl, &options))
        return NULL;
    if (vol_new_door_find(name, &options, flags & H5_ACC_TRUNC, &door, &err) != ZB_OK) {
        VOL_PUSH_ZB(lib, FILE, CANTOPENFILE, &err);
        return NULL;
    }
    const bool is_native = becomes_native(lib, name, fapl, &options, &door);
    if (door.store && !is_native)
        return create_behind(lib, name, &door, flags, fcpl, fapl, &options);
    vol_new_door_clear(&door);
    if (is_native) {
        hid_t native = native_fapl(lib, fapl);
        void *under = lib->H5VLfile_create(name, flags, fcpl, native, dxpl, req);
        vol_release_id(lib, native);
        return vol_object_pass(lib, H5I_FILE, under);
    }
    if (!vol_fcpl_check(lib, fcpl))
        return NULL;
    return store_of_path(lib, name, flags, fcpl, fapl, &options);
}

/* Passes a call on a file name on, with an access list that leads to the native connector. */
static herr_t native_by_name(h5_lib *lib, H5VL_file_specific_args_t *args, hid_t *fapl, hid_t dxpl,
                             void **req) {
    vol_start(lib);
    hid_t given = *fapl;
    *fapl = native_fapl(lib, given);
    herr_t result = lib->H5VLfile_specific(NULL, lib->native, args, dxpl, req);
    vol_release_id(lib, *fapl);
    *fapl = given;
    return result;
}

static bool is_hdf5_file(h5_lib *lib, const char *name, hid_t fapl, hid_t dxpl) {
    hbool_t is_one = false;
    H5VL_file_specific_args_t args = {
        .op_type = H5VL_FILE_IS_ACCESSIBLE,
        .args.is_accessible = {.filename = name, .fapl_id = fapl, .accessible = &is_one}};
    hid_t saved = vol_stack_save(lib);
    const herr_t result = native_by_name(lib, &args, &args.args.is_accessible.fapl_id, dxpl, NULL);
    vol_stack_restore(lib, saved);
    return result >= 0 && is_one;
}

/* After the native connector has failed: says what is there when that is known, instead of its
   error, which tells of a signature or a directory. Of an HDF5 file, which may be open already or
   cut off, it knows better. URLs that are not ours may be meant for another driver, and their hosts
   are not asked. */
static void explain(h5_lib *lib, const char *name, hid_t fapl, hid_t dxpl) {
    zb_error err = {0};
    if (zb_name_is_url(name) || !vol_filename_explain(name, &err) ||
        is_hdf5_file(lib, name, fapl, dxpl))
        return;
    vol_release_id(lib, lib->H5Eget_current_stack()); /* which empties it */
    VOL_PUSH_ZB(lib, FILE, CANTOPENFILE, &err);
}

static void *open_native(h5_lib *lib, const char *name, unsigned flags, hid_t fapl, hid_t dxpl,
                         void **req) {
    hid_t native = native_fapl(lib, fapl);
    void *under = lib->H5VLfile_open(name, flags, native, dxpl, req);
    vol_release_id(lib, native);
    if (!under)
        explain(lib, name, fapl, dxpl);
    return vol_object_pass(lib, H5I_FILE, under);
}

/* *out: the store that a name leads to, malloc'ed; NULL: the file is the native connector's. */
static enum zb_code find_store(h5_lib *lib, const char *name, unsigned flags, hid_t fapl,
                               const vol_options *options, char **out, zb_error *err) {
    *out = NULL;
    if (vol_fapl_driver(lib, fapl) == VOL_DRIVER_IMAGE)
        return ZB_OK;
    return vol_filename_follow(name, options, flags & H5_ACC_RDWR, out, err);
}

bool vol_file_is_native(h5_lib *lib, const char *name, unsigned flags, hid_t fapl) {
    vol_options options;
    char *store = NULL;
    hid_t saved = vol_stack_save(lib);
    const bool native = vol_info_options(lib, fapl, &options) &&
                        find_store(lib, name, flags, fapl, &options, &store, NULL) == ZB_OK &&
                        !store;
    free(store);
    vol_stack_restore(lib, saved);
    return native;
}

/* HDF5 looks later than we did, and may have met the store that another program makes just now:
   that store, and HDF5's errors are dropped. */
static char *came_since(h5_lib *lib, const char *name, unsigned flags, hid_t fapl,
                        const vol_options *options) {
    char *store;
    hid_t errors = vol_stack_save(lib);
    if (find_store(lib, name, flags, fapl, options, &store, NULL) == ZB_OK && store)
        vol_release_id(lib, errors);
    else
        vol_stack_restore(lib, errors);
    return store;
}

void *vol_file_open(h5_lib *lib, const char *name, unsigned flags, hid_t fapl, hid_t dxpl,
                    void **req) {
    vol_options options;
    zb_error err = {0};
    char *store;
    vol_start(lib);
    if (!vol_info_options(lib, fapl, &options))
        return NULL;
    if (find_store(lib, name, flags, fapl, &options, &store, &err) != ZB_OK) {
        VOL_PUSH_ZB(lib, FILE, CANTOPENFILE, &err);
        return NULL;
    }
    void *file = store ? NULL : open_native(lib, name, flags, fapl, dxpl, req);
    if (!file && !store)
        store = came_since(lib, name, flags, fapl, &options);
    if (store)
        file = store_of_path(lib, store, flags, -1, fapl, &options);
    if (!file && !store && flags & H5_ACC_RDWR)
        vol_absent_tell(NULL, name);
    free(store);
    return file;
}

/* ---- Get ---- */

static herr_t get_of_store(const vol_object *object, H5VL_file_get_args_t *args) {
    h5_lib *lib = object->lib;
    const vol_file *file = object->file;
    switch (args->op_type) {
    case H5VL_FILE_GET_CONT_INFO:
        /* Old object references can carry 8-byte tokens, and no longer ones. */
        args->args.get_cont_info.info->feature_flags = 0;
        args->args.get_cont_info.info->token_size = sizeof(uint64_t);
        args->args.get_cont_info.info->blob_id_size = 0;
        return 0;
    case H5VL_FILE_GET_FAPL:
        args->args.get_fapl.fapl_id = vol_fapl_new(lib, &object->handle->manners);
        return args->args.get_fapl.fapl_id < 0 ? -1 : 0;
    case H5VL_FILE_GET_FCPL:
        args->args.get_fcpl.fcpl_id = vol_group_list(file->root, *lib->H5P_CLS_FILE_CREATE_ID_g);
        return args->args.get_fcpl.fcpl_id < 0 ? -1 : 0;
    case H5VL_FILE_GET_FILENO:
        *args->args.get_fileno.fileno = (unsigned long)file->number;
        return 0;
    case H5VL_FILE_GET_INTENT:
        *args->args.get_intent.flags =
            (object->handle->writable ? H5_ACC_RDWR : 0) | object->handle->swmr;
        return 0;
    case H5VL_FILE_GET_NAME: {
        H5VL_file_get_name_args_t *name = &args->args.get_name;
        vol_copy_name(file->path, name->buf, name->buf_size, name->file_name_len);
        return 0;
    }
    case H5VL_FILE_GET_OBJ_COUNT:
        *args->args.get_obj_count.count =
            vol_object_ids(object, args->args.get_obj_count.types, 0, NULL);
        return 0;
    case H5VL_FILE_GET_OBJ_IDS: {
        H5VL_file_get_obj_ids_args_t *ids = &args->args.get_obj_ids;
        *ids->count = vol_object_ids(object, ids->types, ids->max_objs, ids->oid_list);
        return 0;
    }
    }
    return vol_refuse(lib, "this question about a file");
}

herr_t vol_file_get(h5_lib *lib, void *obj, H5VL_file_get_args_t *args, hid_t dxpl, void **req) {
    const vol_object *object = obj;
    vol_start(lib);
    if (!vol_is_ours(obj)) /* HDF5 2.2's tools ask with the native object behind our id */
        return lib->H5VLfile_get(obj, lib->native, args, dxpl, req);
    if (object->under)
        return lib->H5VLfile_get(object->under, lib->native, args, dxpl, req);
    return get_of_store(object, args);
}

/* ---- Specific ---- */

/*
 * Whether H5Fopen searches through all plugins, after the native connector failed. That failure is
 * then still on the error stack, unless the program has paused it, as the tools of HDF5 2.x do.
 * That version also pauses the stack for as long as it searches. No HDF5 call but H5Eget_num may
 * happen while there is something on the stack: it would clear what the user is about to see.
 */
static bool in_search(h5_lib *lib) {
    bool paused = false;
    if (lib->H5Eget_num(H5E_DEFAULT) > 0)
        return true;
    return lib->H5Eis_paused && lib->H5Eis_paused(H5E_DEFAULT, &paused) >= 0 && paused;
}

/* Whether the search's access list has a driver with which no store opens (it would be refused).
   Where the search has found a connector and the open fails, HDF5 1.14 loses that list; and a
   program with a lost list that holds other lists, as those of such drivers do, crashes when it
   ends. */
static bool wants_other_driver(h5_lib *lib, hid_t fapl) {
    hid_t saved = vol_stack_save(lib);
    const bool other = vol_fapl_driver(lib, fapl) == VOL_DRIVER_OTHER;
    vol_stack_restore(lib, saved);
    return other;
}

/* The answer of a URL's host. That there is no store is one, that the host fails is none. */
static herr_t ask_host(h5_lib *lib, const char *url, hid_t fapl, hbool_t *accessible) {
    zb_error err = {0};
    vol_options options;
    if (!vol_info_options(lib, fapl, &options))
        return -1;
    const enum zb_code code = vol_filename_look(url, options.remote, &err);
    *accessible = code == ZB_OK;
    if (!code || code == ZB_ENOTFOUND || code == ZB_EFORMAT || code == ZB_EUNSUPPORTED)
        return 0;
    return VOL_PUSH_ZB(lib, FILE, CANTOPENFILE, &err);
}

/*
 * The search. There we only speak for Zarr stores, and on HDF5 2.x not even for those: that library
 * registers the object which the search finds under the wrong connector and crashes. The search
 * takes the word of a URL: the open that follows asks its host, once, and has the better error. A
 * door is never searched for: it is a file that HDF5 opens.
 */
static void answer_search(h5_lib *lib, H5VL_file_specific_args_t *args) {
    *args->args.is_accessible.accessible = false;
    if (lib->is_v2)
        return;
    char *path = vol_filename_plain(args->args.is_accessible.filename);
    /* Of what is explained the open that follows fails, and says why. */
    const bool zarr = (path && vol_filename_is_zarr(path)) ||
                      zb_name_explain(args->args.is_accessible.filename, NULL);
    free(path);
    *args->args.is_accessible.accessible =
        zarr && !wants_other_driver(lib, args->args.is_accessible.fapl_id);
}

/* H5Fis_accessible, or the search. */
static herr_t is_accessible(h5_lib *lib, H5VL_file_specific_args_t *args, hid_t dxpl, void **req) {
    const char *name = args->args.is_accessible.filename;
    if (!vol_env_is_ours() && in_search(lib)) {
        answer_search(lib, args);
        return 0;
    }
    if (vol_filename_is_url(name))
        return ask_host(lib, name, args->args.is_accessible.fapl_id,
                        args->args.is_accessible.accessible);
    vol_options options;
    char *store = NULL;
    if (!vol_info_options(lib, args->args.is_accessible.fapl_id, &options))
        return -1;
    const enum zb_code code = vol_filename_follow(name, &options, false, &store, NULL);
    const bool is_store = store != NULL;
    free(store);
    if (!code && !is_store)
        return native_by_name(lib, args, &args->args.is_accessible.fapl_id, dxpl, req);
    *args->args.is_accessible.accessible = !code; /* a door may lead nowhere */
    return 0;
}

static herr_t delete_file(h5_lib *lib, H5VL_file_specific_args_t *args, hid_t dxpl, void **req) {
    zb_error err = {0};
    vol_options options;
    if (!vol_info_options(lib, args->args.del.fapl_id, &options))
        return -1;
    if (vol_filename_is_zarr(args->args.del.filename)) {
        return vol_store_delete(lib, args->args.del.filename, &options, &err) == ZB_OK
                   ? 0
                   : VOL_PUSH_ZB(lib, FILE, CANTDELETE, &err);
    }
    return native_by_name(lib, args, &args->args.del.fapl_id, dxpl, req);
}

static herr_t specific_of_native(const vol_object *object, H5VL_file_specific_args_t *args,
                                 hid_t dxpl, void **req) {
    h5_lib *lib = object->lib;
    H5VL_file_specific_args_t native = *args;
    /* HDF5 hands over what get_object says of the other one, other connectors their child as it
       is. */
    if (args->op_type == H5VL_FILE_IS_EQUAL && vol_is_ours(args->args.is_equal.obj2)) {
        const vol_object *other = args->args.is_equal.obj2;
        if (!other->under) {
            *args->args.is_equal.same_file = false;
            return 0;
        }
        native.args.is_equal.obj2 = other->under;
    }
    herr_t result = lib->H5VLfile_specific(object->under, lib->native, &native, dxpl, req);
    if (args->op_type == H5VL_FILE_REOPEN && result >= 0)
        *args->args.reopen.file = vol_object_pass(lib, H5I_FILE, *args->args.reopen.file);
    return result;
}

/* A shadow, which HDF5 hands over in place of any of our objects, is that of a store; of which one
   is known where only one is open. */
static bool is_same_store(const vol_object *object, const void *other) {
    const vol_object *ours = other;
    const vol_file *files = object->lib->files;
    if (vol_is_ours(other))
        return ours->file && ours->file->number == object->file->number;
    return other && other == vol_shadow_of(object->lib, H5I_FILE) && files && !files->next;
}

/* H5Freopen gives a handle of its own. */
static herr_t reopen(const vol_object *object, void **out) {
    const vol_file *file = object->file;
    vol_handle *again;
    zb_error err = {0};
    if (vol_handle_again(object->handle, &again, &err) != ZB_OK)
        return VOL_PUSH_ZB(file->lib, FILE, CANTOPENFILE, &err);
    *out = vol_object_new(again, again->file->root, H5I_FILE);
    vol_handle_release(again);
    return *out ? 0 : -1;
}

/* When HDF5 shuts down, an error that is only pushed reaches no program any more. */
static void push_lost(const vol_object *object, const zb_error *err) {
    VOL_PUSH_ZB(object->lib, FILE, CANTFLUSH, err);
    if (object->lib->stopping)
        vol_report_lost(object->file, err);
}

static herr_t flush(const vol_object *object) {
    vol_file *file = object->file;
    zb_error err = {0};
    const vol_owners owner = object->handle->owner;
    vol_owners_act(file, 0);
    const bool fails = file->writable && (vol_attr_store_unwritten_below(file->root) < 0 ||
                                          vol_numbers_store(file) < 0);
    herr_t result = vol_file_flush(file, object->handle, &err) == ZB_OK ? 0 : -1;
    if (fails && result >= 0 && vol_owners_wait_below(file->root, owner)) {
        zb_fail(&err, ZB_EIO, "attributes that were created could not be stored");
        result = -1;
    }
    if (result < 0)
        push_lost(object, &err);
    return result;
}

herr_t vol_file_specific(h5_lib *lib, void *obj, H5VL_file_specific_args_t *args, hid_t dxpl,
                         void **req) {
    const vol_object *object = obj; /* NULL for the first two */
    if (args->op_type == H5VL_FILE_IS_ACCESSIBLE)
        return is_accessible(lib, args, dxpl, req);
    if (args->op_type == H5VL_FILE_DELETE)
        return delete_file(lib, args, dxpl, req);
    if (object->under)
        return specific_of_native(object, args, dxpl, req);
    switch (args->op_type) {
    case H5VL_FILE_FLUSH:
        return flush(object);
    case H5VL_FILE_REOPEN:
        return reopen(object, args->args.reopen.file);
    case H5VL_FILE_IS_EQUAL:
        *args->args.is_equal.same_file = is_same_store(object, args->args.is_equal.obj2);
        return 0;
    default:
        return vol_refuse(lib, "this operation on a file");
    }
}

/* What the file's close degree says about objects that are open still. */
static herr_t close_by_degree(const vol_object *object) {
    const H5F_close_degree_t degree = object->handle->manners.close_degree;
    const unsigned objects =
        H5F_OBJ_LOCAL | H5F_OBJ_DATASET | H5F_OBJ_GROUP | H5F_OBJ_DATATYPE | H5F_OBJ_ATTR;
    if (degree == H5F_CLOSE_STRONG)
        vol_object_close_all(object);
    if (degree != H5F_CLOSE_SEMI || vol_object_ids(object, objects, 0, NULL) == 0)
        return 0;
    return VOL_PUSH(object->lib, FILE, CANTCLOSEFILE,
                    "cannot close '%s': objects in it are open still (H5F_CLOSE_SEMI)",
                    object->file->shown);
}

/* The last id of an H5Fopen closes the file, and tells of errors.
   HDF5 keeps the id of a file whose closing fails. It leads to an object that closes without an
   error the next time; the data that the error told of are given up, and the path can be opened
   anew. */
static herr_t file_close(void *obj, hid_t dxpl, void **req) {
    vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return vol_object_closed(object,
                                 lib->H5VLfile_close(object->under, lib->native, dxpl, req));
    if (object->handle->files == 1 && !lib->stopping && close_by_degree(object) < 0)
        return -1;
    if (object->handle->files == 1 && flush(object) < 0) {
        vol_attr_abandon_unwritten_below(object->file->root, vol_handle_gives_up(object->handle));
        vol_file_give_up(object->handle);
        if (!lib->stopping)
            return -1;
    }
    if (object->handle->files == 1)
        vol_file_closed(object->handle);
    vol_object_free(object);
    return 0;
}

const H5VL_file_class_t vol_file_class = {
    .optional = vol_file_optional,
    .close = file_close,
};
