/* SPDX-License-Identifier: MIT */
/* Which arrays can be written. */
#ifndef ZB_WRITE_WRITABLE_H
#define ZB_WRITE_WRITABLE_H

#include "model/array.h"
#include "zarrbridge/error.h"

/* Refuses arrays that this library can only read (ZB_EUNSUPPORTED). */
enum zb_code zb__array_check_writable(const zb__array *array, zb_error *err);

#endif
