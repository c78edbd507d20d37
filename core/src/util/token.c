/* SPDX-License-Identifier: MIT */
#include "util/token.h"

#include <sys/random.h>

enum zb_code zb__token_make(char token[ZB__TOKEN_SIZE], zb_error *err) {
    static const char digits[] = "0123456789abcdef";
    unsigned char random[(ZB__TOKEN_SIZE - 1) / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return zb_fail(err, ZB_EIO, "the system gives no random bytes");
    for (unsigned i = 0; i < sizeof random; i++) {
        token[2 * i] = digits[random[i] >> 4];
        token[2 * i + 1] = digits[random[i] & 15];
    }
    token[ZB__TOKEN_SIZE - 1] = '\0';
    return ZB_OK;
}
