/* SPDX-License-Identifier: MIT */
/* Fill values of Zarr version 2, as those of version 3. */
#ifndef ZB_MODEL_V2_FILL_H
#define ZB_MODEL_V2_FILL_H

#include "model/v2_dtype.h"

/* Writes the `fill_value` of version 3. value: NULL and null become null, which reads as zero. */
enum zb_code zb__v2_fill_write(zb_json_writer *w, const zb__v2_dtype *dtype, const zb_json *value,
                               zb_error *err);

#endif
