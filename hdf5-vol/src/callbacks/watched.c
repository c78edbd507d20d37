/* SPDX-License-Identifier: MIT */
#include "callbacks/watched.h"

#include "ranks/collective.h"
#include "callbacks/elsewhere.h"
#include "data/interrupt.h"
#include "hdf5/errors.h"

static h5_lib *lib_of(const void *obj) {
    return ((const vol_object *)obj)->lib;
}

/* True if a wait of the call was ended. What it has found, without one that was passed over on the
   way, may not be the truth: it fails. It has changed nothing, since no change is begun then. */
static bool end(h5_lib *lib, vol_interrupt *call, bool succeeds) {
    const bool fails = vol_interrupt_end(call) && succeeds;
    if (fails)
        VOL_PUSH(lib, VOL, CANTGET, "the call was interrupted by SIGINT");
    return fails;
}

/* The body of a callback: `action` in a call of HDF5, which Ctrl-C ends if `ends`. */
#define DO(lib, ends, action)                                                                      \
    do {                                                                                           \
        vol_interrupt call;                                                                        \
        h5_lib *library = lib;                                                                     \
        vol_interrupt_begin(&call, ends);                                                          \
        const herr_t result = action;                                                              \
        return end(library, &call, result >= 0) ? -1 : result;                                     \
    } while (0)

/* The same for one that opens something, which `close` closes. */
#define OPEN(lib, action, close)                                                                   \
    do {                                                                                           \
        vol_interrupt call;                                                                        \
        h5_lib *library = lib;                                                                     \
        vol_interrupt_begin(&call, true);                                                          \
        void *opened = action;                                                                     \
        if (!end(library, &call, opened != NULL))                                                  \
            return opened;                                                                         \
        hid_t saved = vol_stack_save(library);                                                     \
        close;                                                                                     \
        vol_stack_restore(library, saved);                                                         \
        return NULL;                                                                               \
    } while (0)

/* ---- Files ---- */

void *vol_watched_file_create(h5_lib *lib, const char *name, unsigned flags, hid_t fcpl, hid_t fapl,
                              hid_t dxpl, void **req) {
    OPEN(lib, vol_collective_file_create(lib, name, flags, fcpl, fapl, dxpl, req),
         vol_file_class.close(opened, dxpl, NULL));
}

void *vol_watched_file_open(h5_lib *lib, const char *name, unsigned flags, hid_t fapl, hid_t dxpl,
                            void **req) {
    OPEN(lib, vol_collective_file_open(lib, name, flags, fapl, dxpl, req),
         vol_file_class.close(opened, dxpl, NULL));
}

herr_t vol_watched_file_get(h5_lib *lib, void *obj, H5VL_file_get_args_t *args, hid_t dxpl,
                            void **req) {
    DO(lib, true, vol_file_get(lib, obj, args, dxpl, req));
}

herr_t vol_watched_file_specific(h5_lib *lib, void *obj, H5VL_file_specific_args_t *args,
                                 hid_t dxpl, void **req) {
    DO(lib, args->op_type != H5VL_FILE_FLUSH,
       vol_collective_file_specific(lib, obj, args, dxpl, req));
}

herr_t vol_watched_file_close(void *obj, hid_t dxpl, void **req) {
    DO(lib_of(obj), false, vol_collective_file_close(obj, dxpl, req));
}

/* ---- Attributes ---- */

static void *attr_create(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t type,
                         hid_t space, hid_t acpl, hid_t aapl, hid_t dxpl, void **req) {
    OPEN(lib_of(obj), vol_attr_class.create(obj, loc, name, type, space, acpl, aapl, dxpl, req),
         vol_attr_class.close(opened, dxpl, NULL));
}

static void *attr_open(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t aapl,
                       hid_t dxpl, void **req) {
    OPEN(lib_of(obj), vol_attr_class.open(obj, loc, name, aapl, dxpl, req),
         vol_attr_class.close(opened, dxpl, NULL));
}

static herr_t attr_read(void *obj, hid_t type, void *buffer, hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_attr_class.read(obj, type, buffer, dxpl, req));
}

static herr_t attr_write(void *obj, hid_t type, const void *buffer, hid_t dxpl, void **req) {
    DO(lib_of(obj), false, vol_attr_class.write(obj, type, buffer, dxpl, req));
}

static herr_t attr_get(void *obj, H5VL_attr_get_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_attr_class.get(obj, args, dxpl, req));
}

static herr_t attr_specific(void *obj, const H5VL_loc_params_t *loc,
                            H5VL_attr_specific_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_attr_class.specific(obj, loc, args, dxpl, req));
}

static herr_t attr_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_attr_class.optional(obj, args, dxpl, req));
}

static herr_t attr_close(void *obj, hid_t dxpl, void **req) {
    DO(lib_of(obj), false, vol_attr_class.close(obj, dxpl, req));
}

const H5VL_attr_class_t vol_watched_attr_class = {
    .create = attr_create,
    .open = attr_open,
    .read = attr_read,
    .write = attr_write,
    .get = attr_get,
    .specific = attr_specific,
    .optional = attr_optional,
    .close = attr_close,
};

/* ---- Datasets ---- */

static void *dataset_create(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t lcpl,
                            hid_t type, hid_t space, hid_t dcpl, hid_t dapl, hid_t dxpl,
                            void **req) {
    OPEN(lib_of(obj),
         vol_collective_dataset_create(obj, loc, name, lcpl, type, space, dcpl, dapl, dxpl, req),
         vol_dataset_class.close(opened, dxpl, NULL));
}

static void *dataset_open(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t dapl,
                          hid_t dxpl, void **req) {
    OPEN(lib_of(obj), vol_dataset_class.open(obj, loc, name, dapl, dxpl, req),
         vol_dataset_class.close(opened, dxpl, NULL));
}

static herr_t dataset_write(size_t count, void *obj[], hid_t type[], hid_t memory[], hid_t file[],
                            hid_t dxpl, const void *buffer[], void **req) {
    DO(lib_of(obj[0]), false,
       vol_dataset_class.write(count, obj, type, memory, file, dxpl, buffer, req));
}

static herr_t dataset_get(void *obj, H5VL_dataset_get_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_dataset_class.get(obj, args, dxpl, req));
}

static herr_t dataset_specific(void *obj, H5VL_dataset_specific_args_t *args, hid_t dxpl,
                               void **req) {
    DO(lib_of(obj), args->op_type != H5VL_DATASET_FLUSH,
       vol_collective_dataset_specific(obj, args, dxpl, req));
}

static herr_t dataset_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), args->op_type != H5VL_NATIVE_DATASET_CHUNK_WRITE,
       vol_dataset_class.optional(obj, args, dxpl, req));
}

static herr_t dataset_close(void *obj, hid_t dxpl, void **req) {
    DO(lib_of(obj), false, vol_dataset_class.close(obj, dxpl, req));
}

const H5VL_dataset_class_t vol_watched_dataset_class = {
    .create = dataset_create,
    .open = dataset_open,
    .write = dataset_write,
    .get = dataset_get,
    .specific = dataset_specific,
    .optional = dataset_optional,
    .close = dataset_close,
};

/* ---- Committed datatypes ---- */

static void *datatype_commit(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t type,
                             hid_t lcpl, hid_t tcpl, hid_t tapl, hid_t dxpl, void **req) {
    OPEN(lib_of(obj),
         vol_collective_datatype_commit(obj, loc, name, type, lcpl, tcpl, tapl, dxpl, req),
         vol_datatype_class.close(opened, dxpl, NULL));
}

static void *datatype_open(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t tapl,
                           hid_t dxpl, void **req) {
    OPEN(lib_of(obj), vol_datatype_class.open(obj, loc, name, tapl, dxpl, req),
         vol_datatype_class.close(opened, dxpl, NULL));
}

static herr_t datatype_get(void *obj, H5VL_datatype_get_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_datatype_class.get(obj, args, dxpl, req));
}

static herr_t datatype_specific(void *obj, H5VL_datatype_specific_args_t *args, hid_t dxpl,
                                void **req) {
    DO(lib_of(obj), args->op_type != H5VL_DATATYPE_FLUSH,
       vol_datatype_class.specific(obj, args, dxpl, req));
}

static herr_t datatype_close(void *obj, hid_t dxpl, void **req) {
    DO(lib_of(obj), false, vol_datatype_class.close(obj, dxpl, req));
}

const H5VL_datatype_class_t vol_watched_datatype_class = {
    .commit = datatype_commit,
    .open = datatype_open,
    .get = datatype_get,
    .specific = datatype_specific,
    .close = datatype_close,
};

/* ---- Groups ---- */

static void *group_create(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t lcpl,
                          hid_t gcpl, hid_t gapl, hid_t dxpl, void **req) {
    OPEN(lib_of(obj), vol_collective_group_create(obj, loc, name, lcpl, gcpl, gapl, dxpl, req),
         vol_group_class.close(opened, dxpl, NULL));
}

static void *group_open(void *obj, const H5VL_loc_params_t *loc, const char *name, hid_t gapl,
                        hid_t dxpl, void **req) {
    OPEN(lib_of(obj), vol_group_class.open(obj, loc, name, gapl, dxpl, req),
         vol_group_class.close(opened, dxpl, NULL));
}

static herr_t group_get(void *obj, H5VL_group_get_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_group_class.get(obj, args, dxpl, req));
}

static herr_t group_specific(void *obj, H5VL_group_specific_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), args->op_type != H5VL_GROUP_FLUSH,
       vol_group_class.specific(obj, args, dxpl, req));
}

static herr_t group_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_group_class.optional(obj, args, dxpl, req));
}

static herr_t group_close(void *obj, hid_t dxpl, void **req) {
    DO(lib_of(obj), false, vol_group_class.close(obj, dxpl, req));
}

const H5VL_group_class_t vol_watched_group_class = {
    .create = group_create,
    .open = group_open,
    .get = group_get,
    .specific = group_specific,
    .optional = group_optional,
    .close = group_close,
};

/* ---- Links ---- */

static herr_t link_create(H5VL_link_create_args_t *args, void *obj, const H5VL_loc_params_t *loc,
                          hid_t lcpl, hid_t lapl, hid_t dxpl, void **req) {
    DO(lib_of(obj ? obj : args->args.hard.curr_obj), true,
       vol_collective_link_create(args, obj, loc, lcpl, lapl, dxpl, req));
}

static herr_t link_copy(void *source, const H5VL_loc_params_t *source_loc, void *target,
                        const H5VL_loc_params_t *target_loc, hid_t lcpl, hid_t lapl, hid_t dxpl,
                        void **req) {
    DO(lib_of(source ? source : target), true,
       vol_collective_link_copy(source, source_loc, target, target_loc, lcpl, lapl, dxpl, req));
}

static herr_t link_move(void *source, const H5VL_loc_params_t *source_loc, void *target,
                        const H5VL_loc_params_t *target_loc, hid_t lcpl, hid_t lapl, hid_t dxpl,
                        void **req) {
    DO(lib_of(source ? source : target), true,
       vol_collective_link_move(source, source_loc, target, target_loc, lcpl, lapl, dxpl, req));
}

static herr_t link_get(void *obj, const H5VL_loc_params_t *loc, H5VL_link_get_args_t *args,
                       hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_link_class.get(obj, loc, args, dxpl, req));
}

static herr_t link_specific(void *obj, const H5VL_loc_params_t *loc,
                            H5VL_link_specific_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_collective_link_specific(obj, loc, args, dxpl, req));
}

const H5VL_link_class_t vol_watched_link_class = {
    .create = link_create,
    .copy = link_copy,
    .move = link_move,
    .get = link_get,
    .specific = link_specific,
};

/* ---- Objects of any kind ---- */

static void *object_open(void *obj, const H5VL_loc_params_t *loc, H5I_type_t *type, hid_t dxpl,
                         void **req) {
    OPEN(lib_of(obj), vol_object_class.open(obj, loc, type, dxpl, req),
         vol_close_any(opened, dxpl));
}

static herr_t object_copy(void *source, const H5VL_loc_params_t *source_loc, const char *name,
                          void *target, const H5VL_loc_params_t *target_loc, const char *new_name,
                          hid_t ocpypl, hid_t lcpl, hid_t dxpl, void **req) {
    DO(lib_of(source), true,
       vol_collective_object_copy(source, source_loc, name, target, target_loc, new_name, ocpypl,
                                  lcpl, dxpl, req));
}

static herr_t object_get(void *obj, const H5VL_loc_params_t *loc, H5VL_object_get_args_t *args,
                         hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_object_class.get(obj, loc, args, dxpl, req));
}

static herr_t object_specific(void *obj, const H5VL_loc_params_t *loc,
                              H5VL_object_specific_args_t *args, hid_t dxpl, void **req) {
    DO(lib_of(obj), args->op_type != H5VL_OBJECT_FLUSH,
       vol_object_class.specific(obj, loc, args, dxpl, req));
}

static herr_t object_optional(void *obj, const H5VL_loc_params_t *loc, H5VL_optional_args_t *args,
                              hid_t dxpl, void **req) {
    DO(lib_of(obj), true, vol_object_class.optional(obj, loc, args, dxpl, req));
}

const H5VL_object_class_t vol_watched_object_class = {
    .open = object_open,
    .copy = object_copy,
    .get = object_get,
    .specific = object_specific,
    .optional = object_optional,
};
