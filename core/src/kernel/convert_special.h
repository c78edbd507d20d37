/* SPDX-License-Identifier: MIT */
/* Conversions of elements that are more than a number of the processor: structs, text of a fixed
   size, small numbers. */
#ifndef ZB_KERNEL_CONVERT_SPECIAL_H
#define ZB_KERNEL_CONVERT_SPECIAL_H

#include "kernel/move.h"

/* As zb_dtype_converts, where one of the two is such a type, and they are not the same. */
bool zb__special_converts(zb_dtype from, zb_dtype to);

/* The move for what converts so, and for structs, bools in them, and code points of two orders. */
zb__move zb__move_special(zb_dtype src_dtype, zb_dtype dst_dtype);

#endif
