/* SPDX-License-Identifier: MIT */
/* What is read from the environment together with the limits, and is none. */
#ifndef ZB_BASE_LIMITS_H
#define ZB_BASE_LIMITS_H

#include <stdbool.h>

/* ZARRBRIDGE_LOCKS=none: the caller promises that no other process writes its stores, for file
   systems without locks. */
bool zb__locks_are_off(void);

#endif
