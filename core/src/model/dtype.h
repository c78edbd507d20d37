/* SPDX-License-Identifier: MIT */
/* Data types in metadata. */
#ifndef ZB_MODEL_DTYPE_H
#define ZB_MODEL_DTYPE_H

#include "base/arena.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Parses a `data_type`. Names that we do not know are ZB_EUNSUPPORTED. Details are made in
   `memory`; names of fields stay in the document. */
enum zb_code zb__dtype_parse(const zb_json *value, zb__arena *memory, zb_dtype *out, zb_error *err);

/* Can a document say it? Else ZB_EINVAL, or ZB_EUNSUPPORTED for a struct with fields of variable
   length. */
enum zb_code zb__dtype_check(zb_dtype dtype, zb_error *err);

/* Writes a `data_type` that has been checked: of types of several names the one that most readers
   know. */
void zb__dtype_write(zb_json_writer *writer, zb_dtype dtype);

#endif
