/* SPDX-License-Identifier: MIT */
/* Integers of documents: for the kinds that are stored as such. */
#ifndef ZB_TYPES_INTEGERS_H
#define ZB_TYPES_INTEGERS_H

#include <stdbool.h>

#include "zarrbridge/json.h"

/* Parses an integer of that many bytes, into host byte order. False for what is none, or out of
   range. */
bool zb__integer_parse(const zb_json *value, uint32_t size, bool is_signed, void *out);

/* Writes a signed one. */
void zb__integer_print(zb_json_writer *writer, uint32_t size, const void *element);

#endif
