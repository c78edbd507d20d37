/* SPDX-License-Identifier: MIT */
/* Data types in metadata. */
#ifndef ZB_MODEL_DTYPE_H
#define ZB_MODEL_DTYPE_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Parses a `data_type`. Names that we do not know are ZB_EUNSUPPORTED. */
enum zb_code zb__dtype_parse(const zb_json *value, zb_dtype *out, zb_error *err);

#endif
