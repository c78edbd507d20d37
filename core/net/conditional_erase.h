/* SPDX-License-Identifier: MIT */
/*
 * Erasing objects of a service whose requests may have conditions (conditional.h).
 *
 * What another program has put is not taken away unseen. An object that may belong to a node is
 * looked at first: in a listing, or by a question for it alone. Then the node's document is looked
 * at. While that is as the holder of the hierarchy's lock has left it, no other program has a node
 * there to which the object belongs. The DELETE comes last, on the condition that the object is
 * still the one that was seen (If-Match). Where the service takes no notice of that condition,
 * what is put between the look and the DELETE goes with it.
 *
 * An ETag is that of the content, as a rule: of an object that was put again with the same bytes,
 * the condition holds.
 */
#ifndef ZB_NET_CONDITIONAL_ERASE_H
#define ZB_NET_CONDITIONAL_ERASE_H

#include "request.h"

/* As in zb_store_ops. */
enum zb_code zb__conditional_erase(zb_store *store, const zb_erase *erase, zb_error *err);
enum zb_code zb__conditional_erase_chosen(zb_store *store, const zb_erase_chosen *erase,
                                          zb_error *err);

#endif
