/* SPDX-License-Identifier: MIT */
/* What the two halves of zb-check share. */
#ifndef ZB_INTEROP_CHECK_H
#define ZB_INTEROP_CHECK_H

#include <stdio.h>

#include "zarrbridge/zarrbridge.h"

/* A string member of a manifest's row; "" when there is none. */
const char *check_member(const zb_json *row, const char *name);

/* folder/name; ends the program when that is too long. */
void check_path(char *out, size_t size, const char *folder, const char *name);


#endif
