/* SPDX-License-Identifier: MIT */
/*
 * A long text as a store is given it: in parts, of which the longest are borrowed from where they
 * stand already, so that they are not copied. As in text.h, a lack of memory shows at the end.
 */
#ifndef ZB_CHANGE_PIECES_H
#define ZB_CHANGE_PIECES_H

#include "base/text.h"
#include "zarrbridge/sys/store.h"

/* All zeros is an empty text. */
typedef struct zb__pieces {
    zb__text own;  /* all that is not borrowed */
    zb_part *part; /* data is NULL for bytes of `own` before zb__pieces_end */
    size_t count, capacity;
    size_t size; /* of all parts */
} zb__pieces;

/* For an empty one whose own bytes will be about so many. */
void zb__pieces_expect(zb__pieces *pieces, size_t bytes);

void zb__pieces_copy(zb__pieces *pieces, const char *bytes, size_t count);
/* The bytes stay as long as the pieces; short ones are copied. */
void zb__pieces_borrow(zb__pieces *pieces, const char *bytes, size_t count);
void zb__pieces_add_line(zb__pieces *pieces, unsigned level);

/* Nothing comes any more: all parts have their data. ZB_ENOMEM when memory has run out. */
enum zb_code zb__pieces_end(zb__pieces *pieces, zb_error *err);
void zb__pieces_free(zb__pieces *pieces);

#endif
