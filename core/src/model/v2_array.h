/* SPDX-License-Identifier: MIT */
/* Documents of Zarr version 2, as those of version 3. */
#ifndef ZB_MODEL_V2_ARRAY_H
#define ZB_MODEL_V2_ARRAY_H

#include <stddef.h>

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

#endif
