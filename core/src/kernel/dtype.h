/* SPDX-License-Identifier: MIT */
/* What types are, beyond zarrbridge/dtype.h. */
#ifndef ZB_KERNEL_DTYPE_H
#define ZB_KERNEL_DTYPE_H

#include "zarrbridge/dtype.h"

/* Do the bytes of an element, or of one of its fields, have an order? */
bool zb__dtype_has_order(zb_dtype dtype);

/* Is it a bool, or a struct with one? Their bytes are made 0 or 1 on every way. */
bool zb__dtype_holds_bool(zb_dtype dtype);

/* Has a struct all fields of the other, by their names, and structs in it likewise? True of other
   types. */
bool zb__dtype_has_fields(zb_dtype dtype, zb_dtype other);

#endif
