/* SPDX-License-Identifier: MIT */
/* Who owns the bytes that elements of variable length point at. */
#ifndef ZARRBRIDGE_VALUES_H
#define ZARRBRIDGE_VALUES_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A read copies the bytes of strings into memory of one of these, which its caller makes before and
   frees after the last use of the elements: all of them at once. Several reads may share one, also
   at the same time. Each read adds to it, a failed one too: nothing is given back in between. */
typedef struct zb_values zb_values;

/* Makes an empty one. ZB_ENOMEM. Any thread. */
ZB_API enum zb_code zb_values_new(zb_values **out, zb_error *err);
ZB_API void zb_values_free(zb_values *values); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
