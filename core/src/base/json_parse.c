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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/json_brief.h"
#include "base/utf8.h"
#include "zarrbridge/zarrbridge.h"

/* Parsing and printing recurse as deep as a document is nested: a higher limit json_depth has no
   effect. */
#define DEPTH_MAX 1000

/* The root, and the memory of all values but itself. */
typedef struct document {
    zb__json_container root; /* first, so that a pointer to one is a pointer to the other */
    zb__arena arena;
} document;

/* All functions below that return a code stand at the first byte of what they read when they are
   called, and behind its last when they succeed. After a failure the arena goes as a whole, so
   nothing is ever taken back. */

typedef struct parser {
    const char *text;
    size_t size;
    size_t at; /* next byte to look at; at most size */
    document *document;
    uint64_t depth, depth_limit;   /* containers that are open */
    uint64_t values, values_limit; /* begun so far, the root included */
    zb_error *err;
} parser;

static enum zb_code parse_value(parser *p, zb_json **out);

/* Fails with the place of byte `at`. Columns count bytes, from 1. */
static enum zb_code ZB_PRINTF(4, 5)
    fail_at(parser *p, enum zb_code code, size_t at, const char *format, ...) {
    size_t line = 1;
    size_t line_start = 0;
    for (size_t i = 0; i < at; i++) {
        if (p->text[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    }
    char what[ZB_MESSAGE_SIZE / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return zb_fail(p->err, code, "line %zu, column %zu: %s", line, at - line_start + 1, what);
}

/* "found X, expected ...": X is what stands at the current place. */
static enum zb_code fail_expected(parser *p, const char *expected) {
    if (p->at >= p->size)
        return fail_at(p, ZB_EFORMAT, p->at, "the text ends, expected %s", expected);
    unsigned char found = (unsigned char)p->text[p->at];
    if (found > ' ' && found < 0x7f)
        return fail_at(p, ZB_EFORMAT, p->at, "found '%c', expected %s", found, expected);
    return fail_at(p, ZB_EFORMAT, p->at, "found byte 0x%02x, expected %s", found, expected);
}

static enum zb_code fail_memory(parser *p) {
    return zb_fail(p->err, ZB_ENOMEM, "out of memory for a JSON document of %zu bytes", p->size);
}

/* The next byte, or 0 (which is refused everywhere) at the end. */
static char peek(const parser *p) {
    return p->at < p->size ? p->text[p->at] : '\0';
}

static void skip_space(parser *p) {
    char c = peek(p);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        p->at++;
        c = peek(p);
    }
}

/* Skips white space, and the character when it follows. */
static bool take(parser *p, char c) {
    skip_space(p);
    if (peek(p) != c)
        return false;
    p->at++;
    return true;
}

/* A value that begins here. */
static zb_json *new_value(parser *p, int type, size_t size) {
    zb_json *value = &p->document->root.value;
    if (p->values > 1)
        value = zb__arena_alloc(&p->document->arena, size);
    if (!value)
        return NULL;
    memset(value, 0, size);
    value->node.type = type;
    value->place = (zb_json_place){.name = p->at, .begin = p->at};
    return value;
}

/* ---- Strings ------------------------------------------------------------------------------ */

/* What may stand in a string: any UTF-8 except control characters, quotes and backslashes, and the
   escapes of JSON. NUL is refused in every spelling, because names and values are handed on as C
   strings and would silently become shorter. */

/* Four hexadecimal digits at p->at; false when there are none. */
static bool parse_hex(parser *p, uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        char c = peek(p);
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16)
            return false;
        *unit = *unit << 4 | digit;
    }
    return true;
}

/* The rest of "\uXXXX", of two of them for a character beyond 16 bits. */
static enum zb_code parse_unicode_escape(parser *p, size_t start, char **to) {
    uint32_t point;
    if (!parse_hex(p, &point))
        return fail_expected(p, "four hexadecimal digits behind \\u");
    if (point == 0)
        return fail_at(p, ZB_EFORMAT, start, "a string contains the character NUL");
    if (point >= 0xd800 && point <= 0xdbff && p->size - p->at >= 2 && p->text[p->at] == '\\' &&
        p->text[p->at + 1] == 'u') {
        uint32_t low;
        p->at += 2;
        if (!parse_hex(p, &low))
            return fail_expected(p, "four hexadecimal digits behind \\u");
        if (low >= 0xdc00 && low <= 0xdfff)
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    if (point >= 0xd800 && point <= 0xdfff)
        return fail_at(p, ZB_EFORMAT, start, "half a surrogate pair");
    *to += zb__utf8_put(*to, point);
    return ZB_OK;
}

static enum zb_code parse_escape(parser *p, char **to) {
    static const char letters[] = "\"\\/bfnrt";
    static const char meaning[] = "\"\\/\b\f\n\r\t";
    size_t start = p->at++;
    char c = peek(p);
    if (c == 'u') {
        p->at++;
        return parse_unicode_escape(p, start, to);
    }
    const char *found = p->at < p->size ? memchr(letters, c, sizeof letters - 1) : NULL;
    if (!found)
        return fail_expected(p, "one of \"\\/bfnrtu behind a backslash");
    p->at++;
    *(*to)++ = meaning[found - letters];
    return ZB_OK;
}

/* How many bytes from here on stand for themselves, each a character of its own. */
static size_t plain_length(const parser *p) {
    const unsigned char *c = (const unsigned char *)p->text + p->at;
    size_t left = p->size - p->at, n = 0;
    while (n < left && c[n] >= 0x20 && c[n] < 0x80 && c[n] != '"' && c[n] != '\\')
        n++;
    return n;
}

/* Bytes up to the closing quote, or to the end of a text that has none. */
static size_t quoted_length(const parser *p) {
    size_t at = p->at;
    while (at < p->size && p->text[at] != '"')
        at += p->text[at] == '\\' ? 2 : 1;
    return (at < p->size ? at : p->size) - p->at;
}

/* A string, from its opening quote on. Nothing in a string is shorter than what it stands for, so
   that the room needed is known beforehand. */
static enum zb_code parse_string(parser *p, char **out) {
    p->at++;
    char *to = zb__arena_text(&p->document->arena, quoted_length(p) + 1);
    if (!to)
        return fail_memory(p);
    *out = to;
    while (p->at < p->size && p->text[p->at] != '"') {
        const char *c = p->text + p->at;
        size_t length = plain_length(p);
        if (length == 0 && *c == '\\') {
            enum zb_code code = parse_escape(p, &to);
            if (code)
                return code;
            continue;
        }
        if (length == 0)
            length = zb__utf8_length(c, p->size - p->at);
        if (length == 0)
            return fail_at(p, ZB_EFORMAT, p->at, "byte 0x%02x is not UTF-8", (unsigned char)*c);
        if ((unsigned char)*c < 0x20)
            return fail_at(p, ZB_EFORMAT, p->at, "a string contains control character 0x%02x",
                           (unsigned char)*c);
        memcpy(to, c, length);
        to += length;
        p->at += length;
    }
    if (p->at >= p->size)
        return fail_expected(p, "the string's closing quote");
    p->at++;
    *to = '\0';
    return ZB_OK;
}

static enum zb_code parse_string_value(parser *p, zb_json **out) {
    *out = new_value(p, cJSON_String | cJSON_IsReference, sizeof **out);
    return *out ? parse_string(p, &(*out)->node.valuestring) : fail_memory(p);
}

/* ---- Numbers and words -------------------------------------------------------------------- */

/* The grammar of JSON to the letter, since a token that passes here is later read by functions
   which check nothing: no leading zeros, no bare decimal point, no plus sign, no hexadecimal. */

/* Skips decimal digits; false when there is none. */
static bool skip_digits(parser *p) {
    size_t start = p->at;
    while (peek(p) >= '0' && peek(p) <= '9')
        p->at++;
    return p->at > start;
}

/* Skips the word when it stands here; what follows is the caller's to judge, so that "nulll" fails
   at its last letter. */
static bool skip_word(parser *p, const char *word) {
    size_t length = strlen(word);
    if (p->size - p->at < length || memcmp(p->text + p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* The digits of a number, behind its sign. */
static enum zb_code skip_number(parser *p) {
    size_t start = p->at;
    if (!skip_digits(p))
        return fail_expected(p, "a digit");
    if (p->text[start] == '0' && p->at - start > 1)
        return fail_at(p, ZB_EFORMAT, start, "a number begins with a needless 0");
    if (peek(p) == '.') {
        p->at++;
        if (!skip_digits(p))
            return fail_expected(p, "a digit behind the decimal point");
    }
    if (peek(p) == 'e' || peek(p) == 'E') {
        p->at++;
        if (peek(p) == '+' || peek(p) == '-')
            p->at++;
        if (!skip_digits(p))
            return fail_expected(p, "a digit of the exponent");
    }
    return ZB_OK;
}

/* The token is taken over byte by byte: "1.50" and "1.5" stay different. */
static enum zb_code parse_number(parser *p, zb_json **out) {
    size_t start = p->at;
    *out = new_value(p, cJSON_Raw | cJSON_IsReference, sizeof **out);
    if (!*out)
        return fail_memory(p);
    if (!skip_word(p, "NaN") && !skip_word(p, "Infinity") && !skip_word(p, "-Infinity")) {
        if (peek(p) == '-')
            p->at++;
        enum zb_code code = skip_number(p);
        if (code)
            return code;
    }
    size_t length = p->at - start;
    char *token = zb__arena_text(&p->document->arena, length + 1);
    if (!token)
        return fail_memory(p);
    memcpy(token, p->text + start, length);
    token[length] = '\0';
    (*out)->node.valuestring = token;
    return ZB_OK;
}

/* The last resort of parse_value, hence the general message. */
static enum zb_code parse_word(parser *p, zb_json **out) {
    static const struct {
        const char *word;
        int type;
    } words[] = {{"true", cJSON_True}, {"false", cJSON_False}, {"null", cJSON_NULL}};
    *out = new_value(p, cJSON_NULL, sizeof **out);
    if (!*out)
        return fail_memory(p);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (skip_word(p, words[i].word)) {
            (*out)->node.type = words[i].type;
            return ZB_OK;
        }
    }
    return fail_expected(p, "a JSON value");
}

/* ---- Objects and lists -------------------------------------------------------------------- */

/* By name; equal names in the order of the text. */
static int compare_members(const void *left, const void *right) {
    const zb_json *a = *(const zb_json *const *)left, *b = *(const zb_json *const *)right;
    int order = strcmp(a->node.string, b->node.string);
    return order != 0 ? order : a->place.begin < b->place.begin ? -1 : 1;
}

/* Sorts the members of a complete object. */
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
        return fail_memory(p);
    for (const zb_json *m = zb_json_first(&object->value); m; m = zb_json_next(m))
        sorted[count++] = m;
    if (count > 1)
        qsort(sorted, count, sizeof *sorted, compare_members);
    for (size_t i = 1; i < count; i++) {
        char brief[ZB__BRIEF_SIZE];
        if (strcmp(sorted[i - 1]->node.string, sorted[i]->node.string) == 0)
            return fail_at(p, ZB_EFORMAT, sorted[i]->place.name,
                           "member %s stands twice in its object",
                           zb__name_brief(sorted[i]->node.string, brief));
    }
    return ZB_OK;
}

/* Both containers are entered at their opening bracket. An empty one is a case of its own, because
   JSON allows no comma before the closing bracket. */
static enum zb_code parse_object(parser *p, zb__json_container *object) {
    p->at++;
    if (take(p, '}'))
        return ZB_OK;
    do {
        zb_json *member;
        char *name;
        skip_space(p);
        size_t at = p->at;
        if (peek(p) != '"')
            return fail_expected(p, "a member's name in quotes");
        enum zb_code code = parse_string(p, &name);
        if (code)
            return code;
        if (!take(p, ':'))
            return fail_expected(p, "':' behind a member's name");
        code = parse_value(p, &member);
        if (code)
            return code;
        member->place.name = at;
        object->count++;
        cJSON_AddItemToObjectCS(&object->value.node, name, &member->node);
    } while (take(p, ','));
    if (!take(p, '}'))
        return fail_expected(p, "',' or '}'");
    return check_members(p, object);
}

static enum zb_code parse_array(parser *p, zb__json_container *array) {
    p->at++;
    if (take(p, ']'))
        return ZB_OK;
    do {
        zb_json *item;
        enum zb_code code = parse_value(p, &item);
        if (code)
            return code;
        array->count++;
        cJSON_AddItemToArray(&array->value.node, &item->node);
    } while (take(p, ','));
    if (!take(p, ']'))
        return fail_expected(p, "',' or ']'");
    return ZB_OK;
}

/* The only way into recursion, hence the place where depth is counted. */
static enum zb_code parse_container(parser *p, zb_json **out) {
    bool object = p->text[p->at] == '{';
    if (p->depth >= p->depth_limit)
        return fail_at(p, ZB_ELIMIT, p->at, "nested deeper than %llu levels, the limit json_depth",
                       (unsigned long long)p->depth_limit);
    *out = new_value(p, object ? cJSON_Object : cJSON_Array, sizeof(zb__json_container));
    if (!*out)
        return fail_memory(p);
    zb__json_container *container = (zb__json_container *)*out;
    p->depth++;
    enum zb_code code = object ? parse_object(p, container) : parse_array(p, container);
    p->depth--;
    return code;
}

static enum zb_code parse_value(parser *p, zb_json **out) {
    enum zb_code code;
    skip_space(p);
    if (++p->values > p->values_limit)
        return fail_at(p, ZB_ELIMIT, p->at, "more than %llu values, the limit json_values",
                       (unsigned long long)p->values_limit);
    char c = peek(p);
    if (c == '{' || c == '[')
        code = parse_container(p, out);
    else if (c == '"')
        code = parse_string_value(p, out);
    else if (c == '-' || c == 'N' || c == 'I' || (c >= '0' && c <= '9'))
        code = parse_number(p, out);
    else
        code = parse_word(p, out);
    if (!code)
        (*out)->place.end = p->at;
    return code;
}

/* ---- Documents ---------------------------------------------------------------------------- */

enum zb_code zb_json_parse(const char *text, size_t size, zb_json **out, zb_error *err) {
    const zb_limits *limits = zb_limits_get();
    parser p = {.text = text,
                .size = size,
                .document = calloc(1, sizeof(document)),
                .depth_limit = limits->json_depth < DEPTH_MAX ? limits->json_depth : DEPTH_MAX,
                .values_limit = limits->json_values,
                .err = err};
    zb_json *root;
    if (!p.document)
        return fail_memory(&p);
    enum zb_code code = parse_value(&p, &root);
    skip_space(&p);
    if (!code && p.at < p.size)
        code = fail_expected(&p, "the end of the text");
    if (code)
        zb_json_free(&p.document->root.value);
    else
        *out = root;
    return code;
}

void zb_json_free(zb_json *root) {
    document *d = (document *)root;
    if (!d)
        return;
    zb__arena_free(&d->arena);
    free(d);
}
