/* SPDX-License-Identifier: MIT */
/* What S3 says in XML, which is untrusted: errors, pages of listings, and single values; and pages
   of Azure. expat reads it. */
#ifndef ZB_NET_XML_H
#define ZB_NET_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "zarrbridge/error.h"

/* "" where the text does not say. Letters, digits, '-', '.' and '_' only. */
typedef struct zb__s3_error {
    char code[64];
    char region[32];
} zb__s3_error;

/* Reads as much of an error's body as there is. What is no XML says nothing. */
void zb__s3_error_parse(const char *text, size_t size, zb__s3_error *out);

/* A key of a page, or a prefix that stands for keys. */
typedef struct zb__entry {
    const char *key;
    const char *etag; /* with its quotes; "" of a prefix, and where the page tells none */
    bool is_prefix;
} zb__entry;

/* Called for each. Not ZB_OK: ends the reading. */
typedef enum zb_code (*zb__entry_fn)(void *context, const zb__entry *entry, zb_error *err);

/* The elements of a page: of ListObjectsV2 of S3, and of List Blobs of Azure. */
typedef struct zb__page_words zb__page_words;
extern const zb__page_words zb__page_of_s3, zb__page_of_azure;

/* Room for the text with which a page of Azure tells where the next one begins, and for a key. */
#define ZB__MARKER 4097

/* Reads a page. ZB_EIO for what is none; else what fn has returned. *goes_on: others come behind
   it; where Azure says, marker tells from where on. */
enum zb_code zb__page_parse(const zb__page_words *words, const char *text, size_t size,
                            zb__entry_fn fn, void *context, char marker[ZB__MARKER], bool *goes_on,
                            zb_error *err);

/* Room for the name of an upload in parts. */
#define ZB__S3_UPLOAD_ID 1025

/* An upload that has begun; "" for what the text does not say, or says longer than it can be. */
typedef struct zb__s3_begun {
    char key[1025];
    char id[ZB__S3_UPLOAD_ID];
    char begun[32]; /* ISO 8601 */
} zb__s3_begun;

typedef enum zb_code (*zb__s3_begun_fn)(void *context, const zb__s3_begun *upload, zb_error *err);

/* Reads a page of ListMultipartUploads, as zb__page_parse reads one of names. */
enum zb_code zb__s3_uploads_parse(const char *text, size_t size, zb__s3_begun_fn fn, void *context,
                                  bool *is_truncated, zb_error *err);

/* The text of an element directly below the root, which must have that name. False where there is
   none, or no room for it. */
bool zb__s3_value_parse(const char *text, size_t size, const char *root, const char *name,
                        char *out, size_t room);

#endif
