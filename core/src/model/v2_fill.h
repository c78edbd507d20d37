/* SPDX-License-Identifier: MIT */
/* Fill values of Zarr version 2, as those of version 3. */
#ifndef ZB_MODEL_V2_FILL_H
#define ZB_MODEL_V2_FILL_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Writes the `fill_value` of version 3. dtype: of elements as chunks have them (v2_dtype.h). value:
   NULL and null become null, which reads as zero. */
enum zb_code zb__v2_fill_write(zb_json_writer *w, zb_dtype dtype, const zb_json *value,
                               zb_error *err);

#endif
