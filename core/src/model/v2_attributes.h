/* SPDX-License-Identifier: MIT */
/* Attributes of Zarr version 2: those of the user, and those that stand for members of version
   3. */
#ifndef ZB_MODEL_V2_ATTRIBUTES_H
#define ZB_MODEL_V2_ATTRIBUTES_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Writes the member `attributes`, and of an array `dimension_names` where they are known. zattrs:
   an object, or NULL. */
void zb__v2_group_attributes_write(zb_json_writer *w, const zb_json *zattrs);
void zb__v2_array_attributes_write(zb_json_writer *w, const zb_json *zarray, const zb_json *zattrs,
                                   zb_dtype dtype);

#endif
