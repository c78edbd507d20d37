/* SPDX-License-Identifier: MIT */
/* See text_parts.h. */
#include "change/text_parts.h"

#include <stdlib.h>

#include "util/list.h"

static void add_part(zb__text_parts *parts, const char *data, size_t size) {
    if (parts->own.failed || size == 0)
        return;
    zb_part *last = parts->count ? &parts->part[parts->count - 1] : NULL;
    parts->size += size;
    if (last && !data && !last->data) {
        last->size += size;
        return;
    }
    if (!zb__list_grow(&parts->part, parts->count, &parts->capacity, sizeof *parts->part)) {
        zb__text_fail(&parts->own);
        return;
    }
    parts->part[parts->count++] = (zb_part){.data = data, .size = size};
}

void zb__text_parts_expect(zb__text_parts *parts, size_t bytes) {
    zb__text_expect(&parts->own, bytes);
}

void zb__text_parts_copy(zb__text_parts *parts, const char *bytes, size_t count) {
    zb__text_put(&parts->own, bytes, count);
    add_part(parts, NULL, count);
}

/* Bytes from which on a part of its own costs a store less than a copy. */
#define WORTH_A_PART 4096

void zb__text_parts_borrow(zb__text_parts *parts, const char *bytes, size_t count) {
    if (count < WORTH_A_PART)
        zb__text_parts_copy(parts, bytes, count);
    else
        add_part(parts, bytes, count);
}

void zb__text_parts_add_line(zb__text_parts *parts, unsigned level) {
    const size_t before = parts->own.size;
    zb__text_add_line(&parts->own, level);
    add_part(parts, NULL, parts->own.failed ? 0 : parts->own.size - before);
}

enum zb_code zb__text_parts_end(zb__text_parts *parts, zb_error *err) {
    if (parts->own.failed)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a text");
    const char *own = parts->own.data;
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->part[i].data)
            continue;
        parts->part[i].data = own;
        own += parts->part[i].size;
    }
    return ZB_OK;
}

void zb__text_parts_free(zb__text_parts *parts) {
    free(parts->own.data);
    free(parts->part);
    *parts = (zb__text_parts){.count = 0};
}
