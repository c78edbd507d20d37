/* SPDX-License-Identifier: MIT */
/*
 * The directory of a zip archive (PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.12 to 4.3.16 and
 * 4.5.3), with its wide form (zip64): the names in it, and the place of each one's content. Writers
 * that change an object of an archive add another entry of its name, as zarr-python's ZipStore
 * does: the last one counts.
 */
#ifndef ZB_STORE_ZIP_DIRECTORY_H
#define ZB_STORE_ZIP_DIRECTORY_H

#include "zarrbridge/sys/store.h"

/* ---- The archive. */

/*
 * An open archive with its last bytes, which hold the directory of most archives, and all of a
 * small one. They come with the opening, by one request where the store takes requests.
 */

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

/* What stands in front of an entry's content, without its name and extension. */
#define ZB__ZIP_HEADER 30

enum { ZB__ZIP_STORED = 0, ZB__ZIP_DEFLATED = 8 }; /* methods */

typedef struct zb__zip_entry {
    const char *name;     /* with '/' between parts; the directory owns it */
    uint64_t header;      /* the place of its header in the archive */
    uint64_t stored_size; /* bytes in the archive */
    uint64_t size;        /* bytes without compression */
    uint32_t crc;         /* CRC-32 of those */
    uint16_t method;
    uint16_t name_length; /* of the name as it is written in the archive */
    bool is_encrypted;
} zb__zip_entry;

typedef struct zb__zip_directory {
    zb__zip_entry *entry; /* sorted by name, each name once; one of a folder ends in '/' */
    size_t count;
    char *text; /* of the names */
} zb__zip_directory;

/* Reads it from an archive. The caller frees *out. ZB_EFORMAT for what is no
   archive or a damaged one; ZB_ELIMIT above the limit consolidated_bytes; errors of reading. */
enum zb_code zb__zip_directory_read(const zb__zip_file *archive, zb__zip_directory *out,
                                    zb_error *err);
void zb__zip_directory_free(zb__zip_directory *directory);

/* The first entry whose name is not less than a text. */
size_t zb__zip_lower_bound(const zb__zip_directory *directory, const char *name);

/* The entry of that name, or NULL. */
const zb__zip_entry *zb__zip_find(const zb__zip_directory *directory, const char *name);

/* Is there an entry whose name begins so? Of "folder/": it, or something in it. */
bool zb__zip_has_below(const zb__zip_directory *directory, const char *prefix);

/* The length of the text in front of all keys of the one store in the archive: 0, or that of a
   folder's name and its slash, where the store lies one folder down, alone. The folder's name
   begins the name of *any. */
size_t zb__zip_root(const zb__zip_directory *directory, const zb__zip_entry **any);

/* Bytes that zb__zip_content_place looks at. */
static inline size_t zb__zip_header_size(const zb__zip_entry *entry) {
    return (size_t)ZB__ZIP_HEADER + entry->name_length;
}

/* The place of an entry's content, from the header in front of it, of which `size` bytes are there.
   ZB_EFORMAT when there is none, when it is that of an entry of another name, or when the content
   would not lie within an archive of that size. */
enum zb_code zb__zip_content_place(const zb__zip_entry *entry, const uint8_t *header, size_t size,
                                   uint64_t archive_size, uint64_t *out, zb_error *err);

#endif
