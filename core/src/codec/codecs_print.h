/* SPDX-License-Identifier: MIT */
/* The bytes→bytes codecs of a new array as JSON. */
#ifndef ZB_CODEC_CODECS_PRINT_H
#define ZB_CODEC_CODECS_PRINT_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Appends the bytes→bytes codecs that `codecs`, a JSON list, asks for, each in object form with its
   whole configuration. A fault in the list is ZB_EINVAL, a codec that is not known ZB_EUNSUPPORTED.
 */
enum zb_code zb__codecs_print(zb_json_writer *writer, const zb_json *codecs, zb_dtype dtype,
                              zb_error *err);

#endif
