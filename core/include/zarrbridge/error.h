/* SPDX-License-Identifier: MIT */
/*
 * Errors: the form in which every fallible call of the core reports its failure.
 *
 * A call returns a zb_code and fills a zb_error that the caller owns (usually on its stack; NULL is
 * allowed when the text is not wanted). There is no heap and no thread-local state, so the error
 * of a worker thread can be handed to the thread that waits for it. Each layer adds its context
 * once, so that a message names store, node, key and chunk. On ZB_OK the error is not touched.
 */
#ifndef ZARRBRIDGE_ERROR_H
#define ZARRBRIDGE_ERROR_H

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZB_API __attribute__((visibility("default")))
#define ZB_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))
#else
#define ZB_API
#define ZB_PRINTF(format_arg, first_arg)
#endif

/* The kind of a failure; 0 is success. The numbers are stable. */
enum zb_code {
    ZB_OK = 0,
    ZB_EIO = -1,          /* the operating system or a server failed; see zb_error.sys_errno */
    ZB_ENOTFOUND = -2,    /* no such store, node or key (a missing chunk is not an error) */
    ZB_ENOMEM = -3,       /* memory could not be had */
    ZB_EFORMAT = -4,      /* the store's content breaks the Zarr specification */
    ZB_EUNSUPPORTED = -5, /* valid Zarr, but a feature that this version does not read or write */
    ZB_EINVAL = -6,       /* the caller's arguments are wrong */
    ZB_ECHECKSUM = -7,    /* a checksum does not match: the data are damaged */
    ZB_ELIMIT = -8,       /* a limit of zb_limits would be exceeded; the message names it */
    ZB_ECONFLICT = -9,    /* another writer changed the object meanwhile */
    ZB_ECANCELLED = -10   /* work was ended on request: by zb_array_read_with or zb_thread_may_stop.
                             Functions that a caller hands in return it, too, to end a walk; a call
                             whose walk was ended so returns ZB_OK */
};

/* Groups of errors, by which the other headers name the errors of a call:
 *
 * - store errors: ZB_EIO; ZB_ENOMEM; ZB_EINVAL for a key that leads out of the store, and for an
 *   object that is not a file.
 * - document errors: store errors, and of the zarr.json ZB_EFORMAT, ZB_EUNSUPPORTED, and ZB_ELIMIT
 *   for document_bytes, consolidated_bytes, json_depth, json_values and the limits of codecs.
 * - chunk errors: store errors, ZB_EFORMAT, ZB_ECHECKSUM, and ZB_ELIMIT for chunk_bytes,
 *   shard_bytes, index_bytes and gzip_members.
 * - change errors: document errors; ZB_ENOTFOUND; ZB_ECONFLICT; ZB_EUNSUPPORTED for a store that
 *   cannot be written or has no locks; ZB_ECONFLICT, too, when another process holds a lock for
 *   longer than lock_seconds.
 */

#define ZB_MESSAGE_SIZE 512

/* Owned by the caller; plain data, may be copied. */
typedef struct zb_error {
    enum zb_code code;
    int sys_errno; /* errno of the failed system call, or 0. EREMOTEIO: a server has not answered
                      a request in all of its tries */
    char message[ZB_MESSAGE_SIZE]; /* UTF-8, one line, no newline; cut when too long */
} zb_error;

/* Fills *err (when not NULL) and returns code, so that callers can `return zb_fail(...)`. */
ZB_API enum zb_code zb_fail(zb_error *err, enum zb_code code, const char *format, ...)
    ZB_PRINTF(3, 4);

/* As zb_fail, from errno value sys_errno, whose text is appended. ENOENT and ENOTDIR give
   ZB_ENOTFOUND, ENOMEM gives ZB_ENOMEM, all else ZB_EIO. */
ZB_API enum zb_code zb_fail_errno(zb_error *err, int sys_errno, const char *format, ...)
    ZB_PRINTF(3, 4);

/* Puts "<context>: " before the message of an error on its way up. Returns err->code. */
ZB_API enum zb_code zb_error_prefix(zb_error *err, enum zb_code code, const char *format, ...)
    ZB_PRINTF(3, 4);

/* The name of a code as it is spelled in this header, e.g. "ZB_EFORMAT". Static storage. */
ZB_API const char *zb_code_name(enum zb_code code);

#ifdef __cplusplus
}
#endif
#endif
