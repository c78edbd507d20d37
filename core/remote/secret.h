/* SPDX-License-Identifier: MIT */
/* Texts that may be secrets. */
#ifndef ZB_REMOTE_SECRET_H
#define ZB_REMOTE_SECRET_H

/* Frees a text that may be a secret, and leaves no copy of it. NULL is allowed. */
void zb__secret_free(char *secret);

#endif
