/* SPDX-License-Identifier: MIT */
/*
 * Numbers of few bits: what all kinds of them share. A kind with a format of its own takes these
 * functions into its row: see ZB__SMALL.
 */
#ifndef ZB_TYPES_SMALL_H
#define ZB_TYPES_SMALL_H

#include "types/kinds.h"

zb_dtype zb__small_shown(zb_dtype dtype);
enum zb_code zb__small_fill_parse(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out);
void zb__small_fill_print(zb_json_writer *writer, zb_dtype dtype, const void *element);
bool zb__small_convert(zb_dtype from, zb_dtype to, zb__move *move);

/* The members of a row whose elements are codes of its format, so many side by side: 1, or 2 for
   complex numbers. */
#define ZB__SMALL(count)                                                                           \
    .components = (count), .shown = zb__small_shown, .fill_parse = zb__small_fill_parse,           \
    .fill_print = zb__small_fill_print, .convert = zb__small_convert

#endif
