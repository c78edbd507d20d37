/* SPDX-License-Identifier: MIT */
/* New credentials, which may take seconds to get, while other requests go on. */
#ifndef ZB_REMOTE_RENEW_H
#define ZB_REMOTE_RENEW_H

#include "request.h"

/* Starts a thread for protocol->renew, which ends with zb__io_renewed. False: there is none. */
bool zb__renew_start(zb__remote *store);

#endif
