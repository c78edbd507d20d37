/* SPDX-License-Identifier: MIT */
/* The member of a group's document that has consolidated metadata, as zarr-python writes it. */
#ifndef ZB_ARRAY_BLOCK_H
#define ZB_ARRAY_BLOCK_H

#include "zarrbridge/json.h"

#define ZB__CONSOLIDATED "consolidated_metadata"

/* The entries of a block's map by their names: malloc'ed, also where there is none; NULL without
   memory. The map keeps them. */
const zb_json **zb__block_entries(const zb_json *map, size_t *count);
/* The one of that name, or NULL; of several, any. */
const zb_json *zb__block_find(const zb_json *const *entries, size_t count, const char *name);

/* The number of the first of a path below that name, if there is one; those below it stand
   together. All paths are below "". */
size_t zb__block_below(const zb_json *const *entries, size_t count, const char *name);

/* True if there is one of that name, or one of a path below it. */
bool zb__block_knows(const zb_json *const *entries, size_t count, const char *name);

/* The value around the map of nodes, whose entries the caller writes. */
void zb__block_begin(zb_json_writer *w);
void zb__block_end(zb_json_writer *w);

#endif
