/* SPDX-License-Identifier: MIT */
/*
 * A long text as a store is given it: in parts, of which the longest are borrowed from where they
 * stand already, so that they are not copied. As in text.h, a lack of memory shows at the end.
 */
#ifndef ZB_CHANGE_TEXT_PARTS_H
#define ZB_CHANGE_TEXT_PARTS_H

#include "util/text.h"
#include "zarrbridge/sys/store.h"

/* All zeros is an empty text. */
typedef struct zb__text_parts {
    zb__text own;  /* all that is not borrowed */
    zb_part *part; /* data is NULL for bytes of `own` before zb__text_parts_end */
    size_t count, capacity;
    size_t size; /* of all parts */
} zb__text_parts;

/* For an empty one whose own bytes will be about so many. */
void zb__text_parts_expect(zb__text_parts *parts, size_t bytes);

void zb__text_parts_copy(zb__text_parts *parts, const char *bytes, size_t count);
/* The bytes stay as long as the parts; short ones are copied. */
void zb__text_parts_borrow(zb__text_parts *parts, const char *bytes, size_t count);
void zb__text_parts_add_line(zb__text_parts *parts, unsigned level);

/* Nothing comes any more: all parts have their data. ZB_ENOMEM when memory has run out. */
enum zb_code zb__text_parts_end(zb__text_parts *parts, zb_error *err);
void zb__text_parts_free(zb__text_parts *parts);

#endif
