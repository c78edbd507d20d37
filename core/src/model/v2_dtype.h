/* SPDX-License-Identifier: MIT */
/* Data types of Zarr version 2, as those of version 3. */
#ifndef ZB_MODEL_V2_DTYPE_H
#define ZB_MODEL_V2_DTYPE_H

#include "base/arena.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* The type of elements as chunks have them: each field of a struct is in the byte order that the
   document says. It points into the document and `memory`. serial: the codec that serialises
   objects, or NULL. ZB_EUNSUPPORTED for types that version 3 has no name for. */
enum zb_code zb__v2_dtype_parse(const zb_json *value, const char *serial, zb__arena *memory,
                                zb_dtype *out, zb_error *err);

#define ZB__V2_BOTH '*'

/* The byte order of such a type: '<' or '>', or '|' where no component has several bytes; of a
   struct whose fields differ ZB__V2_BOTH. */
char zb__v2_order(zb_dtype dtype);

/* Writes the byte order of each field of a struct, as a list: "little", "big", or such a list. */
void zb__v2_orders_write(zb_json_writer *w, zb_dtype dtype);

/* ---- Fill values of Zarr version 2, as those of version 3. */

/* Writes the `fill_value` of version 3. dtype: of elements as chunks have them (v2_dtype.h). value:
   NULL and null become null, which reads as zero. */
enum zb_code zb__v2_fill_write(zb_json_writer *w, zb_dtype dtype, const zb_json *value,
                               zb_error *err);

#endif
