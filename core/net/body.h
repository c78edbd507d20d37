/* SPDX-License-Identifier: MIT */
/* The reply to a request as it comes in: is it the answer, and which bytes of it are wanted. */
#ifndef ZB_NET_BODY_H
#define ZB_NET_BODY_H

#include "request.h"

/* Looks at the head of a reply: sets skip, goal, refused or stop. False: the transfer is to end. */
bool zb__body_judge_head(zb__request *request);

/* Takes bytes of the body. False: the transfer is to end, for the reason in `stop`, or because all
   that is wanted is there. */
bool zb__body_take(zb__request *request, const void *data, size_t size);

/* The body is whole: sets what only its end tells. False: it is not the answer, for the reason in
   `stop`. */
bool zb__body_finish(zb__request *request);

#endif
