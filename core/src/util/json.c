/* SPDX-License-Identifier: MIT */
/*
 * Looking at values. A zb_json begins with a cJSON; outside, the type only has another name, so
 * that cJSON stays a private matter of the files that include util/json.h. Its own way to look up
 * members (cJSON_GetObjectItem) ignores case and is never used.
 */
#include "util/json.h"

#include <math.h>
#include <string.h>

#include "util/decimal.h"
#include "util/names.h"
#include "util/text.h"

static const zb_json *json_of(const cJSON *node) {
    return (const zb_json *)(const void *)node;
}

/* The low byte is the type; flags above it tell how cJSON holds the memory. */
static int type_of(const zb_json *value) {
    return value ? value->node.type & 0xff : cJSON_NULL;
}

enum zb_json_kind zb_json_kind_of(const zb_json *value) {
    switch (type_of(value)) {
    case cJSON_True:
    case cJSON_False:
        return ZB_JSON_BOOL;
    case cJSON_Raw:
        return ZB_JSON_NUMBER;
    case cJSON_String:
        return ZB_JSON_STRING;
    case cJSON_Array:
        return ZB_JSON_ARRAY;
    case cJSON_Object:
        return ZB_JSON_OBJECT;
    default:
        return ZB_JSON_NULL;
    }
}

/* ---- Containers --------------------------------------------------------------------------- */

/* NULL for scalars. */
static const zb__json_container *container_of(const zb_json *value) {
    int type = type_of(value);
    return type == cJSON_Array || type == cJSON_Object ? (const zb__json_container *)value : NULL;
}

size_t zb_json_count(const zb_json *value) {
    const zb__json_container *container = container_of(value);
    return container ? container->count : 0;
}

const zb_json *zb_json_first(const zb_json *container) {
    return container ? json_of(container->node.child) : NULL;
}

const zb_json *zb_json_next(const zb_json *value) {
    return value ? json_of(value->node.next) : NULL;
}

const char *zb_json_name(const zb_json *member) {
    return member ? member->node.string : NULL;
}

static const zb_json *search(const zb__json_container *object, const char *name) {
    size_t low = 0, high = object->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, zb_json_name(object->sorted[middle]));
        if (order == 0)
            return object->sorted[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Names are unique, so the first hit is the only one. */
const zb_json *zb_json_get(const zb_json *object, const char *name) {
    if (type_of(object) != cJSON_Object)
        return NULL;
    const zb__json_container *container = container_of(object);
    if (container->sorted)
        return search(container, name);
    const cJSON *member = object->node.child;
    while (member && !zb__name_is(member->string, name))
        member = member->next;
    return json_of(member);
}

/* ---- Comparing ---------------------------------------------------------------------------- */

/* Members mostly stand in the same order, and are looked up where they do not. The parser bounds
   the depth. `cut`: what a tree cannot hold matches anything. */
static bool match(const zb_json *a, const zb_json *b, bool cut) {
    if (!a || !b)
        return a == b;
    if (a->raw || b->raw)
        return cut || zb__text_same(a->raw, b->raw);
    if (type_of(a) != type_of(b) || zb_json_count(a) != zb_json_count(b) ||
        !zb__text_same(a->node.valuestring, b->node.valuestring))
        return false;
    const zb_json *other = zb_json_first(b);
    for (const zb_json *one = zb_json_first(a); one; one = zb_json_next(one)) {
        const char *name = zb_json_name(one);
        const bool is_next = zb__text_same(name, zb_json_name(other));
        const zb_json *found = is_next ? other : zb_json_get(b, name);
        if (!match(one, found, cut) || !(cut || zb__text_same(one->raw_name, found->raw_name)))
            return false;
        other = zb_json_next(other);
    }
    return true;
}

bool zb_json_same(const zb_json *a, const zb_json *b) {
    return match(a, b, false);
}

bool zb__json_same_but_cut(const zb_json *a, const zb_json *b) {
    return match(a, b, true);
}

zb_json_place zb_json_place_of(const zb_json *value) {
    return value->place;
}

/* ---- Scalars ------------------------------------------------------------------------------ */

const char *zb_json_string(const zb_json *value) {
    return type_of(value) == cJSON_String ? value->node.valuestring : NULL;
}

bool zb_json_bool(const zb_json *value) {
    return type_of(value) == cJSON_True;
}

const char *zb_json_number(const zb_json *value) {
    return type_of(value) == cJSON_Raw ? value->node.valuestring : NULL;
}

/* The token's sign and magnitude when it is written as an integer. */
static bool integer_of(const zb_json *value, bool *negative, uint64_t *magnitude) {
    const char *token = zb_json_number(value);
    return token && strspn(token, "-0123456789") == strlen(token) &&
           zb__decimal_to_integer(token, negative, magnitude);
}

/* Strict, unlike fill values: sizes and flags in metadata are integers only when written as
   such. */
bool zb_json_int64(const zb_json *value, int64_t *out) {
    bool negative;
    uint64_t magnitude;
    if (!integer_of(value, &negative, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    /* Two's complement: also right for -2^63, which has no positive counterpart. */
    *out = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

bool zb_json_uint64(const zb_json *value, uint64_t *out) {
    bool negative;
    uint64_t magnitude;
    if (!integer_of(value, &negative, &magnitude) || (negative && magnitude > 0))
        return false;
    *out = magnitude;
    return true;
}

/* The first letters tell the three words apart; the parser lets no other word through. */
bool zb_json_double(const zb_json *value, double *out) {
    const char *token = zb_json_number(value);
    if (!token)
        return false;
    if (*token == 'N')
        *out = (double)NAN;
    else if (*token == 'I')
        *out = (double)INFINITY;
    else if (token[1] == 'I')
        *out = -(double)INFINITY;
    else
        *out = zb__decimal_to_double(token);
    return true;
}
