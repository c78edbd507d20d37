/* SPDX-License-Identifier: MIT */

/* What a killed copy leaves. */
#ifndef ZB_CHANGE_COPY_H
#define ZB_CHANGE_COPY_H

#include "zarrbridge/store.h"

/* Before a node comes to the path, where there is none: erases the nodes that a killed copy has
   left below. copy.c. */
enum zb_code zb__killed_copy_erase(zb_store *store, const char *path, zb_error *err);

#endif
