/* SPDX-License-Identifier: MIT */
/* The rules that all zarr.json documents have in common. */
#ifndef ZB_NODE_DOCUMENT_H
#define ZB_NODE_DOCUMENT_H

#include <stdbool.h>

#include "zarrbridge/json.h"

/* Checks the members that do not need the array model: format, node type, attributes, members that
   we do not know, storage transformers, consolidated metadata. */
enum zb_code zb__document_check(const zb_json *document, bool *is_array, zb_error *err);

#endif
