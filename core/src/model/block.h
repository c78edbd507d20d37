/* SPDX-License-Identifier: MIT */
/* The member of a group's document that has consolidated metadata, as zarr-python writes it. */
#ifndef ZB_MODEL_BLOCK_H
#define ZB_MODEL_BLOCK_H

#include "zarrbridge/json.h"

#define ZB__CONSOLIDATED "consolidated_metadata"

/* The value around the map of nodes, whose entries the caller writes. */
void zb__block_begin(zb_json_writer *w);
void zb__block_end(zb_json_writer *w);

#endif
