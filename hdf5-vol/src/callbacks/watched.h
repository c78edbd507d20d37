/* SPDX-License-Identifier: MIT */
/*
 * The callbacks that HDF5 gets: those of classes.h, within a call that Ctrl-C ends while it waits
 * (data/interrupt.h). Not so ended are writes, flushes and closes, also where a program makes them
 * in the operator of a walk. Reading elements is not among them: it watches by itself, where it may
 * last.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_WATCHED_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_WATCHED_H

#include "callbacks/classes.h"

extern const H5VL_attr_class_t vol_watched_attr_class;
extern const H5VL_dataset_class_t vol_watched_dataset_class;
extern const H5VL_datatype_class_t vol_watched_datatype_class;
extern const H5VL_group_class_t vol_watched_group_class;
extern const H5VL_link_class_t vol_watched_link_class;
extern const H5VL_object_class_t vol_watched_object_class;

void *vol_watched_file_create(h5_lib *lib, const char *name, unsigned flags, hid_t fcpl, hid_t fapl,
                              hid_t dxpl, void **req);
void *vol_watched_file_open(h5_lib *lib, const char *name, unsigned flags, hid_t fapl, hid_t dxpl,
                            void **req);
herr_t vol_watched_file_get(h5_lib *lib, void *obj, H5VL_file_get_args_t *args, hid_t dxpl,
                            void **req);
herr_t vol_watched_file_specific(h5_lib *lib, void *obj, H5VL_file_specific_args_t *args,
                                 hid_t dxpl, void **req);
herr_t vol_watched_file_close(void *obj, hid_t dxpl, void **req);

#endif
