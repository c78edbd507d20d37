/* SPDX-License-Identifier: MIT */
/*
 * The heads of replies, which are untrusted: taken apart line by line into fields of fixed size.
 * What is too long or has not the form that its RFC gives it counts as absent.
 */
#ifndef ZB_NET_REPLY_H
#define ZB_NET_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/sys/store.h"

/* The value of a Content-Range. */
typedef struct zb__content_range {
    uint64_t first, last; /* when `satisfied` */
    uint64_t size;        /* of the object, when known */
    bool satisfied;       /* false: "bytes * / size", of a 416 */
    bool has_size;
} zb__content_range;

/* True when the text is a Content-Range of bytes, with first <= last < size. */
bool zb__content_range_parse(const char *text, zb__content_range *out);

/* The version of an object, by what a reply says of it. */
typedef struct zb__version {
    char etag[128];   /* as sent, with its quotes and W/; "" for none */
    int64_t modified; /* seconds of 1970; 0 for none */
    int64_t dated;    /* the server's time of the reply; 0 for none */
    uint64_t size;    /* of the object */
} zb__version;

/* An ETag that can be sent in If-Match. */
bool zb__version_is_strong(const zb__version *version);

/* True if two replies are of one version of the object, by the headers that both have. */
bool zb__version_same(const zb__version *a, const zb__version *b);

/* True if the content of both is the same for certain, byte by byte. */
bool zb__version_identical(const zb__version *a, const zb__version *b);

/* What the caches may compare. Without an ETag it is valid when the last change was more than two
   seconds before the reply: then another one cannot have the same time. */
zb_validator zb__version_validator(const zb__version *version);

/* The bytes that are kept of an error's body. */
#define ZB__SPILL 2048

/* The head of a reply, and the begin of an error's body. */
typedef struct zb__reply {
    int status;
    size_t lines, bytes; /* of all heads of this try */
    uint64_t length;     /* Content-Length, when has_length */
    bool has_length;
    bool is_chunked;    /* its end can be told without a length, and only so */
    bool is_framed;     /* HTTP/2: its end can be told without a length */
    bool contradicts;   /* there were several lengths */
    bool has_range;     /* Content-Range was there... */
    bool range_is_good; /* ...and could be read */
    zb__content_range range;
    zb__version version; /* without size */
    int64_t retry_after; /* seconds; -1: not given */
    char content_type[64];
    char encoding[32]; /* Content-Encoding; "" and "identity" are none */
    char region[32];   /* x-amz-bucket-region */
    char error[64];    /* x-ms-error-code */
    char write_id[40]; /* x-amz-meta-zb-write, x-ms-meta-zbwrite: of the put that has made the
                          object */
    char body[ZB__SPILL + 1]; /* of an error; NUL-ended */
} zb__reply;

/* The heads of one try are together bounded by these. */
#define ZB__HEAD_BYTES 65536
#define ZB__HEAD_LINES 256

/* Takes a line of a head; a status line begins anew. False: the bounds are passed. */
bool zb__reply_line(zb__reply *reply, const char *line, size_t size);

#endif
