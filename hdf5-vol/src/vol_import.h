/* SPDX-License-Identifier: MIT */
#ifndef ZARRBRIDGE_VOL_IMPORT_H
#define ZARRBRIDGE_VOL_IMPORT_H

#include "h5_edit.h"

/* H5Ocopy of a native object (the one called `name` seen from `from`) to a place in a store. Pushes
   errors; what was made before one stays. */
herr_t vol_import_object(const vol_object *from, const H5VL_loc_params_t *from_loc,
                         const char *name, const vol_object *to, const vol_place *place,
                         hid_t ocpypl, hid_t dxpl);

#endif
