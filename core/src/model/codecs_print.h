/* SPDX-License-Identifier: MIT */
/* The bytes→bytes codecs of a new array as JSON. */
#ifndef ZB_MODEL_CODECS_PRINT_H
#define ZB_MODEL_CODECS_PRINT_H

#include "zarrbridge/zarrbridge.h"

/* Writes the bytes→bytes codecs that `codecs`, a JSON list as text, asks for, each in object form
   with its whole configuration, as further items of the list that has been begun. */
enum zb_code zb__codecs_print(zb_json_writer *w, const char *codecs, zb_dtype dtype, zb_error *err);

#endif
