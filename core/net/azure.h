/* SPDX-License-Identifier: MIT */
/* Stores in Azure Blob Storage, or in a service that speaks as it does. */
#ifndef ZB_NET_AZURE_H
#define ZB_NET_AZURE_H

#include "request.h"

/* az://container/prefix#options: sets protocol and state of the store, and *label, which the caller
   frees. */
enum zb_code zb__azure_open(const char *name, const zb_store_settings *settings, zb__remote *store,
                            char **label, zb_error *err);

#endif
