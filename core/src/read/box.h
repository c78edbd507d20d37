/* SPDX-License-Identifier: MIT */
/* The box that a caller asks to read or write, checked against its array. */
#ifndef ZB_READ_BOX_H
#define ZB_READ_BOX_H

#include "read/piece.h"
#include "zarrbridge/node.h"

/* The members that zb_read and zb_write have in common. */
typedef struct zb__selection {
    const zb_node *node;
    const uint64_t *start, *count, *step; /* as in zb_read: any may be NULL */
    const int64_t *strides;               /* of the caller's memory, bytes, or NULL for C order */
    size_t item;                          /* bytes of an element there */
} zb__selection;

/* Makes the selection a piece in the array's coordinates (dst and target are the caller's to set)
   and says whether it is empty. *bytes is the size of its elements in C order. */
enum zb_code zb__box_piece(const zb__selection *selection, zb__arena *memory, zb__piece **out,
                           bool *empty, uint64_t *bytes, zb_error *err);

#endif
