/* SPDX-License-Identifier: MIT */
/*
 * The HDF5 library that called us, as a table of functions.
 *
 * The connector links to no libhdf5. A process may hold several (the wheels of h5py and netCDF4
 * each bring their own), with mangled names and hidden from the global symbol scope, so every call
 * goes to the library that asked: h5_lib_bind finds it from the return address of the plugin entry
 * point and resolves all names in it once. Each object keeps its h5_lib.
 *
 * Rules that were learnt the hard way:
 * - The macros H5T_*, H5P_*, H5E_*, H5F_ACC_* call H5open of *some* library: use lib->..._g ids
 *   and plain numbers instead.
 * - Every HDF5 API call clears the caller's error stack. No call at all from the entry points, and
 *   vol_stack_save/restore (errors.h) around calls that follow a failure.
 * - Worker threads never call HDF5: the caller may hold its global lock.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_LIBRARY_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_LIBRARY_H

#include <H5PLextern.h>
#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>
#include <H5Zdevelop.h>
#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* H5F_ACC_... without the macros, which would call H5open. */
#define H5_ACC_RDWR 0x0001u
#define H5_ACC_TRUNC 0x0002u
#define H5_ACC_SWMR_WRITE 0x0020u
#define H5_ACC_SWMR_READ 0x0040u
#define H5_ACC_DEFAULT 0xffffu

/* H5T_COMPLEX of HDF5 2.x, which the headers of 1.14 do not name. */
#define H5_CLASS_COMPLEX 11

/* clang-format off */

/* Functions that 1.14 and 2.x both export under these names. */
#define H5_FUNCTIONS(F)                                                                            \
    F(H5Pcreate) F(H5Pclose) F(H5Pcopy) F(H5Pset_vol) F(H5Pget_vol_info) F(H5Pset_fapl_core)       \
    F(H5Pset_chunk) F(H5Pset_fill_value) F(H5Pset_attr_creation_order) F(H5Pset_filter)            \
    F(H5Pinsert2) F(H5Premove) F(H5Pset) F(H5Pget_vlen_mem_manager) F(H5Pget_copy_object)          \
    F(H5Tcopy) F(H5Tclose)                                                                         \
    F(H5Tcreate) F(H5Tinsert) F(H5Tset_size) F(H5Tset_cset) F(H5Tset_strpad) F(H5Tset_fields)      \
    F(H5Tset_ebias) F(H5Tenum_create) F(H5Tenum_insert) F(H5Tvlen_create) F(H5Tequal)              \
    F(H5Tget_class) F(H5Tget_size) F(H5Tget_order) F(H5Tget_sign) F(H5Tget_precision)              \
    F(H5Tget_offset) F(H5Tget_super) F(H5Tis_variable_str) F(H5Tconvert) F(H5Screate)              \
    F(H5Screate_simple) F(H5Sclose) F(H5Sget_select_type) F(H5Sget_select_npoints)                 \
    F(H5Sget_simple_extent_ndims) F(H5Sget_simple_extent_dims) F(H5Sis_regular_hyperslab)          \
    F(H5Sget_regular_hyperslab) F(H5Sselect_hyperslab) F(H5Sselect_valid) F(H5Sget_select_bounds)  \
    F(H5Ssel_iter_create) F(H5Ssel_iter_get_seq_list) F(H5Ssel_iter_close) F(H5Idec_ref)           \
    F(H5Iis_valid) F(H5Iiterate) F(H5Epush2) F(H5Eget_num) F(H5Eget_current_stack)                 \
    F(H5Eset_current_stack) F(H5atclose) F(H5allocate_memory) F(H5Zfilter_avail) F(H5Zregister)    \
    F(H5Rcreate_object) F(H5VLget_connector_id_by_value) F(H5VLclose) F(H5VLobject)                \
    F(H5VLwrap_register) F(H5VLintrospect_get_conn_cls) F(H5VLintrospect_opt_query)                \
    F(H5VLfile_create) F(H5VLfile_open) F(H5VLfile_get)   \
    F(H5VLfile_specific) F(H5VLfile_optional) F(H5VLfile_close) F(H5VLgroup_create)                \
    F(H5VLgroup_open) F(H5VLgroup_get) F(H5VLgroup_specific) F(H5VLgroup_optional)                 \
    F(H5VLgroup_close) F(H5VLdataset_create) F(H5VLdataset_open) F(H5VLdataset_read)               \
    F(H5VLdataset_write) F(H5VLdataset_get) F(H5VLdataset_specific) F(H5VLdataset_optional)        \
    F(H5VLdataset_close) F(H5VLattr_create) F(H5VLattr_open) F(H5VLattr_read) F(H5VLattr_write)    \
    F(H5VLattr_get) F(H5VLattr_specific) F(H5VLattr_optional) F(H5VLattr_close)                    \
    F(H5VLdatatype_commit) F(H5VLdatatype_open) F(H5VLdatatype_get) F(H5VLdatatype_specific)       \
    F(H5VLdatatype_optional) F(H5VLdatatype_close) F(H5VLlink_create) F(H5VLlink_copy)             \
    F(H5VLlink_move) F(H5VLlink_get) F(H5VLlink_specific) F(H5VLlink_optional) F(H5VLobject_open)  \
    F(H5VLobject_copy) F(H5VLobject_get) F(H5VLobject_specific) F(H5VLobject_optional)             \
    F(H5VLblob_put) F(H5VLblob_get) F(H5VLblob_specific) F(H5VLblob_optional) F(H5VLtoken_cmp)     \
    F(H5VLtoken_to_str) F(H5VLtoken_from_str) F(H5Pget_layout) F(H5Pget_chunk) F(H5Pget_nfilters)  \
    F(H5Pget_filter2) F(H5Pfill_value_defined) F(H5Pget_fill_value) F(H5Pget_external_count)       \
    F(H5Pexist) F(H5Pget_size) F(H5Pget) F(H5Pget_nlinks) F(H5Pget_link_creation_order)            \
    F(H5Pset_link_creation_order) F(H5Gget_create_plist) F(H5Pget_elink_prefix)                    \
    F(H5Pget_elink_fapl) F(H5Pget_elink_cb) F(H5Pget_elink_acc_flags)                              \
    F(H5Pget_create_intermediate_group) F(H5Sget_simple_extent_type) F(H5Scopy) F(H5Tget_strpad)   \
    F(H5Sselect_copy)                                                                              \
    F(H5Rget_obj_name) F(H5Ropen_object) F(H5Literate2) F(H5Lget_val) F(H5Lget_info2)              \
    F(H5Oget_info3) F(H5Oopen) F(H5Lexists) F(H5Fget_access_plist) F(H5Rdestroy) F(H5Fget_name)    \
    F(H5Eget_auto2) F(H5Eset_auto2) F(H5Ewalk2)                                                    \
    F(H5Iget_type) F(H5Iget_file_id) F(H5Iinc_ref) F(H5Pset_elink_cb)                             \
    F(H5Dget_type) F(H5Dget_space) F(H5Dget_create_plist) F(H5Dread) F(H5Aiterate2) F(H5Aopen)     \
    F(H5Aget_type) F(H5Aget_space) F(H5Aread) F(H5Treclaim) F(H5Pequal) F(H5Pget_edc_check)        \
    F(H5Fcreate) F(H5Fopen) F(H5Dcreate_anon) F(H5Dwrite) F(H5Scombine_select) F(H5Fget_intent)    \
    F(H5Soffset_simple) F(H5Tset_order) F(H5Tset_precision) F(H5Tset_offset) F(H5Tset_sign)        \
    F(H5Tget_pad) F(H5Tset_pad) F(H5Tget_fields) F(H5Tget_ebias) F(H5Tget_norm) F(H5Tset_norm)     \
    F(H5Tget_inpad) F(H5Tset_inpad) F(H5Tget_cset) F(H5Tset_tag) F(H5Tget_tag) F(H5free_memory)    \
    F(H5Tget_nmembers) F(H5Tget_member_name) F(H5Tget_member_offset) F(H5Tget_member_type)         \
    F(H5Tget_member_value) F(H5Tarray_create2) F(H5Tget_array_ndims) F(H5Tget_array_dims2)         \
    F(H5Tget_member_index) F(H5Pisa_class) F(H5Tdetect_class) F(H5Pget_driver)                     \
    F(H5Pset_fapl_sec2) F(H5Pset_fapl_stdio) F(H5Pget_fapl_core) F(H5Pget_file_image)              \
    F(H5Pget_fclose_degree) F(H5Pset_fclose_degree) F(H5Pget_object_flush_cb)                      \
    F(H5Pget_cache)                                                                                \
    F(H5Pget_userblock) F(H5Pget_append_flush)                                                     \
    F(H5VLintrospect_get_cap_flags) F(H5get_libversion) F(H5Dchunk_iter) F(H5Dget_storage_size)    \
    F(H5Tencode) F(H5Tcommitted) F(H5Pget_obj_track_times) F(H5Pset_obj_track_times)               \
    F(H5Pget_attr_creation_order) F(H5Pget_attr_phase_change) F(H5Pset_attr_phase_change)          \
    F(H5Pget_link_phase_change) F(H5Pset_link_phase_change) F(H5Pget_est_link_info)                \
    F(H5Pset_est_link_info) F(H5Pget_local_heap_size_hint) F(H5Pset_local_heap_size_hint)          \
    F(H5Pget_fill_time) F(H5Pset_fill_time) F(H5Pget_alloc_time) F(H5Pset_alloc_time)              \
    F(H5Pset_layout) F(H5Pset_char_encoding) F(H5Tget_create_plist) F(H5Premove_filter)            \
    F(H5Oget_comment) F(H5Pget_sizes)                                                              \
    F(H5Pset_sizes) F(H5Pget_sym_k) F(H5Pset_sym_k) F(H5Pget_istore_k) F(H5Pset_istore_k)          \
    F(H5Pget_shared_mesg_phase_change) F(H5Pset_shared_mesg_phase_change)                          \
    F(H5Pget_file_space_page_size) F(H5Pset_file_space_page_size) F(H5Pget_file_space_strategy)    \
    F(H5Pset_file_space_strategy) F(H5Pget_shared_mesg_nindexes) F(H5Pset_shared_mesg_nindexes)    \
    F(H5Pget_shared_mesg_index) F(H5Pset_shared_mesg_index) F(H5Pget_virtual_count)                \
    F(H5Pget_chunk_opts) F(H5Pget_virtual_filename) F(H5Pget_char_encoding)                        \
    F(H5Fget_vfd_handle) F(H5Fget_eoa) F(H5Dget_offset) F(H5Fget_create_plist)                     \
    F(H5VLregister_opt_operation) F(H5VLregister_connector) F(H5Pcreate_class)                     \
    F(H5Pclose_class) F(H5Pget_vol_id) F(H5VLcmp_connector_cls) F(H5Pget_buffer)                   \
    F(H5Pget_preserve) F(H5Pget_type_conv_cb) F(H5Pget_data_transform) F(H5Piterate)

/* Identifiers that the library keeps in variables; they get their values when it initialises. First
   those of numbers (types.h). */
#define H5_NUMBER_IDS(F)                                                                           \
    F(H5T_STD_I8LE_g) F(H5T_STD_I16LE_g) F(H5T_STD_I32LE_g) F(H5T_STD_I64LE_g) F(H5T_STD_U8LE_g)   \
    F(H5T_STD_U16LE_g) F(H5T_STD_U32LE_g) F(H5T_STD_U64LE_g) F(H5T_IEEE_F32LE_g)                   \
    F(H5T_IEEE_F64LE_g) F(H5T_IEEE_F32BE_g) F(H5T_IEEE_F64BE_g) F(H5T_NATIVE_SCHAR_g)              \
    F(H5T_NATIVE_UCHAR_g) F(H5T_NATIVE_SHORT_g) F(H5T_NATIVE_USHORT_g) F(H5T_NATIVE_INT_g)         \
    F(H5T_NATIVE_UINT_g) F(H5T_NATIVE_LONG_g) F(H5T_NATIVE_ULONG_g) F(H5T_NATIVE_LLONG_g)          \
    F(H5T_NATIVE_ULLONG_g) F(H5T_NATIVE_FLOAT_g) F(H5T_NATIVE_DOUBLE_g) F(H5T_NATIVE_INT8_g)       \
    F(H5T_NATIVE_INT16_g) F(H5T_NATIVE_INT32_g) F(H5T_NATIVE_INT64_g) F(H5T_NATIVE_UINT8_g)        \
    F(H5T_NATIVE_UINT16_g) F(H5T_NATIVE_UINT32_g) F(H5T_NATIVE_UINT64_g)

#define H5_COUNT_ONE(name) +1
#define H5_NUMBER_COUNT (0 H5_NUMBER_IDS(H5_COUNT_ONE))

#define H5_IDS(F)                                                                                  \
    H5_NUMBER_IDS(F)                                                                               \
    F(H5P_CLS_FILE_ACCESS_ID_g) F(H5P_CLS_FILE_CREATE_ID_g) F(H5P_CLS_DATATYPE_CREATE_ID_g)        \
    F(H5P_CLS_DATATYPE_ACCESS_ID_g) F(H5P_CLS_DATASET_CREATE_ID_g) F(H5P_CLS_DATASET_ACCESS_ID_g)  \
    F(H5P_CLS_GROUP_CREATE_ID_g) F(H5P_CLS_ATTRIBUTE_CREATE_ID_g) F(H5P_CLS_GROUP_ACCESS_ID_g)     \
    F(H5P_CLS_ATTRIBUTE_ACCESS_ID_g) F(H5P_CLS_LINK_ACCESS_ID_g) F(H5P_CLS_LINK_CREATE_ID_g)       \
    F(H5P_CLS_OBJECT_COPY_ID_g) F(H5P_LST_FILE_CREATE_ID_g) F(H5P_LST_DATASET_XFER_ID_g)           \
    F(H5P_LST_LINK_CREATE_ID_g) F(H5P_LST_GROUP_CREATE_ID_g) F(H5P_LST_GROUP_ACCESS_ID_g)          \
    F(H5P_LST_DATASET_CREATE_ID_g) F(H5P_LST_DATASET_ACCESS_ID_g)                                  \
    F(H5P_LST_ATTRIBUTE_CREATE_ID_g) F(H5P_LST_ATTRIBUTE_ACCESS_ID_g) F(H5P_LST_LINK_ACCESS_ID_g)  \
    F(H5P_LST_DATATYPE_CREATE_ID_g) F(H5P_LST_DATATYPE_ACCESS_ID_g) F(H5T_C_S1_g)                  \
    F(H5T_STD_REF_OBJ_g) F(H5T_STD_REF_g) F(H5T_STD_REF_DSETREG_g) F(H5T_STD_B32LE_g)              \
    F(H5T_UNIX_D32LE_g)                                                                            \
    F(H5E_ERR_CLS_g) F(H5E_FILE_g) F(H5E_SYM_g) F(H5E_DATASET_g) F(H5E_ATTR_g) F(H5E_VOL_g)        \
    F(H5E_CANTOPENFILE_g) F(H5E_CANTOPENOBJ_g) F(H5E_NOTFOUND_g) F(H5E_UNSUPPORTED_g)              \
    F(H5P_LST_FILE_ACCESS_ID_g) F(H5E_WRITEERROR_g) F(H5E_READERROR_g) F(H5E_CANTGET_g)            \
    F(H5E_CANTCONVERT_g) F(H5E_BADVALUE_g) F(H5E_BADTYPE_g) F(H5E_EXISTS_g) F(H5E_CANTCREATE_g)    \
    F(H5E_CANTFLUSH_g) F(H5E_CANTDELETE_g) F(H5E_CANTCLOSEFILE_g) F(H5E_CANTCOPY_g)                \
    F(H5E_RESOURCE_g) F(H5E_NOSPACE_g) F(H5E_CANTALLOC_g)

/* clang-format on */

struct vol_shadows;
struct vol_file;
struct h5_numbers;
struct h5_bare_lists;
struct h5_last_list;
struct h5_plain_transfer;

/* See held_types.h. */
typedef struct vol_held_type {
    void *bytes; /* NULL: none */
    size_t size;
    H5T_class_t class;
    bool has_lists_of_references;
} vol_held_type;

/* Types that reads compare with; made on first use, forgotten when the library shuts down. */
enum h5_cached_type {
    H5_CACHED_F16LE,
    H5_CACHED_F16BE,
    H5_CACHED_C64LE,
    H5_CACHED_C64BE,
    H5_CACHED_C128LE,
    H5_CACHED_C128BE,
    H5_CACHED_BOOL,
    H5_CACHED_COUNT
};

/* What MPI needs (mpi.h), NULL where a library is not built with it: a communicator, and a type, is
   passed as a word. */
typedef struct h5_mpi {
    herr_t (*H5Pget_mpi_params)(hid_t fapl, uintptr_t *comm, uintptr_t *info);
    hid_t (*H5FD_mpio_init)(void); /* of 1.14 */
    const hid_t *H5FD_MPIO_id_g;   /* of 2.x */
    int (*Bcast)(void *data, int count, uintptr_t type, int root, uintptr_t comm);
    int (*Allgather)(const void *out, int out_count, uintptr_t out_type, void *in, int in_count,
                     uintptr_t in_type, uintptr_t comm);
    int (*Alltoallv)(const void *out, const int *out_counts, const int *out_at, uintptr_t out_type,
                     void *in, const int *in_counts, const int *in_at, uintptr_t in_type,
                     uintptr_t comm);
    int (*Comm_rank)(uintptr_t comm, int *rank);
    int (*Comm_size)(uintptr_t comm, int *size);
    int (*Comm_free)(uintptr_t *comm);
    int (*Info_free)(uintptr_t *info);
    int (*Finalized)(int *is_over);
    int (*Type_create_f90_integer)(int digits, uintptr_t *type);
} h5_mpi;

/* A libhdf5 of the process. We hold no handle on it: a program that unloads it expects its files to
   be closed by that. All fields after `cls` are guarded by that library's own lock, which every
   callback holds. */
typedef struct h5_lib {
    const void *base;     /* where it is mapped: its identity; NULL for a free slot */
    bool usable;          /* every name below was found */
    bool stale;           /* has shut down since: it may be gone, and another one be at its place */
    bool is_v2;           /* HDF5 2.x */
    bool has_wide_chunks; /* its arguments for single chunks are those of 2.x (library.h) */
    herr_t (*H5Eis_paused)(hid_t stack, bool *paused);   /* of 2.x; else NULL */
    hid_t (*H5Tcomplex_create)(hid_t base);              /* likewise */
    hid_t (*H5Tdecode2)(const void *bytes, size_t size); /* likewise */
    hid_t (*H5Tdecode1)(
        const void *bytes); /* its name in 1.14 is H5Tdecode; used without the former */
#define F(name) __typeof__(&name) name;
    H5_FUNCTIONS(F)
#undef F
#define F(name) const hid_t *name;
    H5_IDS(F)
#undef F
#define F(name) const hid_t *name;
    struct {
        H5_IDS(F)
    } relocated; /* the executable's own copies, see h5_lib_start */
#undef F
    h5_mpi mpi;
    H5VL_class_t cls; /* the one that H5PLget_plugin_info hands out */

    bool started;  /* between h5_lib_start and h5_lib_end */
    bool watching; /* HDF5 will call at_close when it shuts down */
    bool stopping; /* it has called it; its own closing of what is still open comes next */
    hid_t native;  /* the native connector, or 0 */
    int append;    /* callbacks/chunks.c: the number of the operation; 0 until HDF5 knows it */
    const H5VL_class_t *native_cls;
    size_t live;              /* open objects of Zarr stores */
    struct vol_file *files;   /* open stores, the newest first */
    struct vol_node *resting; /* dataset/writers.c: closed datasets whose data wait */
    size_t resting_count;
    struct vol_shadows *shadows;
    vol_held_type cached_types[H5_CACHED_COUNT];
    struct h5_numbers *numbers;               /* types.c; NULL where not made yet. Owned */
    struct h5_bare_lists *bare_lists;         /* create/list_properties.c; likewise */
    struct h5_last_list *last_list;           /* create/creation_list.c; likewise */
    struct h5_plain_transfer *plain_transfer; /* data/transfer_list.c; likewise */
} h5_lib;

#define H5_LIB_MAX 4

/* The table of the library that contains `address`, bound on first sight; NULL when it lacks a
   name or when more than H5_LIB_MAX libraries ask. Makes no HDF5 call. */
h5_lib *h5_lib_bind(const void *address);

/* The library in slot i, for the trampolines of callbacks/plugin.c. */
h5_lib *h5_lib_slot(size_t i);

/* True if the library is of that version, or a later one. */
bool h5_lib_is_since(const h5_lib *lib, unsigned major, unsigned minor, unsigned release);

/* Has `at_close` called with the library as context when HDF5 shuts down. HDF5 calls the function
   first that was named last: the sooner ours is named, the more of the program's own functions
   still find their files open. */
void h5_lib_watch(h5_lib *lib, void (*at_close)(void *lib));

/* Prepares the library for use: to be called first by every callback that can be the first one. It
   watches, too. */
void h5_lib_start(h5_lib *lib, void (*at_close)(void *lib));

/* HDF5 is about to shut down: called at the end of `at_close`, which has set `stopping`. Files of
   the native connector are still open and need it to be closed, so it stays. */
void h5_lib_stop(h5_lib *lib);

/* HDF5 has let go of the connector, by shutting down or because the program has: no object of ours
   is left. Forgets all ids. */
void h5_lib_end(h5_lib *lib);

/* ---- Arguments of H5Dread_chunk and H5Dwrite_chunk ---- */

/*
 * The arguments of H5Dread_chunk and H5Dwrite_chunk, as the calling library lays them out. HDF5 2
 * has changed both, and the header that the connector is built with tells only one layout.
 */

/* 1.14 ends before `buffer_size`, and HDF5 2 lets programs leave it out. */
typedef struct h5_chunk_read {
    const hsize_t *offset;
    uint32_t filters; /* out: those that were left out */
    void *buffer;
    size_t *buffer_size; /* the bytes of the buffer, then those of the chunk; may be NULL */
} h5_chunk_read;

/* NULL where the program has not told it. */
size_t *h5_chunk_buffer_size(const h5_lib *lib, const h5_chunk_read *args);

typedef struct h5_chunk_write {
    const hsize_t *offset;
    uint32_t filters;
    size_t size;
    const void *buffer;
} h5_chunk_write;

/* What a library has handed over. */
h5_chunk_write h5_chunk_write_from(const h5_lib *lib, const void *args);

/* What a library is to be handed: `args` itself, or `old` filled in. The size of a chunk that 1.14
   has has 32 bits. */
typedef struct h5_chunk_write_v1 {
    const hsize_t *offset;
    uint32_t filters;
    uint32_t size;
    const void *buffer;
} h5_chunk_write_v1;

void *h5_chunk_write_for(const h5_lib *lib, h5_chunk_write *args, h5_chunk_write_v1 *old);

#endif
