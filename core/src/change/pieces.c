/* SPDX-License-Identifier: MIT */
/* See pieces.h. */
#include "change/pieces.h"

#include <stdlib.h>

#include "base/list.h"

static void add_part(zb__pieces *pieces, const char *data, size_t size) {
    if (pieces->own.failed || size == 0)
        return;
    zb_part *last = pieces->count ? &pieces->part[pieces->count - 1] : NULL;
    pieces->size += size;
    if (last && !data && !last->data) {
        last->size += size;
        return;
    }
    if (!zb__list_grow(&pieces->part, pieces->count, &pieces->capacity, sizeof *pieces->part)) {
        zb__text_fail(&pieces->own);
        return;
    }
    pieces->part[pieces->count++] = (zb_part){.data = data, .size = size};
}

void zb__pieces_expect(zb__pieces *pieces, size_t bytes) {
    zb__text_expect(&pieces->own, bytes);
}

void zb__pieces_copy(zb__pieces *pieces, const char *bytes, size_t count) {
    zb__text_put(&pieces->own, bytes, count);
    add_part(pieces, NULL, count);
}

/* Bytes from which on a part of its own costs a store less than a copy. */
#define WORTH_A_PART 4096

void zb__pieces_borrow(zb__pieces *pieces, const char *bytes, size_t count) {
    if (count < WORTH_A_PART)
        zb__pieces_copy(pieces, bytes, count);
    else
        add_part(pieces, bytes, count);
}

void zb__pieces_add_line(zb__pieces *pieces, unsigned level) {
    const size_t before = pieces->own.size;
    zb__text_add_line(&pieces->own, level);
    add_part(pieces, NULL, pieces->own.failed ? 0 : pieces->own.size - before);
}

enum zb_code zb__pieces_end(zb__pieces *pieces, zb_error *err) {
    if (pieces->own.failed)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a text");
    const char *own = pieces->own.data;
    for (size_t i = 0; i < pieces->count; i++) {
        if (pieces->part[i].data)
            continue;
        pieces->part[i].data = own;
        own += pieces->part[i].size;
    }
    return ZB_OK;
}

void zb__pieces_free(zb__pieces *pieces) {
    free(pieces->own.data);
    free(pieces->part);
    *pieces = (zb__pieces){.count = 0};
}
