/* SPDX-License-Identifier: MIT */
/* What S3, and services that speak as it does, have beside HTTP: what a store knows of its service,
   and how requests and replies differ. */
#ifndef ZB_NET_S3_H
#define ZB_NET_S3_H

#include <stdatomic.h>

#include "cred_places.h"
#include "request.h"
#include "url.h"

/* The protocol's state of a store. */
typedef struct zb__s3 {
    zb__bucket_name name;
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

/* An empty state; NULL: no memory. */
zb__s3 *zb__s3_new(void);

/* As destroy() of zb__protocol. */
void zb__s3_destroy(zb__remote *store);

/* Sets region and base, by name, endpoint and path_style. The store is the caller's alone,
   or the caller holds s3.c's lock. ZB_EINVAL: no region has that name. */
enum zb_code zb__s3_set_region(zb__s3 *s3, const char *region, zb_error *err);

/* As in zb__protocol. */
enum zb_code zb__s3_prepare(zb__remote *store, zb_error *err);
void zb__s3_renew(zb__remote *store);
enum zb_code zb__s3_address(zb__remote *store, const zb__request *request, zb__outgoing *out,
                            zb_error *err);
enum zb__verdict zb__s3_judge(zb__remote *store, const zb__request *request, const zb__reply *reply,
                              zb_error *err);

/* Can libcurl sign a query with this text in it as S3 wants it? After prepare(). */
bool zb__s3_can_sign(const zb__s3 *s3, const char *text);

#endif
