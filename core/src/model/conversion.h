/* SPDX-License-Identifier: MIT */
/* Why elements of one type do not become those of another. */
#ifndef ZB_MODEL_CONVERSION_H
#define ZB_MODEL_CONVERSION_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/error.h"

/* The error where types do not convert: ZB_EUNSUPPORTED, with the field at which structs differ.
   `all`: for writing, to which every field has to come. path: of the array. */
enum zb_code zb__no_conversion(const char *path, zb_dtype from, zb_dtype to, bool all,
                               zb_error *err);

#endif
