/* SPDX-License-Identifier: MIT */
#include "util/json_scan.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/utf8.h"

enum zb_code zb__scan_fail(zb__scanner *s, enum zb_code code, size_t at, const char *format, ...) {
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

enum zb_code zb__scan_expected(zb__scanner *s, const char *expected) {
    if (s->at >= s->size)
        return zb__scan_fail(s, ZB_EFORMAT, s->at, "the text ends, expected %s", expected);
    unsigned char found = (unsigned char)s->text[s->at];
    if (found > ' ' && found < 0x7f)
        return zb__scan_fail(s, ZB_EFORMAT, s->at, "found '%c', expected %s", found, expected);
    return zb__scan_fail(s, ZB_EFORMAT, s->at, "found byte 0x%02x, expected %s", found, expected);
}

enum zb_code zb__scan_no_memory(zb__scanner *s) {
    return zb_fail(s->err, ZB_ENOMEM, "out of memory for a JSON document of %zu bytes", s->size);
}

/* Eight bytes of a text, the first one lowest. */
static uint64_t eight_at(const char *text) {
    uint64_t eight;
    memcpy(&eight, text, sizeof eight);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(eight) : eight;
}

/* The number of the first byte that is not 0 in a word that is not. */
static size_t first_byte(uint64_t eight) {
    return (size_t)__builtin_ctzll(eight) / 8;
}

/* The blanks from `at` on, of a line that is indented. Half of such a text is blanks. */
static size_t skip_blanks(const char *text, size_t size, size_t at) {
    const uint64_t blanks = 0x0101010101010101 * (uint64_t)' ';
    for (; size - at >= sizeof blanks; at += sizeof blanks) {
        const uint64_t others = eight_at(text + at) ^ blanks;
        if (others)
            return at + first_byte(others);
    }
    while (at < size && text[at] == ' ')
        at++;
    return at;
}

void zb__scan_spaces(zb__scanner *s) {
    const char *text = s->text;
    size_t at = s->at;
    while (at < s->size &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
        at = text[at] == '\n' ? skip_blanks(text, s->size, at + 1) : at + 1;
    s->at = at;
}

/* ---- Strings ------------------------------------------------------------------------------ */

/* A string may hold any UTF-8 except control characters, quotes and backslashes, and the escapes of
   JSON. NUL is refused in every spelling, because names and values are handed on as C strings and
   would silently become shorter; where the scanner is lenient, its escape stays an escape. */

/* Four hexadecimal digits at s->at; false when there are none. */
static bool scan_hex(zb__scanner *s, uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        char c = zb__scan_peek(s);
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

/* A character that no text can hold: its escape, six bytes from `start` on. */
static enum zb_code keep_escape(zb__scanner *s, size_t start, const char *what, char **to) {
    if (!s->is_lenient)
        return zb__scan_fail(s, ZB_EFORMAT, start, "%s", what);
    s->is_strange = true;
    s->at = start + 6; /* what follows half a pair is read for itself */
    memcpy(*to, s->text + start, 6);
    *to += 6;
    return ZB_OK;
}

/* The rest of "\uXXXX", of two of them for a character beyond 16 bits. */
static enum zb_code scan_unicode_escape(zb__scanner *s, size_t start, char **to) {
    uint32_t point;
    if (!scan_hex(s, &point))
        return zb__scan_expected(s, "four hexadecimal digits behind \\u");
    if (point == 0)
        return keep_escape(s, start, "a string contains the character NUL", to);
    if (point >= 0xd800 && point <= 0xdbff && s->size - s->at >= 2 && s->text[s->at] == '\\' &&
        s->text[s->at + 1] == 'u') {
        uint32_t low;
        s->at += 2;
        if (!scan_hex(s, &low))
            return zb__scan_expected(s, "four hexadecimal digits behind \\u");
        if (low >= 0xdc00 && low <= 0xdfff)
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    if (point >= 0xd800 && point <= 0xdfff)
        return keep_escape(s, start, "half a surrogate pair", to);
    *to += zb__utf8_put(*to, point);
    return ZB_OK;
}

static enum zb_code scan_escape(zb__scanner *s, char **to) {
    static const char meaning[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                      ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    size_t start = s->at++;
    char c = zb__scan_peek(s);
    if (c == 'u') {
        s->at++;
        return scan_unicode_escape(s, start, to);
    }
    const char character = meaning[(unsigned char)c];
    if (!character)
        return zb__scan_expected(s, "one of \"\\/bfnrtu behind a backslash");
    s->at++;
    *(*to)++ = character;
    return ZB_OK;
}

/* Of the eight bytes, those that are a control character, a quote or a backslash, or no ASCII: the
   first of them is right, those behind it may be too many. A byte is below the limit n when
   subtracting n borrows from its highest bit, which ASCII leaves 0; a borrow from the byte before
   can only be there when that one is such a byte itself. */
static uint64_t special_bytes(uint64_t eight) {
    const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    const uint64_t quote = eight ^ ones * '"', backslash = eight ^ ones * '\\';
    return (eight | (eight - ones * 0x20) | (quote - ones) | (backslash - ones)) & tops;
}

/* The number of bytes from here on that stand for themselves, each a character of its own. */
static size_t plain_length(const zb__scanner *s) {
    const unsigned char *c = (const unsigned char *)s->text + s->at;
    size_t left = s->size - s->at, n = 0;
    for (; left - n >= sizeof(uint64_t); n += sizeof(uint64_t)) {
        const uint64_t special = special_bytes(eight_at((const char *)c + n));
        if (special)
            return n + first_byte(special);
    }
    while (n < left && c[n] >= 0x20 && c[n] < 0x80 && c[n] != '"' && c[n] != '\\')
        n++;
    return n;
}

/* Bytes up to the closing quote, or to the end of a text that has none. A quote is escaped behind
   an odd number of backslashes. */
static size_t quoted_length(const zb__scanner *s) {
    const char *begin = s->text + s->at, *end = s->text + s->size;
    for (const char *from = begin; from < end; from++) {
        from = memchr(from, '"', (size_t)(end - from));
        if (!from)
            break;
        const char *before = from;
        while (before > begin && before[-1] == '\\')
            before--;
        if ((from - before) % 2 == 0)
            return (size_t)(from - begin);
    }
    return s->size - s->at;
}

/* Between two escapes of a text of WKT lie a few bytes, for which a call of memcpy takes longer
   than what it does. */
static inline void copy_run(char *to, const char *from, size_t length) {
    if (length > 2 * sizeof(uint64_t)) {
        memcpy(to, from, length);
    } else if (length >= sizeof(uint64_t)) {
        uint64_t first, last;
        memcpy(&first, from, sizeof first);
        memcpy(&last, from + length - sizeof last, sizeof last);
        memcpy(to, &first, sizeof first);
        memcpy(to + length - sizeof last, &last, sizeof last);
    } else {
        for (size_t i = 0; i < length; i++)
            to[i] = from[i];
    }
}

/* The characters of a string up to its closing quote. `to` has room for them, or is NULL: then they
   are only checked. */
static enum zb_code scan_characters(zb__scanner *s, char **to) {
    char unused[8], *nowhere;
    while (s->at < s->size && s->text[s->at] != '"') {
        const char *c = s->text + s->at;
        size_t length = plain_length(s);
        if (length == 0 && *c == '\\') {
            nowhere = unused;
            enum zb_code code = scan_escape(s, to ? to : &nowhere);
            if (code)
                return code;
            continue;
        }
        if (length == 0)
            length = zb__utf8_length(c, s->size - s->at);
        if (length == 0)
            return zb__scan_fail(s, ZB_EFORMAT, s->at, "byte 0x%02x is not UTF-8",
                                 (unsigned char)*c);
        if ((unsigned char)*c < 0x20)
            return zb__scan_fail(s, ZB_EFORMAT, s->at, "a string contains control character 0x%02x",
                                 (unsigned char)*c);
        if (to) {
            copy_run(*to, c, length);
            *to += length;
        }
        s->at += length;
    }
    if (s->at >= s->size)
        return zb__scan_expected(s, "the string's closing quote");
    s->at++;
    return ZB_OK;
}

/* No escape is shorter than its character, so that the room needed is known beforehand. */
enum zb_code zb__scan_string(zb__scanner *s, char **out) {
    s->at++;
    char *to = zb__arena_text(s->arena, quoted_length(s) + 1);
    if (!to)
        return zb__scan_no_memory(s);
    *out = to;
    enum zb_code code = scan_characters(s, &to);
    if (!code)
        *to = '\0';
    return code;
}

enum zb_code zb__scan_skip_string(zb__scanner *s) {
    s->at++;
    return scan_characters(s, NULL);
}

/* ---- Numbers and words -------------------------------------------------------------------- */

/* The grammar of JSON to the letter, since a token that passes here is later read by functions
   which check nothing: no leading zeros, no bare decimal point, no plus sign, no hexadecimal. */

/* Skips decimal digits; false when there is none. */
static bool skip_digits(zb__scanner *s) {
    size_t start = s->at;
    while (zb__scan_peek(s) >= '0' && zb__scan_peek(s) <= '9')
        s->at++;
    return s->at > start;
}

bool zb__scan_word(zb__scanner *s, const char *word) {
    size_t length = strlen(word);
    if (s->size - s->at < length || memcmp(s->text + s->at, word, length) != 0)
        return false;
    s->at += length;
    return true;
}

/* The digits of a number, behind its sign. */
static enum zb_code skip_number(zb__scanner *s) {
    size_t start = s->at;
    if (!skip_digits(s))
        return zb__scan_expected(s, "a digit");
    if (s->text[start] == '0' && s->at - start > 1)
        return zb__scan_fail(s, ZB_EFORMAT, start, "a number begins with a needless 0");
    if (zb__scan_peek(s) == '.') {
        s->at++;
        if (!skip_digits(s))
            return zb__scan_expected(s, "a digit behind the decimal point");
    }
    if (zb__scan_peek(s) == 'e' || zb__scan_peek(s) == 'E') {
        s->at++;
        if (zb__scan_peek(s) == '+' || zb__scan_peek(s) == '-')
            s->at++;
        if (!skip_digits(s))
            return zb__scan_expected(s, "a digit of the exponent");
    }
    return ZB_OK;
}

enum zb_code zb__scan_skip_number(zb__scanner *s) {
    if (zb__scan_word(s, "NaN") || zb__scan_word(s, "Infinity") || zb__scan_word(s, "-Infinity"))
        return ZB_OK;
    if (zb__scan_peek(s) == '-')
        s->at++;
    return skip_number(s);
}

enum zb_code zb__scan_number(zb__scanner *s, char **out) {
    size_t start = s->at;
    enum zb_code code = zb__scan_skip_number(s);
    if (code)
        return code;
    size_t length = s->at - start;
    *out = zb__arena_text(s->arena, length + 1);
    if (!*out)
        return zb__scan_no_memory(s);
    memcpy(*out, s->text + start, length);
    (*out)[length] = '\0';
    return ZB_OK;
}
