/* SPDX-License-Identifier: MIT */
/* Filters and compressors of Zarr version 2, as the codecs of version 3. */
#ifndef ZB_MODEL_V2_CODECS_H
#define ZB_MODEL_V2_CODECS_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* The codec that serialises the objects of an array (dtype |O): the first of its filters, when that
   is one of these; else *out is NULL. ZB_EUNSUPPORTED for filters that are never read. */
enum zb_code zb__v2_serial(const zb_json *zarray, const char **out, zb_error *err);

/* Writes the list of codecs that a .zarray tells of by its members order, filters and
   compressor. */
enum zb_code zb__v2_codecs_write(zb_json_writer *w, const zb_json *zarray, uint32_t ndim,
                                 zb_dtype dtype, zb_error *err);

#endif
