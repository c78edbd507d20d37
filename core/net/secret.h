/* SPDX-License-Identifier: MIT */
/* Texts that may be secrets. */
#ifndef ZB_NET_SECRET_H
#define ZB_NET_SECRET_H

#include <stdlib.h>
#include <string.h>

/* Frees a text that may be a secret, and leaves no copy of it. NULL is allowed. */
static inline void zb__secret_free(char *secret) {
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

#endif
