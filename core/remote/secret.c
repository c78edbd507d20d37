/* SPDX-License-Identifier: MIT */
#include "secret.h"

#include <stdlib.h>
#include <string.h>

void zb__secret_free(char *secret) {
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}
