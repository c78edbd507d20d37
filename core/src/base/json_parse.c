/* SPDX-License-Identifier: MIT */
/*
 * The parser: one pass over the text, which checks it and builds the tree out of cJSON's nodes.
 *
 * cJSON's own parser keeps numbers as doubles, skips over invalid UTF-8, takes control characters
 * and numbers that JSON forbids, and keeps a member that stands twice. The one here refuses all of
 * that with line and column, keeps the token of each number and the place of each value. The bare
 * tokens NaN, Infinity and -Infinity, which some writers leave in documents, count as numbers.
 *
 * Members that stand twice are found by sorting an object's members: n log n for n of them. Of a
 * large object the sorted members are kept, as its index.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_brief.h"
#include "base/json_scan.h"
#include "base/json_skip.h"
#include "base/names.h"
#include "zarrbridge/limits.h"

/* Parsing and printing recurse as deep as a document is nested: a higher limit json_depth has no
   effect. What users put into a document may be this deep; beyond json_depth it is not in the
   tree. */
#define DEPTH_MAX 1000

#define BLOCK "consolidated_metadata"

/* The root, and the memory of all values but itself. */
typedef struct document {
    zb__json_container root; /* first, so that a pointer to one is a pointer to the other */
    atomic_size_t more;      /* owners besides the first */
    zb__arena arena;
    zb__json_places left_out; /* of an outline */
} document;

/* All functions below that return a code are called at the first byte of their text, and stand
   behind its last byte when they succeed. After a failure the arena goes as a whole, so nothing is
   ever taken back. */

typedef struct parser {
    zb__scanner s;
    document *document;
    uint64_t depth, depth_limit;   /* containers that are open */
    uint64_t values, values_limit; /* begun so far, the root included */
    bool is_document;              /* the users' members of the root are read leniently */
    bool is_outline;               /* the map of consolidated metadata is left out of the tree */
    bool in_block;                 /* within the root's member consolidated_metadata */
} parser;

static enum zb_code parse_value(parser *p, zb_json **out);

/* A value that begins here. */
static zb_json *new_value(parser *p, int type, size_t size) {
    zb_json *value = &p->document->root.value;
    if (p->values > 1)
        value = zb__arena_alloc(&p->document->arena, size);
    if (!value)
        return NULL;
    memset(value, 0, size);
    value->node.type = type;
    value->place = (zb_json_place){.name = p->s.at, .begin = p->s.at};
    return value;
}

/* The text from `from` to here, as the tree cannot hold it. */
static enum zb_code keep_raw(parser *p, size_t from, char **out) {
    const size_t size = p->s.at - from;
    char *copy = zb__arena_text(&p->document->arena, size + 1);
    if (!copy)
        return zb__scan_no_memory(&p->s);
    memcpy(copy, p->s.text + from, size);
    copy[size] = '\0';
    *out = copy;
    return ZB_OK;
}

/* Takes out the white space between words, which no value is printed with. */
static void compact(char *text) {
    char *to = text;
    bool quoted = false;
    for (const char *from = text; *from; from++) {
        if (quoted && *from == '\\') {
            *to++ = *from++;
        } else if (*from == '"') {
            quoted = !quoted;
        } else if (!quoted && strchr(" \t\r\n", *from)) {
            continue;
        }
        *to++ = *from;
    }
    *to = '\0';
}

/* A string, and its text as it stands if the string has characters that it cannot hold. */
static enum zb_code scan_string(parser *p, char **out, const char **raw) {
    const size_t from = p->s.at;
    char *text = NULL;
    p->s.is_strange = false;
    enum zb_code code = zb__scan_string(&p->s, out);
    if (!code && p->s.is_strange)
        code = keep_raw(p, from, &text);
    *raw = text;
    return code;
}

/* ---- Scalars ------------------------------------------------------------------------------ */

static enum zb_code parse_string_value(parser *p, zb_json **out) {
    *out = new_value(p, cJSON_String | cJSON_IsReference, sizeof **out);
    return *out ? scan_string(p, &(*out)->node.valuestring, &(*out)->raw)
                : zb__scan_no_memory(&p->s);
}

static enum zb_code parse_number(parser *p, zb_json **out) {
    *out = new_value(p, cJSON_Raw | cJSON_IsReference, sizeof **out);
    return *out ? zb__scan_number(&p->s, &(*out)->node.valuestring) : zb__scan_no_memory(&p->s);
}

/* The last resort of parse_value, hence the general message. */
static enum zb_code parse_word(parser *p, zb_json **out) {
    static const struct {
        const char *word;
        int type;
    } words[] = {{"true", cJSON_True}, {"false", cJSON_False}, {"null", cJSON_NULL}};
    *out = new_value(p, cJSON_NULL, sizeof **out);
    if (!*out)
        return zb__scan_no_memory(&p->s);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (zb__scan_word(&p->s, words[i].word)) {
            (*out)->node.type = words[i].type;
            return ZB_OK;
        }
    }
    return zb__scan_expected(&p->s, "a JSON value");
}

/* ---- Objects and lists -------------------------------------------------------------------- */

/* Orders by name; equal names in the order of the text. */
static int compare_members(const void *left, const void *right) {
    const zb_json *a = *(const zb_json *const *)left, *b = *(const zb_json *const *)right;
    int order = strcmp(a->node.string, b->node.string);
    return order != 0 ? order : a->place.begin < b->place.begin ? -1 : 1;
}

/* Of members that stand twice the last one stays. The memory of the others goes with the arena. */
static void drop_doubles(zb__json_container *object, const zb_json **sorted, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && strcmp(sorted[i]->node.string, sorted[i + 1]->node.string) == 0)
            cJSON_DetachItemViaPointer(&object->value.node, (cJSON *)(uintptr_t)&sorted[i]->node);
        else
            sorted[kept++] = sorted[i];
    }
    object->count = kept;
}

/* Of few members it is quicker to compare each with each than to sort them. */
static bool any_twice(const zb_json *const *member, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const char *name = member[i]->node.string;
        for (size_t k = 0; k < i; k++)
            if (zb__name_is(name, member[k]->node.string))
                return true;
    }
    return false;
}

/* Sorts the members of a complete object that has many, or the same one twice. */
static enum zb_code check_members(parser *p, zb__json_container *object) {
    const zb_json *few[ZB__JSON_INDEXED_FROM];
    const zb_json **sorted = few;
    size_t count = 0;
    if (object->count >= ZB__JSON_INDEXED_FROM) {
        /* The members have been allocated, so that the product cannot overflow. */
        sorted = zb__arena_alloc(&p->document->arena, object->count * sizeof(zb_json *));
        object->sorted = sorted;
    }
    if (!sorted)
        return zb__scan_no_memory(&p->s);
    for (const zb_json *m = zb_json_first(&object->value); m; m = zb_json_next(m))
        sorted[count++] = m;
    if (!object->sorted && !any_twice(sorted, count))
        return ZB_OK;
    if (count > 1)
        qsort(sorted, count, sizeof *sorted, compare_members);
    for (size_t i = 1; i < count; i++) {
        char brief[ZB__BRIEF_SIZE];
        bool twice = strcmp(sorted[i - 1]->node.string, sorted[i]->node.string) == 0;
        if (twice && p->s.is_lenient) {
            drop_doubles(object, sorted, count);
            return ZB_OK;
        }
        if (twice)
            return zb__scan_fail(&p->s, ZB_EFORMAT, sorted[i]->place.name,
                                 "member %s stands twice in its object",
                                 zb__name_brief(sorted[i]->node.string, brief));
    }
    return ZB_OK;
}

/* The members of a node's document that hold what users have put there. */
static bool is_users(const char *name) {
    return strcmp(name, "attributes") == 0 || strcmp(name, BLOCK) == 0;
}

/* The map of an outline's block: checked, and an object without members. */
static enum zb_code parse_left_out(parser *p, zb_json **out) {
    *out = new_value(p, cJSON_Object, sizeof(zb__json_container));
    if (!*out)
        return zb__scan_no_memory(&p->s);
    enum zb_code code = zb__json_skip_object(&p->s, DEPTH_MAX - p->depth, &p->document->left_out);
    (*out)->place.end = p->s.at;
    return code;
}

/* The value of a member of the object that is open. */
static enum zb_code parse_member(parser *p, const char *name, zb_json **out) {
    const bool outside = p->s.is_lenient, within = p->in_block;
    zb__scan_space(&p->s);
    if (p->in_block && p->depth == 2 && strcmp(name, "metadata") == 0) {
        p->document->left_out.count = 0; /* of maps that stand twice, the last one is in the tree */
        if (zb__scan_peek(&p->s) == '{')
            return parse_left_out(p, out);
    }
    if (p->is_document && p->depth == 1) {
        p->s.is_lenient = outside || is_users(name);
        p->in_block = p->is_outline && strcmp(name, BLOCK) == 0;
    }
    enum zb_code code = parse_value(p, out);
    p->s.is_lenient = outside;
    p->in_block = within;
    return code;
}

/* Both containers are entered at their opening bracket. An empty one is a case of its own, because
   JSON allows no comma before the closing bracket. */
static enum zb_code parse_object(parser *p, zb__json_container *object) {
    p->s.at++;
    if (zb__scan_take(&p->s, '}'))
        return ZB_OK;
    do {
        zb_json *member;
        char *name;
        const char *raw_name = NULL;
        zb__scan_space(&p->s);
        size_t at = p->s.at;
        if (zb__scan_peek(&p->s) != '"')
            return zb__scan_expected(&p->s, "a member's name in quotes");
        enum zb_code code = scan_string(p, &name, &raw_name);
        if (code)
            return code;
        if (!zb__scan_take(&p->s, ':'))
            return zb__scan_expected(&p->s, "':' behind a member's name");
        code = parse_member(p, name, &member);
        if (code)
            return code;
        member->place.name = at;
        member->raw_name = raw_name;
        object->count++;
        cJSON_AddItemToObjectCS(&object->value.node, name, &member->node);
    } while (zb__scan_take(&p->s, ','));
    if (!zb__scan_take(&p->s, '}'))
        return zb__scan_expected(&p->s, "',' or '}'");
    return check_members(p, object);
}

static enum zb_code parse_array(parser *p, zb__json_container *array) {
    p->s.at++;
    if (zb__scan_take(&p->s, ']'))
        return ZB_OK;
    do {
        zb_json *item;
        enum zb_code code = parse_value(p, &item);
        if (code)
            return code;
        array->count++;
        cJSON_AddItemToArray(&array->value.node, &item->node);
    } while (zb__scan_take(&p->s, ','));
    if (!zb__scan_take(&p->s, ']'))
        return zb__scan_expected(&p->s, "',' or ']'");
    return ZB_OK;
}

/* A container that is too deep for the tree has been read: it becomes its text. */
static enum zb_code cut_off(parser *p, zb__json_container *container, size_t from) {
    char *raw;
    enum zb_code code = keep_raw(p, from, &raw);
    if (code)
        return code;
    compact(raw);
    container->value.raw = raw;
    container->value.node.type = cJSON_Object;
    container->value.node.child = NULL;
    container->sorted = NULL;
    container->count = 0;
    return ZB_OK;
}

/* The only way into recursion, hence the place where depth is counted. */
static enum zb_code parse_container(parser *p, zb_json **out) {
    const size_t from = p->s.at;
    const bool object = p->s.text[from] == '{';
    const uint64_t limit = p->s.is_lenient ? DEPTH_MAX : p->depth_limit;
    if (p->depth >= limit)
        return zb__scan_fail(&p->s, ZB_ELIMIT, from,
                             "nested deeper than %llu levels, the limit json_depth",
                             (unsigned long long)limit);
    *out = new_value(p, object ? cJSON_Object : cJSON_Array, sizeof(zb__json_container));
    if (!*out)
        return zb__scan_no_memory(&p->s);
    zb__json_container *container = (zb__json_container *)*out;
    p->depth++;
    enum zb_code code = object ? parse_object(p, container) : parse_array(p, container);
    p->depth--;
    return !code && p->depth == p->depth_limit ? cut_off(p, container, from) : code;
}

static enum zb_code parse_value(parser *p, zb_json **out) {
    enum zb_code code;
    zb__scan_space(&p->s);
    if (++p->values > p->values_limit)
        return zb__scan_fail(&p->s, ZB_ELIMIT, p->s.at,
                             "more than %llu values, the limit json_values",
                             (unsigned long long)p->values_limit);
    char c = zb__scan_peek(&p->s);
    if (c == '{' || c == '[')
        code = parse_container(p, out);
    else if (c == '"')
        code = parse_string_value(p, out);
    else if (c == '-' || c == 'N' || c == 'I' || (c >= '0' && c <= '9'))
        code = parse_number(p, out);
    else
        code = parse_word(p, out);
    if (!code)
        (*out)->place.end = p->s.at;
    return code;
}

/* ---- Documents ---------------------------------------------------------------------------- */

enum reading { STRICT, DOCUMENT, OUTLINE, USERS };

static enum zb_code parse(const char *text, size_t size, enum reading reading, zb_json **out,
                          zb_error *err) {
    const zb_limits *limits = zb_limits_get();
    document *d = calloc(1, sizeof *d);
    parser p = {.s = {.text = text, .size = size, .err = err, .is_lenient = reading == USERS},
                .document = d,
                .depth_limit = limits->json_depth < DEPTH_MAX ? limits->json_depth : DEPTH_MAX,
                .values_limit = limits->json_values,
                .is_document = reading == DOCUMENT || reading == OUTLINE,
                .is_outline = reading == OUTLINE};
    zb_json *root;
    if (!d)
        return zb__scan_no_memory(&p.s);
    p.s.arena = &d->arena;
    enum zb_code code = parse_value(&p, &root);
    zb__scan_space(&p.s);
    if (!code && p.s.at < p.s.size)
        code = zb__scan_expected(&p.s, "the end of the text");
    if (code)
        zb_json_free(&d->root.value);
    else
        *out = root;
    return code;
}

enum zb_code zb_json_parse(const char *text, size_t size, zb_json **out, zb_error *err) {
    return parse(text, size, STRICT, out, err);
}

enum zb_code zb__json_parse_document(const char *text, size_t size, zb_json **out, zb_error *err) {
    return parse(text, size, DOCUMENT, out, err);
}

enum zb_code zb__json_parse_outline(const char *text, size_t size, zb_json **out, zb_error *err) {
    return parse(text, size, OUTLINE, out, err);
}

enum zb_code zb__json_parse_users(const char *text, size_t size, zb_json **out, zb_error *err) {
    return parse(text, size, USERS, out, err);
}

const zb_json_place *zb__json_left_out(const zb_json *root, size_t *count) {
    const zb__json_places *left_out = &((const document *)root)->left_out;
    *count = left_out->count;
    return left_out->place;
}

zb_json *zb_json_retain(zb_json *root) {
    atomic_fetch_add_explicit(&((document *)root)->more, 1, memory_order_relaxed);
    return root;
}

void zb_json_free(zb_json *root) {
    document *d = (document *)root;
    if (!d || atomic_fetch_sub_explicit(&d->more, 1, memory_order_acq_rel) > 0)
        return;
    zb__arena_free(&d->arena);
    free(d->left_out.place);
    free(d);
}
