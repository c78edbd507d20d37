/* SPDX-License-Identifier: MIT */
/*
 * What HDF5 does in an .h5 file without asking a connector: it follows external links, and reads
 * the sources of virtual datasets. Where that leads to a store, the link does not open, and the
 * dataset fails or gives fill values. With ZARRBRIDGE_VERBOSE a line on stderr says so, once for
 * links and once for datasets in the life of a process. Nothing here changes a result or the error
 * stack.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_UNASKED_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_UNASKED_H

#include "objects/object.h"

/* After opening what `name` (NULL: the location's own) is in an .h5 file; `under` is the result,
   and looked for only where it is NULL. */
void vol_warn_of_link(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                      hid_t dxpl, const void *under);

/* After opening a dataset of an .h5 file; `under` is the result. */
void vol_warn_of_sources(h5_lib *lib, hid_t dxpl, void *under);

#endif
