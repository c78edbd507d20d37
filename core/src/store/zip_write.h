/* SPDX-License-Identifier: MIT */
/*
 * Writing a zip archive. Objects are stored as they are: chunks are compressed already, and a
 * reader finds its ranges. The archive is written beside its place (sys/staging.h) and renamed, so
 * that the name has the old file or the whole new one. Entries have no times.
 */
#ifndef ZB_STORE_ZIP_WRITE_H
#define ZB_STORE_ZIP_WRITE_H

#include <stdio.h>

#include "util/text.h"
#include "zarrbridge/sys/staging.h"
#include "zarrbridge/sys/store.h"

#define ZB__ZIP_PIECE (1 << 20) /* bytes of an object that are in memory at once */

typedef struct zb__zip_writer {
    const char *path; /* the caller's */
    zb_staging staging;
    FILE *file; /* the same */
    const struct zb__zip_front *front;
    uint64_t size, count; /* of bytes and entries so far */
    uint8_t *piece;
    zb__text records; /* of the directory */
} zb__zip_writer;

/* What stands before the entries and makes the file one of another format, too. Nobody may write
   such a file, of which the program without a use for archives sees that part alone. */
typedef struct zb__zip_front {
    const char *data;
    size_t size;
    size_t total_at; /* the place in it of the whole file's size, eight bytes, the lowest first */
} zb__zip_front;

/* front: NULL for none, else it stays until zb__zip_end. After success zb__zip_end or
   zb__zip_forget ends it. */
enum zb_code zb__zip_begin(zb__zip_writer *writer, const char *path, const zb__zip_front *front,
                           zb_error *err);

/* Adds an object of a store, which has to stay as it is meanwhile. */
enum zb_code zb__zip_add(zb__zip_writer *writer, zb_store *store, const char *key, zb_error *err);

/* Puts the archive to its name, durable. */
enum zb_code zb__zip_end(zb__zip_writer *writer, zb_error *err);

/* Removes what was written. */
void zb__zip_forget(zb__zip_writer *writer);

#endif
