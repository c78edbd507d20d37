/* SPDX-License-Identifier: MIT */
/* The tree behind zarrbridge/json.h: cJSON's nodes, and the data that cJSON's have no room for. */
#ifndef ZB_BASE_JSON_H
#define ZB_BASE_JSON_H

#include <cjson/cJSON.h>

#include "zarrbridge/json.h"

/* Values lie in their document's arena, as do their texts; cJSON's flags say that it owns neither.
   A number is cJSON's "raw" text: its token. */
struct zb_json {
    cJSON node; /* first, so that a pointer to one is a pointer to the other */
    zb_json_place place;
};

/* From this many members on, an object has an index; below, a search costs less. */
#define ZB__JSON_INDEXED_FROM 16

/* An object or a list. */
typedef struct zb__json_container {
    zb_json value;
    size_t count;           /* of members or elements */
    const zb_json **sorted; /* an object's members by name, or NULL */
} zb__json_container;

#endif
