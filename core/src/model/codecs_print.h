/* SPDX-License-Identifier: MIT */
/* The bytes→bytes codecs of a new array as JSON. */
#ifndef ZB_MODEL_CODECS_PRINT_H
#define ZB_MODEL_CODECS_PRINT_H

#include "base/text.h"
#include "zarrbridge/dtype.h"

/* Appends the bytes→bytes codecs that `codecs`, a JSON list as text, asks for, each in object form
   with its whole configuration, behind what the text holds. */
enum zb_code zb__codecs_print(zb__text *text, const char *codecs, zb_dtype dtype, zb_error *err);

#endif
