/* SPDX-License-Identifier: MIT */
/*
 * One object on its way to S3: one request, or a large object's parts and a last request for all of
 * them (s3_parts.h), which the service carries out as a whole or not at all. One with a condition,
 * or in parts, carries a random id: where the reply to it was lost, its own second try finds the
 * condition broken, and the object's id tells whether that was done by the first try or by another
 * program.
 *
 * The check of a put's batch asks the service, for a round trip. Of an object that takes long
 * enough it goes along with the body, whose end waits for the answer: so nothing is spent, and the
 * check is closer to the moment at which the object becomes visible.
 */
#ifndef ZB_REMOTE_S3_SEND_H
#define ZB_REMOTE_S3_SEND_H

#include "request.h"

/* The most that S3 takes in one request, and in parts. */
#define ZB__S3_MOST_AT_ONCE ((uint64_t)5 << 30)
#define ZB__S3_MOST_IN_PARTS ((uint64_t)5 << 40)

/* What is known of an object that is to be put: the condition of its put. */
enum zb__seen {
    ZB__UNSEEN, /* nothing */
    ZB__ABSENT,
    ZB__PRESENT
};

/* An object on its way. */
typedef struct zb__s3_sending {
    zb__remote *store;
    const zb_put *put;
    uint64_t size; /* of its parts together */
    bool in_parts;
    bool is_refused; /* by the check of its batch */
    int status;      /* HTTP's, of a whole put: of its last try; 0: there was no reply */
    enum zb__seen seen;
    zb__version version; /* in: the one to replace, with ZB__PRESENT; out: the new one */
} zb__s3_sending;

/* Whether the check goes along with the body, or comes between an object's parts and the request
   that makes it; else the caller makes it before. */
bool zb__s3_is_checked_on_the_way(const zb__s3_sending *s);

/* ZB_ECONFLICT: the condition did not hold. */
enum zb_code zb__s3_send(zb__s3_sending *s, zb_error *err);

#endif
