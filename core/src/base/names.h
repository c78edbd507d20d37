/* SPDX-License-Identifier: MIT */
/* The list of names: of a listing, of nodes, of children. */
#ifndef ZB_BASE_NAMES_H
#define ZB_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "zarrbridge/error.h"

/* Names of a document nearly always differ in their first byte from those that they are compared
   with: opening a node makes some 300 comparisons. */
static inline bool zb__name_is(const char *name, const char *other) {
    return *name == *other && strcmp(name, other) == 0;
}

/* A name in a listing, or the path of a node. */
typedef struct zb__name {
    char *text;        /* malloc'ed */
    bool is_prefix;    /* in a listing: has names below; in a list of nodes: is an array */
    bool is_link;      /* a symbolic link */
    bool is_older;     /* in a list of nodes: of version 2 */
    bool has_hidden;   /* of a group: there are hidden arrays in it */
    bool leads_back;   /* in a listing: a link to a prefix above it */
    bool has_document; /* of a child: the listing has shown one of its node */
} zb__name;

/* All zeros is an empty list. */
typedef struct zb__names {
    zb__name *name;
    size_t count, capacity;
} zb__names;

/* Takes over name.text, freed on failure; NULL counts as a lack of memory. */
enum zb_code zb__names_add(zb__names *names, zb__name name, zb_error *err);

/* The same with ZB_ELIMIT at the limit `children`, for names that a store lists. */
enum zb_code zb__names_add_listed(zb__names *names, zb__name name, zb_error *err);

/* Sorts bytewise, the same everywhere whatever the locale is, and drops names that stand twice. */
void zb__names_sort(zb__names *names);

void zb__names_free(zb__names *names);

#endif
