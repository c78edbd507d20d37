/* SPDX-License-Identifier: MIT */
/* The helpers that the parts of zb-check share. */
#ifndef ZB_INTEROP_CHECK_H
#define ZB_INTEROP_CHECK_H

#include <stdio.h>

#include "zarrbridge/zarrbridge.h"

/* A string member of a manifest's row; "" when there is none. */
const char *check_member(const zb_json *row, const char *name);

/* folder/name; ends the program when that is too long. */
void check_path(char *out, size_t size, const char *folder, const char *name);

/* Tries one row of a manifest by bad_stores.py. False, with a line printed, when the outcome is not
   one that the row expects, or took too long or too much memory. */
bool check_bad_row(const char *folder, const zb_json *row);

/* Encodes all chunks of an array from its expected values; the directories of their keys are
   there. */
bool check_encode_row(const char *folder, const zb_json *row);

#endif
