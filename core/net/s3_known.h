/* SPDX-License-Identifier: MIT */
/* What services have shown to do in this process, so that a store that is opened again does not ask
   again. What one does not do is not kept: it may be mended. */
#ifndef ZB_NET_S3_KNOWN_H
#define ZB_NET_S3_KNOWN_H

#include "s3.h"

enum zb__s3_ability {
    ZB__KEEPS_CONDITIONS, /* of puts */
    ZB__ERASES_AS_SEEN,   /* keeps to those of DELETE */
    ZB__TAKES_PARTS,      /* keeps to those of uploads in parts */
    ZB__ABILITIES
};

/* True if a store in the same bucket of the same endpoint was shown it. The store has an
   endpoint. */
bool zb__s3_is_known(const zb__s3 *s3, enum zb__s3_ability ability);

/* Keeps it; of buckets beyond the first hundred nothing is kept. */
void zb__s3_learn(const zb__s3 *s3, enum zb__s3_ability ability);

#endif
