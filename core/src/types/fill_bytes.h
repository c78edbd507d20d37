/* SPDX-License-Identifier: MIT */
/* Bytes in fill values: for the kinds that have such. */
#ifndef ZB_TYPES_FILL_BYTES_H
#define ZB_TYPES_FILL_BYTES_H

#include "types/kinds.h"

/* Reads a list of integers from 0 to 255, or base64 text: the two forms of bytes. They are made in
   the fill's memory. */
enum zb_code zb__fill_bytes(zb__fill *fill, const zb_json *value, zb_slice *out);

/* Writes bytes as base64. */
void zb__fill_print_bytes(zb_json_writer *writer, zb_slice bytes);

#endif
