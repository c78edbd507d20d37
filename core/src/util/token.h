/* SPDX-License-Identifier: MIT */
/* A random text that no other program has made. */
#ifndef ZB_UTIL_TOKEN_H
#define ZB_UTIL_TOKEN_H

#include "zarrbridge/error.h"

#define ZB__TOKEN_SIZE 33 /* with the NUL: 16 bytes in hexadecimal digits */

/* ZB_EIO where the system gives no random bytes. */
enum zb_code zb__token_make(char token[ZB__TOKEN_SIZE], zb_error *err);

#endif
