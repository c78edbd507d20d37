/* SPDX-License-Identifier: MIT */
/* Credentials for S3. */
#ifndef ZB_NET_CRED_H
#define ZB_NET_CRED_H

#include <stdbool.h>
#include <stdint.h>

#include "zarrbridge/error.h"

/* All malloc'ed. id NULL: none. */
typedef struct zb__cred {
    char *id, *secret, *token; /* token may be NULL */
    int64_t expires;           /* seconds of 1970; 0: not known to expire */
} zb__cred;

void zb__cred_clear(zb__cred *cred);
enum zb_code zb__cred_copy(const zb__cred *from, zb__cred *to, zb_error *err);

/* No byte of them may end a header, or begin another one. */
enum zb_code zb__cred_check(const zb__cred *cred, zb_error *err);

/* Credentials are renewed so many seconds before they expire. */
#define ZB__CRED_AHEAD 300

/* There are some, and it is not yet time to renew them. */
bool zb__cred_is_good(const zb__cred *cred);

#endif
