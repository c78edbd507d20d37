/* SPDX-License-Identifier: MIT */
/* Credentials that a program prints: a credential_process, or the AWS command line. */
#ifndef ZB_NET_CRED_PROCESS_H
#define ZB_NET_CRED_PROCESS_H

#include <stddef.h>

#include "cred.h"
#include "util/wait.h"

/* Runs the program and waits for it, a minute at most, and as long as the thread may. `what` names
   it in messages, which have nothing of its output. */
enum zb_code zb__cred_run(const char *const *argv, const char *what, zb__stopper *stopper,
                          zb__cred *out, zb_error *err);

/* Reads what such a program has printed: JSON. */
enum zb_code zb__cred_parse(const char *text, size_t size, zb__cred *out, zb_error *err);

#endif
