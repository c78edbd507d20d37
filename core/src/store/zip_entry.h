/* SPDX-License-Identifier: MIT */
/* The content of an entry of a zip archive. */
#ifndef ZB_STORE_ZIP_ENTRY_H
#define ZB_STORE_ZIP_ENTRY_H

#include "store/zip_directory.h"

typedef struct zb__zip_content {
    uint64_t start; /* in the archive, of what is stored there as it is */
    /* All of it, where it has been read; the caller frees it. NULL: it is to be read from `start`
       on. */
    uint8_t *bytes;
} zb__zip_content;

/* Finds an entry's content, by the header in front of it; reads and checks a compressed one.
   at_once: a request costs more than some hundred KiB, so that short content is read with its
   header. The caller frees out->bytes, also after an error. ZB_EUNSUPPORTED for a form that is not
   read; ZB_EFORMAT, ZB_ECHECKSUM for a damaged one; ZB_ELIMIT; ZB_ENOMEM; errors of reading. */
enum zb_code zb__zip_content_open(const zb__zip_file *archive, const zb__zip_entry *entry,
                                  bool at_once, zb__zip_content *out, zb_error *err);

/* ZB_ECHECKSUM unless all of a content has this CRC-32. */
enum zb_code zb__zip_content_check(uint32_t crc, const void *content, size_t size, zb_error *err);

#endif
