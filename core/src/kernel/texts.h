/* SPDX-License-Identifier: MIT */
/* Looking at text before it is written: is it UTF-8, and does it fit? */
#ifndef ZB_KERNEL_TEXTS_H
#define ZB_KERNEL_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/dtype.h"

/* Is all of text[0..size) UTF-8? */
bool zb__is_utf8(const char *text, size_t size);

/* Is an element a zb_slice? */
static inline bool zb__is_slice(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_STRING || dtype.kind == ZB_KIND_BYTES;
}

/* What keeps an element from becoming one of `to` (as zb_dtype_refuses says it), or NULL. Adds the
   bytes that its slices point at. */
const char *zb__text_measure(zb_dtype dtype, const char *element, zb_dtype to, uint64_t *bytes);

/* Is there anything in elements of `from` for that to look at? */
bool zb__text_is_checked(zb_dtype from, zb_dtype to);

#endif
