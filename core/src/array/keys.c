/* SPDX-License-Identifier: MIT */
/*
 * The keys of chunks: the grid index in decimal. "default" puts a "c" before all of it, so that
 * chunks never share names with metadata; "v2" is for data that came from version 2 of the format,
 * and has no such prefix. Two proposed encodings: "fanout" cuts each number into parts of as many
 * digits, behind the number of cuts, so that no directory gets more than 10^digits entries; and
 * "suffix" puts a text behind the key of another encoding.
 *
 * This file is the only one that knows the forms: documents are parsed and written here, and keys
 * are made and read here, for all walks over stored chunks.
 */
#include "array/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/extension.h"
#include "util/json_excerpt.h"
#include "util/json_writer.h"

#define MOST_DIGITS 20 /* of a number of 64 bits */

/* ---- Documents ---------------------------------------------------------------------------- */

static enum zb_code parse_separator(const zb_json *owner, const char *what, char *separator,
                                    zb_error *err) {
    const zb_json *value = zb_json_get(owner, "separator");
    const char *text = zb_json_string(value);
    char excerpt[ZB__BRIEF_SIZE];
    if (!value)
        return ZB_OK;
    if (!text || (strcmp(text, "/") != 0 && strcmp(text, ".") != 0))
        return zb_fail(err, ZB_EFORMAT, "%s: separator is %s, expected \"/\" or \".\"", what,
                       zb__json_excerpt(value, excerpt));
    *separator = *text;
    return ZB_OK;
}

/* Each encoding has its own default for a missing separator, also without a configuration. */
static enum zb_code parse_default(const zb_json *configuration, zb__key_encoding *out,
                                  zb_error *err) {
    *out = (zb__key_encoding){.form = ZB__KEYS_DEFAULT, .separator = '/'};
    return parse_separator(configuration, "chunk_key_encoding", &out->separator, err);
}

static enum zb_code parse_v2(const zb_json *configuration, zb__key_encoding *out, zb_error *err) {
    *out = (zb__key_encoding){.form = ZB__KEYS_V2, .separator = '.'};
    return parse_separator(configuration, "chunk_key_encoding", &out->separator, err);
}

/* The proposal rounds max_children down to a power of ten. */
static enum zb_code parse_fanout(const zb_json *configuration, zb__key_encoding *out,
                                 zb_error *err) {
    const zb_json *value = zb_json_get(configuration, "max_children");
    uint64_t children = 1000;
    char excerpt[ZB__BRIEF_SIZE];
    *out = (zb__key_encoding){.form = ZB__KEYS_FANOUT, .separator = '/'};
    if (value && (!zb_json_uint64(value, &children) || children < 100))
        return zb_fail(err, ZB_EFORMAT,
                       "chunk_key_encoding: max_children is %s, expected an integer from 100 up",
                       zb__json_excerpt(value, excerpt));
    for (; children >= 10; children /= 10)
        out->digits++;
    return ZB_OK;
}

/* The key stays in its directory, and its last part begins with the base's "c" or digit; so no
   suffix makes a hidden name or one that leads elsewhere. */
static enum zb_code parse_suffix(const zb_json *configuration, zb__key_encoding *out,
                                 zb_error *err) {
    const zb_json *value = zb_json_get(configuration, "suffix");
    const zb_json *base = zb_json_get(configuration, "base_encoding");
    const char *suffix = zb_json_string(value);
    char excerpt[ZB__BRIEF_SIZE];
    if (!base)
        return zb_fail(err, ZB_EFORMAT, "chunk_key_encoding: suffix without a base_encoding");
    enum zb_code code = zb__keys_parse(base, out, err);
    if (code)
        return code;
    if (!suffix)
        return zb_fail(err, ZB_EFORMAT, "chunk_key_encoding: suffix is %s, expected a text",
                       value ? zb__json_excerpt(value, excerpt) : "missing");
    bool is_plain = strlen(out->suffix) + strlen(suffix) <= ZB__SUFFIX_MAX;
    for (const char *c = suffix; *c && is_plain; c++)
        is_plain = (unsigned char)*c >= ' ' && *c != 0x7f && *c != '/' && *c != '\\';
    if (!is_plain)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "chunk_key_encoding: suffix is %s; suffixes with slashes or control "
                       "characters, or of more than %d bytes, are not supported",
                       zb__json_excerpt(value, excerpt), ZB__SUFFIX_MAX);
    strcat(out->suffix, suffix);
    return ZB_OK;
}

static const struct {
    const char *name;
    const char *known[3]; /* members of the configuration */
    enum zb_code (*parse)(const zb_json *configuration, zb__key_encoding *out, zb_error *err);
} encodings[] = {
    {"default", {"separator", NULL}, parse_default},
    {"v2", {"separator", NULL}, parse_v2},
    {"fanout", {"max_children", NULL}, parse_fanout},
    {"suffix", {"suffix", "base_encoding", NULL}, parse_suffix},
};

/* Drafts called the name `type` and had the members of the configuration beside it. */
static enum zb_code parse_extension(const zb_json *value, zb__extension *out, zb_error *err) {
    static const char *const members[] = {"type", "separator", NULL};
    const char *type = zb_json_string(zb_json_get(value, "type"));
    bool is_draft = type && !zb_json_get(value, "name") && !zb_json_get(value, "configuration");
    for (const zb_json *m = zb_json_first(value); m && is_draft; m = zb_json_next(m))
        is_draft = zb__name_in(zb_json_name(m), members);
    if (!is_draft)
        return zb__extension_parse(value, "chunk_key_encoding", out, err);
    *out = (zb__extension){.name = type, .configuration = value};
    return ZB_OK;
}

enum zb_code zb__keys_parse(const zb_json *value, zb__key_encoding *out, zb_error *err) {
    static const char *const in_drafts[] = {"type", "separator", NULL};
    zb__extension encoding;
    char excerpt[ZB__BRIEF_SIZE];
    enum zb_code code = parse_extension(value, &encoding, err);
    if (code)
        return code;
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if (strcmp(encoding.name, encodings[i].name) != 0)
            continue;
        code = zb__extension_check(&encoding, "chunk_key_encoding",
                                   encoding.configuration == value ? in_drafts : encodings[i].known,
                                   err);
        return code ? code : encodings[i].parse(encoding.configuration, out, err);
    }
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "chunk_key_encoding %s is not supported, expected \"default\", \"v2\", "
                   "\"fanout\" or \"suffix\"",
                   zb__name_excerpt(encoding.name, excerpt));
}

enum zb_code zb__keys_of_draft(const zb_json *grid, zb__key_encoding *out, zb_error *err) {
    *out = (zb__key_encoding){.form = ZB__KEYS_JOINED, .separator = '/'};
    return parse_separator(grid, "chunk_grid", &out->separator, err);
}

enum zb_code zb__keys_agree(const zb__key_encoding *keys, const zb_json *grid, zb_error *err) {
    char separator = keys->separator;
    enum zb_code code = parse_separator(grid, "chunk_grid", &separator, err);
    if (code || separator == keys->separator)
        return code;
    return zb_fail(err, ZB_EFORMAT,
                   "chunk_grid: separator is \"%c\", chunk_key_encoding has \"%c\": remove from "
                   "the document what is not true of its chunks",
                   separator, keys->separator);
}

static void print_string(zb_json_writer *w, const char *name, const char *value) {
    zb_json_write_name(w, name);
    zb_json_write_string(w, value);
}

void zb__keys_print(zb_json_writer *w, const zb__key_encoding *keys) {
    static const char *const names[] = {"default", "v2", NULL, "fanout"};
    const char separator[2] = {keys->separator};
    zb__key_encoding base = *keys;
    base.suffix[0] = '\0';
    zb__extension_begin(w, *keys->suffix ? "suffix" : names[keys->form]);
    if (*keys->suffix) {
        print_string(w, "suffix", keys->suffix);
        zb_json_write_name(w, "base_encoding");
        zb__keys_print(w, &base);
    } else if (keys->form == ZB__KEYS_FANOUT) {
        uint64_t children = 1;
        for (uint8_t i = 0; i < keys->digits; i++)
            children *= 10;
        zb_json_write_name(w, "max_children");
        zb_json_write_uint64(w, children);
    } else {
        print_string(w, "separator", separator);
    }
    zb__extension_end(w);
}

bool zb__keys_same(const zb__key_encoding *a, const zb__key_encoding *b) {
    return a->form == b->form && a->separator == b->separator && a->digits == b->digits &&
           strcmp(a->suffix, b->suffix) == 0;
}

/* ---- From an index to a key --------------------------------------------------------------- */

/* Writes a number's digits into the end of digits; returns where they begin. No printf, since a
   read may make thousands of keys. */
static const char *to_digits(uint64_t number, char digits[MOST_DIGITS]) {
    char *first = digits + MOST_DIGITS;
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return first;
}

static char *put_number(char *to, uint64_t number) {
    char digits[MOST_DIGITS];
    const char *first = to_digits(number, digits);
    size_t count = (size_t)(digits + MOST_DIGITS - first);
    memcpy(to, first, count);
    return to + count;
}

/* The number of cuts, and the parts, each behind a separator. Zeros fill the first part. */
static char *put_parts(char *to, uint64_t number, size_t width) {
    char digits[MOST_DIGITS];
    const char *first = to_digits(number, digits);
    size_t count = (size_t)(digits + MOST_DIGITS - first), parts = (count + width - 1) / width;
    *to++ = '/';
    *to++ = (char)('0' + parts - 1); /* at most 9, as parts have 2 digits at least */
    for (size_t left = parts * width; left > 0; left--) {
        if (left % width == 0)
            *to++ = '/';
        *to++ = left > count ? '0' : *first++;
    }
    return to;
}

void zb__chunk_key(const zb__key_encoding *keys, uint32_t ndim, const uint64_t *index,
                   char text[ZB__CHUNK_KEY_MAX]) {
    /* The key is written without a check of the room: ZB__CHUNK_KEY_MAX fits the longest key. */
    char *to = text;
    if (keys->form != ZB__KEYS_V2)
        *to++ = 'c';
    else if (ndim == 0)
        *to++ = '0'; /* a scalar's only chunk */
    for (uint32_t d = 0; d < ndim; d++) {
        if (keys->form == ZB__KEYS_FANOUT) {
            to = put_parts(to, index[d], keys->digits);
            continue;
        }
        if (to > text && (d > 0 || keys->form != ZB__KEYS_JOINED))
            *to++ = keys->separator;
        to = put_number(to, index[d]);
    }
    strcpy(to, keys->suffix);
}

/* ---- From a key to an index --------------------------------------------------------------- */

/* Adds decimal digits, at most `most`, to a number; returns where they end, or NULL. */
static const char *take_digits(const char *c, const char *end, size_t most, uint64_t *value) {
    for (; c < end && most > 0 && *c >= '0' && *c <= '9'; c++, most--) {
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*c - '0'), value))
            return NULL;
    }
    return c;
}

/* A decimal number without leading zeros. Returns where it ends, or NULL. */
static const char *take_number(const char *text, const char *end, uint64_t *out) {
    *out = 0;
    const char *c = take_digits(text, end, SIZE_MAX, out);
    return !c || c == text || (*text == '0' && c > text + 1) ? NULL : c;
}

/* The parts of a number, the first of which is not zero unless it is the only one. */
static const char *take_parts(const char *text, const char *end, size_t width, uint64_t *out) {
    uint64_t cuts;
    if (text >= end || *text != '/')
        return NULL;
    const char *c = take_number(text + 1, end, &cuts);
    *out = 0;
    for (uint64_t i = 0; c && i <= cuts; i++) {
        if ((size_t)(end - c) <= width || *c != '/')
            return NULL;
        const char *part = c + 1;
        c = take_digits(part, end, width, out);
        if (c != part + width || (i == 0 && cuts > 0 && *out == 0))
            return NULL;
    }
    return c;
}

bool zb__chunk_key_parse(const zb__key_encoding *keys, uint32_t ndim, const char *text,
                         uint64_t *index) {
    size_t size = strlen(text), tail = strlen(keys->suffix);
    if (size < tail || strcmp(text + size - tail, keys->suffix) != 0)
        return false;
    const char *c = text, *end = text + size - tail;
    if (keys->form == ZB__KEYS_V2 && ndim == 0)
        return end == c + 1 && *c == '0';
    if (keys->form != ZB__KEYS_V2 && (c == end || *c++ != 'c'))
        return false;
    for (uint32_t d = 0; d < ndim && c; d++) {
        if (keys->form == ZB__KEYS_FANOUT) {
            c = take_parts(c, end, keys->digits, &index[d]);
            continue;
        }
        if ((d > 0 || keys->form == ZB__KEYS_DEFAULT) && (c == end || *c++ != keys->separator))
            return false;
        c = take_number(c, end, &index[d]);
    }
    return c == end;
}

bool zb__chunk_key_is_like(const char *name) {
    static const char digits[] = "0123456789";
    if (strcmp(name, "c") == 0)
        return true;
    if (*name == 'c')
        name += name[1] == '.' ? 2 : 1;
    for (size_t length; (length = strspn(name, digits)) > 0; name++) {
        name += length;
        if (*name != '.')
            return *name == '\0';
    }
    return false;
}

/* The first part of a key is "c" ("c0" in drafts' keys) or, in the v2 encoding, a number. */
bool zb__chunk_key_enters(const zb__key_encoding *keys, const char *name) {
    const char *end = name + strlen(name);
    uint64_t number;
    if (keys->separator != '/')
        return false;
    if (keys->form == ZB__KEYS_V2)
        return take_number(name, end, &number) == end;
    if (keys->form == ZB__KEYS_JOINED)
        return *name == 'c' && take_number(name + 1, end, &number) == end;
    return strcmp(name, "c") == 0;
}
