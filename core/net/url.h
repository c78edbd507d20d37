/* SPDX-License-Identifier: MIT */
/*
 * Names of stores on the network. libcurl takes URLs apart. The name of a store in S3 or Azure is
 * no URL: what follows its bucket is the beginning of its keys, as they are.
 */
#ifndef ZB_NET_URL_H
#define ZB_NET_URL_H

#include <stdbool.h>

#include "util/text.h"
#include "zarrbridge/error.h"

typedef struct zb__url {
    char *base;    /* scheme, host, port and path, encoded, without a slash at the end */
    char *query;   /* that goes with every key, with its question mark; or "" */
    char *label;   /* for messages: without query, user and options */
    char *options; /* what follows the '#', or "" */
} zb__url;

/* ZB_EINVAL; the caller clears *out on success. A name with a user or a password is refused, as is
   a query that was signed for a single object. The message of an error has nothing of the name. */
enum zb_code zb__url_parse(const char *name, zb__url *out, zb_error *err);
void zb__url_clear(zb__url *url);

/* The URL of a service, which has no query. The message names it "the endpoint". The caller clears
   *out after an error, too. */
enum zb_code zb__endpoint_parse(const char *text, zb__url *out, zb_error *err);

/* Where a redirect leads, of whatever protocol: its target as a server writes it, which may be
   relative to the URL that was asked for and may have bytes that a URL cannot have. malloc'ed;
   NULL: nowhere, or no memory. */
char *zb__url_follow(const char *from, const char *target);

/* The URL of a key, malloc'ed; NULL: no memory. */
char *zb__url_of_key(const zb__url *url, const char *key);
char *zb__url_label(const zb__url *url);

/* The same URL with a label of the host before its host: of a bucket that has a host of its own.
   False: that cannot be, as the host is an address. *err is set where memory is short. */
enum zb_code zb__url_with_host_label(const zb__url *url, const char *label, char **base, bool *can,
                                     zb_error *err);

/* Appends a text with all bytes encoded but letters, digits and "-._~", which is what signatures
   are made of; and slashes, in a path. */
void zb__url_encode(zb__text *text, const char *plain, bool is_path);

/* ZB_EUNSUPPORTED for such a key; NULL is none. */
enum zb_code zb__key_check(const char *key, zb_error *err);

/* The name of a store in a service of buckets (S3), or of containers (Azure). */
typedef struct zb__bucket_name {
    char *bucket;
    char *prefix;  /* of all keys, "" or with a slash at its end; not encoded */
    char *label;   /* scheme, bucket and prefix, without the slash */
    char *options; /* what follows the last '#', or "" */
} zb__bucket_name;

/* scheme: as "s3://", which the name has to begin with. */
enum zb_code zb__bucket_name_parse(const char *name, const char *scheme, zb__bucket_name *out,
                                   zb_error *err);
void zb__bucket_name_clear(zb__bucket_name *name);

#endif
