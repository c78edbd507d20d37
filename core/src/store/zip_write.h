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
    FILE *file;           /* the same */
    uint64_t size, count; /* of bytes and entries so far */
    uint8_t *piece;
    zb__text records; /* of the directory */
} zb__zip_writer;

/* After success zb__zip_end or zb__zip_forget ends it. */
enum zb_code zb__zip_begin(zb__zip_writer *writer, const char *path, zb_error *err);

/* Adds an object of a store, which has to stay as it is meanwhile. */
enum zb_code zb__zip_add(zb__zip_writer *writer, zb_store *store, const char *key, zb_error *err);

/* Puts the archive to its name, durable. */
enum zb_code zb__zip_end(zb__zip_writer *writer, zb_error *err);

/* Removes what was written. */
void zb__zip_forget(zb__zip_writer *writer);

#endif
