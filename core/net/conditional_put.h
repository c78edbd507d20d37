/* SPDX-License-Identifier: MIT */
/*
 * Puts, with what the holder of a lock knows of the object (conditional.h).
 *
 * One object on its way: one request, or a large object's parts and a last request for all of
 * them (s3_parts.h), which the service carries out as a whole or not at all. One with a condition,
 * or in parts, carries a random id: where the reply to it was lost, its own second try finds the
 * condition broken, and the object's id tells whether that was done by the first try or by another
 * program.
 *
 * The check of a put's batch asks the service, for a round trip. Of an object that takes long
 * enough it goes along with the body, whose end waits for the answer: so nothing is spent, and the
 * check is closer to the moment at which the object becomes visible.
 */
#ifndef ZB_NET_CONDITIONAL_PUT_H
#define ZB_NET_CONDITIONAL_PUT_H

#include "conditional.h"

/* As in zb_store_ops. A put answers when the service has stored the object. */
enum zb_code zb__conditional_put(zb_store *store, const zb_put *put, zb_error *err);

/* The put alone, under the condition that the sending has: no lock hears of it. ZB_ECONFLICT: the
   condition did not hold. */
enum zb_code zb__conditional_send(zb__sending *sending, zb_error *err);

/* The same as a whole. mark, condition: headers, or NULL. *in_doubt: an earlier try may have put
   the object. */
enum zb_code zb__conditional_send_whole(zb__sending *sending, const char *mark,
                                        const char *condition, bool *in_doubt, zb_error *err);

#endif
