/* SPDX-License-Identifier: MIT */
/*
 * The module for stores on the network, libzarrbridge_remote.so, which is opened at the first URL:
 * libcurl brings some thirty libraries along, that a program without URLs need not load.
 *
 * The module has copies of the small parts of the core that it needs. What the process may have
 * only once is handed to it.
 */
#ifndef ZB_STORE_MODULE_H
#define ZB_STORE_MODULE_H

#include "util/wait.h"
#include "zarrbridge/sys/store.h"

typedef struct zb__module_host {
    enum zb_code (*store_init)(zb_store *store, const zb_store_ops *ops, zb_store_hints hints,
                               const char *label, zb_error *err);
    void *(*take_buffer)(size_t size); /* of a reply: freed by free() */
    zb__stopper *(*stopper)(void);     /* of the calling thread */
} zb__module_host;

typedef struct zb__module {
    const char *version; /* of zarrbridge, the same as the core's */
    size_t store_size;
    enum zb_code (*open)(const char *name, const zb_store_settings *settings,
                         const zb__module_host *host, zb_store **out, zb_error *err);
} zb__module;

/* The one symbol that the module exports, of type zb__module. */
#define ZB__MODULE_SYMBOL "zb__remote_module"

/* Opens the store behind a URL. */
enum zb_code zb__module_open(const char *name, const zb_store_settings *settings, zb_store **out,
                             zb_error *err);

#endif
