/* SPDX-License-Identifier: MIT */
/* The check that runs before cJSON sees any text; see json_scan.c. */
#ifndef ZB_BASE_JSON_SCAN_H
#define ZB_BASE_JSON_SCAN_H

#include <stddef.h>

#include "zarrbridge/error.h"

/* The first byte of a string that stands for a number token. UTF-8 never contains it, so no
   genuine string begins with it. */
#define ZB__JSON_NUMBER_MARK '\xff'

/* cJSON refuses deeper nesting; a higher limit json_depth has no effect. */
#define ZB__JSON_DEPTH_MAX 1000

/* Checks text[0..size) and writes it anew: no white space, every string in one canonical spelling,
   every number as a string of ZB__JSON_NUMBER_MARK and its token. *out is malloc'ed, *out_size
   bytes and a NUL; the caller frees it. cJSON accepts whatever this accepts. */
enum zb_code zb__json_scan(const char *text, size_t size, char **out, size_t *out_size,
                           zb_error *err);

#endif
