/* SPDX-License-Identifier: MIT */
/*
 * The map of a block of consolidated metadata, changed as text. A block of many nodes is far larger
 * than all other documents, and a change concerns few of its entries: those that stay are
 * borrowed from the old text, and cost no memory.
 */
#ifndef ZB_CHANGE_BLOCK_MAP_H
#define ZB_CHANGE_BLOCK_MAP_H

#include "change/text_parts.h"
#include "node/edit.h"
#include "util/names.h"

/* Entries stand three levels deep: in the document, the block and the map. */
enum { ZB__MAP_LEVEL = 2, ZB__ENTRY_LEVEL };

/* The entry of a node that has changed. */
typedef struct zb__map_row {
    char *path;  /* below the block's group */
    char *entry; /* the member's text, name and value */
    size_t size; /* of entry */
} zb__map_row;

typedef struct zb__map_rows {
    zb__map_row *item;
    size_t count, capacity;
} zb__map_rows;

void zb__map_rows_sort(zb__map_rows *rows);
void zb__map_rows_free(zb__map_rows *rows);

/* A change of a map. */
typedef struct zb__map_change {
    const char *group;        /* the path of the block's group */
    const zb__document *old;  /* an outline with the old map; NULL: there is none */
    zb_json_place place;      /* of the old map */
    const zb__names *put;     /* paths in the store whose entries go, sorted */
    const zb__names *erased;  /* the same, with all below them */
    const zb__map_rows *rows; /* the entries that come, sorted */
    bool lines;               /* the document is written in lines */
} zb__map_change;

/* Writes the new map behind the text, which borrows from the old one and not from the rows. An
   entry that comes stands before the first old one that it sorts before. ZB_ENOMEM; a lack of
   memory for the text shows in it. */
enum zb_code zb__map_write(const zb__map_change *change, zb__text_parts *text, zb_error *err);

#endif
