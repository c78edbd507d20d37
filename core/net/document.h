/* SPDX-License-Identifier: MIT */
/*
 * Documents that are asked for: threads that ask for the same one at the same time share one
 * request, through one store, or through several that ask in the same way. The answer is then at
 * most as old as that request. Who holds the document's lock asks alone, and so does who has
 * changed something since it went out.
 */
#ifndef ZB_NET_DOCUMENT_H
#define ZB_NET_DOCUMENT_H

#include "zarrbridge/sys/store.h"

/* As `open` of zb_store_ops; the handle has all bytes of the document. */
enum zb_code zb__document_open(zb_store *store, const char *key, zb_object **out,
                               zb_object_info *info, zb_error *err);

#endif
