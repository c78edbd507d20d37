/* SPDX-License-Identifier: MIT */
/*
 * The callback tables, one per object class and file. The file callbacks that can arrive
 * without an object of ours get their library from a trampoline (plugin.c).
 *
 * In all of them the first line serves the pass-through: objects whose `under` is set belong to
 * the native connector. Everything below that line is about Zarr.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_CLASSES_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_CLASSES_H

#include "objects/locate.h"
#include "objects/open_ids.h"

extern const H5VL_info_class_t vol_info_class;
extern const H5VL_attr_class_t vol_attr_class;
extern const H5VL_dataset_class_t vol_dataset_class;
extern const H5VL_datatype_class_t vol_datatype_class;
extern const H5VL_file_class_t vol_file_class; /* without open, create, get, specific */
extern const H5VL_group_class_t vol_group_class;
extern const H5VL_link_class_t vol_link_class;
extern const H5VL_object_class_t vol_object_class;
extern const H5VL_introspect_class_t vol_introspect_class; /* without get_cap_flags */
extern const H5VL_blob_class_t vol_blob_class;
extern const H5VL_token_class_t vol_token_class;

/* plugin.c: the class of the connector for that library. */
const H5VL_class_t *vol_class_of(h5_lib *lib);

void *vol_file_create(h5_lib *lib, const char *name, unsigned flags, hid_t fcpl, hid_t fapl,
                      hid_t dxpl, void **req);
void *vol_file_open(h5_lib *lib, const char *name, unsigned flags, hid_t fapl, hid_t dxpl,
                    void **req);
/* Whether those two leave a file to the native connector. An error is theirs to tell: false. */
bool vol_file_becomes_native(h5_lib *lib, const char *name, unsigned flags, hid_t fapl);
bool vol_file_is_native(h5_lib *lib, const char *name, unsigned flags, hid_t fapl);
herr_t vol_file_get(h5_lib *lib, void *obj, H5VL_file_get_args_t *args, hid_t dxpl, void **req);
herr_t vol_file_specific(h5_lib *lib, void *obj, H5VL_file_specific_args_t *args, hid_t dxpl,
                         void **req);

/* object.c: H5Dflush, H5Gflush and H5Oflush are one, and so are the calls that refresh. The first
   stores the waiting data of a node and all below it, and then calls the function of the object's
   access list (H5Pset_object_flush_cb) with the id that the program has flushed; the second shows
   the changes of other programs (vol_edit_refresh). Both push errors. */
herr_t vol_flush_object(const vol_object *object, vol_node *node, hid_t id);
herr_t vol_refresh_node(vol_node *node);

/* native.c: the questions of native programs about native objects, for each class. */
herr_t vol_file_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req);
herr_t vol_group_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req);
herr_t vol_dataset_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req);
herr_t vol_attr_optional(void *obj, H5VL_optional_args_t *args, hid_t dxpl, void **req);
herr_t vol_link_optional(void *obj, const H5VL_loc_params_t *loc, H5VL_optional_args_t *args,
                         hid_t dxpl, void **req);
herr_t vol_object_optional(void *obj, const H5VL_loc_params_t *loc, H5VL_optional_args_t *args,
                           hid_t dxpl, void **req);

/* info.c: the options that come with a file access property list, or the default ones. False,
   with an error pushed, when one of them is wrong. */
bool vol_info_options(h5_lib *lib, hid_t fapl, vol_options *out);

/* Whether HDF5_VOL_CONNECTOR is set to this connector. */
bool vol_env_is_ours(void);

/* Whether a value of that variable means this connector, by its name in another spelling. */
bool vol_word_means_zarr(const char *text);

#define VOL_NAME "zarr"
#define VOL_VALUE 303 /* of the range for testing: docs/registration.md */

#endif
