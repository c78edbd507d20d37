/* SPDX-License-Identifier: MIT */
/*
 * Objects that go to S3 in parts: a request begins the upload, one puts each part, several at a
 * time, and a last one makes the object of them, at once and under a condition if there is one.
 * Nothing is to be seen before. An upload that fails is aborted; one whose program is killed stays,
 * and is not to be seen either (a service can be told to abort those that are old).
 *
 * The service may take the parts from an object that it has.
 *
 * Source: the S3 API reference, CreateMultipartUpload, UploadPart, UploadPartCopy,
 * CompleteMultipartUpload.
 */
#ifndef ZB_NET_S3_PARTS_H
#define ZB_NET_S3_PARTS_H

#include "request.h"

/* Whether an object of so many bytes is worth it: a smaller one takes one request, and as long. */
bool zb__s3_pays_in_parts(uint64_t size);

typedef struct zb__s3_upload {
    zb__remote *store;
    const zb_put *put;     /* its check is called before the object is made */
    bool *is_refused;      /* set to true where that check is what fails; may be NULL */
    uint64_t size;         /* of its parts together; not 0 */
    const char *mark;      /* a header that the object keeps; or NULL */
    const char *condition; /* a header: what must hold when the object is made; or NULL */
    const char *source;  /* a header with the object that the parts are copied from; NULL: they are
                            those of the put, which has none otherwise */
    const char *version; /* a header, with source: its version */
} zb__s3_upload;

/* ZB_EUNSUPPORTED: the service has begun the upload, but libcurl cannot sign for it; the object can
   be put by one request. *in_doubt, on error: the object may have been made all the same.
   ZB_ECONFLICT or ZB_ENOTFOUND: the condition did not hold; the first also: the source is another
   version. *version: the new object's. */
enum zb_code zb__s3_upload_run(const zb__s3_upload *upload, zb__version *version, bool *in_doubt,
                               zb_error *err);

/* Ends an upload of this name, and drops its parts; it need not be there. ZB_EUNSUPPORTED: libcurl
   cannot sign for it. */
enum zb_code zb__s3_upload_abort(zb__remote *store, const char *key, const char *id, zb_error *err);

#endif
