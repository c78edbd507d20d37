/* SPDX-License-Identifier: MIT */
/* Conversion of elements beyond zarrbridge/dtype.h: why it is refused, and what is looked at before
   elements are written. */
#ifndef ZB_TYPES_CONVERSION_H
#define ZB_TYPES_CONVERSION_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/error.h"

/* The error where types do not convert: ZB_EUNSUPPORTED, with the field at which structs differ.
   `all`: for writing, to which every field has to come. path: of the array. */
enum zb_code zb__no_conversion(const char *path, zb_dtype from, zb_dtype to, bool all,
                               zb_error *err);

/* What keeps an element from becoming one of `to` (as zb_dtype_refuses says it), or NULL. Adds the
   bytes that its slices point at. */
typedef const char *(*zb__measure_fn)(zb_dtype dtype, const char *element, zb_dtype to,
                                      uint64_t *bytes);

/* The one for elements of a type: it is asked for once, not for each element. */
zb__measure_fn zb__measure_of(zb_dtype dtype);

/* True if elements of `from` have anything to check. */
bool zb__elements_are_measured(zb_dtype from, zb_dtype to);

#endif
