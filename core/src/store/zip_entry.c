/* SPDX-License-Identifier: MIT */
/*
 * An entry has a header in front of its content, and only the header tells its own length. Where
 * reading is a request, both come together, and small entries whole.
 */
#include "store/zip_entry.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "zarrbridge/limits.h"

/* What stands in front of the content behind the header and the name: an extension, mostly
   shorter. */
#define EXTENSION 64
/* Entries up to this size come with their header where a request costs more than such bytes. */
#define SMALL (512 * 1024)

/* An entry's first bytes in the archive. */
typedef struct front {
    uint8_t *bytes; /* malloc'ed */
    size_t size;
} front;

static enum zb_code read_front(const zb__zip_file *archive, const zb__zip_entry *entry,
                               bool with_content, front *out, zb_error *err) {
    const uint64_t all = archive->info.size;
    size_t size = zb__zip_header_size(entry);
    if (with_content && entry->stored_size <= SMALL)
        size += EXTENSION + (size_t)entry->stored_size;
    if (entry->header < all && size > all - entry->header)
        size = (size_t)(all - entry->header);
    *out = (front){.bytes = malloc(size)};
    zb_range range = {.offset = entry->header, .length = size, .buffer = out->bytes};
    enum zb_code code = out->bytes ? zb__zip_file_read(archive, &range, 1, err)
                                   : zb_fail(err, ZB_ENOMEM, "no memory for an entry");
    out->size = range.got;
    return code;
}

enum zb_code zb__zip_content_check(uint32_t crc, const void *content, size_t size, zb_error *err) {
    return libdeflate_crc32(0, content, size) == crc
               ? ZB_OK
               : zb_fail(err, ZB_ECHECKSUM,
                         "the checksum of the zip archive's entry does not match");
}

/* The content as it is stored, if it came with the header; or NULL. */
static const uint8_t *content_in(const front *f, const zb__zip_content *content,
                                 const zb__zip_entry *entry) {
    const uint64_t at = content->start - entry->header;
    const bool is_there = at <= f->size && entry->stored_size <= f->size - at;
    return is_there ? f->bytes + at : NULL;
}

/* Deflate makes at most this of a byte; a directory that promises more lies. */
#define MOST_RATIO 1040

static enum zb_code inflate(const zb__zip_entry *entry, const uint8_t *stored, uint8_t *out,
                            zb_error *err) {
    struct libdeflate_decompressor *tool = libdeflate_alloc_decompressor();
    size_t got = 0;
    enum zb_code code = ZB_OK;
    if (!tool)
        code = zb_fail(err, ZB_ENOMEM, "no memory to decompress an entry of a zip archive");
    else if (libdeflate_deflate_decompress(tool, stored, (size_t)entry->stored_size, out,
                                           (size_t)entry->size, &got) != LIBDEFLATE_SUCCESS ||
             got != entry->size)
        code = zb_fail(err, ZB_EFORMAT, "the compressed entry of the zip archive is damaged");
    else
        code = zb__zip_content_check(entry->crc, out, got, err);
    libdeflate_free_decompressor(tool);
    return code;
}

static enum zb_code check_packed(const zb__zip_entry *entry, zb_error *err) {
    const uint64_t limit = zb_limits_get()->shard_bytes;
    if (entry->size > limit || entry->stored_size > limit)
        return zb_fail(
            err, ZB_ELIMIT,
            "a compressed entry of the zip archive exceeds the limit shard_bytes of %llu",
            (unsigned long long)limit);
    return entry->size / MOST_RATIO > entry->stored_size
               ? zb_fail(err, ZB_EFORMAT, "the directory of the zip archive is damaged")
               : ZB_OK;
}

/* Takes over what came with the header, if the content is in there. */
static enum zb_code keep_front(zb__zip_content *content, const zb__zip_entry *entry, front *f,
                               zb_error *err) {
    const uint8_t *came = content_in(f, content, entry);
    if (came) {
        content->front_start = (size_t)(came - f->bytes);
        content->front = f->bytes;
        f->bytes = NULL;
    }
    return check_packed(entry, err);
}

enum zb_code zb__zip_content_unpack(const zb__zip_file *archive, const zb__zip_entry *entry,
                                    zb__zip_content *content, zb_error *err) {
    const size_t stored = (size_t)entry->stored_size;
    uint8_t *own = content->front ? NULL : malloc(stored + 1);
    uint8_t *bytes = malloc((size_t)entry->size + 1);
    zb_range range = {.offset = content->start, .length = stored, .buffer = own};
    enum zb_code code = bytes && (own || content->front)
                            ? ZB_OK
                            : zb_fail(err, ZB_ENOMEM, "no memory for an entry of a zip archive");
    if (!code && own)
        code = zb__zip_file_read(archive, &range, 1, err);
    if (!code && own && range.got < range.length)
        code = zb_fail(err, ZB_EFORMAT, "the zip archive ends too early");
    if (!code)
        code = inflate(entry, own ? own : content->front + content->front_start, bytes, err);
    free(own);
    if (code) {
        free(bytes);
        return code;
    }
    free(content->front);
    content->front = NULL;
    content->bytes = bytes;
    return ZB_OK;
}

void zb__zip_content_close(zb__zip_content *content) {
    free(content->front);
    free(content->bytes);
    *content = (zb__zip_content){.bytes = NULL};
}

/* What came with the header is kept. */
static enum zb_code take_stored(zb__zip_content *content, const zb__zip_entry *entry,
                                const front *f, zb_error *err) {
    const uint8_t *came = content_in(f, content, entry);
    if (entry->size != entry->stored_size)
        return zb_fail(err, ZB_EFORMAT, "the directory of the zip archive is damaged");
    if (!came)
        return ZB_OK;
    content->bytes = malloc((size_t)entry->size + 1);
    if (!content->bytes)
        return zb_fail(err, ZB_ENOMEM, "no memory for an entry of a zip archive");
    memcpy(content->bytes, came, (size_t)entry->size);
    return zb__zip_content_check(entry->crc, came, (size_t)entry->size, err);
}

enum zb_code zb__zip_content_open(const zb__zip_file *archive, const zb__zip_entry *entry,
                                  bool at_once, zb__zip_content *out, zb_error *err) {
    *out = (zb__zip_content){.bytes = NULL};
    if (entry->is_encrypted ||
        (entry->method != ZB__ZIP_STORED && entry->method != ZB__ZIP_DEFLATED))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "an entry of the zip archive is encrypted, or compressed by method %u: pack "
                       "the store again without compression",
                       entry->method);
    front f;
    enum zb_code code = read_front(archive, entry, at_once, &f, err);
    if (!code)
        code = zb__zip_content_place(entry, f.bytes, f.size, archive->info.size, &out->start, err);
    if (!code)
        code = entry->method == ZB__ZIP_DEFLATED ? keep_front(out, entry, &f, err)
                                                 : take_stored(out, entry, &f, err);
    free(f.bytes);
    return code;
}
