/* SPDX-License-Identifier: MIT */
/* The tree behind zarrbridge/json.h: cJSON's nodes, and the data that cJSON's have no room for. */
#ifndef ZB_UTIL_JSON_H
#define ZB_UTIL_JSON_H

#include <cjson/cJSON.h>

#include "zarrbridge/json.h"

/* Values lie in their document's arena, as do their texts; cJSON's flags say that it owns neither.
   A number is cJSON's "raw" text: its token. */
struct zb_json {
    cJSON node; /* first, so that a pointer to one is a pointer to the other */
    zb_json_place place;
    /* The text of a value, and of a member's name in quotes, that the tree cannot hold as it is
       (zb__json_parse_document); else NULL. They are printed instead. */
    const char *raw, *raw_name;
};

/* From this many members on, an object has an index; below, a search costs less. */
#define ZB__JSON_INDEXED_FROM 16

/* An object or a list. */
typedef struct zb__json_container {
    zb_json value;
    size_t count;           /* of members or elements */
    const zb_json **sorted; /* an object's members by name, or NULL */
} zb__json_container;

/* Parses the document of a node. What users have put into it, the members `attributes` and
   `consolidated_metadata`, is read where zb_json_parse would refuse it, and printed as it stood:
   - a NUL or half a surrogate pair stays in its string as the escape that it was written as;
   - of members that stand twice in an object, the last one is in the tree;
   - a list or object beyond the limit json_depth (and up to 1000 levels) is an object without
     members. */
enum zb_code zb__json_parse_document(const char *text, size_t size, zb_json **out, zb_error *err);

/* A text that users have put there as a whole is read like these members. */
enum zb_code zb__json_parse_users(const char *text, size_t size, zb_json **out, zb_error *err);

/* Like zb__json_parse_document, without the entries of consolidated metadata: they are checked,
   apart from members that stand twice, and their map is an object without members in the tree. Its
   place is that of the whole map. The entries do not count as values. */
enum zb_code zb__json_parse_outline(const char *text, size_t size, zb_json **out, zb_error *err);

/* zb_json_same, but what a tree cannot hold (`raw`) is the same as anything. */
bool zb__json_same_but_cut(const zb_json *a, const zb_json *b);

/* The places of these entries, in the order of the text: they live as long as the tree. So nobody
   has to read the map again to find them. */
const zb_json_place *zb__json_left_out(const zb_json *root, size_t *count);

#endif
