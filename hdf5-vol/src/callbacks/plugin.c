/* SPDX-License-Identifier: MIT */
/*
 * The two entry points of the plugin, and the class that they hand out.
 *
 * Each libhdf5 in the process gets a class of its own. It differs only in the callbacks that
 * arrive without an object of ours and so could not tell which library calls.
 */
#include "callbacks/chunks.h"
#include "callbacks/watched.h"
#include "hdf5/claims.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The abilities of stores; HDF5 itself branches on none of them, applications may. */
#define CAPABILITIES                                                                               \
    (H5VL_CAP_FLAG_THREADSAFE | H5VL_CAP_FLAG_ATTR_BASIC | H5VL_CAP_FLAG_ATTR_MORE |               \
     H5VL_CAP_FLAG_DATASET_BASIC | H5VL_CAP_FLAG_DATASET_MORE | H5VL_CAP_FLAG_FILE_BASIC |         \
     H5VL_CAP_FLAG_FILE_MORE | H5VL_CAP_FLAG_GROUP_BASIC | H5VL_CAP_FLAG_GROUP_MORE |              \
     H5VL_CAP_FLAG_LINK_BASIC | H5VL_CAP_FLAG_LINK_MORE | H5VL_CAP_FLAG_OBJECT_BASIC |             \
     H5VL_CAP_FLAG_OBJECT_MORE | H5VL_CAP_FLAG_REF_BASIC | H5VL_CAP_FLAG_OBJ_REF |                 \
     H5VL_CAP_FLAG_ITERATE | H5VL_CAP_FLAG_STORAGE_SIZE | H5VL_CAP_FLAG_BY_IDX |                   \
     H5VL_CAP_FLAG_GET_PLIST | H5VL_CAP_FLAG_FLUSH_REFRESH | H5VL_CAP_FLAG_FILL_VALUES |           \
     H5VL_CAP_FLAG_STORED_DATATYPES | H5VL_CAP_FLAG_CREATION_ORDER |                               \
     H5VL_CAP_FLAG_EXTERNAL_LINKS | H5VL_CAP_FLAG_HARD_LINKS | H5VL_CAP_FLAG_SOFT_LINKS)

/* HDF5's search for a connector comes here, too, with errors on the stack that any call would
   clear. With the variable there is no search: HDF5 has just been initialised. */
static herr_t initialize(h5_lib *lib) {
    if (vol_env_is_ours())
        vol_watch(lib);
    return 0;
}

/* Through a list whose connector comes from the variable a program also reaches ordinary files, so
   that such a list has the abilities of HDF5's own connector; one that leads to stores alone has
   those of stores. Nobody tells which file is meant. */
static herr_t get_flags(h5_lib *lib, const void *info, uint64_t *flags) {
    const vol_options *options = info; /* NULL: the default ones */
    vol_start(lib);
    if (VOL_CLAIM_ABILITIES && vol_env_is_ours() && !(options && options->naming == VOL_NAMING_ALL))
        return lib->H5VLintrospect_get_cap_flags(NULL, lib->native, flags);
    *flags = CAPABILITIES;
    return 0;
}

/* These callbacks, stamped out for each slot. */
#define SLOT_CALLBACKS(slot)                                                                       \
    static void *slot_create_##slot(const char *name, unsigned flags, hid_t fcpl, hid_t fapl,      \
                                    hid_t dxpl, void **req) {                                      \
        return vol_watched_file_create(h5_lib_slot(slot), name, flags, fcpl, fapl, dxpl, req);     \
    }                                                                                              \
    static void *slot_open_##slot(const char *name, unsigned flags, hid_t fapl, hid_t dxpl,        \
                                  void **req) {                                                    \
        return vol_watched_file_open(h5_lib_slot(slot), name, flags, fapl, dxpl, req);             \
    }                                                                                              \
    static herr_t slot_get_##slot(void *obj, H5VL_file_get_args_t *args, hid_t dxpl, void **req) { \
        return vol_watched_file_get(h5_lib_slot(slot), obj, args, dxpl, req);                      \
    }                                                                                              \
    static herr_t slot_specific_##slot(void *obj, H5VL_file_specific_args_t *args, hid_t dxpl,     \
                                       void **req) {                                               \
        return vol_watched_file_specific(h5_lib_slot(slot), obj, args, dxpl, req);                 \
    }                                                                                              \
    static herr_t slot_flags_##slot(const void *info, uint64_t *flags) {                           \
        return get_flags(h5_lib_slot(slot), info, flags);                                          \
    }                                                                                              \
    static herr_t slot_initialize_##slot(hid_t vipl) {                                             \
        (void)vipl;                                                                                \
        return initialize(h5_lib_slot(slot));                                                      \
    }                                                                                              \
    static herr_t slot_terminate_##slot(void) {                                                    \
        h5_lib_end(h5_lib_slot(slot));                                                             \
        return 0;                                                                                  \
    }

SLOT_CALLBACKS(0)
SLOT_CALLBACKS(1)
SLOT_CALLBACKS(2)
SLOT_CALLBACKS(3)

#define SLOT(slot)                                                                                 \
    {{slot_create_##slot, slot_open_##slot, slot_get_##slot, slot_specific_##slot, NULL, NULL},    \
     slot_flags_##slot,                                                                            \
     slot_initialize_##slot,                                                                       \
     slot_terminate_##slot}

static const struct {
    H5VL_file_class_t file;
    herr_t (*flags)(const void *info, uint64_t *flags);
    herr_t (*initialize)(hid_t vipl);
    herr_t (*terminate)(void);
} slot_class[] = {SLOT(0), SLOT(1), SLOT(2), SLOT(3)};
_Static_assert(sizeof slot_class / sizeof slot_class[0] == H5_LIB_MAX, "one entry for each slot");

static void fill_class(h5_lib *lib) {
    size_t slot = (size_t)(lib - h5_lib_slot(0));
    lib->cls = (H5VL_class_t){
        .version = H5VL_VERSION,
        .value = VOL_VALUE,
        .name = VOL_NAME,
        .conn_version = 1,
        .cap_flags = CAPABILITIES,
        .initialize = slot_class[slot].initialize,
        .terminate = slot_class[slot].terminate,
        .info_cls = vol_info_class,
        .wrap_cls = vol_wrap_class,
        .attr_cls = vol_watched_attr_class,
        .dataset_cls = vol_watched_dataset_class,
        .datatype_cls = vol_watched_datatype_class,
        .file_cls = slot_class[slot].file,
        .group_cls = vol_watched_group_class,
        .link_cls = vol_watched_link_class,
        .object_cls = vol_watched_object_class,
        .introspect_cls = vol_introspect_class,
        .blob_cls = vol_blob_class,
        .token_cls = vol_token_class,
    };
    lib->cls.file_cls.optional = vol_file_class.optional;
    lib->cls.file_cls.close = vol_watched_file_close;
    lib->cls.dataset_cls.read = vol_dataset_class.read;
    lib->cls.datatype_cls.optional = vol_datatype_class.optional;
    lib->cls.link_cls.optional = vol_link_class.optional;
    lib->cls.introspect_cls.get_cap_flags = slot_class[slot].flags;
}

const H5VL_class_t *vol_class_of(h5_lib *lib) {
    if (!lib->cls.name)
        fill_class(lib);
    return &lib->cls;
}

/* HDF5 comes here with each name that it looks for. Its own error tells of no plugin. */
static void tell_of_variable(void) {
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    const char *given = getenv("HDF5_VOL_CONNECTOR");
    if (given && !vol_env_is_ours() && vol_word_means_zarr(given) &&
        !atomic_flag_test_and_set(&is_told))
        fprintf(stderr,
                "zarrbridge: HDF5_VOL_CONNECTOR=\"%s\" names no connector that is here: write "
                "HDF5_VOL_CONNECTOR=zarr, and options behind a blank "
                "(HDF5_VOL_CONNECTOR=\"zarr shards=auto\")\n",
                given);
}

/* HDF5 asks for the type first and goes on only when it fits. */
H5PLUGIN_DLL H5PL_type_t H5PLget_plugin_type(void) {
    return h5_lib_bind(__builtin_return_address(0)) ? H5PL_TYPE_VOL : H5PL_TYPE_ERROR;
}

H5PLUGIN_DLL const void *H5PLget_plugin_info(void) {
    h5_lib *lib = h5_lib_bind(__builtin_return_address(0));
    if (!lib)
        return NULL;
    tell_of_variable();
    return vol_class_of(lib);
}

/* ---- Introspection ---- */

/* The class at the top of the stack is this library's; the one at its end is the native one for
   passed-through objects, and by claim (native_compat) for ours. HDF5 refuses its older calls for
   any other class, and h5py, up to its newest wheels for HDF5 2, lists and walks groups and makes
   and follows references with these: H5Literate1, H5Lvisit1, H5Ovisit1, H5Rcreate, H5Rdereference2,
   H5Rget_obj_type2. docs/registration.md has the whole list. */
static herr_t introspect_get_class(void *obj, H5VL_get_conn_lvl_t level,
                                   const H5VL_class_t **class_out) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under && level == H5VL_GET_CONN_LVL_TERM)
        return lib->H5VLintrospect_get_conn_cls(object->under, lib->native, level, class_out);
    const bool claim = VOL_CLAIM_CLASS && level == H5VL_GET_CONN_LVL_TERM && object->file &&
                       object->file->options.native_compat && lib->native_cls;
    *class_out = claim ? lib->native_cls : &lib->cls;
    return 0;
}

/* The operations beyond HDF5's connector interface that stores have, as they promise them. Others
   that they answer concern HDF5's file format, and stay untold: h5dump would print what a store
   does not have. */
static const struct ability {
    H5VL_subclass_t subclass;
    int op;
    uint64_t flags;
} abilities[] = {
    {H5VL_SUBCLS_ATTR, H5VL_NATIVE_ATTR_ITERATE_OLD, H5VL_OPT_QUERY_NO_ASYNC},
    {H5VL_SUBCLS_DATASET, H5VL_NATIVE_DATASET_CHUNK_READ, H5VL_OPT_QUERY_READ_DATA},
    {H5VL_SUBCLS_DATASET, H5VL_NATIVE_DATASET_CHUNK_WRITE, H5VL_OPT_QUERY_WRITE_DATA},
    /* Otherwise HDF5 reads the elements one by one to find their sizes. */
    {H5VL_SUBCLS_DATASET, H5VL_NATIVE_DATASET_GET_VLEN_BUF_SIZE, H5VL_OPT_QUERY_QUERY_METADATA},
    {H5VL_SUBCLS_FILE, H5VL_NATIVE_FILE_GET_SIZE, H5VL_OPT_QUERY_QUERY_METADATA},
    {H5VL_SUBCLS_FILE, H5VL_NATIVE_FILE_START_SWMR_WRITE,
     H5VL_OPT_QUERY_MODIFY_METADATA | H5VL_OPT_QUERY_WRITE_DATA | H5VL_OPT_QUERY_NO_ASYNC},
    {H5VL_SUBCLS_GROUP, H5VL_NATIVE_GROUP_ITERATE_OLD, H5VL_OPT_QUERY_NO_ASYNC},
    {H5VL_SUBCLS_GROUP, H5VL_NATIVE_GROUP_GET_OBJINFO, H5VL_OPT_QUERY_QUERY_METADATA},
    /* h5dump and h5ls show no comments otherwise. */
    {H5VL_SUBCLS_OBJECT, H5VL_NATIVE_OBJECT_GET_COMMENT, H5VL_OPT_QUERY_QUERY_METADATA},
    {H5VL_SUBCLS_OBJECT, H5VL_NATIVE_OBJECT_SET_COMMENT, H5VL_OPT_QUERY_MODIFY_METADATA},
};

static herr_t introspect_opt_query(void *obj, H5VL_subclass_t subclass, int op, uint64_t *flags) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLintrospect_opt_query(object->under, lib->native, subclass, op, flags);
    *flags = 0;
    for (size_t i = 0; i < sizeof abilities / sizeof *abilities; i++)
        if (abilities[i].subclass == subclass && abilities[i].op == op)
            *flags = H5VL_OPT_QUERY_SUPPORTED | abilities[i].flags;
    if (!*flags && subclass == H5VL_SUBCLS_DATASET && vol_is_about_chunks(op))
        *flags = H5VL_OPT_QUERY_SUPPORTED | H5VL_OPT_QUERY_QUERY_METADATA;
    if (!*flags && subclass == H5VL_SUBCLS_DATASET && vol_is_append(lib, op))
        *flags = H5VL_OPT_QUERY_SUPPORTED | H5VL_OPT_QUERY_MODIFY_METADATA;
    return 0;
}

const H5VL_introspect_class_t vol_introspect_class = {
    .get_conn_cls = introspect_get_class,
    .opt_query = introspect_opt_query,
};
