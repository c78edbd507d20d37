/* SPDX-License-Identifier: MIT */
/* Documents of Zarr version 2, as those of version 3. */
#ifndef ZB_ARRAY_V2_ARRAY_H
#define ZB_ARRAY_V2_ARRAY_H

#include <stddef.h>

#include "util/arena.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* The zarr.json that says what these documents say: malloc'ed text. zattrs: a .zattrs, or NULL.
   What the parser of zarr.json checks is not checked here. ZB_EFORMAT, ZB_EUNSUPPORTED,
   ZB_ENOMEM. */
enum zb_code zb__v2_array(const zb_json *zarray, const zb_json *zattrs, char **text, size_t *size,
                          zb_error *err);
/* zgroup: NULL for a group without a document. zmetadata: a .zmetadata, whose nodes become
   consolidated metadata; or NULL. */
enum zb_code zb__v2_group(const zb_json *zgroup, const zb_json *zattrs, const zb_json *zmetadata,
                          char **text, size_t *size, zb_error *err);

/* ---- Filters and compressors of Zarr version 2, as the codecs of version 3. */

/* The codec that serialises the objects of an array (dtype |O): the first of its filters, when that
   is one of these; else *out is NULL. ZB_EUNSUPPORTED for filters that are never read. */
enum zb_code zb__v2_serializer(const zb_json *zarray, const char **out, zb_error *err);

/* Writes the list of codecs that a .zarray tells of by its members order, filters and
   compressor. */
enum zb_code zb__v2_codecs_write(zb_json_writer *w, const zb_json *zarray, uint32_t ndim,
                                 zb_dtype dtype, zb_error *err);

/* ---- Data types of Zarr version 2, as those of version 3. */

/* The type of elements as chunks have them: each field of a struct is in the byte order that the
   document says. It points into the document and `memory`. serializer: the codec that serialises
   objects, or NULL. ZB_EUNSUPPORTED for types that version 3 has no name for. */
enum zb_code zb__v2_dtype_parse(const zb_json *value, const char *serializer, zb__arena *memory,
                                zb_dtype *out, zb_error *err);

#define ZB__V2_BOTH '*'

/* The byte order of such a type: '<' or '>', or '|' where no component has several bytes; of a
   struct whose fields differ ZB__V2_BOTH. */
char zb__v2_order(zb_dtype dtype);

/* Writes the byte order of each field of a struct, as a list: "little", "big", or such a list. */
void zb__v2_orders_write(zb_json_writer *w, zb_dtype dtype);

/* ---- Fill values of Zarr version 2, as those of version 3. */

/* Writes the `fill_value` of version 3. dtype: of elements as chunks have them (v2_dtype.h). value:
   NULL and null become null, which reads as zero. */
enum zb_code zb__v2_fill_write(zb_json_writer *w, zb_dtype dtype, const zb_json *value,
                               zb_error *err);

#endif
