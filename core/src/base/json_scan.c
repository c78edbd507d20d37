/* SPDX-License-Identifier: MIT */
/*
 * What cJSON lacks and Zarr needs, done in one pass over the text before cJSON builds its tree.
 *
 * cJSON keeps numbers as doubles, skips over invalid UTF-8, takes control characters and numbers
 * that JSON forbids, and keeps a member that stands twice. The pass here refuses all of that with
 * line and column, and rewrites the text so that cJSON cannot lose anything: a number becomes a
 * string that begins with a byte which UTF-8 never contains. The bare tokens NaN, Infinity and
 * -Infinity, which some writers leave in documents, count as numbers.
 *
 * Strings are written in one canonical spelling (escapes only for what must be escaped), so equal
 * names have equal bytes and members that stand twice are found by sorting: n log n for an object
 * of n members.
 */
#include "base/json_scan.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "zarrbridge/zarrbridge.h"

/* All functions below that return a code stand at the first byte of what they read when they are
   called, and behind its last when they succeed. They write as they go: on failure the output is
   thrown away, so nothing is ever taken back. */

/* A member's name: its canonical bytes in the output, and where it stands in the text. */
typedef struct member {
    const char *name;
    size_t length;
    size_t at;
} member;

typedef struct scanner {
    const char *text;
    size_t size;
    size_t at; /* next byte to look at; at most size */
    char *out; /* large enough for the whole result: nothing here checks its end */
    size_t out_size;
    member *members; /* of all objects that are open at this point, outermost first */
    size_t member_count;
    size_t member_capacity;
    uint64_t depth;  /* containers that are open */
    uint64_t values; /* begun so far, the root included */
    zb_error *err;
} scanner;

static enum zb_code scan_value(scanner *s);

/* Fails with the place of byte `at`. Columns count bytes, from 1. */
static enum zb_code ZB_PRINTF(4, 5)
    fail_at(scanner *s, enum zb_code code, size_t at, const char *format, ...) {
    size_t line = 1;
    size_t line_start = 0;
    for (size_t i = 0; i < at; i++) {
        if (s->text[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    }
    char what[ZB_MESSAGE_SIZE / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return zb_fail(s->err, code, "line %zu, column %zu: %s", line, at - line_start + 1, what);
}

/* "found X, expected ...": X is what stands at the current place. */
static enum zb_code fail_expected(scanner *s, const char *expected) {
    if (s->at >= s->size)
        return fail_at(s, ZB_EFORMAT, s->at, "the text ends, expected %s", expected);
    unsigned char found = (unsigned char)s->text[s->at];
    if (found > ' ' && found < 0x7f)
        return fail_at(s, ZB_EFORMAT, s->at, "found '%c', expected %s", found, expected);
    return fail_at(s, ZB_EFORMAT, s->at, "found byte 0x%02x, expected %s", found, expected);
}

/* No check of the room left: zb__json_scan proves it beforehand. */
static void put(scanner *s, const char *bytes, size_t count) {
    memcpy(s->out + s->out_size, bytes, count);
    s->out_size += count;
}

/* The next byte, or 0 (which is refused everywhere) at the end. */
static char peek(const scanner *s) {
    return s->at < s->size ? s->text[s->at] : '\0';
}

static void skip_space(scanner *s) {
    while (s->at < s->size && memchr(" \t\n\r", s->text[s->at], 4))
        s->at++;
}

/* Takes the punctuation c over into the output. */
static bool take(scanner *s, char c) {
    skip_space(s);
    if (s->at >= s->size || s->text[s->at] != c)
        return false;
    s->at++;
    put(s, &c, 1);
    return true;
}

/* What may stand in a string: any UTF-8 except control characters, quotes and backslashes, and the
   escapes of JSON. NUL is refused in every spelling, because names and values are handed on as C
   strings and would silently become shorter. */

/* ---- Strings ------------------------------------------------------------------------------ */

/* Writes one character in its canonical spelling. */
static void put_point(scanner *s, uint32_t point) {
    static const char special[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *short_form = point < 0x80 ? memchr(special, (int)point, sizeof special - 1) : NULL;
    char text[8];
    if (short_form) {
        text[0] = '\\';
        text[1] = letters[short_form - special];
        put(s, text, 2);
    } else if (point < 0x20) {
        snprintf(text, sizeof text, "\\u%04x", point);
        put(s, text, 6);
    } else {
        put(s, text, zb__utf8_put(text, point));
    }
}

/* Four hexadecimal digits at s->at; false when there are none. */
static bool scan_hex(scanner *s, uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        char c = peek(s);
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
static enum zb_code scan_unicode_escape(scanner *s, size_t start) {
    uint32_t point;
    if (!scan_hex(s, &point))
        return fail_expected(s, "four hexadecimal digits behind \\u");
    if (point == 0)
        return fail_at(s, ZB_EFORMAT, start, "a string contains the character NUL");
    if (point >= 0xd800 && point <= 0xdbff && s->size - s->at >= 2 && s->text[s->at] == '\\' &&
        s->text[s->at + 1] == 'u') {
        uint32_t low;
        s->at += 2;
        if (!scan_hex(s, &low))
            return fail_expected(s, "four hexadecimal digits behind \\u");
        if (low >= 0xdc00 && low <= 0xdfff)
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    if (point >= 0xd800 && point <= 0xdfff)
        return fail_at(s, ZB_EFORMAT, start, "half a surrogate pair");
    put_point(s, point);
    return ZB_OK;
}

static enum zb_code scan_escape(scanner *s) {
    static const char letters[] = "\"\\/bfnrt";
    static const char meaning[] = "\"\\/\b\f\n\r\t";
    size_t start = s->at++;
    char c = peek(s);
    if (c == 'u') {
        s->at++;
        return scan_unicode_escape(s, start);
    }
    const char *found = s->at < s->size ? memchr(letters, c, sizeof letters - 1) : NULL;
    if (!found)
        return fail_expected(s, "one of \"\\/bfnrtu behind a backslash");
    s->at++;
    put_point(s, (uint32_t)(unsigned char)meaning[found - letters]);
    return ZB_OK;
}

/* A string, from its opening quote at s->at. */
static enum zb_code scan_string(scanner *s) {
    put(s, "\"", 1);
    s->at++;
    while (s->at < s->size && s->text[s->at] != '"') {
        const char *c = s->text + s->at;
        if (*c == '\\') {
            enum zb_code code = scan_escape(s);
            if (code)
                return code;
            continue;
        }
        size_t length = zb__utf8_length(c, s->size - s->at);
        if (length == 0)
            return fail_at(s, ZB_EFORMAT, s->at, "byte 0x%02x is not UTF-8", (unsigned char)*c);
        if ((unsigned char)*c < 0x20)
            return fail_at(s, ZB_EFORMAT, s->at, "a string contains control character 0x%02x",
                           (unsigned char)*c);
        put(s, c, length);
        s->at += length;
    }
    if (s->at >= s->size)
        return fail_expected(s, "the string's closing quote");
    s->at++;
    put(s, "\"", 1);
    return ZB_OK;
}

/* The grammar of JSON to the letter, since a token that passes here is later read by functions
   which check nothing: no leading zeros, no bare decimal point, no plus sign, no hexadecimal. */

/* ---- Numbers and words -------------------------------------------------------------------- */

/* Skips decimal digits; false when there is none. */
static bool skip_digits(scanner *s) {
    size_t start = s->at;
    while (peek(s) >= '0' && peek(s) <= '9')
        s->at++;
    return s->at > start;
}

/* Skips the word when it stands here; what follows is the caller's to judge, so that "nulll" fails
   at its last letter. */
static bool skip_word(scanner *s, const char *word) {
    size_t length = strlen(word);
    if (s->size - s->at < length || memcmp(s->text + s->at, word, length) != 0)
        return false;
    s->at += length;
    return true;
}

/* The digits of a number, behind its sign. */
static enum zb_code skip_number(scanner *s) {
    size_t start = s->at;
    if (!skip_digits(s))
        return fail_expected(s, "a digit");
    if (s->text[start] == '0' && s->at - start > 1)
        return fail_at(s, ZB_EFORMAT, start, "a number begins with a needless 0");
    if (peek(s) == '.') {
        s->at++;
        if (!skip_digits(s))
            return fail_expected(s, "a digit behind the decimal point");
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        s->at++;
        if (peek(s) == '+' || peek(s) == '-')
            s->at++;
        if (!skip_digits(s))
            return fail_expected(s, "a digit of the exponent");
    }
    return ZB_OK;
}

/* The token is taken over byte by byte: "1.50" and "1.5" stay different. */
static enum zb_code scan_number(scanner *s) {
    size_t start = s->at;
    if (!skip_word(s, "NaN") && !skip_word(s, "Infinity") && !skip_word(s, "-Infinity")) {
        if (peek(s) == '-')
            s->at++;
        enum zb_code code = skip_number(s);
        if (code)
            return code;
    }
    const char mark[2] = {'"', ZB__JSON_NUMBER_MARK};
    put(s, mark, 2);
    put(s, s->text + start, s->at - start);
    put(s, "\"", 1);
    return ZB_OK;
}

/* The last resort of scan_value, hence the general message. */
static enum zb_code scan_word(scanner *s) {
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (skip_word(s, words[i])) {
            put(s, words[i], strlen(words[i]));
            return ZB_OK;
        }
    }
    return fail_expected(s, "a JSON value");
}

/* Members are collected in one stack for all open objects. An object's own ones lie on top when it
   ends; they are sorted there, compared with their neighbours and dropped, so the memory follows
   the open objects, not the document. */

/* ---- Objects and arrays ------------------------------------------------------------------- */

/* By name; equal names in the order of the text. */
static int compare_members(const void *left, const void *right) {
    const member *a = left;
    const member *b = right;
    int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
    if (order == 0 && a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return order != 0 ? order : a->at < b->at ? -1 : 1;
}

/* Closes the innermost object, whose members are those from `first` on. */
static enum zb_code check_members(scanner *s, size_t first) {
    member *m = s->members + first;
    size_t count = s->member_count - first;
    s->member_count = first;
    if (count < 2)
        return ZB_OK;
    qsort(m, count, sizeof *m, compare_members);
    for (size_t i = 1; i < count; i++) {
        if (m[i].length != m[i - 1].length || memcmp(m[i].name, m[i - 1].name, m[i].length) != 0)
            continue;
        int shown = 0; /* whole characters, at most 64 bytes */
        while (shown < 60 && (size_t)shown < m[i].length)
            shown += (int)zb__utf8_length(m[i].name + shown, m[i].length - (size_t)shown);
        return fail_at(s, ZB_EFORMAT, m[i].at, "member \"%.*s\" stands twice in its object", shown,
                       m[i].name);
    }
    return ZB_OK;
}

/* A member's name, which is kept until its object ends. The record points into the output, which
   never moves. */
static enum zb_code scan_name(scanner *s) {
    skip_space(s);
    if (peek(s) != '"')
        return fail_expected(s, "a member's name in quotes");
    if (s->member_count == s->member_capacity) {
        size_t capacity = s->member_capacity ? 2 * s->member_capacity : 64;
        member *grown = realloc(s->members, capacity * sizeof *grown);
        if (!grown)
            return zb_fail(s->err, ZB_ENOMEM, "out of memory for %zu JSON members", capacity);
        s->members = grown;
        s->member_capacity = capacity;
    }
    size_t at = s->at;
    size_t name = s->out_size + 1;
    enum zb_code code = scan_string(s);
    if (code)
        return code;
    s->members[s->member_count++] =
        (member){.name = s->out + name, .length = s->out_size - 1 - name, .at = at};
    return ZB_OK;
}

/* Both containers are entered at their opening bracket. An empty one is a case of its own, because
   JSON allows no comma before the closing bracket. */
static enum zb_code scan_object(scanner *s) {
    size_t first = s->member_count;
    take(s, '{');
    if (take(s, '}'))
        return ZB_OK;
    do {
        enum zb_code code = scan_name(s);
        if (code)
            return code;
        if (!take(s, ':'))
            return fail_expected(s, "':' behind a member's name");
        code = scan_value(s);
        if (code)
            return code;
    } while (take(s, ','));
    if (!take(s, '}'))
        return fail_expected(s, "',' or '}'");
    return check_members(s, first);
}

static enum zb_code scan_array(scanner *s) {
    take(s, '[');
    if (take(s, ']'))
        return ZB_OK;
    do {
        enum zb_code code = scan_value(s);
        if (code)
            return code;
    } while (take(s, ','));
    if (!take(s, ']'))
        return fail_expected(s, "',' or ']'");
    return ZB_OK;
}

/* The only way into recursion, hence the place where depth is counted. */
static enum zb_code scan_container(scanner *s) {
    uint64_t limit = zb_limits_get()->json_depth;
    if (limit > ZB__JSON_DEPTH_MAX)
        limit = ZB__JSON_DEPTH_MAX;
    if (s->depth >= limit)
        return fail_at(s, ZB_ELIMIT, s->at, "nested deeper than %llu levels, the limit json_depth",
                       (unsigned long long)limit);
    s->depth++;
    enum zb_code code = s->text[s->at] == '{' ? scan_object(s) : scan_array(s);
    s->depth--;
    return code;
}

static enum zb_code scan_value(scanner *s) {
    uint64_t limit = zb_limits_get()->json_values;
    skip_space(s);
    if (++s->values > limit)
        return fail_at(s, ZB_ELIMIT, s->at, "more than %llu values, the limit json_values",
                       (unsigned long long)limit);
    char c = peek(s);
    if (c == '{' || c == '[')
        return scan_container(s);
    if (c == '"')
        return scan_string(s);
    if (c == '-' || c == 'N' || c == 'I' || (c >= '0' && c <= '9'))
        return scan_number(s);
    return scan_word(s);
}

/* Room: a string never grows, as canonical escapes are the shortest; a number grows by 3 bytes, and
   there are at most size / 2 + 1 of them, because something separates each two. */
enum zb_code zb__json_scan(const char *text, size_t size, char **out, size_t *out_size,
                           zb_error *err) {
    if (size > SIZE_MAX / 4)
        return zb_fail(err, ZB_EFORMAT, "a JSON text of %zu bytes", size);
    scanner s = {.text = text, .size = size, .err = err};
    s.out = malloc(size + 3 * (size / 2 + 1) + 1);
    if (!s.out)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a JSON text of %zu bytes", size);
    enum zb_code code = scan_value(&s);
    skip_space(&s);
    if (!code && s.at < s.size)
        code = fail_expected(&s, "the end of the text");
    free(s.members);
    if (code) {
        free(s.out);
        return code;
    }
    s.out[s.out_size] = '\0';
    *out = s.out;
    *out_size = s.out_size;
    return ZB_OK;
}
