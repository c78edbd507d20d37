/* SPDX-License-Identifier: MIT */
/* The seal of a draft: its documents are stored, the deepest first and the root's last. */
#ifndef ZB_CHANGE_DRAFT_SEAL_H
#define ZB_CHANGE_DRAFT_SEAL_H

#include "zarrbridge/sys/hierarchy.h"

/* As run() of zb_seal. From then on the draft passes everything on; without a root's document
   nothing happens. */
enum zb_code zb__draft_seal(zb_seal *seal, zb_hierarchy *hierarchy, zb_error *err);

#endif
