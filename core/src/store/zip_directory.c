/* SPDX-License-Identifier: MIT */
#include "store/zip_directory.h"

#include <stdlib.h>
#include <string.h>

#include "store/fetch.h"
#include "util/bytes.h"
#include "zarrbridge/limits.h"

/* ---- The archive -------------------------------------------------------------------------- */

/* The end record with the longest comment. */
#define TAIL (22 + 65535)

void zb__zip_file_close(zb__zip_file *file) {
    zb_object_close(file->object);
    free(file->tail);
    *file = (zb__zip_file){.object = NULL};
}

/* One request, whose answer tells the size, too. Some servers know no ranges that count from the
   end: ZB_EIO. */
static enum zb_code open_by_end(zb_store *store, const char *key, zb__zip_file *out,
                                zb_error *err) {
    zb_fetch fetch = {.key = key, .range = {.offset = ZB_FROM_END, .length = TAIL}};
    enum zb_code code = zb__fetch_all(store, &fetch, 1, err);
    if (!code && fetch.code) {
        code = fetch.code;
        if (err)
            *err = fetch.error;
    }
    *out = (zb__zip_file){.object = fetch.object, .info = fetch.info, .tail = fetch.range.buffer};
    if (code)
        zb__zip_file_close(out);
    else
        out->tail_size = fetch.range.got;
    return code;
}

static enum zb_code open_and_read(zb_store *store, const char *key, zb__zip_file *out,
                                  zb_error *err) {
    enum zb_code code = zb_object_open(store, key, &out->object, &out->info, err);
    if (code)
        return code;
    zb_range end = {.offset = ZB_FROM_END, .length = TAIL};
    if (out->info.size < TAIL)
        end.length = (size_t)out->info.size;
    end.buffer = out->tail = malloc(end.length + 1);
    code = out->tail ? zb_object_read(out->object, &end, 1, err)
                     : zb_fail(err, ZB_ENOMEM, "no memory for the end of a zip archive");
    if (!code && end.got < end.length)
        code = zb_fail(err, ZB_EIO, "the zip archive became shorter while it was read");
    out->tail_size = end.got;
    return code;
}

enum zb_code zb__zip_file_open(zb_store *store, const char *key, zb__zip_file *out, zb_error *err) {
    *out = (zb__zip_file){.object = NULL};
    enum zb_code code = zb_store_can_submit(store) ? open_by_end(store, key, out, err) : ZB_EIO;
    return code == ZB_EIO ? open_and_read(store, key, out, err) : code;
}

enum zb_code zb__zip_present(enum zb_code code, zb_error *err) {
    return code == ZB_ENOTFOUND ? zb_fail(err, ZB_EIO, "the zip archive has gone") : code;
}

static bool is_in_tail(const zb__zip_file *file, zb_range *range) {
    const uint64_t start = file->info.size - file->tail_size;
    if (range->offset < start || range->offset > file->info.size)
        return false;
    const uint64_t left = file->info.size - range->offset;
    range->got = range->length < left ? range->length : (size_t)left;
    if (range->got) /* a buffer of no bytes may be NULL */
        memcpy(range->buffer, file->tail + (range->offset - start), range->got);
    return true;
}

enum zb_code zb__zip_file_read(const zb__zip_file *file, zb_range *ranges, size_t count,
                               zb_error *err) {
    enum { AT_ONCE = 32 };
    zb_range asked[AT_ONCE];
    size_t place[AT_ONCE];
    for (size_t done = 0; done < count;) {
        size_t n = 0;
        for (; n < AT_ONCE && done < count; done++) {
            if (is_in_tail(file, &ranges[done]))
                continue;
            place[n] = done;
            asked[n++] = ranges[done];
        }
        enum zb_code code = n ? zb_object_read(file->object, asked, n, err) : ZB_OK;
        if (code)
            return zb__zip_present(code, err);
        for (size_t i = 0; i < n; i++)
            ranges[place[i]].got = asked[i].got;
    }
    return ZB_OK;
}

/* ---- Its directory ------------------------------------------------------------------------ */

/*
 * The end record is the last thing of an archive, but for a comment. It tells the place of the
 * directory, whose records stand one behind the other; in front of it, a locator may lead to a wide
 * end record for what does not fit the narrow one. All places count from the archive's beginning,
 * which is not that of the file where a program stands in front of it.
 */

enum { END = 22, LOCATOR = 20, WIDE_END = 56, RECORD = 46 };

static enum zb_code fail_damaged(zb_error *err) {
    return zb_fail(err, ZB_EFORMAT, "the zip archive has no readable directory");
}

static enum zb_code read_at(const zb__zip_file *archive, uint64_t offset, void *buffer, size_t size,
                            zb_error *err) {
    zb_range range = {.offset = offset, .length = size, .buffer = buffer};
    enum zb_code code = zb__zip_file_read(archive, &range, 1, err);
    return code ? code : range.got == size ? ZB_OK : fail_damaged(err);
}

/* ---- Finding the directory ---------------------------------------------------------------- */

typedef struct place {
    uint64_t start, size; /* in the archive */
    uint64_t shift;       /* the place of the archive's beginning in the file */
} place;

/* The wide end record, which a locator in front of the narrow one (at `end` of the file) leads to.
   It stands right in front of the locator, or where the locator says. */
static enum zb_code find_wide(const zb__zip_file *archive, uint64_t end, bool *found, place *out,
                              zb_error *err) {
    uint8_t locator[LOCATOR], record[WIDE_END];
    *found = false;
    if (end < LOCATOR)
        return ZB_OK;
    enum zb_code code = read_at(archive, end - LOCATOR, locator, sizeof locator, err);
    if (code || zb__load_le32(locator) != 0x07064b50)
        return code;
    const uint64_t told = zb__load_le64(locator + 8), places[] = {end - LOCATOR - WIDE_END, told};
    for (size_t i = 0; i < 2 && !*found && !code; i++) {
        if (end < LOCATOR + WIDE_END || places[i] > end - LOCATOR - WIDE_END || places[i] < told)
            continue;
        code = read_at(archive, places[i], record, sizeof record, err);
        *found = !code && zb__load_le32(record) == 0x06064b50;
        *out = (place){.size = zb__load_le64(record + 40),
                       .start = zb__load_le64(record + 48),
                       .shift = places[i] - told};
    }
    return code;
}

/* The end record in the file's last bytes: its place there, or `size`. */
static size_t find_end(const uint8_t *tail, size_t size) {
    for (size_t i = size < END ? 0 : size - END + 1; i-- > 0;)
        if (zb__load_le32(tail + i) == 0x06054b50 && zb__load_le16(tail + i + 20) == size - END - i)
            return i;
    return size;
}

static bool is_inside(const place *where, uint64_t end) {
    return where->size <= end && where->start <= end - where->size &&
           where->shift <= end - where->size - where->start;
}

static enum zb_code find_directory(const zb__zip_file *archive, place *out, zb_error *err) {
    const size_t at = find_end(archive->tail, archive->tail_size);
    *out = (place){.size = 0};
    if (at == archive->tail_size)
        return fail_damaged(err);
    const uint64_t end = archive->info.size - archive->tail_size + at;
    const uint8_t *record = archive->tail + at;
    bool is_wide;
    enum zb_code code = find_wide(archive, end, &is_wide, out, err);
    if (code)
        return code;
    if (!is_wide) { /* the directory ends where its end record begins */
        *out = (place){.size = zb__load_le32(record + 12), .start = zb__load_le32(record + 16)};
        if (out->size <= end && out->start <= end - out->size)
            out->shift = end - out->size - out->start;
    }
    return is_inside(out, end) ? ZB_OK : fail_damaged(err);
}

/* ---- Its records -------------------------------------------------------------------------- */

/* The fields that say 0xffffffff are in extension 1, wide and in this order. */
static bool read_wide(const uint8_t *extra, size_t size, zb__zip_entry *entry) {
    uint64_t *const fields[] = {&entry->size, &entry->stored_size, &entry->header};
    while (size >= 4) {
        const size_t length = zb__load_le16(extra + 2);
        size_t at = 4;
        if (length > size - 4)
            return false;
        for (size_t i = 0; i < 3 && zb__load_le16(extra) == 1; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (at + 8 > 4 + length)
                return false;
            *fields[i] = zb__load_le64(extra + at);
            at += 8;
        }
        extra += 4 + length;
        size -= 4 + length;
    }
    return true;
}

/* Some writers separate with '\' and begin with "./". Returns the name behind that. */
static char *normalise(char *name) {
    for (char *at = name; (at = strchr(at, '\\')) != NULL;)
        *at = '/';
    return strncmp(name, "./", 2) == 0 ? name + 2 : name;
}

/* One record, whose name goes to *text. Its size, or 0 for a damaged one. */
static size_t read_record(const uint8_t *record, size_t left, uint64_t shift, char **text,
                          zb__zip_entry *out) {
    if (left < RECORD || zb__load_le32(record) != 0x02014b50)
        return 0;
    const size_t length = zb__load_le16(record + 28), extra = zb__load_le16(record + 30);
    const size_t whole = RECORD + length + extra + zb__load_le16(record + 32);
    if (whole > left)
        return 0;
    memcpy(*text, record + RECORD, length);
    (*text)[length] = '\0';
    *out = (zb__zip_entry){.name = normalise(*text),
                           .header = zb__load_le32(record + 42),
                           .stored_size = zb__load_le32(record + 20),
                           .size = zb__load_le32(record + 24),
                           .crc = zb__load_le32(record + 16),
                           .method = zb__load_le16(record + 10),
                           .name_length = (uint16_t)length,
                           .is_encrypted = zb__load_le16(record + 8) & 1};
    *text += length + 1;
    return read_wide(record + RECORD + length, extra, out) &&
                   !__builtin_add_overflow(out->header, shift, &out->header)
               ? whole
               : 0;
}

/* Stable: of equal names the one that stands further back is larger. */
static int compare(const void *a, const void *b) {
    const zb__zip_entry *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->name > y->name) - (x->name < y->name);
}

static bool counts(const zb__zip_directory *directory, size_t i) {
    const char *name = directory->entry[i].name;
    const bool is_last =
        i + 1 == directory->count || strcmp(name, directory->entry[i + 1].name) != 0;
    return is_last && *name != '\0';
}

static void sort(zb__zip_directory *directory) {
    size_t kept = 0;
    qsort(directory->entry, directory->count, sizeof *directory->entry, compare);
    for (size_t i = 0; i < directory->count; i++)
        if (counts(directory, i))
            directory->entry[kept++] = directory->entry[i];
    directory->count = kept;
}

/* A record takes more room than its name and an entry. */
static enum zb_code read_records(const uint8_t *records, size_t size, uint64_t shift,
                                 zb__zip_directory *out, zb_error *err) {
    const size_t most = size / RECORD;
    out->entry = malloc((most + 1) * sizeof *out->entry);
    out->text = malloc(size + 1);
    if (!out->entry || !out->text)
        return zb_fail(err, ZB_ENOMEM, "no memory for the directory of a zip archive");
    char *text = out->text;
    for (size_t at = 0; at < size;) {
        if (size - at >= 4 && zb__load_le32(records + at) == 0x05054b50)
            break; /* a signature of the whole */
        const size_t whole =
            read_record(records + at, size - at, shift, &text, &out->entry[out->count]);
        if (whole == 0)
            return zb_fail(err, ZB_EFORMAT, "the directory of the zip archive is damaged");
        out->count++;
        at += whole;
    }
    sort(out);
    return ZB_OK;
}

static enum zb_code read_directory(const zb__zip_file *archive, zb__zip_directory *out,
                                   zb_error *err) {
    const uint64_t limit = zb_limits_get()->consolidated_bytes;
    place where;
    enum zb_code code = find_directory(archive, &where, err);
    if (code)
        return code;
    if (where.size > limit)
        return zb_fail(err, ZB_ELIMIT,
                       "the directory of the zip archive has %llu bytes, more than the limit "
                       "consolidated_bytes of %llu",
                       (unsigned long long)where.size, (unsigned long long)limit);
    uint8_t *records = malloc((size_t)where.size + 1);
    code = records ? read_at(archive, where.start + where.shift, records, (size_t)where.size, err)
                   : zb_fail(err, ZB_ENOMEM, "no memory for the directory of a zip archive");
    if (!code)
        code = read_records(records, (size_t)where.size, where.shift, out, err);
    free(records);
    return code;
}

enum zb_code zb__zip_directory_read(const zb__zip_file *archive, zb__zip_directory *out,
                                    zb_error *err) {
    *out = (zb__zip_directory){.count = 0};
    enum zb_code code = read_directory(archive, out, err);
    if (code)
        zb__zip_directory_free(out);
    return code;
}

void zb__zip_directory_free(zb__zip_directory *directory) {
    free(directory->entry);
    free(directory->text);
    *directory = (zb__zip_directory){.count = 0};
}

/* ---- Questions ---------------------------------------------------------------------------- */

size_t zb__zip_lower_bound(const zb__zip_directory *directory, const char *name) {
    size_t low = 0, high = directory->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(directory->entry[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const zb__zip_entry *zb__zip_find(const zb__zip_directory *directory, const char *name) {
    const size_t i = zb__zip_lower_bound(directory, name);
    const bool found = i < directory->count && strcmp(directory->entry[i].name, name) == 0;
    return found ? &directory->entry[i] : NULL;
}

bool zb__zip_has_below(const zb__zip_directory *directory, const char *prefix) {
    const size_t i = zb__zip_lower_bound(directory, prefix);
    return i < directory->count && strncmp(directory->entry[i].name, prefix, strlen(prefix)) == 0;
}

/* Whether a name is that of a root's document, behind `skip` bytes. */
static bool is_document(const char *name, size_t skip) {
    static const char *const documents[] = {"zarr.json", ".zgroup", ".zarray"};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        if (strcmp(name + skip, documents[i]) == 0)
            return true;
    return false;
}

size_t zb__zip_root(const zb__zip_directory *directory, const zb__zip_entry **any) {
    size_t length = 0;
    *any = NULL;
    for (size_t i = 0; i < directory->count; i++) {
        const zb__zip_entry *entry = &directory->entry[i];
        const char *slash = strchr(entry->name, '/');
        if (is_document(entry->name, 0))
            return 0;
        const size_t skip = slash ? (size_t)(slash - entry->name) + 1 : 0;
        if (skip == 0 || !is_document(entry->name, skip))
            continue;
        if (*any && (length != skip || memcmp(entry->name, (*any)->name, skip) != 0))
            return 0; /* several stores: nodes below a root without a document */
        *any = entry;
        length = skip;
    }
    return length;
}

/* The name stands in front of the content once more: a directory that leads to another entry's
   would give that one's bytes. The entry's own is normalised. */
static bool has_name(const zb__zip_entry *entry, const uint8_t *header) {
    const size_t length = strlen(entry->name);
    const uint8_t *name = header + ZB__ZIP_HEADER;
    if (zb__load_le16(header + 26) != entry->name_length || length > entry->name_length)
        return false;
    name += entry->name_length - length; /* "./" */
    for (size_t i = 0; i < length; i++) {
        if ((name[i] == '\\' ? '/' : name[i]) != (uint8_t)entry->name[i])
            return false;
    }
    return true;
}

enum zb_code zb__zip_content_place(const zb__zip_entry *entry, const uint8_t *header, size_t size,
                                   uint64_t archive_size, uint64_t *out, zb_error *err) {
    if (size < zb__zip_header_size(entry))
        return zb_fail(err, ZB_EFORMAT, "the zip archive ends too early");
    if (zb__load_le32(header) != 0x04034b50)
        return zb_fail(err, ZB_EFORMAT, "the directory of the zip archive leads nowhere");
    if (!has_name(entry, header))
        return zb_fail(err, ZB_EFORMAT,
                       "the directory of the zip archive leads to an entry of another name");
    const uint64_t before =
        ZB__ZIP_HEADER + (uint64_t)zb__load_le16(header + 26) + zb__load_le16(header + 28);
    if (entry->header > archive_size || before > archive_size - entry->header ||
        entry->stored_size > archive_size - entry->header - before)
        return zb_fail(err, ZB_EFORMAT, "an entry of the zip archive ends behind the archive");
    *out = entry->header + before;
    return ZB_OK;
}
