/* SPDX-License-Identifier: MIT */
/* The commit of staged documents. */
#ifndef ZB_HIERARCHY_COMMIT_H
#define ZB_HIERARCHY_COMMIT_H

#include "hierarchy/staged.h"

/* From now on the hierarchy stages documents, which it takes over, until zb_hierarchy_commit: that
   puts them into the store, the deepest first and the root's last. Without a root's document
   nothing happens; a commit that failed is tried again. */
void zb__staged_begin(zb_hierarchy *hierarchy, zb__staged *staged);

#endif
