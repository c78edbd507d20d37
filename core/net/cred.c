/* SPDX-License-Identifier: MIT */
#include "cred.h"

#include <string.h>
#include <time.h>

#include "secret.h"

void zb__cred_clear(zb__cred *cred) {
    zb__secret_free(cred->id);
    zb__secret_free(cred->secret);
    zb__secret_free(cred->token);
    *cred = (zb__cred){.id = NULL};
}

enum zb_code zb__cred_copy(const zb__cred *from, zb__cred *to, zb_error *err) {
    *to = (zb__cred){.id = from->id ? strdup(from->id) : NULL,
                     .secret = from->secret ? strdup(from->secret) : NULL,
                     .token = from->token ? strdup(from->token) : NULL,
                     .expires = from->expires};
    if (!to->id == !from->id && !to->secret == !from->secret && !to->token == !from->token)
        return ZB_OK;
    zb__cred_clear(to);
    return zb_fail(err, ZB_ENOMEM, "no memory for credentials");
}

static bool is_clean(const char *text) {
    for (; text && *text; text++) {
        if (*text <= ' ' || *text == 127)
            return false;
    }
    return true;
}

enum zb_code zb__cred_check(const zb__cred *cred, zb_error *err) {
    if (is_clean(cred->id) && is_clean(cred->secret) && is_clean(cred->token) &&
        !(cred->id && strpbrk(cred->id, ":/")))
        return ZB_OK;
    return zb_fail(err, ZB_EINVAL, "the credentials have characters that no credentials have");
}

bool zb__cred_is_good(const zb__cred *cred) {
    return cred->id && (!cred->expires || cred->expires - ZB__CRED_AHEAD > (int64_t)time(NULL));
}
