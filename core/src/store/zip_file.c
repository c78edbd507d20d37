/* SPDX-License-Identifier: MIT */
#include "store/zip_file.h"

#include <stdlib.h>
#include <string.h>

#include "store/fetch_all.h"

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
