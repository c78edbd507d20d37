/* SPDX-License-Identifier: MIT */
/*
 * What is made beside its place, under a name of its own, to go there in one step when it is
 * complete: ".NAME.<number>.zarrbridge-new". Its maker holds a lock on it (flock), so
 * that what a killed process has left is told from what is being made, and goes when the next one
 * is made for the place.
 */
#ifndef ZARRBRIDGE_SYS_STAGING_H
#define ZARRBRIDGE_SYS_STAGING_H

#include <stdbool.h>

#include "zarrbridge/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zb_staging {
    char *path, *place; /* of it, and where it will go: absolute; malloc'ed */
    int fd;             /* open on it, and holds the lock; writable, of a file */
} zb_staging;

/* Makes an empty file, or an empty directory, beside a place, which need not exist; the directory
   that the place is in must. Removes what killed processes have left under the names that it
   meets, if that is older than a minute. ZB_ENOTFOUND; ZB_EIO; ZB_ENOMEM. On success the caller
   ends it with one of the others. Any thread. */
ZB_API enum zb_code zb_staging_make(const char *place, bool is_directory, zb_staging *out,
                                    zb_error *err);

/* Removes it, with all that is in it, as far as that can be done. */
ZB_API void zb_staging_remove(zb_staging *staging);

/* Lets go of it: it has another name by now. */
ZB_API void zb_staging_close(zb_staging *staging);

#ifdef __cplusplus
}
#endif
#endif
