/* SPDX-License-Identifier: MIT */
/* A store on the network: the head of all kinds of them. */
#ifndef ZB_NET_REMOTE_H
#define ZB_NET_REMOTE_H

#include "options.h"
#include "queue.h"
#include "request.h"
#include "util/wait.h"

struct zb__remote {
    zb_store base;
    const zb__protocol *protocol;
    zb_store_ops ops;                  /* the engine's, and the protocol's for changes */
    void *state;                       /* the protocol's */
    void *(*take_buffer)(size_t size); /* the core's: see store/module.h */
    zb__stopper *(*stopper)(void);     /* likewise */
    bool missing_403;                  /* an object that may not be read counts as missing */
    char *ca_file;                     /* certificates of authorities; NULL: libcurl's */
    char *proxy;                       /* NULL: as the environment tells libcurl */
    zb__queue queue;                   /* guarded by the engine's lock */
};

/* Takes over what options say to all kinds of stores, and clears them. */
void zb__remote_take_options(zb__remote *remote, zb__options *options);

/* Frees it with what is the protocol's. */
void zb__remote_free(zb__remote *remote);

#endif
