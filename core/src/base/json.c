/* SPDX-License-Identifier: MIT */
/*
 * The functions of zarrbridge/json.h over cJSON's tree. A zb_json is a cJSON; the type only has
 * another name outside, so that cJSON stays a private matter of this file.
 *
 * The text first passes through json_scan.c, which turns numbers into marked strings. So cJSON's
 * tree holds no number at all, and "number" below always means such a string. Nothing here asks
 * cJSON for members by name: its usual lookup ignores case.
 */
#include "zarrbridge/json.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/json_brief.h"
#include "base/json_print.h"
#include "base/json_scan.h"

/* The two faces of one pointer. Values are only ever read, so both are const. */
static const cJSON *tree_of(const zb_json *value) {
    return (const cJSON *)(const void *)value;
}

static const zb_json *json_of(const cJSON *node) {
    return (const zb_json *)(const void *)node;
}

/* ---- Finding members ---------------------------------------------------------------------- */

/* cJSON's lists are searched one by one, so an object of many members has an index: its members
   sorted by name. It stands where an object has no use for a string (valuestring), which cJSON
   frees with the node, and their number in valueint. */
#define INDEXED_FROM 16 /* members: below, a search costs less than the index */

static cJSON *const *index_of(const cJSON *object) {
    return (cJSON *const *)(const void *)object->valuestring;
}

static int compare_names(const void *left, const void *right) {
    return strcmp((*(cJSON *const *)left)->string, (*(cJSON *const *)right)->string);
}

static bool make_index(cJSON *object, size_t count) {
    cJSON **index = cJSON_malloc(count * sizeof *index);
    if (!index)
        return false;
    size_t i = 0;
    for (cJSON *member = object->child; member; member = member->next)
        index[i++] = member;
    qsort(index, count, sizeof *index, compare_names);
    object->valuestring = (char *)(void *)index;
    object->valueint = (int)count;
    return true;
}

/* Of all objects below. Recursion is bounded by the parser's depth limit. */
static bool make_indexes(cJSON *node) {
    size_t count = 0;
    for (cJSON *child = node->child; child; child = child->next, count++) {
        if (child->child && !make_indexes(child))
            return false;
    }
    bool is_object = (node->type & 0xff) == cJSON_Object;
    return !is_object || count < INDEXED_FROM || count > INT_MAX || make_index(node, count);
}

static const cJSON *search_index(const cJSON *object, const char *name) {
    cJSON *const *index = index_of(object);
    size_t low = 0, high = (size_t)object->valueint;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, index[middle]->string);
        if (order == 0)
            return index[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* ---- Documents ---------------------------------------------------------------------------- */

/* cJSON keeps the place of its last error in a global variable. Concurrent calls may overwrite it,
   which harms nobody: it is never read here, since only a lack of memory can make cJSON fail. */
enum zb_code zb_json_parse(const char *text, size_t size, zb_json **out, zb_error *err) {
    char *clean;
    size_t clean_size;
    enum zb_code code = zb__json_scan(text, size, &clean, &clean_size, err);
    if (code)
        return code;
    cJSON *root = cJSON_ParseWithLength(clean, clean_size);
    free(clean);
    if (root && !make_indexes(root)) {
        cJSON_Delete(root);
        root = NULL;
    }
    if (!root) /* the scan left nothing else that could fail */
        return zb_fail(err, ZB_ENOMEM, "out of memory for a JSON document of %zu bytes", size);
    *out = (zb_json *)(void *)root;
    return ZB_OK;
}

/* cJSON_Delete recurses as deep as the document is nested, which the scan has bounded. */
void zb_json_free(zb_json *root) {
    cJSON_Delete((cJSON *)(void *)root);
}

/* The low byte is the type; flags above it tell how cJSON holds the memory. */
enum zb_json_kind zb_json_kind_of(const zb_json *value) {
    const cJSON *node = tree_of(value);
    switch (node ? node->type & 0xff : cJSON_NULL) {
    case cJSON_True:
    case cJSON_False:
        return ZB_JSON_BOOL;
    case cJSON_String:
        return *node->valuestring == ZB__JSON_NUMBER_MARK ? ZB_JSON_NUMBER : ZB_JSON_STRING;
    case cJSON_Array:
        return ZB_JSON_ARRAY;
    case cJSON_Object:
        return ZB_JSON_OBJECT;
    default:
        return ZB_JSON_NULL;
    }
}

/* By hand rather than by cJSON_GetArraySize, which counts in an int. */
size_t zb_json_count(const zb_json *value) {
    size_t count = 0;
    for (const zb_json *child = zb_json_first(value); child; child = zb_json_next(child))
        count++;
    return count;
}

const zb_json *zb_json_first(const zb_json *container) {
    return container ? json_of(tree_of(container)->child) : NULL;
}

const zb_json *zb_json_next(const zb_json *value) {
    return value ? json_of(tree_of(value)->next) : NULL;
}

const char *zb_json_name(const zb_json *member) {
    return member ? tree_of(member)->string : NULL;
}

/* Names are unique, so the first hit is the only one. */
const zb_json *zb_json_get(const zb_json *object, const char *name) {
    if (zb_json_kind_of(object) != ZB_JSON_OBJECT)
        return NULL;
    if (tree_of(object)->valuestring)
        return json_of(search_index(tree_of(object), name));
    const zb_json *member = zb_json_first(object);
    while (member && strcmp(zb_json_name(member), name) != 0)
        member = zb_json_next(member);
    return member;
}

const char *zb_json_string(const zb_json *value) {
    return zb_json_kind_of(value) == ZB_JSON_STRING ? tree_of(value)->valuestring : NULL;
}

bool zb_json_bool(const zb_json *value) {
    return value && (tree_of(value)->type & 0xff) == cJSON_True;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

const char *zb_json_number(const zb_json *value) {
    return zb_json_kind_of(value) == ZB_JSON_NUMBER ? tree_of(value)->valuestring + 1 : NULL;
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

/* The three words are told apart by their first letters; the scan lets no other through. */
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

/* ---- Printing ----------------------------------------------------------------------------- */

/* The indentation below an indented container; -1 stands for no white space at all, as does a list
   of scalars, which reads best on one line. */
static int level_within(const zb_json *container, int level) {
    const zb_json *child = zb_json_first(container);
    if (level < 0 || zb_json_kind_of(container) == ZB_JSON_OBJECT)
        return level < 0 ? -1 : level + 1;
    while (child && zb_json_kind_of(child) < ZB_JSON_ARRAY)
        child = zb_json_next(child);
    return child ? level + 1 : -1;
}

/* Recursion is bounded by the parser's depth limit. */
static void put_value(zb__text *w, const zb_json *value, int level);

static void put_container(zb__text *w, const zb_json *value, int level) {
    bool object = zb_json_kind_of(value) == ZB_JSON_OBJECT;
    int within = level_within(value, level);
    const zb_json *first = zb_json_first(value);
    zb__text_add(w, object ? "{" : "[");
    for (const zb_json *child = first; child; child = zb_json_next(child)) {
        if (child != first)
            zb__text_add(w, level >= 0 && within < 0 ? ", " : ",");
        if (within >= 0)
            zb__text_add_line(w, within);
        if (object) {
            zb__text_add_quoted(w, zb_json_name(child));
            zb__text_add(w, level < 0 ? ":" : ": ");
        }
        put_value(w, child, within);
    }
    if (first && within >= 0)
        zb__text_add_line(w, level);
    zb__text_add(w, object ? "}" : "]");
}

static void put_value(zb__text *w, const zb_json *value, int level) {
    switch (zb_json_kind_of(value)) {
    case ZB_JSON_NULL:
        zb__text_add(w, "null");
        return;
    case ZB_JSON_BOOL:
        zb__text_add(w, zb_json_bool(value) ? "true" : "false");
        return;
    case ZB_JSON_NUMBER:
        zb__text_add(w, zb_json_number(value));
        return;
    case ZB_JSON_STRING:
        zb__text_add_quoted(w, zb_json_string(value));
        return;
    case ZB_JSON_ARRAY:
    case ZB_JSON_OBJECT:
        put_container(w, value, level);
    }
}

void zb__json_put(zb__text *text, const zb_json *value, int level) {
    put_value(text, value, level);
}

char *zb_json_print(const zb_json *value) {
    zb__text w = {0};
    put_value(&w, value, -1);
    return zb__text_take(&w, NULL);
}

/* Cuts `whole`, which it frees, to the size of a brief text. */
static const char *cut_to_brief(char *whole, char text[ZB__BRIEF_SIZE]) {
    if (!whole) /* out of memory, which the caller's error need not become */
        return strcpy(text, "?");
    size_t length = strlen(whole);
    size_t cut = length;
    if (length >= ZB__BRIEF_SIZE) {
        cut = ZB__BRIEF_SIZE - sizeof "...";
        while (((unsigned char)whole[cut] & 0xc0) == 0x80)
            cut--; /* not inside a UTF-8 character */
    }
    snprintf(text, ZB__BRIEF_SIZE, "%.*s%s", (int)cut, whole, cut < length ? "..." : "");
    free(whole);
    return text;
}

const char *zb__json_brief(const zb_json *value, char text[ZB__BRIEF_SIZE]) {
    return cut_to_brief(value ? zb_json_print(value) : strdup("missing"), text);
}

const char *zb__name_brief(const char *name, char text[ZB__BRIEF_SIZE]) {
    zb__text w = {0};
    zb__text_add_quoted(&w, name);
    return cut_to_brief(zb__text_take(&w, NULL), text);
}
