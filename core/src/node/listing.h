/* SPDX-License-Identifier: MIT */
/* The names directly below a prefix of a store. */
#ifndef ZB_NODE_LISTING_H
#define ZB_NODE_LISTING_H

#include "base/names.h"
#include "zarrbridge/store.h"

/* The names directly below prefix, as the store lists them, at most `children`. The listing has
   ended when this returns, so that the names can be erased. */
enum zb_code zb__list(zb_store *store, const char *prefix, zb__names *out, zb_error *err);

#endif
