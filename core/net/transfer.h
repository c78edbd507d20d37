/* SPDX-License-Identifier: MIT */
/* One try of a request as a transfer of libcurl. */
#ifndef ZB_NET_TRANSFER_H
#define ZB_NET_TRANSFER_H

#include <curl/curl.h>

#include "request.h"

/* Makes the handle, which is as new, ready for the next try. */
enum zb_code zb__transfer_set_up(zb__request *request, CURL *handle, CURLSH *share, zb_error *err);

/* Takes what the ended transfer tells beside its reply, and frees what it has used. The handle is
   free for another request. */
void zb__transfer_clear(zb__request *request);

/* True if another try may succeed after this failure. */
bool zb__transfer_may_again(const zb__request *request, CURLcode failure);

/* What the transfer has failed of: nothing of a URL. */
const char *zb__transfer_words(zb__request *request, CURLcode failure);

/* What a person can do about it, to stand behind those words; "" where that is not known. */
#define ZB__ADVICE_SIZE 160
const char *zb__transfer_advice(const zb__request *request, CURLcode failure);

#endif
