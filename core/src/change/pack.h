/* SPDX-License-Identifier: MIT */
/* Packing a store into a zip archive, with something in front of it. */
#ifndef ZB_CHANGE_PACK_H
#define ZB_CHANGE_PACK_H

#include "store/zip_write.h"
#include "zarrbridge/hierarchy.h"

/* zb_hierarchy_pack; front: see zip_write.h, or NULL. */
enum zb_code zb__pack(zb_hierarchy *hierarchy, const char *path, const zb__zip_front *front,
                      zb_error *err);

#endif
