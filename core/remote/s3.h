/* SPDX-License-Identifier: MIT */
/* Stores in S3, and in services that speak as S3 does. */
#ifndef ZB_REMOTE_S3_H
#define ZB_REMOTE_S3_H

#include <stdatomic.h>

#include "cred_places.h"
#include "request.h"
#include "url.h"

/* The protocol's state of a store. */
typedef struct zb__s3 {
    zb__s3_name name;
    zb__url endpoint; /* base NULL: AWS, whose endpoint follows from the region */
    zb__cred_places places;
    bool path_style, anon, requester_pays;
    atomic_int conditions;  /* enum zb__choice: does the service keep to those of puts? */
    atomic_int takes_parts; /* likewise: may large objects go in parts? */
    atomic_int copies;      /* ZB__NO: the service, or its policy, lets nobody copy */
    atomic_int lists;       /* ZB__NO: nor list; what is asked for by name is there or not */
    /* ---- Guarded by a lock of s3.c, which no thread holds while it waits for anything */
    char region[32];
    char *base; /* the bucket's URL */
    zb__cred cred;
    bool is_known;        /* cred is what there is, if only nothing */
    enum zb_code code;    /* not ZB_OK: why there are no credentials, or none that are valid */
    zb_error error;       /* with code */
    int64_t tried;        /* monotonic time of the last search that failed, nanoseconds */
    int64_t clock_behind; /* this machine's clock, seconds */
} zb__s3;

/* Sets protocol and state of the store; *label is its name for messages, malloc'ed. */
enum zb_code zb__s3_open(const char *name, const zb_store_settings *settings, zb__remote *store,
                         char **label, zb_error *err);

/* Are requests signed? After prepare(). */
bool zb__s3_is_signed(const zb__s3 *s3);

/* Can libcurl sign a query with this text in it as S3 wants it? After prepare(). */
bool zb__s3_can_sign(const zb__s3 *s3, const char *text);

/* As list() of zb__protocol. */
enum zb_code zb__s3_list(zb__remote *store, const char *prefix, zb_list_fn fn, void *context,
                         zb_error *err);

/* As list_below() of zb_store_ops. */
enum zb_code zb__s3_list_below(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                               zb_error *err);

/* As is_absent() of zb_store_ops, by one request, or two where many names beside it begin in
   the same way. */
bool zb__s3_is_absent(zb_store *store, const char *prefix);

#endif
