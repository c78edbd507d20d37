/* SPDX-License-Identifier: MIT */
/* When a request is tried again. */
#ifndef ZB_NET_RETRY_H
#define ZB_NET_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* True if a request whose reply has this status is tried again. */
bool zb__retry_status(int status);

/* The pause before the next try, nanoseconds, after `tries` ones: random between 0 and a bound that
   doubles, so that many that failed together do not come again together. retry_after: seconds that
   the server asked for, or -1; at most 30 count. */
int64_t zb__retry_pause(unsigned tries, int64_t retry_after);

/* True if a request that began then may be tried once more, at `due`. */
bool zb__retry_may(unsigned tries, int64_t begun, int64_t due);

#endif
