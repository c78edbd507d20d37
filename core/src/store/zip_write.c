/* SPDX-License-Identifier: MIT */
/* See zip_write.h. What exceeds four bytes goes to the wide fields (zip64). */
#include "store/zip_write.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/zip_directory.h"

#define PIECE ZB__ZIP_PIECE
#define DATE 0x21  /* 1980-01-01, the first that there is */
#define VERSION 45 /* of the format, which has wide fields */
#define UTF8 0x800 /* flag: names are UTF-8 */

/* ---- Bytes -------------------------------------------------------------------------------- */

typedef struct bytes {
    uint8_t at[128];
    size_t size;
} bytes;

static void add(bytes *to, uint64_t value, size_t count) {
    for (size_t i = 0; i < count; i++, value >>= 8)
        to->at[to->size++] = (uint8_t)value;
}

static uint64_t narrow(uint64_t value) {
    return value < UINT32_MAX ? value : UINT32_MAX;
}

static enum zb_code write_bytes(zb__zip_writer *w, const void *data, size_t size, zb_error *err) {
    if (fwrite(data, 1, size, w->file) != size)
        return zb_fail_errno(err, errno, "cannot write '%s'", w->path);
    w->size += size;
    return ZB_OK;
}

/* ---- Entries ------------------------------------------------------------------------------ */

/* What the header of an entry and its record in the directory both tell. */
static void add_common(bytes *to, uint32_t crc, uint64_t size, size_t name_size, size_t extra) {
    add(to, VERSION, 2);
    add(to, UTF8, 2);
    add(to, ZB__ZIP_STORED, 2);
    add(to, 0, 2);
    add(to, DATE, 2);
    add(to, crc, 4);
    add(to, narrow(size), 4);
    add(to, narrow(size), 4);
    add(to, name_size, 2);
    add(to, extra, 2);
}

static enum zb_code write_header(zb__zip_writer *w, const char *key, uint32_t crc, uint64_t size,
                                 zb_error *err) {
    const bool is_wide = size >= UINT32_MAX;
    bytes to = {.size = 0};
    add(&to, 0x04034b50, 4);
    add_common(&to, crc, size, strlen(key), is_wide ? 20 : 0);
    enum zb_code code = write_bytes(w, to.at, to.size, err);
    if (!code)
        code = write_bytes(w, key, strlen(key), err);
    to.size = 0;
    if (is_wide) {
        add(&to, 1 | 16 << 16, 4);
        add(&to, size, 8);
        add(&to, size, 8);
    }
    return code ? code : write_bytes(w, to.at, to.size, err);
}

static enum zb_code add_record(zb__zip_writer *w, const char *key, uint32_t crc, uint64_t size,
                               uint64_t header, zb_error *err) {
    const bool wide_size = size >= UINT32_MAX, wide_place = header >= UINT32_MAX;
    const size_t extra = wide_size || wide_place ? 4 + 16u * wide_size + 8u * wide_place : 0;
    bytes to = {.size = 0};
    add(&to, 0x02014b50, 4);
    add(&to, VERSION, 2);
    add_common(&to, crc, size, strlen(key), extra);
    add(&to, 0, 10);
    add(&to, narrow(header), 4);
    zb__text_put(&w->records, (const char *)to.at, to.size);
    zb__text_add(&w->records, key);
    to.size = 0;
    if (extra)
        add(&to, 1 | (uint64_t)(extra - 4) << 16, 4);
    if (wide_size) {
        add(&to, size, 8);
        add(&to, size, 8);
    }
    if (wide_place)
        add(&to, header, 8);
    w->count++;
    zb__text_put(&w->records, (const char *)to.at, to.size);
    return w->records.failed
               ? zb_fail(err, ZB_ENOMEM, "no memory for the directory of a zip archive")
               : ZB_OK;
}

/* Copies the content; *crc is its checksum. */
static enum zb_code write_content(zb__zip_writer *w, zb_object *object, const char *key,
                                  uint64_t size, uint32_t *crc, zb_error *err) {
    enum zb_code code = ZB_OK;
    *crc = 0;
    for (uint64_t done = 0; done < size && !code;) {
        const uint64_t left = size - done;
        zb_range range = {
            .offset = done, .length = left < PIECE ? (size_t)left : PIECE, .buffer = w->piece};
        code = zb_object_read(object, &range, 1, err);
        if (!code && range.got < range.length)
            code = zb_fail(err, ZB_EIO, "'%s' became shorter while it was packed", key);
        if (code)
            break;
        *crc = libdeflate_crc32(*crc, w->piece, range.got);
        code = write_bytes(w, w->piece, range.got, err);
        done += range.got;
    }
    return code;
}

/* The checksum stands in front of the content, so the header is written again. */
enum zb_code zb__zip_add(zb__zip_writer *w, zb_store *store, const char *key, zb_error *err) {
    zb_object *object;
    zb_object_info info;
    const uint64_t header = w->size;
    uint32_t crc = 0;
    enum zb_code code = zb_object_open(store, key, &object, &info, err);
    if (code)
        return code;
    code = write_header(w, key, 0, info.size, err);
    if (!code)
        code = write_content(w, object, key, info.size, &crc, err);
    zb_object_close(object);
    const uint64_t end = w->size;
    if (!code && fseeko(w->file, (off_t)header, SEEK_SET) != 0)
        code = zb_fail_errno(err, errno, "cannot write '%s'", w->path);
    if (!code)
        code = write_header(w, key, crc, info.size, err);
    if (!code && fseeko(w->file, (off_t)end, SEEK_SET) != 0)
        code = zb_fail_errno(err, errno, "cannot write '%s'", w->path);
    w->size = end;
    return code ? code : add_record(w, key, crc, info.size, header, err);
}

/* ---- The archive -------------------------------------------------------------------------- */

enum zb_code zb__zip_begin(zb__zip_writer *w, const char *path, const zb__zip_front *front,
                           zb_error *err) {
    *w = (zb__zip_writer){.path = path, .front = front};
    const enum zb_code code = zb_staging_make(path, false, &w->staging, err);
    if (code)
        return code;
    const int fd = dup(w->staging.fd); /* the file closes its own */
    w->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    w->piece = malloc(PIECE);
    if (fd >= 0 && !w->file)
        close(fd);
    enum zb_code begun =
        w->file && w->piece ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a zip archive");
    if (!begun && front)
        begun = write_bytes(w, front->data, front->size, err);
    if (begun)
        zb__zip_forget(w);
    return begun;
}

/* The wide end record and its locator, where a field of the end record does not suffice. */
static void add_wide_end(bytes *to, const zb__zip_writer *w, uint64_t start) {
    const uint64_t at = start + w->records.size;
    add(to, 0x06064b50, 4);
    add(to, 44, 8);
    add(to, VERSION, 2);
    add(to, VERSION, 2);
    add(to, 0, 8);
    add(to, w->count, 8);
    add(to, w->count, 8);
    add(to, w->records.size, 8);
    add(to, start, 8);
    add(to, 0x07064b50, 4);
    add(to, 0, 4);
    add(to, at, 8);
    add(to, 1, 4);
}

static enum zb_code write_directory(zb__zip_writer *w, zb_error *err) {
    const uint64_t start = w->size;
    const bool is_wide =
        w->count >= UINT16_MAX || start >= UINT32_MAX || w->records.size >= UINT32_MAX;
    bytes to = {.size = 0};
    enum zb_code code = write_bytes(w, w->records.data, w->records.size, err);
    if (is_wide)
        add_wide_end(&to, w, start);
    add(&to, 0x06054b50, 4);
    add(&to, 0, 4);
    add(&to, w->count < UINT16_MAX ? w->count : UINT16_MAX, 2);
    add(&to, w->count < UINT16_MAX ? w->count : UINT16_MAX, 2);
    add(&to, narrow(w->records.size), 4);
    add(&to, narrow(start), 4);
    add(&to, 0, 2);
    return code ? code : write_bytes(w, to.at, to.size, err);
}

/* Renames it, and makes the name durable. */
static enum zb_code put_in_place(zb__zip_writer *w, zb_error *err) {
    if (rename(w->staging.path, w->path) != 0)
        return zb_fail_errno(err, errno, "cannot replace '%s'", w->path);
    *strrchr(w->staging.path, '/') = '\0';
    const int directory = open(*w->staging.path ? w->staging.path : "/", O_RDONLY | O_CLOEXEC);
    const bool is_durable = directory >= 0 && fsync(directory) == 0;
    const int failed = errno;
    if (directory >= 0)
        close(directory);
    zb_staging_close(&w->staging); /* nothing to remove */
    return is_durable ? ZB_OK : zb_fail_errno(err, failed, "cannot synchronise '%s'", w->path);
}

/* The size of the whole is known now. */
static enum zb_code complete_front(const zb__zip_writer *w, zb_error *err) {
    bytes total = {.size = 0};
    add(&total, w->size, 8);
    if (pwrite(w->staging.fd, total.at, total.size, (off_t)w->front->total_at) ==
            (ssize_t)total.size &&
        fchmod(w->staging.fd, 0444) == 0)
        return ZB_OK;
    return zb_fail_errno(err, errno, "cannot write '%s'", w->path);
}

enum zb_code zb__zip_end(zb__zip_writer *w, zb_error *err) {
    enum zb_code code = write_directory(w, err);
    if (!code && fflush(w->file) != 0)
        code = zb_fail_errno(err, errno, "cannot write '%s'", w->path);
    if (!code && w->front)
        code = complete_front(w, err);
    if (!code && fsync(w->staging.fd) != 0)
        code = zb_fail_errno(err, errno, "cannot write '%s'", w->path);
    if (!code)
        code = put_in_place(w, err);
    zb__zip_forget(w);
    return code;
}

void zb__zip_forget(zb__zip_writer *w) {
    if (w->file)
        fclose(w->file);
    zb_staging_remove(&w->staging);
    free(w->piece);
    free(w->records.data);
}
