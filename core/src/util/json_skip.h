/* SPDX-License-Identifier: MIT */
/* JSON values that are checked, and not made into a tree: consolidated metadata of many nodes,
   whose tree would take several times the memory of the text. */
#ifndef ZB_UTIL_JSON_SKIP_H
#define ZB_UTIL_JSON_SKIP_H

#include "util/json_scan.h"
#include "zarrbridge/json.h"

/* Checks and skips the value that begins here, or behind white space. Objects and lists in it may
   be nested `depth` levels: else ZB_ELIMIT. That a member stands twice is not seen. */
enum zb_code zb__json_skip(zb__scanner *s, size_t depth);

/* Where the members of an object stand, in the order of the text. */
typedef struct zb__json_places {
    zb_json_place *place; /* malloc'ed */
    size_t count, capacity;
} zb__json_places;

/* The same for the object that begins here; the places of its members are added to the list. */
enum zb_code zb__json_skip_object(zb__scanner *s, size_t depth, zb__json_places *places);

/* The members of an object, one after the other, in a text in which it was skipped.
   zb__json_members_end ends it. */
typedef struct zb__json_members {
    zb__scanner s;
    zb__arena arena;           /* of the names */
    const zb_json_place *next; /* of the places; borrowed */
    size_t left;               /* that have not been at hand */
    const char *name;          /* of the member at hand, as lenient parsing reads it */
    zb_json_place place;       /* of the member at hand */
} zb__json_members;

void zb__json_members_begin(zb__json_members *members, const char *text, size_t size,
                            const zb_json_place *places, size_t count);

/* Goes to the next member; *there: there is one. ZB_ENOMEM. */
enum zb_code zb__json_members_next(zb__json_members *members, bool *there, zb_error *err);

void zb__json_members_end(zb__json_members *members);

#endif
