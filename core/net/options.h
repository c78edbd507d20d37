/* SPDX-License-Identifier: MIT */
/*
 * Options of a store: what its name says behind the '#', else what the front end says, else the
 * environment. They are read when the store is opened, by the thread that opens it: later the
 * program may change its environment.
 */
#ifndef ZB_NET_OPTIONS_H
#define ZB_NET_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "zarrbridge/sys/store.h"

enum zb__choice { ZB__UNSAID, ZB__NO, ZB__YES };

/* Texts are malloc'ed; NULL where nothing was said. */
typedef struct zb__options {
    enum zb__choice anon;
    enum zb__choice path_style; /* the bucket stands in the path of URLs, and not in their host */
    enum zb__choice requester_pays;
    enum zb__choice missing_403; /* an object that may not be read counts as missing */
    char *account;               /* of Azure */
    char *region;
    char *endpoint;
    char *profile;
    char *ca_file;      /* certificates of authorities */
    char *proxy;        /* a URL, without user and password */
    bool names_profile; /* the name of the store or the front end does, and not the environment */

    /* Of the front end alone, never of a name. */
    char *headers; /* lines */
    char *key_id, *secret_key, *session_token;
} zb__options;

/* text: that of the name, "name=value&name=value", values percent-encoded; "" for none. ZB_EINVAL
   for an unknown name or value; the message has no values, as one might be a secret that somebody
   put there. */
enum zb_code zb__options_read(const char *text, const zb_store_settings *settings, zb__options *out,
                              zb_error *err);
void zb__options_clear(zb__options *options);

/* The same of a store in Azure: the environment's variables for S3 say nothing of it. */
enum zb_code zb__options_read_azure(const char *text, const zb_store_settings *settings,
                                    zb__options *out, zb_error *err);

/* A variable of the environment; NULL also where it is empty. */
const char *zb__variable(const char *name);

#endif
