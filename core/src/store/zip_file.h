/* SPDX-License-Identifier: MIT */
/*
 * An open archive with its last bytes, which hold the directory of most archives, and all of a
 * small one. They come with the opening, by one request where the store takes requests.
 */
#ifndef ZB_STORE_ZIP_FILE_H
#define ZB_STORE_ZIP_FILE_H

#include "zarrbridge/sys/store.h"

typedef struct zb__zip_file {
    zb_object *object;
    zb_object_info info;
    uint8_t *tail;
    size_t tail_size; /* bytes; the whole archive, where that is shorter */
} zb__zip_file;

/* Opens an archive of a store. The caller closes *out, also after an error. */
enum zb_code zb__zip_file_open(zb_store *store, const char *key, zb__zip_file *out, zb_error *err);
void zb__zip_file_close(zb__zip_file *file);

/* Reads ranges that count from the archive's beginning: see zb_range. ZB_ECONFLICT: the archive is
   another one than was opened. */
enum zb_code zb__zip_file_read(const zb__zip_file *file, zb_range *ranges, size_t count,
                               zb_error *err);

/* An archive that is missing by now must not look like a missing entry, which would read as fill:
   ZB_ENOTFOUND becomes ZB_EIO. */
enum zb_code zb__zip_present(enum zb_code code, zb_error *err);

#endif
