/* SPDX-License-Identifier: MIT */
/* The content of an entry of a zip archive. */
#ifndef ZB_STORE_ZIP_ENTRY_H
#define ZB_STORE_ZIP_ENTRY_H

#include "store/zip_directory.h"

typedef struct zb__zip_content {
    uint64_t start; /* in the archive, of what is stored there */
    /* All of it, where it is at hand. NULL: it is to be read from `start` on, or unpacked. */
    uint8_t *bytes;
    /* Of a compressed one whose stored bytes came with its header: these, and where they begin. */
    uint8_t *front;
    size_t front_start;
} zb__zip_content;

/* Finds an entry's content, by the header in front of it. at_once: a request costs more than some
   hundred KiB, so that short content is read with its header. A compressed one is not unpacked: who
   opens an object has to see its size first. The caller closes *out, also after an error.
   ZB_EUNSUPPORTED for a form that is not read; ZB_EFORMAT, ZB_ECHECKSUM for a damaged one;
   ZB_ELIMIT; ZB_ENOMEM; errors of reading. */
enum zb_code zb__zip_content_open(const zb__zip_file *archive, const zb__zip_entry *entry,
                                  bool at_once, zb__zip_content *out, zb_error *err);
void zb__zip_content_close(zb__zip_content *content);

/* True while the content is compressed: it cannot be read yet. */
static inline bool zb__zip_content_is_packed(const zb__zip_content *content,
                                             const zb__zip_entry *entry) {
    return entry->method == ZB__ZIP_DEFLATED && !content->bytes;
}

/* Reads, decompresses and checks all of such a content. One thread at a time. */
enum zb_code zb__zip_content_unpack(const zb__zip_file *archive, const zb__zip_entry *entry,
                                    zb__zip_content *content, zb_error *err);

/* ZB_ECHECKSUM unless all of a content has this CRC-32. */
enum zb_code zb__zip_content_check(uint32_t crc, const void *content, size_t size, zb_error *err);

#endif
